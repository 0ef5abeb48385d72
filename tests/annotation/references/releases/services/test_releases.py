import pytest
from django.core.cache import cache
from django.db import IntegrityError, transaction

from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry, JobState, Participation, Rater, Rating, ReferenceSet, Release, ReleaseWeight
from annotation.quality.services.decisions import rater_exclude, rater_include
from annotation.references.releases.files.card import data_card
from annotation.references.releases.selectors.releases import release_campaigns, release_judgements, same_content
from annotation.references.releases.services.releases import (
    release_build,
    release_create,
    release_deprecate,
    release_restore,
    stored_content_hash,
)
from annotation.references.sets.services import reference_set_add_campaign, reference_set_create
from annotation.references.tasks import release_build as release_build_task
from tests.annotation.worlds.rated import (
    make_campaign,
    make_dataset,
    make_item,
    make_response,
    present,
    rate,
    rate_in,
)
from tests.worker import wait_until

RATERS = ("ann", "bob", "cem", "dot", "eve")


@pytest.fixture
def dataset(project):
    return make_dataset(project)


@pytest.fixture
def campaign(dataset):
    return make_campaign(dataset)


@pytest.fixture
def good_response(dataset, campaign):
    """Mean 4.2 of five ratings."""
    response = make_response(make_item(dataset, "i1"), "A fine answer.", "seed")
    for rater, value in zip(RATERS, (4, 4, 4, 4, 5), strict=True):
        rate(campaign, rater, response, value)
    return response


@pytest.fixture
def bad_response(dataset, campaign, good_response):
    """Mean 1.4 of five ratings, for the same item."""
    response = make_response(good_response.item, "Nonsense.", "mined")
    for rater, value in zip(RATERS, (1, 1, 1, 2, 2), strict=True):
        rate(campaign, rater, response, value)
    return response


@pytest.fixture
def reference_set(project, dataset, campaign) -> ReferenceSet:
    return reference_set_create(
        dataset=dataset,
        name="References",
        campaigns=[campaign],
        source_kinds=["seed", "mined"],
        original_kinds=["seed"],
    )


def build(reference_set, **arguments) -> Release:
    release = release_create(reference_set=reference_set, **arguments)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release


def weight_of(release, response) -> float:
    return release.weights.get(response=response).weight


def test_criteria_on_different_scales_are_put_on_one_and_can_be_chosen(dataset):
    """USR (Mehri and Eskenazi 2020) rates quality from 1 to 5, interest from 1 to 3, use of knowledge with 0 or 1."""
    scales = {"overall": (1, 5), "interesting": (1, 3), "knowledge": (0, 1)}
    campaign = make_campaign(dataset, criteria=scales)
    response = make_response(make_item(dataset, "i1"), "A fine answer.", "seed")
    for rater, values in (("ann", (5, 3, 1)), ("bob", (4, 1, 1))):
        rate(campaign, rater, response, *values)
    usr = reference_set_create(dataset=dataset, name="USR", campaigns=[campaign], source_kinds=["seed"])
    everything, interest = build(usr), build(usr, parameters={"criteria": ["interesting"]})
    # By hand: ann +1, +1, +1; bob +0.5, -1, +1.
    assert weight_of(everything, response) == pytest.approx((1 + 0.5 / 3) / 2)
    assert everything.report["scale"] == [-1, 1]
    assert everything.report["scales"] == {"interesting": "1 to 3", "knowledge": "0 to 1", "overall": "1 to 5"}
    assert weight_of(interest, response) == 0
    assert (interest.report["scale"], "scales" in interest.report) == ([1, 3], False)
    assert "interesting 1 to 3" in data_card(everything)


def test_the_papers_two_examples_of_weights(reference_set, good_response, bad_response):
    """Galley et al. 2015, Table 1: a mean of 4.2 weighs 0.6, one of 1.4 weighs -0.8."""
    release = build(reference_set)
    assert (release.state, release.error) == (JobState.DONE, "")
    assert (weight_of(release, good_response), weight_of(release, bad_response)) == (0.6, -0.8)
    weight = release.weights.get(response=good_response)
    assert (weight.rating_mean, weight.n_ratings, weight.is_original) == (4.2, 5, True)
    assert weight.low <= 0.6 <= weight.high
    # The variances of 4, 4, 4, 4, 5 and of 1, 1, 1, 2, 2 are 0.2 and 0.3, so s = 0.5; a point is half a unit of weight.
    assert weight.standard_error == pytest.approx(0.5 / 5**0.5 / 2)


