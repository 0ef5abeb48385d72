import pytest

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.rules import rules_read, rules_register
from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry, Participation, QualityRules, RaterDecision, Rating, Slot
from annotation.quality.selectors.raters import Moment, campaign_log, moment, replay, verdicts
from annotation.quality.selectors.rule_preview import rules_preview
from annotation.quality.services.decisions import rater_exclude, rater_include
from annotation.quality.services.rules import rules_apply
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from annotation.references.releases.selectors.releases import release_judgements
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.weighting.exclusion.registry import rules_from_data
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset, rate_next
from tests.annotation.worlds.designed import QUALITY, make_designed

GOLD = {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 1}
SLOW = {"rule": "median_seconds_below", "version": 1, "action": "flag", "seconds": 3600, "after": 1}


@pytest.fixture
def campaign(project):
    quality = QUALITY | {"every": 3, "mix": {"gold": 1}}
    return make_designed(make_dataset(project, items=2), quality=quality, ratings_per_unit=3)


def work(campaign, rater, value, screens=9):
    for _ in range(screens):
        shown = unit_request(campaign=campaign, rater=rater)
        if shown is None:
            break
        answer(shown, value)


@pytest.fixture
def raters(campaign):
    """A rater who passes every gold (4 or 5) and one who fails them all."""
    careful, careless = join(campaign, "good"), join(campaign, "bad")
    work(campaign, careful, 4)
    work(campaign, careless, 1)
    return careful, careless


def test_versions_count_up_and_record_whether_they_precede_the_launch(project, manager):
    campaign = make_campaign(make_dataset(project), launch=False)
    first = rules_register(campaign=campaign, records=[GOLD], by=manager)
    assert rules_register(campaign=campaign, records=[GOLD], by=manager) == first  # the same is no new version
    campaign_launch(campaign=campaign)
    second = rules_register(campaign=campaign, records=[GOLD, SLOW], by=manager)
    assert [(version.version, version.before_launch) for version in (first, second)] == [(1, True), (2, False)]
    entries = AuditEntry.objects.filter(verb="rules.register").order_by("pk")
    assert [entry.data for entry in entries] == [
        {"rules": 1, "before_launch": True},
        {"rules": 2, "before_launch": False},
    ]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([GOLD | {"accuracy": 2}], "rule 1 of 1"),
        ([GOLD, {"rule": "exclude_raters", "version": 1, "raters": ["nobody"]}], "Rule 2 names nobody"),
        ([{"rule": "exclude_ratings", "version": 1, "ratings": ["12345678"]}], "Rule 1 names 12345678"),
        ({"rule": "gold"}, "no list of records"),
        (["gold"], "no list of records"),
        ([GOLD] * 51, "Found 51 rules"),
    ],
)
def test_invalid_rules_are_refused_by_number_and_field(campaign, records, message):
    with pytest.raises(AnnotationError, match=message):
        rules_register(campaign=campaign, records=records)
    assert not QualityRules.objects.exists()


def test_a_preview_shows_the_effects_and_changes_nothing(campaign, raters):
    careful, careless = raters
    preview = rules_preview(campaign, rules_read(campaign=campaign, records=[GOLD, SLOW]))
    assert [(verdict.rater, verdict.action, verdict.number) for verdict in preview.verdicts] == [
        (careless, "exclude", 1),
        (careful, "flag", 2),
    ]  # the second rule does not judge raters excluded by the first
    assert preview.n_leaving == Rating.objects.filter(rater=careless, extra=False).count()
    assert preview.n_slots == Slot.objects.filter(rater=careless, state="done").count()
    (relevance,) = preview.criteria
    assert relevance.before.n - relevance.after.n == preview.n_leaving
    # 4 and 1 on every response: no agreement; with one rater left, agreement is undefined.
    assert relevance.before.icc.icc_1 < 0
    assert {mean for _, mean in relevance.before.systems} == {2.5}
    assert {mean for _, mean in relevance.after.systems} == {4.0}
    assert relevance.without_flagged is not None
    assert relevance.without_flagged.systems == []  # no rater is left
    assert relevance.after.alpha.reason == "no response has ratings of two raters"
    assert not RaterDecision.objects.exists()
    assert not Participation.objects.filter(excluded_at__isnull=False).exists()


