"""Checks of a release's weights, on a release worked out by hand."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.pages import page_of
from annotation.models import Participation, Rater, Rating, Response
from annotation.quality.services.decisions import rater_exclude
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.weighing.selectors.attention import attention, rows_of, suggestion
from annotation.references.weighing.selectors.columns import release_columns
from annotation.references.weighing.selectors.guard import (
    circularity,
    overlap_texts,
    rule_without_texts,
)
from annotation.references.weighing.selectors.influence import influences, rater_influences, turned_by
from annotation.references.weighing.selectors.sensitivity import OF_ITEMS, changed, comparisons, count_changed
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, present, rate
from tests.annotation.worlds.weighed import build, make_release, rate_all, texts_of


@pytest.fixture
def release(project):
    return make_release(project)


def test_columns_are_sorted_by_item_then_by_weight(release):
    columns = release_columns(release)
    assert texts_of(release, columns.response_id) == ["Fine.", "Well.", "Hm.", "No.", "Ada said it."]
    assert columns.item.tolist() == [0, 0, 1, 1, 2]
    assert columns.weight.tolist() == pytest.approx([0.5, 0.5, -1 / 6, -1, 0])
    assert columns.n_items == 3


def test_each_list_holds_the_references_it_names(release):
    lists = attention(release)
    texts = {name: texts_of(release, ids) for name, ids in lists.listed.items()}
    assert texts["no-positive"] == ["Hm.", "No.", "Ada said it."]
    assert lists.n_items["no-positive"] == 2
    assert texts["tie"] == ["Fine.", "Well."]
    columns = release_columns(release)
    spans = [
        text
        for text, low, high in zip(texts_of(release, columns.response_id), columns.low, columns.high, strict=True)
        if low <= 0 <= high
    ]
    assert texts["uncertain"] == spans
    assert "Ada said it." in texts["best-uncertain"]
    assert "No." not in texts["uncertain"]  # 1, 1, 1: its interval is -1 alone
    # Every unit was planned for one rating and received it.
    assert texts["few"] == []


def test_the_lists_and_the_report_have_the_same_counts(release):
    lists, items = attention(release), release.report["items"]
    assert lists.n_items["no-positive"] == items["without_positive"]
    assert lists.n_items["tie"] == items["tied_best"]
    assert lists.n_items["best-uncertain"] == items["best_interval_spans_zero"]
    assert len(lists.listed["uncertain"]) == release.report["references"]["interval_spans_zero"]


def test_missing_ratings_are_explained(project, release):
    """Four planned ratings: one counts, one could not judge, one is left out by a decision, one was never given."""
    dataset = release.reference_set.dataset
    campaign = make_campaign(dataset, "Second")
    response = make_response(make_item(dataset, "i4"), "Perhaps.", "mined")
    rate(campaign, "ann", response, 4)
    rate(campaign, "dot", response, 2)
    presentation = present(campaign, "bob", response)
    Rating.objects.create(
        campaign=campaign,
        presentation=presentation,
        response=response,
        rater=presentation.rater,
        criterion=campaign.criteria.get(),
        sent_at=presentation.ended_at,
        cannot_judge="No idea",
    )
    present(campaign, "cem", response, outcome="returned")
    dot = Rater.objects.get(pseudonym="dot")
    Participation.objects.create(campaign=campaign, rater=dot, order_seed=1)
    rater_exclude(campaign=campaign, rater=dot, reason="Spam")
    reference_set = release.reference_set
    reference_set.campaigns.add(campaign)
    second = release_create(reference_set=reference_set)
    release_build(release_id=second.pk)
    second.refresh_from_db()
    assert attention(second).listed["few"].tolist() == [response.pk]
    [row] = rows_of(second, "few", attention(second).listed["few"])
    assert (row.planned, row.counted, row.cannot_judge, row.left_out, row.not_given) == (4, 1, 1, 1, 1)
    assert suggestion(second, "few", attention(second).listed["few"]).ratings == 3


def test_a_reference_without_a_judgement_is_on_the_list_without_a_weight(project, release):
    campaign = make_campaign(release.reference_set.dataset, "Second", ratings_per_unit=2)
    response = make_response(make_item(release.reference_set.dataset, "i5"), "What?", "mined")
    [rating] = rate(campaign, "ann", response, 3)
    unjudged = make_response(rating.response.item, "Oh.", "mined")
    present(campaign, "bob", unjudged, outcome="returned")
    reference_set = release.reference_set
    reference_set.campaigns.add(campaign)
    second = release_create(reference_set=reference_set)
    release_build(release_id=second.pk)
    second.refresh_from_db()
    rows = rows_of(second, "few", attention(second).listed["few"])
    assert [(row.response.text, row.weight and row.weight.weight, row.counted) for row in rows] == [
        ("What?", 0.0, 1),
        ("Oh.", None, 0),
    ]


def test_schemes_are_compared_with_their_parameters_and_the_releases_own_is_marked(release):
    schemes = {scheme.name: scheme for scheme in comparisons(release)}
    assert [name for name, scheme in schemes.items() if scheme.is_own] == ["linear"]
    assert schemes["linear"].moved.max_change == pytest.approx(0, abs=1e-12)
    assert schemes["zscore"].parameters == "clip 2"
    assert schemes["median"].moved.max_change == pytest.approx(0.5)  # 5, 5, 2: from 0.5 to 1
    assert texts_of(
        release, release_columns(release).response_id[changed(release, schemes["no_negatives"], "gone")]
    ) == [
        "Hm.",
        "No.",
    ]
    assert schemes["ones"].n_gained == 2


def test_a_release_with_changed_parameters_is_not_the_default_scheme(project):
    release = make_release(project, method="zscore", parameters={"clip": 1.0})
    assert not any(scheme.is_own for scheme in comparisons(release))


def test_changes_list_the_references_of_items_whose_best_changes(release):
    [median] = [scheme for scheme in comparisons(release) if scheme.name == "median"]
    columns = release_columns(release)
    assert texts_of(release, columns.response_id[changed(release, median, "sign")]) == []
    # Under the median "Fine." weighs 1 and "Well." 0.5: one of the two best is still the best, so nothing changes.
    assert changed(release, median, "best").tolist() == []
    for scheme in comparisons(release):  # a list of items is named after as many items as the table shows
        if not scheme.reason:
            counts = (scheme.n_best_changed, scheme.n_lost, scheme.n_gained)
            assert tuple(count_changed(release, scheme, what) for what in OF_ITEMS) == counts


def test_influence_is_listed_per_rater(release):
    rows = {row.pseudonym: row for row in rater_influences(release, influences(release))}
    # Without cem "Fine." is 5, 5: from 0.5 to 1; "Hm." is 2, 4: from -1/6 to 0.
    assert rows["cem"].max_change == pytest.approx(0.5)
    assert rows["cem"].n_to_or_from_zero == 1
    # Without bob "Ada said it." is 5: from 0 to 1, so no sign is reversed.
    assert (rows["bob"].max_change, rows["bob"].n_reversed, rows["bob"].n_without) == (1.0, 0, 0)
    assert rows["ann"].rule == {"rule": "exclude_raters", "version": 1, "raters": ["ann"]}


def test_reversed_signs_are_listed_by_rater(project, release):
    campaign = make_campaign(release.reference_set.dataset, "Second")
    response = make_response(make_item(release.reference_set.dataset, "i6"), "So what.", "mined")
    rate_all(campaign, response, ann=5, bob=5, cem=1, eve=2)  # mean 3.25; without ann 8/3
    rated_by_eve = make_response(response.item, "Only eve.", "mined")
    rate_all(campaign, rated_by_eve, eve=4)
    reference_set = release.reference_set
    reference_set.campaigns.add(campaign)
    second = release_create(reference_set=reference_set)
    release_build(release_id=second.pk)
    second.refresh_from_db()
    influence, columns = influences(second), release_columns(second)
    ids = dict(Rater.objects.values_list("pseudonym", "pk"))
    turned = [
        (texts_of(second, [columns.response_id[index]])[0], without)
        for index, without in turned_by(influence, ids["ann"])
    ]
    assert turned == [("So what.", pytest.approx(-1 / 6))]
    [(index, without)] = turned_by(influence, ids["eve"])
    assert texts_of(second, [columns.response_id[index]]) == ["Only eve."]
    assert np.isnan(without)


def test_raters_on_both_sides_are_counted_on_each(project, release):
    dataset = release.reference_set.dataset
    outputs = make_campaign(dataset, "Outputs")
    for response in Response.objects.filter(sources__system__name="Bo").order_by("id"):
        rate_all(outputs, response, ann=3, zoe=2)
    overlap = circularity(release)
    assert [(rater.pseudonym, rater.references, rater.outputs) for rater in overlap.raters] == [("ann", 5, 3)]
    assert overlap.raters[0].campaigns == ((outputs.pk, "Outputs"),)
    assert (overlap.reference_raters, overlap.output_raters) == (3, 2)
    assert (overlap.shared_reference_judgements, overlap.reference_judgements) == (5, 14)
    assert (overlap.shared_output_judgements, overlap.output_judgements) == (3, 6)
    assert not overlap.raters_unknown


def test_a_rater_is_listed_under_the_current_name(release):
    """An erasure changes names: no old name stays in the cache."""
    outputs = make_campaign(release.reference_set.dataset, "Outputs")
    rate(outputs, "ann", Response.objects.filter(sources__system__name="Bo").first(), 3)
    assert [rater.pseudonym for rater in circularity(release).raters] == ["ann"]
    Rater.objects.filter(pseudonym="ann").update(pseudonym="erased-1")
    assert [rater.pseudonym for rater in circularity(release).raters] == ["erased-1"]
    assert "ann" not in [row.pseudonym for row in rater_influences(release, influences(release))]


def test_a_judgement_that_weighs_a_reference_is_not_counted_for_an_output(release):
    """Ada's output is a reference and was rated as one: those two judgements count for the reference only."""
    assert circularity(release).output_judgements == 0