def test_excluded_raters_are_left_out_by_a_rule_that_names_them_unless_they_are_requested(
    reference_set, campaign, good_response
):
    """Without eve, who gave the one 5, the mean of five ratings 4, 4, 4, 4, 5 is 4."""
    eve = Rater.objects.get(pseudonym="eve")
    Participation.objects.create(campaign=campaign, rater=eve, order_seed=1)
    rater_exclude(campaign=campaign, rater=eve, reason="Spam")
    without = build(reference_set)
    assert [rule["rule"] for rule in without.exclusion_rules] == ["exclude_extra", "exclude_raters"]
    assert without.exclusion_rules[1]["raters"] == ["eve"]
    assert without.weights.get(response=good_response).rating_mean == 4
    rules = [{"rule": "exclude_raters", "version": 1, "raters": ["eve", "ann"]}]
    assert release_create(reference_set=reference_set, exclusion_rules=rules).exclusion_rules[1:] == [
        {**rules[0], "raters": ["eve", "ann"]}
    ]
    with_everyone = build(reference_set, with_excluded=True)
    assert with_everyone.weights.get(response=good_response).rating_mean == 4.2
    rater_include(campaign=campaign, rater=eve, reason="A mistake")
    assert build(reference_set).content_hash == with_everyone.content_hash
    assert without.weights.get(response=good_response).rating_mean == 4  # a release never changes


def test_releases_are_numbered_within_their_set(reference_set, good_response):
    assert [build(reference_set).number for _ in range(3)] == [1, 2, 3]


def test_the_same_inputs_give_the_same_hash_and_other_inputs_a_different_one(
    reference_set, campaign, good_response, bad_response
):
    first, second = build(reference_set), build(reference_set)
    assert first.content_hash == second.content_hash
    assert len(first.content_hash) == 64
    assert build(reference_set, method="median").content_hash != first.content_hash
    rate(campaign, "flo", good_response, 1)
    assert build(reference_set).content_hash != first.content_hash


@pytest.mark.parametrize("method", ["linear", "median", "zscore", "reliability"])
def test_the_hash_is_that_of_the_stored_weights(reference_set, good_response, bad_response, method):
    release = build(reference_set, method=method)
    assert release.signature.startswith(f"weights:{method}|scale:1..5")
    assert stored_content_hash(release) == release.content_hash


def test_a_weight_of_a_finished_release_cannot_be_changed_added_or_deleted(reference_set, good_response, bad_response):
    release = build(reference_set)
    weight = release.weights.get(response=good_response)
    copy = ReleaseWeight(
        release=release, item=good_response.item, response=bad_response, weight=0, rating_mean=3, n_ratings=1
    )
    for change in (lambda: release.weights.update(weight=1.0), weight.delete, copy.save):
        with pytest.raises(IntegrityError, match="done and immutable"), transaction.atomic():
            change()
    assert weight_of(release, good_response) == 0.6


def test_an_excluded_rater_changes_only_the_responses_they_rated_and_stays_in_the_log(
    dataset, campaign, reference_set, good_response, bad_response
):
    rate(campaign, "mallory", bad_response, 5)
    before = build(reference_set)
    rule = {"rule": "exclude_raters", "version": 1, "raters": ["mallory"]}
    after = build(reference_set, exclusion_rules=[rule])
    assert weight_of(before, good_response) == weight_of(after, good_response) == 0.6
    assert (weight_of(before, bad_response), weight_of(after, bad_response)) == (-0.5, -0.8)
    assert after.report["ratings"]["excluded"][1] == {"rule": rule, "ratings": 1}
    assert Rating.objects.filter(rater__pseudonym="mallory").count() == 1


def test_extra_and_superseded_ratings_do_not_count(campaign, reference_set, good_response, bad_response):
    (first,) = rate(campaign, "flo", bad_response, 5)
    rate_in(first.presentation, bad_response, 1, revision=1)
    rate_in(present(campaign, "gus", good_response, outcome="late"), good_response, 1, extra=True)
    release = build(reference_set)
    weight = release.weights.get(response=bad_response)
    assert (weight.n_ratings, weight.rating_mean) == (6, pytest.approx(8 / 6))
    assert weight_of(release, good_response) == 0.6
    assert release.report["ratings"]["excluded"] == [{"rule": {"rule": "exclude_extra", "version": 1}, "ratings": 1}]


