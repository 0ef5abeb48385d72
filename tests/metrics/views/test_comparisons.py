"""Pairs of systems, and the metric against the raters: what the pages of a run say of both."""

import json

import numpy as np
import pytest
from django.urls import reverse
from scipy.stats import rankdata

from annotation.models import Criterion, Response, ResponseSource, SourceKind, System
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.scoring.resampling import paired_difference
from metrics.selectors.arrays import run_replicates
from metrics.selectors.disagreements import disagreements_of
from metrics.selectors.runs import histogram_edges, histogram_range, run_metric, segment_histogram
from tests.metrics.runs import finished_run
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db
PAGES = ("run-detail", "run-comparisons", "run-disagreements", "run-scores-figure")


@pytest.fixture
def run(world: World) -> ScoreRun:
    return finished_run(world, "rouge_l")


def address(run: ScoreRun, name: str, *arguments: object) -> str:
    return reverse(f"metrics:{name}", args=[run.project.slug, run.number, *arguments])


def table(response) -> list[dict]:
    return json.loads(b"".join(response.streaming_content))


@pytest.mark.parametrize("name", PAGES)
def test_a_viewer_sees_the_page_and_an_outsider_gets_404(run: ScoreRun, viewer, outsider, as_user, name: str) -> None:
    assert as_user(viewer).get(address(run, name)).status_code == 200
    assert as_user(outsider).get(address(run, name)).status_code == 404
    assert as_user(viewer).post(address(run, name)).status_code == 405


@pytest.mark.parametrize("name", PAGES[1:])
def test_a_run_without_scores_has_no_such_page(run: ScoreRun, viewer, as_user, name: str) -> None:
    ScoreRun.objects.filter(pk=run.pk).update(state="failed", error="no")

    assert as_user(viewer).get(address(run, name)).status_code == 404


# --- Pairs ------------------------------------------------------------------------------------------------------------


def test_every_score_is_shown_with_its_interval(run: ScoreRun, viewer, as_user) -> None:
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
        better, worse = scores[row["better"]], scores[row["worse"]]
        expected = paired_difference(
            better.score,
            worse.score,
            *(replicates[:, score.position] for score in (better, worse)),
            n_segments=max(score.n_segments for score in scores.values()),
        )
        assert row["difference"] == pytest.approx(better.score - worse.score)
        assert row["difference"] > 0
        assert row["p_value"] == pytest.approx(expected.p_value)
        assert row["p_corrected"] >= row["p_value"]


def test_two_systems_named_in_the_address_are_compared(world, run: ScoreRun, viewer, as_user) -> None:
    client, url = as_user(viewer), address(run, "run-comparisons")
    query = {"a": world.systems["Quill"].pk, "b": world.systems["Echo"].pk}

    page = client.get(url, query)
    pair = page.context["pair"]

    assert f"more cautious than the range: so few items ({pair.n_items})" in page.content.decode()
    assert pair.n_items == len(world.items)
    assert (pair.better.system.name, pair.worse.system.name) == ("Echo", "Quill")
    assert client.get(url, query | {"b": query["a"]}).context["pair"] is None
    assert client.get(url, query | {"b": world.systems["Human"].pk}).status_code == 404


def test_where_lower_is_better_the_best_system_has_the_lowest_score(world: World, viewer, as_user) -> None:
    run = finished_run(world, "ter")

    page = as_user(viewer).get(address(run, "run-detail"))

    scores = [ranked.score.score for ranked in page.context["comparisons"].ranked]
    assert scores == sorted(scores)
    assert page.context["better"] == "lower"
    assert "published range: 0 and more" in page.content.decode()


def test_a_metric_that_describes_outputs_has_no_better_direction(world: World, viewer, as_user) -> None:
    page = as_user(viewer).get(address(finished_run(world, "length"), "run-detail"))

    assert page.context["better"] == "neither"


def test_a_metric_over_one_pool_says_why_it_has_no_intervals(world: World, viewer, as_user) -> None:
    run = finished_run(world, "distinct")

    for name in ("run-detail", "run-comparisons"):
        assert "what is repeated is not distinct" in as_user(viewer).get(address(run, name)).content.decode()
    assert table(as_user(viewer).get(address(run, "run-comparisons"), {"format": "json"})) == []


# --- Segments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["rouge_l", "ter", "length", "cider"])
def test_every_segment_is_in_a_bin_of_the_metrics_own_range(world: World, metric: str) -> None:
    run = finished_run(world, metric)

    bins = segment_histogram(run)

    for name in HYPOTHESES:
        assert sum(entry["share"] for entry in bins if entry["system"] == name) == pytest.approx(1)
    if metric != "length":  # whole numbers
        assert len(bins) == 20 * len(HYPOTHESES)


def test_whole_numbers_each_have_a_bin_around_them() -> None:
    judge = External(scorer="judge", level="segment", lowest=1.0, highest=5.0, content=f"sha256:{0:064}")
    answers = np.array([2.0, 4.0, 4.0])

    assert histogram_edges(judge, answers).tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert histogram_edges(None, answers).size == 21  # of no label, and no wider than 2
    assert histogram_edges(judge, answers + 0.5).size == 21