def test_applying_excludes_and_flags_with_the_rule_and_the_evidence(campaign, raters, manager):
    careful, careless = raters
    rules = rules_register(campaign=campaign, records=[GOLD, SLOW])
    preview = rules_preview(campaign, rules_from_data(rules.rules))
    done = rules_apply(campaign=campaign, rules=rules, replace=True, seen=preview.at, by=manager)
    assert (done.excluded, done.flagged, done.reopened) == (1, 1, preview.n_slots)
    out = RaterDecision.objects.get(rater=careless)
    assert (out.action, out.rules, out.decided_by) == ("exclude", rules, manager)
    assert out.reason == "Exclude raters whose gold accuracy is below 0.6, after 1 gold answers."
    assert (out.evidence["measure"], out.evidence["estimate"]) == ("gold accuracy", 0.0)
    assert out.evidence["rule"] == GOLD
    assert RaterDecision.objects.get(rater=careful).action == "flag"
    assert unit_request(campaign=campaign, rater=careless) is None
    assert not Slot.objects.filter(rater=careless).exists()
    second_run = rules_apply(campaign=campaign, rules=rules)
    assert (second_run.excluded, second_run.flagged) == (0, 0)
    assert second_run.unchanged == 1  # the flag; the excluded are not judged again


def test_an_outdated_preview_is_not_applied(campaign, raters):
    _, careless = raters
    rules = rules_register(campaign=campaign, records=[GOLD])
    previewed_at = moment(campaign)
    rater_exclude(campaign=campaign, rater=careless, reason="Seen by eye.")
    with pytest.raises(AnnotationError, match="newer decisions about raters"):
        rules_apply(campaign=campaign, rules=rules, seen=previewed_at)


def test_verdicts_can_be_replayed_on_the_log_as_of_then(campaign, raters):
    careful, careless = raters
    rules = rules_register(campaign=campaign, records=[GOLD, SLOW])
    rules_apply(campaign=campaign, rules=rules)
    entry = AuditEntry.objects.get(verb="rules.apply")
    late = join(campaign, "late")
    work(campaign, late, 1)
    rater_include(campaign=campaign, rater=careless, reason="Asked for.")
    result = replay(entry)
    assert result.same
    assert {rater for rater, *_ in result.again} == {careful.pk, careless.pk}
    now = verdicts(campaign, rules_from_data(rules.rules), moment(campaign))
    assert {verdict.rater.pk for verdict in now if verdict.action == "exclude"} == {careless.pk, late.pk}


def test_a_correction_is_not_seen_before_it_was_made(campaign):
    rater = join(campaign, "ann")
    shown = rate_next(campaign, rater, 2)
    before = moment(campaign)
    ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 5})
    assert campaign_log(campaign, before).value.tolist() == [2.0]
    assert campaign_log(campaign, moment(campaign)).value.tolist() == [5.0]


def test_rules_of_another_campaign_and_of_drafts_are_not_applied(project, campaign):
    draft = make_campaign(campaign.dataset, launch=False, name="Draft")
    rules = rules_register(campaign=draft, records=[GOLD])
    with pytest.raises(AnnotationError, match="draft"):
        rules_apply(campaign=draft, rules=rules)
    with pytest.raises(AnnotationError, match="another campaign"):
        rules_apply(campaign=campaign, rules=rules)
    assert moment(draft) == Moment(0, 0, 0)


def test_a_release_with_registered_rules_leaves_out_the_raters_they_exclude(campaign, raters):
    _, careless = raters
    rules_register(campaign=campaign, records=[GOLD])
    reference_set = reference_set_create(
        dataset=campaign.dataset,
        name="Outputs",
        campaigns=[campaign],
        source_systems=["Ada", "Bo", "Cy"],
    )
    release = release_create(reference_set=reference_set, with_registered=True)
    assert release.exclusion_rules == [{"rule": "exclude_extra", "version": 1}, GOLD]
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.state == "done", release.error
    n_excluded = Rating.objects.filter(rater=careless).count()
    assert release.report["ratings"]["excluded"][1] == {"rule": GOLD, "ratings": n_excluded}
    assert release.report["last_check_answer_id"] == moment(campaign).check
    work(campaign, join(campaign, "later"), 1)  # what comes later changes nothing
    assert len(release_judgements(release).value) == release.report["ratings"]["kept"]