def test_a_text_of_several_sources_pools_the_ratings_under_all_its_names(project, dataset):
    campaign = make_campaign(dataset, "Two names", imported=True)
    response = make_response(make_item(dataset, "i1"), "Same words.", "TeamCE", "TeamEC")
    for name, values in (("TeamCE", (5, 4)), ("TeamEC", (1, 2))):
        system = dataset.systems.get(name=name)
        for rater, value in zip(("ann", "bob"), values, strict=True):
            rate(campaign, rater, response, value, rated_as=system)
    reference_set = reference_set_create(dataset=dataset, name="CE", campaigns=[campaign], source_systems=["TeamCE"])
    release = build(reference_set)
    (weight,) = release.weights.all()
    assert (weight.n_ratings, weight.rating_mean, weight.weight) == (4, 3.0, 0.0)
    assert release.report["ratings"]["repeated_judgements"] == 2


def test_the_report_counts_references_without_ratings_and_items_without_a_positive_weight(
    dataset, campaign, reference_set, good_response, bad_response
):
    only_negative = make_response(make_item(dataset, "i2"), "No.", "mined")
    for rater in RATERS:
        rate(campaign, rater, only_negative, 1)
    make_response(make_item(dataset, "i3"), "Never rated.", "seed")
    make_item(dataset, "i4")
    report = build(reference_set).report
    assert report["references"] == {
        "all": 4,
        "weighted": 3,
        "originals": 2,
        "without_weight": {"no rating": 1},
        "positive": 1,
        "zero": 0,
        "negative": 2,
        "interval_spans_zero": 0,
        "without_interval": 0,
    }
    assert report["items"] == {
        "all": 4,
        "with_reference": 3,
        "with_weight": 2,
        "without_positive": 1,
        "without_positive_listed": ["i2"],
        "tied_best": 0,
        "best_interval_spans_zero": 0,
    }


def test_a_set_without_any_rating_fails_with_the_reason(reference_set, dataset):
    make_response(make_item(dataset, "i1"), "Never rated.", "seed")
    release = build(reference_set)
    assert release.state == JobState.FAILED
    assert release.error.startswith("No rating counts for any of the 1 references of “References”: 0 were read")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "vote"}, "Method is 'vote'; accepted: linear, median"),
        ({"parameters": {"clip": 1}}, "'clip' is not one of 'linear'; accepted: criteria"),
        ({"method": "zscore", "parameters": {"clip": 0}}, "'clip' is 0; accepted: a number above 0"),
        ({"method": "zscore", "parameters": {"clip": 10**400}}, "accepted: a number above 0, up to 1e"),
        ({"parameters": {"criteria": ["charm"]}}, "no criterion charm; it has: quality"),
        ({"parameters": {"criteria": 5}}, "'criteria' is 5; accepted: a list of names"),
        ({"exclusion_rules": [{"rule": ["lucky"]}]}, "field 'rule' is \\['lucky'\\]"),
        (
            {"exclusion_rules": [{"rule": "exclude_raters", "version": 1, "raters": ["a\0"]}]},
            "names no rater of this project",
        ),
        ({"exclusion_rules": [{"rule": "lucky"}]}, "rule 1 of 1: exclusion rule: field 'rule' is 'lucky'"),
        (
            {"exclusion_rules": [{"rule": "exclude_raters", "version": 1, "raters": ["zoe"]}]},
            "names no rater of this project: zoe",
        ),
        (
            {"exclusion_rules": [{"rule": "exclude_ratings", "version": 1, "ratings": [999999]}]},
            "names no rating of this set's campaigns: 999999",
        ),
        (
            {"exclusion_rules": [{"rule": "exclude_ratings", "version": 1, "ratings": ["9" * 5000]}]},
            "names no rating of this set's campaigns: 999999",
        ),
        ({"exclusion_rules": {"rule": "exclude_extra"}}, "not a list of records"),
    ],
)
def test_a_release_that_cannot_be_computed_is_refused_before_it_is_queued(
    reference_set, good_response, arguments, message
):
    with pytest.raises(AnnotationError, match=message):
        release_create(reference_set=reference_set, **arguments)
    assert not Release.objects.exists()


def test_building_a_finished_release_again_does_nothing(reference_set, good_response):
    release = build(reference_set)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert (release.state, release.attempt) == (JobState.DONE, 1)


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_worker_builds_a_release(worker, reference_set, good_response, bad_response):
    release = release_create(reference_set=reference_set)
    release_build_task.delay(release.pk)

    def finished() -> bool:
        release.refresh_from_db()
        return release.is_finished

    wait_until(finished)
    assert (release.state, weight_of(release, good_response)) == (JobState.DONE, 0.6)