def test_texts_on_both_sides_are_counted_per_system(release):
    """Ada's one output is a reference, and the best of its item; Bo's three are those in capitals."""
    overlap = circularity(release)
    counts = {system.name: (system.outputs, system.same, system.same_best, system.near) for system in overlap.systems}
    assert counts == {"Ada": (1, 1, 1, 0), "Bo": (3, 0, 0, 3)}
    assert not overlap.is_clean
    assert (overlap.identical_references, overlap.items_with_identical) == (1, 1)


def test_a_difference_in_case_is_a_near_hit(project, release):
    item = release.reference_set.dataset.items.get(external_id="i1")
    make_response(item, "WELL.", "Cy")
    result = circularity(release)
    [cy] = [system for system in result.systems if system.name == "Cy"]
    assert (cy.same, cy.near) == (0, 1)
    [text] = overlap_texts(release, [overlap for overlap in result.overlaps if overlap.system_id == cy.system_id])
    assert (text.system, text.overlap.is_same, text.reference, text.output) == ("Cy", False, "Well.", "WELL.")


def test_systems_whose_outputs_are_references_by_design_are_not_judged(project, release):
    release.reference_set.source_systems = ["Ada"]
    release.reference_set.save()
    assert [system.name for system in circularity(release).systems] == ["Bo"]


