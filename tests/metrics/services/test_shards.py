"""A run in shards equals the run in one piece, whichever workers take its shards and in whatever order."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from django.db.models.functions import Now

from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_claim, job_request_cancel, job_requeue, job_run
from annotation.models import JobState, Project
from metrics.models import ScoreRun, ScoreShard, ShardStep
from metrics.scoring.distinct import Distinct
from metrics.scoring.metric import Metric, Workspace
from metrics.scoring.resampling import REPLICATES, SEED, bootstrap_replicates, percentile_interval
from metrics.scoring.segments import Segments
from metrics.selectors.arrays import (
    items_at,
    iter_shards,
    run_arrays,
    run_replicates,
    segment_index,
    segment_items,
    segment_scores,
    segments_at,
)
from metrics.selectors.runs import dropped_items
from metrics.services import shards
from metrics.services.runs import score_run_create, score_run_execute, score_run_help
from metrics.subsets import Subset
from tests.metrics.world import World, make_world

pytestmark = pytest.mark.django_db

N_ITEMS = 24
METRICS = {
    "bleu": ("all", {"tokenize": "whitespace"}),
    "delta_bleu": ("w>=-0.5", {"tokenize": "whitespace"}),
    "sbleu": ("original", {"tokenize": "whitespace"}),
    "chrf": ("all", {}),
    "cider": ("all", {"tokenize": "whitespace"}),
}
POOLED = {
    "distinct": {"tokenize": "whitespace", "order": 1},
    "entropy": {"tokenize": "whitespace", "order": 2, "base": "2"},
    "self_bleu": {"tokenize": "whitespace"},
}


@pytest.fixture
def world(project: Project) -> World:
    """An item in the middle is left out, so that shards hold unequal numbers of segments."""
    world = make_world(project, n_items=N_ITEMS, n_raters=2)
    world.systems["Echo"].outputs.filter(item=world.items[9]).delete()
    return world


# Three systems' outputs of eight items, and two references of each: three shards.
OUTPUTS, TEXTS = 24, 40


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_TEXTS", TEXTS)


def created(world: World, metric: str = "bleu") -> ScoreRun:
    subset, parameters = METRICS.get(metric) or ("all", POOLED[metric])
    run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric=metric,
        parameters=parameters,
        subset=Subset.parse(subset),
        by=None,
    )
    return run


def executed(run: ScoreRun, **options: object) -> ScoreRun:
    score_run_execute(run_id=run.pk, **options)
    run = ScoreRun.objects.get(pk=run.pk)
    assert run.state == JobState.DONE, run.error
    return run


def everything(run: ScoreRun) -> dict[str, object]:
    """What a run is, as values that compare."""
    arrays = run_arrays(run)
    return {
        "items": arrays.item_ids.tolist(),
        "scores": arrays.scores.tobytes(),
        "valid": arrays.valid.tobytes(),
        "packed": arrays.packed.tobytes(),
        "aggregate": arrays.aggregate,
        "replicates": run.replicates and bytes(run.replicates),
        "bootstrap": run.bootstrap,
        "report": {key: value for key, value in run.report.items() if key != "job_seconds"},
        "systems": list(run.scores.order_by("position").values_list("score", "low", "high", "n_segments", "details")),
        "dropped": sorted(dropped_items(run)),
    }


@pytest.mark.parametrize("n_ranges", [1, 5])
@pytest.mark.parametrize("metric", [*METRICS, *POOLED])
def test_shards_make_the_result_of_one_piece(
    world: World, monkeypatch: pytest.MonkeyPatch, metric: str, n_ranges: int
) -> None:
    monkeypatch.setattr(shards, "ranges_of_states", lambda run: n_ranges)
    run = created(world, metric)
    expected = everything(executed(run))
    assert run.shards.count() == 1
    run.delete()
    monkeypatch.setattr(shards, "SHARD_TEXTS", OUTPUTS if metric in POOLED else TEXTS)

    cut = executed(created(world, metric))

    assert [(shard.start, shard.first, shard.n) for shard in cut.shards.order_by("number")] == [
        (0, 0, 8),
        (8, 8, 7),
        (16, 15, 8),
    ]
    assert everything(cut) == expected


@pytest.mark.parametrize(("metric", "n_ranges"), [("bleu", 0), ("delta_bleu", 1), ("cider", 3), ("self_bleu", 3)])
def test_parts_receive_the_state_of_the_corpus_range_by_range(
    world: World, monkeypatch: pytest.MonkeyPatch, metric: str, n_ranges: int
) -> None:
    monkeypatch.setattr(shards, "SHARD_TEXTS", OUTPUTS if metric in POOLED else TEXTS)
    monkeypatch.setattr(shards, "JOINED_BYTES", 4000)
    n_joined: list[int] = []
    corpus_state = shards._corpus_state

    def watched(run: ScoreRun, *arguments: object) -> object:
        state = corpus_state(run, *arguments)
        n_joined.append(run.shards.filter(step=ShardStep.JOINED).count() if state is not None else 0)
        return state

    monkeypatch.setattr(shards, "_corpus_state", watched)

    run = executed(created(world, metric))

    assert len(n_joined) == 3
    assert min(n_joined) >= n_ranges
    assert bool(max(n_joined)) == bool(n_ranges)
    # Kept no longer than they are needed.
    assert set(run.shards.values_list("step", flat=True)) == {ShardStep.SCORES}


def test_a_run_whose_holder_died_while_joining_joins_from_the_start(
    world: World, small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = created(world, "cider")
    expected = everything(executed(finished))
    finished.delete()
    run, create = created(world, "cider"), shards._create

    def dies(run: ScoreRun, claim: Claim, step: ShardStep, cut: object) -> None:
        if step == ShardStep.SCORES:
            raise AnnotationError("The power failed.")
        create(run, claim, step, cut)

    monkeypatch.setattr(shards, "_create", dies)
    score_run_execute(run_id=run.pk)
    assert run.shards.filter(step=ShardStep.JOINED).count() == 1
    monkeypatch.setattr(shards, "_create", create)
    run.refresh_from_db()

    assert job_requeue(run)

    assert everything(executed(run)) == expected


def test_helpers_take_what_the_holder_has_not(world: World, small_shards: None) -> None:
    run, enqueued = created(world), []

    def enqueue(helpers: int) -> None:
        enqueued.append(helpers)
        assert score_run_help(run_id=run.pk) is False  # nothing is left

    executed(run, enqueue=enqueue)

    assert enqueued == [2]
    assert run.shards.filter(state=JobState.DONE, attempt=1).count() == 3


def test_helping_with_a_run_that_no_worker_holds_does_nothing(world: World, small_shards: None) -> None:
    run = created(world)

    assert score_run_help(run_id=run.pk) is False
    assert not run.shards.exists()


def test_a_shard_whose_worker_died_is_taken_up_again_and_no_other(world: World, small_shards: None) -> None:
    run = created(world)

    def abandon_second_shard(helpers: int) -> None:
        lost = run.shards.order_by("number")[1]
        assert job_claim(ScoreShard, lost.pk) is not None
        ScoreShard.objects.filter(pk=lost.pk).update(lease_expires_at=Now() - timedelta(seconds=1))

    executed(run, enqueue=abandon_second_shard)

    assert list(run.shards.order_by("number").values_list("attempt", flat=True)) == [1, 2, 1]


def test_what_was_done_before_a_run_was_cancelled_is_not_done_again(
    world: World, small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = created(world)

    def and_cancel(*arguments: object) -> None:
        job_run(*arguments)
        job_request_cancel(run)

    monkeypatch.setattr("annotation.core.shards.job_run", and_cancel)
    monkeypatch.setattr("annotation.core.progress.INTERVAL_SECONDS", 0)
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    assert run.shards.filter(state=JobState.DONE).count() == 1
    monkeypatch.undo()

    assert job_requeue(run)
    executed(run)

    assert run.shards.filter(attempt=1, state=JobState.DONE).count() == 3


def test_a_run_fails_with_what_a_shard_says(world: World, small_shards: None, monkeypatch: pytest.MonkeyPatch) -> None:
    load = shards.shard_corpus

    def damaged(run: ScoreRun, shard: ScoreShard, subset: Subset) -> object:
        if shard.number == 1:
            raise AnnotationError("The model is gone.")
        return load(run, shard, subset)

    monkeypatch.setattr(shards, "shard_corpus", damaged)
    run = created(world)

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert (run.state, run.error) == (JobState.FAILED, "Items from position 8 on: The model is gone.")
    assert not run.scores.exists()


def test_outputs_that_change_meanwhile_are_not_scored_under_the_old_signature(world: World, small_shards: None) -> None:
    run = created(world)

    def change(helpers: int) -> None:
        world.systems["Quill"].outputs.filter(item=world.items[0]).update(response=world.responses["Echo", 0])

    score_run_execute(run_id=run.pk, enqueue=change)

    run.refresh_from_db()
    assert (run.state, run.error) == (
        JobState.FAILED,
        "The outputs were changed while they were scored. Start the run again.",
    )


def test_intervals_are_those_of_the_stored_statistics(world: World) -> None:
    run = executed(created(world, "delta_bleu"))
    arrays = run_arrays(run)
    packed = arrays.packed[:, arrays.valid.any(axis=0)]

    expected = bootstrap_replicates([packed], packed.shape[1], arrays.aggregate)

    np.testing.assert_array_equal(run_replicates(run), expected)
    assert run.bootstrap == {"replicates": REPLICATES, "seed": SEED, "method": "percentile"}
    for score, replicates in zip(run.scores.order_by("position"), expected.T, strict=True):
        interval = percentile_interval(replicates)
        assert (score.low, score.high) == (interval.low, interval.high)
        assert score.low < score.score < score.high


def test_a_pool_of_outputs_has_a_score_and_no_interval(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_TEXTS", OUTPUTS)
    run, _ = score_run_create(
        project=world.project,
        systems=world.hypotheses,
        dataset=world.dataset,
        metric="distinct",
        parameters={"tokenize": "whitespace"},
        by=None,
    )

    run = executed(run)

    indices = [index for index in range(N_ITEMS) if index != 9]
    texts = [[world.responses[system.name, index].text for index in indices] for system in world.hypotheses]
    expected = Workspace(Segments(texts, [[] for _ in indices])).statistics(Distinct(tokenize="whitespace"))
    assert [score.score for score in run.scores.order_by("position")] == expected.system_scores().tolist()
    assert set(run.scores.values_list("low", "high")) == {(None, None)}
    assert run.bootstrap == {"reason": "a resample repeats segments, and what is repeated is not distinct"}
    # An output too short for a bigram has no score of its own, and yet is in the pool.
    assert run.report["items_scored"] == run.report["items"]
    assert run.replicates is None
    assert run.shards.count() == 3


def test_a_pool_that_no_parts_make_is_refused_where_it_is_too_large(
    world: World, small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a package's own metric that takes outputs as one pool and says nothing of parts."""
    monkeypatch.setattr(Distinct, "corpus_state", Metric.corpus_state)
    monkeypatch.setattr(shards, "POOLED_TEXTS", 50)
    run, _ = score_run_create(
        project=world.project,
        systems=world.hypotheses,
        dataset=world.dataset,
        metric="distinct",
        parameters={},
        by=None,
    )

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "found 72 outputs; accepted: at most 50" in run.error


