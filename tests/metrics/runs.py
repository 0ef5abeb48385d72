"""Runs over a small world, waiting or finished."""

from collections.abc import Sequence

from annotation.models import System
from metrics.models import ScoreRun, ScoreShard
from metrics.scoring.registry import METRICS
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.shards import LAST_POSITION
from metrics.subsets import Subset
from tests.metrics.world import World

TEXT_METRICS = [name for name, metric in METRICS.items() if metric.group == "text"]
# Those that need neither a trained model nor a program of their own.
PLAIN_METRICS = [
    name
    for name, metric in METRICS.items()
    if metric.needs_references
    and name != "meteor"
    and not any(parameter.kind == "model" for parameter in metric.parameter_list())
]


def waiting_run(
    world: World, metric: str, *, subset: str = "all", systems: Sequence[System] = (), **parameters: object
) -> ScoreRun:
    source = {"dataset": world.dataset} if metric in TEXT_METRICS else {"release": world.release}
    run, _ = score_run_create(
        project=world.project,
        systems=systems or world.hypotheses,
        metric=metric,
        parameters=parameters,
        subset=Subset.parse(subset),
        by=None,
        **source,
    )
    return run


def cut_by_item(run: ScoreRun, n_items: int) -> None:
    """Give a run a shard for each item, so that there is time to disturb it."""
    stops = [*range(1, n_items), LAST_POSITION]
    ScoreShard.objects.bulk_create(
        ScoreShard(run=run, number=number, start=number, stop=stop) for number, stop in enumerate(stops)
    )


def finished_run(
    world: World, metric: str, *, subset: str = "all", systems: Sequence[System] = (), **parameters: object
) -> ScoreRun:
    run = waiting_run(world, metric, subset=subset, systems=systems, **parameters)
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run