def test_the_rule_without_those_texts_leaves_them_without_a_weight(release):
    rule = rule_without_texts(release, circularity(release))
    reference_set = release.reference_set
    second = release_create(reference_set=reference_set, exclusion_rules=[rule])
    release_build(release_id=second.pk)
    second.refresh_from_db()
    assert not second.weights.filter(response__text="Ada said it.").exists()
    assert second.weights.count() == release.weights.count() - 1
    assert (circularity(second).same, circularity(second).systems[0].name) == (0, "Bo")


def test_figures_of_a_release_are_computed_once(release):
    first = attention(release), comparisons(release), influences(release)
    with CaptureQueriesContext(connection) as queries:
        second = attention(release), comparisons(release), influences(release)
    assert np.array_equal(first[2].influence.weights, second[2].influence.weights)
    # The inputs' versions are looked up; no rating or weight is read again.
    assert not [query for query in queries if "annotation_rating" in query["sql"] or "weight" in query["sql"]]


def test_pages_follow_ids():
    ids = np.array([7, 3, 9, 1])
    assert [
        part.tolist() if hasattr(part, "tolist") else part for part in page_of(ids, after=None, before=None, size=2)
    ] == [[7, 3], False, True]
    assert page_of(ids, after=3, before=None, size=2)[0].tolist() == [9, 1]
    assert page_of(ids, after=None, before=9, size=2)[0].tolist() == [7, 3]
    assert page_of(ids, after=99, before=None, size=2)[0].tolist() == [7, 3]


def test_a_suggestion_shows_what_more_ratings_would_change(release):
    listed = attention(release).listed["uncertain"]
    suggested = suggestion(release, "uncertain", listed)
    assert 1 <= suggested.ratings <= 10
    half_widths = [half_width for _, half_width in suggested.further]
    assert suggested.now > half_widths[0] > half_widths[-1] > 0


def test_a_suggestion_for_ratings_that_do_not_vary_gives_a_reason(project):
    dataset = make_dataset(project)
    campaign, item = make_campaign(dataset), make_item(dataset, "i1")
    for text in ("Yes.", "Sure."):
        rate_all(campaign, make_response(item, text, "mined"), ann=4, bob=4)
    release = build(project, dataset, [campaign])
    suggested = suggestion(release, "tie", attention(release).listed["tie"])
    assert (suggested.further, suggested.because) == ([], "the spread of the ratings is unknown")
    assert np.isnan(suggested.now)


def test_the_data_sets_other_reference_sets_are_not_read(project, release):
    assert (
        build(project, release.reference_set.dataset, list(release.reference_set.campaigns.all())).content_hash
        == release.content_hash
    )
