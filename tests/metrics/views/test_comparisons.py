"""Pairs of systems, and the metric against the raters: what the pages of a run say of both."""

import json

import numpy as np
import pytest
from django.urls import reverse
from scipy.stats import rankdata

from annotation.models import Criterion, Response, ResponseSource, SourceKind, System
from metrics.models import ScoreRun
from metrics.scoring.resampling import paired_difference
from metrics.selectors.arrays import run_replicates
from metrics.selectors.disagreements import disagreements_of
from metrics.selectors.runs import histogram_range, run_metric, segment_histogram
from tests.metrics.runs import finished_run
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db
PAGES = ("run-detail", "run-comparisons", "run-disagreements", "run-scores-figure")


@pytest.fixture
def run(world: World) -> ScoreRun:
    return finished_run(world, "rouge_l")


def address(run: ScoreRun, name: str, *more: object) -> str:
    return reverse(f"metrics:{name}", args=[run.project.slug, run.pk, *more])


def table(response) -> list[dict]:
    return json.loads(b"".join(response.streaming_content))


@pytest.mark.parametrize("name", PAGES)
def test_a_viewer_may_look_and_an_outsider_finds_nothing(run: ScoreRun, viewer, outsider, as_user, name: str) -> None:
    assert as_user(viewer).get(address(run, name)).status_code == 200
    assert as_user(outsider).get(address(run, name)).status_code == 404
    assert as_user(viewer).post(address(run, name)).status_code == 405


@pytest.mark.parametrize("name", PAGES[1:])
def test_a_run_without_scores_has_no_such_page(run: ScoreRun, viewer, as_user, name: str) -> None:
    ScoreRun.objects.filter(pk=run.pk).update(state="failed", error="no")

    assert as_user(viewer).get(address(run, name)).status_code == 404


# --- Pairs ------------------------------------------------------------------------------------------------------------


def test_every_score_stands_with_its_interval(run: ScoreRun, viewer, as_user) -> None:
    page = as_user(viewer).get(address(run, "run-detail")).content.decode()

    for score in run.scores.all():
        assert f"[{score.low:.4f}, {score.high:.4f}]" in page
    assert "published range: 0 to 1" in page


def test_all_pairs_come_as_a_table_tested_on_the_runs_own_resamples(world, run: ScoreRun, viewer, as_user) -> None:
    rows = table(as_user(viewer).get(address(run, "run-comparisons"), {"format": "json"}))

    scores = {score.system.name: score for score in run.scores.select_related("system")}
    replicates = run_replicates(run)
    assert {frozenset((row["better"], row["worse"])) for row in rows} == {
        frozenset(pair) for pair in (("Echo", "Parrot"), ("Echo", "Quill"), ("Parrot", "Quill"))
    }
    for row in rows:
        one, other = scores[row["better"]], scores[row["worse"]]
        alone = paired_difference(one.score, other.score, replicates[:, one.position], replicates[:, other.position])
        assert row["difference"] == pytest.approx(one.score - other.score)
        assert row["difference"] > 0
        assert row["p_value"] == pytest.approx(alone.p_value)
        assert row["p_holm"] >= row["p_value"]


def test_two_systems_asked_for_in_the_address_are_compared(world, run: ScoreRun, viewer, as_user) -> None:
    client, url = as_user(viewer), address(run, "run-comparisons")
    asked = {"a": world.systems["Quill"].pk, "b": world.systems["Echo"].pk}

    pair = client.get(url, asked).context["pair"]

    assert (pair.better.system.name, pair.worse.system.name) == ("Echo", "Quill")
    assert client.get(url, asked | {"b": asked["a"]}).context["pair"] is None
    assert client.get(url, asked | {"b": world.systems["Human"].pk}).status_code == 404


def test_where_lower_is_better_the_best_system_has_the_lowest_score(world: World, viewer, as_user) -> None:
    run = finished_run(world, "ter")

    page = as_user(viewer).get(address(run, "run-detail"))

    scores = [ranked.score.score for ranked in page.context["comparisons"].ranked]
    assert scores == sorted(scores)
    assert page.context["better"] == "lower"
    assert "published range: 0 and more" in page.content.decode()


def test_what_describes_outputs_is_better_in_no_direction(world: World, viewer, as_user) -> None:
    page = as_user(viewer).get(address(finished_run(world, "length"), "run-detail"))

    assert page.context["better"] == "neither"


def test_a_metric_over_one_pool_says_why_it_has_no_intervals(world: World, viewer, as_user) -> None:
    run = finished_run(world, "distinct")

    for name in ("run-detail", "run-comparisons"):
        assert "what is repeated is not distinct" in as_user(viewer).get(address(run, name)).content.decode()
    assert table(as_user(viewer).get(address(run, "run-comparisons"), {"format": "json"})) == []