def test_a_release_names_the_code_that_built_it_and_the_hash_does_not_depend_on_it(
    reference_set, good_response, monkeypatch
):
    first = build(reference_set)
    assert first.code_version.startswith("0.1.0")
    monkeypatch.setattr("annotation.references.releases.services.releases.code_version", lambda: "9.9.9+g000000000000")
    second = build(reference_set)
    assert (second.code_version, second.content_hash) == ("9.9.9+g000000000000", first.content_hash)


def test_a_release_with_the_content_of_an_earlier_one_names_the_first_such(reference_set, campaign, good_response):
    first, second, third = (build(reference_set) for _ in range(3))
    assert same_content(first) is None
    assert (same_content(second), same_content(third)) == (first, first)
    rate(campaign, "flo", good_response, 1)
    assert same_content(build(reference_set)) is None


def test_a_release_keeps_the_campaigns_it_was_built_with(
    reference_set, dataset, campaign, good_response, cache_cleared
):
    before = build(reference_set)
    later = make_campaign(dataset, "Later")
    rate(later, "flo", good_response, 1)
    reference_set_add_campaign(reference_set=reference_set, campaign=later, by=None)
    # As if the later campaign's rating had come first: then its id alone would not keep it out.
    late = Rating.objects.latest("pk")
    Release.objects.filter(pk=before.pk).update(report=before.report | {"last_rating_id": late.pk})
    before.refresh_from_db()
    assert release_campaigns(before) == [campaign]
    assert len(release_judgements(before).value) == 5
    after = build(reference_set)
    assert {summary["name"] for summary in after.report["campaigns"]} == {"Quality", "Later"}
    assert after.weights.get(response=good_response).n_ratings == 6
    assert stored_content_hash(before) == before.content_hash


@pytest.fixture
def cache_cleared():
    cache.clear()


def test_a_deprecation_has_a_reason_is_in_the_audit_log_and_can_be_undone(reference_set, good_response, manager):
    release = build(reference_set)
    with pytest.raises(AnnotationError, match="Found 0 characters; accepted: 1 to 1000"):
        release_deprecate(release=release, reason="  ", by=manager)
    release_deprecate(release=release, reason="A rater turned out to be a script.", by=manager)
    assert (release.deprecated_by, release.deprecation_reason) == (manager, "A rater turned out to be a script.")
    assert release.deprecated_at is not None
    assert stored_content_hash(release) == release.content_hash  # a deprecation is not hashed and deletes nothing
    with pytest.raises(AnnotationError, match="deprecated already: A rater"):
        release_deprecate(release=release, reason="Again", by=manager)
    release_restore(release=release, by=manager)
    assert (release.deprecated_at, release.deprecated_by, release.deprecation_reason) == (None, None, "")
    with pytest.raises(AnnotationError, match="is not deprecated"):
        release_restore(release=release, by=manager)
    entries = AuditEntry.objects.filter(verb__startswith="release.").order_by("pk")
    assert [(entry.verb, entry.data["release"], entry.data["reason"]) for entry in entries] == [
        ("release.deprecate", "references/v1", "A rater turned out to be a script."),
        ("release.restore", "references/v1", "A rater turned out to be a script."),
    ]


def test_only_a_finished_release_can_be_deprecated(reference_set, good_response):
    waiting = release_create(reference_set=reference_set)
    with pytest.raises(AnnotationError, match="is queued; accepted: a finished release"):
        release_deprecate(release=waiting, reason="Wrong", by=None)


def test_a_campaign_added_after_a_release_was_requested_is_not_in_it(
    reference_set, dataset, campaign, good_response, bad_response, owner
):
    """Excluded raters are listed when a release is requested: a later campaign's spammers would be missing."""
    release = release_create(reference_set=reference_set)
    late_campaign = make_campaign(dataset, "Later")
    rate(late_campaign, "zoe", good_response, 1)
    rater = Rater.objects.get(pseudonym="zoe")
    Participation.objects.create(campaign=late_campaign, rater=rater, order_seed=1)
    rater_exclude(campaign=late_campaign, rater=rater, reason="Random answers.", by=owner)
    reference_set_add_campaign(reference_set=reference_set, campaign=late_campaign, by=owner)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert [summary["name"] for summary in release.report["campaigns"]] == [campaign.name]
    assert release.weights.get(response=good_response).n_ratings == 5
    later = build(reference_set)
    assert [summary["name"] for summary in later.report["campaigns"]] == [campaign.name, "Later"]
    assert later.weights.get(response=good_response).n_ratings == 5, "zoe is excluded by name"
