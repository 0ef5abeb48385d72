"""What older versions stored reads as it did, and what they had begun is carried to its end."""

import numpy as np
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotation.models import Project
from metrics.models import ScoreRun, ScoreShard
from metrics.scoring.aggregates import MeanAggregate
from metrics.selectors.arrays import place_of, run_arrays, run_replicates
from metrics.selectors.runs import dropped_items
from metrics.services.results import runs_without_intervals, score_run_resample
from metrics.services.runs import score_run_create, score_run_execute
from tests.metrics.world import World, make_world

pytestmark = pytest.mark.django_db(transaction=True)


def migrated_to(name: str | None):
    executor = MigrationExecutor(connection)
    newest = [node for node in executor.loader.graph.leaf_nodes() if node[0] == "metrics"]
    executor.migrate(newest if name is None else [("metrics", name)])
    return MigrationExecutor(connection).loader.project_state([("metrics", name)] if name else newest).apps


@pytest.fixture
def world(project: Project) -> World:
    return make_world(project, n_items=3, n_raters=1)


def test_arrays_of_before_lie_in_one_shard(world: World) -> None:
    old = migrated_to("0001_initial")
    stored = {"Quill": [0.25, None, 0.75], "Echo": [0.5, 0.5, None]}
    run = old.get_model("metrics", "ScoreRun").objects.create(
        project_id=world.project.pk,
        dataset_id=world.dataset.pk,
        release_id=world.release.pk,
        metric="sbleu",
        signature="sbleu|old",
        signature_hash="0" * 64,
        item_ids=[item.pk for item in world.items],
        state="done",
        finished_at=timezone.now(),
        report={
            "items": 3,
            "items_scored": 2,
            "references": 6,
            "references_in_release": 6,
            "aggregate": {"kind": "mean"},
            "dropped": [{"reason": "no reference", "count": 1, "items": ["item-9"]}],
        },
    )
    run.systems.set([world.systems[name].pk for name in stored])
    for name, scores in stored.items():
        packed = [value for score in scores for value in (score or 0.0, float(score is not None))]
        run.scores.create(
            system_id=world.systems[name].pk, score=0.5, segment_scores=scores, statistics=packed, statistics_width=2
        )

    migrated_to(None)

    kept = ScoreRun.objects.get()
    arrays = run_arrays(kept)
    assert [system.name for system in arrays.systems] == ["Echo", "Quill"]
    assert arrays.item_ids.tolist() == [item.pk for item in world.items]
    np.testing.assert_array_equal(arrays.scores, [[0.5, 0.5, np.nan], [0.25, np.nan, 0.75]])
    np.testing.assert_array_equal(arrays.valid, [[True, True, False], [True, False, True]])
    assert arrays.aggregate == MeanAggregate()
    assert arrays.statistics().system_scores().tolist() == [0.5, 0.5]
    assert [score.n_segments for score in kept.scores.all()] == [2, 2]
    assert list(dropped_items(kept)) == [("no reference", "item-9")]
    assert place_of(kept, world.items[2]) == 2

    assert runs_without_intervals() == [kept.pk]
    score_run_resample(run_id=kept.pk)
    score_run_resample(run_id=kept.pk)
    assert runs_without_intervals() == []
    kept = ScoreRun.objects.get()
    assert kept.bootstrap["replicates"] == len(run_replicates(kept))
    # Two segments of Quill's count, 0.25 and 0.75: now and then both draws fall on one of them, or on neither.
    assert "Quill" in kept.bootstrap["undefined"]


def test_a_run_whose_parts_knew_of_each_other_in_one_piece_is_scored_from_the_start(world: World) -> None:
    fresh, _ = score_run_create(
        project=world.project, release=world.release, systems=world.hypotheses, metric="cider", parameters={}, by=None
    )
    score_run_execute(run_id=fresh.pk)
    expected = run_arrays(ScoreRun.objects.get()).scores
    old = migrated_to("0003_trained_models")
    run = old.get_model("metrics", "ScoreRun").objects.get()
    shards = old.get_model("metrics", "ScoreShard")
    shards.objects.filter(run=run).delete()
    run.state, run.finished_at, run.corpus_state = "queued", None, b"of all items, as it was written then"
    run.save()
    for number, step in enumerate(("state", "scores")):
        shards.objects.create(
            run=run, step=step, number=number, start=0, stop=3, state="done", finished_at=timezone.now()
        )

    migrated_to(None)

    assert not ScoreShard.objects.exists()
    score_run_execute(run_id=run.pk)
    kept = ScoreRun.objects.get()
    assert kept.state == "done"
    np.testing.assert_array_equal(run_arrays(kept).scores, expected)