def test_more_pairs_than_the_resamples_can_tell_apart_are_said_to_be_so(run: ScoreRun, viewer, as_user) -> None:
    """Three pairs among 40 resamples: 3 / 41 is above 0.05."""
    replicates = run_replicates(run)[:40]
    ScoreRun.objects.filter(pk=run.pk).update(
        replicates=replicates.tobytes(), bootstrap=run.bootstrap | {"replicates": 40}
    )

    page = as_user(viewer).get(address(run, "run-comparisons")).content.decode()

    assert "never below 1/41" in page


# --- Segments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["rouge_l", "ter", "length", "cider"])
def test_every_segment_is_in_a_bin_of_the_metrics_own_range(world: World, metric: str) -> None:
    run = finished_run(world, metric)

    found = segment_histogram(run)

    for name in HYPOTHESES:
        assert sum(entry["share"] for entry in found if entry["system"] == name) == pytest.approx(1)
    assert len(found) == 20 * len(HYPOTHESES)


def test_the_published_range_is_kept_where_it_is_narrow(world: World, run: ScoreRun) -> None:
    metric = run_metric(run)

    assert histogram_range(metric, np.array([0.2, 0.3])) == (0, 1)
    low, high = histogram_range(None, np.array([3.0, 17.0]))
    assert low <= 3 < 17 <= high
    assert histogram_range(None, np.array([5.0]))[0] <= 5


# --- Raters -----------------------------------------------------------------------------------------------------------


def test_outputs_are_ranked_by_metric_and_by_raters_where_the_raters_agree(world: World, run: ScoreRun) -> None:
    found = disagreements_of(run, spread=0.5, n=1000)

    judged = {
        response.pk: world.judgements[cell]
        for cell, response in world.responses.items()
        if cell[0] in HYPOTHESES and len([1 for other in world.responses.values() if other == response]) == 1
    }
    listed = [*found.liked_by_metric, *found.liked_by_raters]
    alone = [one for one in listed if one.response_id in judged]
    assert alone
    for one in alone:
        values = judged[one.response_id]
        assert one.rating == pytest.approx(np.mean(values))
        assert one.spread == pytest.approx(np.std(values, ddof=1))
        assert one.spread <= 0.5
    gaps = [one.gap for one in found.liked_by_metric]
    assert gaps == sorted(gaps, reverse=True)
    assert all(one.gap < 0 for one in found.liked_by_raters)
    assert found.n_agreed < found.n_rated


def test_ranks_are_shares_of_the_outputs_on_which_raters_agree(world: World, run: ScoreRun) -> None:
    found = disagreements_of(run, spread=10, n=1000)

    every = [*found.liked_by_metric, *found.liked_by_raters]
    ratings = np.array([one.rating for one in every])
    assert len(every) <= found.n_agreed == found.n_rated
    order = rankdata([one.rater_rank for one in every])
    assert order == pytest.approx(rankdata(ratings))


def test_a_lower_error_rate_is_a_higher_rank(world: World) -> None:
    found = disagreements_of(finished_run(world, "ter"), spread=10, n=1000)

    every = [*found.liked_by_metric, *found.liked_by_raters]
    best = max(every, key=lambda one: one.metric_rank)
    assert best.score == min(one.score for one in every)


def test_the_page_links_each_output_to_its_segment(world: World, run: ScoreRun, viewer, as_user) -> None:
    page = as_user(viewer).get(address(run, "run-disagreements"), {"spread": "2"})

    one = page.context["disagreements"].liked_by_metric[0]
    assert one.references
    assert address(run, "run-segment", one.systems[0][0], one.item_id) in page.content.decode()
    rows = table(as_user(viewer).get(address(run, "run-disagreements"), {"spread": "2", "format": "json"}))
    assert rows[0]["item"] == one.item.external_id


def test_where_nothing_was_rated_the_page_says_so(world: World, viewer, as_user) -> None:
    mute = System.objects.create(dataset=world.dataset, name="Mute")
    for place, item in enumerate(world.items):
        response = Response.objects.create(item=item, text=f"word {place}", text_key=f"{place:064}")
        ResponseSource.objects.create(response=response, item=item, kind=SourceKind.SYSTEM, system=mute)
    run = finished_run(world, "length", systems=[mute])

    assert "Nothing was rated" in as_user(viewer).get(address(run, "run-disagreements")).content.decode()


def test_where_scales_differ_one_campaign_is_asked_for(world: World, run: ScoreRun, viewer, as_user) -> None:
    """Echo says on every tenth item what Human says, which the other campaign rated."""
    Criterion.objects.filter(campaign=world.reference_campaign).update(scale_max=7)
    client, url = as_user(viewer), address(run, "run-disagreements")
    both = client.get(url).context["disagreements"]
    one = client.get(url, {"campaign": world.output_campaign.pk}).context["disagreements"]

    assert "share one scale" in both.reason
    assert not one.reason
    assert client.get(url, {"campaign": 10**9}).status_code == 404