def test_the_published_range_is_kept_where_it_is_narrow(world: World, run: ScoreRun) -> None:
    metric = run_metric(run)

    assert histogram_range(metric, np.array([0.2, 0.3])) == (0, 1)
    low, high = histogram_range(None, np.array([3.0, 17.0]))
    assert low <= 3 < 17 <= high
    assert histogram_range(None, np.array([5.0]))[0] <= 5


# --- Raters -----------------------------------------------------------------------------------------------------------


def test_outputs_are_ranked_by_metric_and_by_raters_where_the_raters_agree(world: World, run: ScoreRun) -> None:
    disagreements = disagreements_of(run, spread=0.5, n=1000)

    judged = {
        response.pk: world.judgements[cell]
        for cell, response in world.responses.items()
        if cell[0] in HYPOTHESES
        and len([1 for other_response in world.responses.values() if other_response == response]) == 1
    }
    listed = [*disagreements.liked_by_metric, *disagreements.liked_by_raters]
    comparable = [output for output in listed if output.response_id in judged]
    assert comparable
    for output in comparable:
        values = judged[output.response_id]
        assert output.rating == pytest.approx(np.mean(values))
        assert output.spread == pytest.approx(np.std(values, ddof=1))
        assert output.spread <= 0.5
    gaps = [output.gap for output in disagreements.liked_by_metric]
    assert gaps == sorted(gaps, reverse=True)
    assert all(output.gap < 0 for output in disagreements.liked_by_raters)
    assert disagreements.n_agreed < disagreements.n_rated


def test_ranks_are_shares_of_the_outputs_on_which_raters_agree(world: World, run: ScoreRun) -> None:
    disagreements = disagreements_of(run, spread=10, n=1000)

    outputs = [*disagreements.liked_by_metric, *disagreements.liked_by_raters]
    ratings = np.array([output.rating for output in outputs])
    assert len(outputs) <= disagreements.n_agreed == disagreements.n_rated
    order = rankdata([output.rater_rank for output in outputs])
    assert order == pytest.approx(rankdata(ratings))


def test_a_lower_error_rate_is_a_higher_rank(world: World) -> None:
    disagreements = disagreements_of(finished_run(world, "ter"), spread=10, n=1000)

    outputs = [*disagreements.liked_by_metric, *disagreements.liked_by_raters]
    best = max(outputs, key=lambda output: output.metric_rank)
    assert best.score == min(output.score for output in outputs)


def test_the_page_links_each_output_to_its_segment(world: World, run: ScoreRun, viewer, as_user) -> None:
    page = as_user(viewer).get(address(run, "run-disagreements"), {"spread": "2"})

    output = page.context["disagreements"].liked_by_metric[0]
    assert output.references
    assert address(run, "run-segment", output.systems[0][0], output.item_id) in page.content.decode()
    rows = table(as_user(viewer).get(address(run, "run-disagreements"), {"spread": "2", "format": "json"}))
    assert rows[0]["item"] == output.item.external_id


def test_a_metric_without_a_better_direction_has_no_first_system(world: World, viewer, as_user) -> None:
    run = finished_run(world, "length")
    for name in ("run-detail", "run-comparisons"):
        text = as_user(viewer).get(address(run, name)).content.decode()
        assert "Neither a high nor a low value is better in itself, so no system is first." in " ".join(text.split())
        assert "system may be" not in text


def test_the_page_says_that_nothing_was_rated(world: World, viewer, manager, as_user) -> None:
    mute = System.objects.create(dataset=world.dataset, name="Mute")
    for index, item in enumerate(world.items):
        response = Response.objects.create(item=item, text=f"word {index}", text_key=f"{index:064}")
        ResponseSource.objects.create(response=response, item=item, kind=SourceKind.SYSTEM, system=mute)
    run = finished_run(world, "length", systems=[mute])

    for user in (viewer, manager):
        page = as_user(user).get(address(run, "run-disagreements")).content.decode()
        assert "No output was rated" in page
        assert (f"campaigns/new/?dataset={run.dataset.slug}" in page) == (user == manager)


def test_where_scales_differ_they_are_put_on_one(world: World, run: ScoreRun, viewer, as_user) -> None:
    """On every tenth item Echo's output is Human's, which the other campaign rated."""
    Criterion.objects.filter(campaign=world.reference_campaign).update(scale_max=7)
    client, url = as_user(viewer), address(run, "run-disagreements")
    of_both = client.get(url).context["disagreements"]
    of_one = client.get(url, {"campaign": world.output_campaign.pk}).context["disagreements"]

    assert (of_both.reason, of_both.low, of_both.high) == ("", -1, 1)
    assert (of_one.reason, of_one.low, of_one.high) == ("", 1, 5)
    assert client.get(url, {"campaign": 10**9}).status_code == 404