def test_a_run_in_which_no_segment_counts_says_why_it_has_no_interval(world: World) -> None:
    run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric="delta_bleu",
        parameters={"tokenize": "whitespace"},
        subset=Subset.parse("w>1"),
        by=None,
    )

    run = executed(run)

    assert run.bootstrap == {"reason": "no segment counts"}
    assert set(run.scores.values_list("score", "low", "undefined_reason", "n_segments")) == {
        (None, None, "no item has a usable reference", 0)
    }


@pytest.fixture
def cut(world: World, small_shards: None) -> ScoreRun:
    return executed(created(world))


def test_indices_and_items_are_found_across_shards(world: World, cut: ScoreRun) -> None:
    ids = segment_items(cut)

    assert ids.tolist() == [item.pk for index, item in enumerate(world.items) if index != 9]
    assert items_at(cut, [22, 0, 8]) == [ids[22], ids[0], ids[8]]
    item_ids, scores = segments_at(cut, [20, 3, 9])
    assert item_ids == [ids[20], ids[3], ids[9]]
    np.testing.assert_array_equal(scores, run_arrays(cut).scores[:, [20, 3, 9]])
    assert [segment_index(cut, world.items[index]) for index in (0, 8, 9, 10, 23)] == [0, 8, None, 9, 22]
    assert sum(shard.item_ids.size for shard in iter_shards(cut)) == 23


def test_a_system_is_read_without_the_others(cut: ScoreRun, django_assert_num_queries: Callable) -> None:
    arrays = run_arrays(cut)

    for position in range(3):
        with django_assert_num_queries(1):
            assert segment_scores(cut, position).tolist() == arrays.scores[position].tolist()
