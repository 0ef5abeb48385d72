"""Score runs and trained models in an archive of a project."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from annotation.core.canonical import canonical_json
from annotation.models import Item, JobState, Project
from annotation.transfer import registry
from annotation.transfer.registry import Hashed, Renumber, Table
from metrics.models import RunGroup, ScoreRun, ScoreShard, ShardStep, SystemScore, TrainedModel
from metrics.selectors.arrays import INTEGER, iter_shards

DONE = {"state": JobState.DONE.value}
OF_DONE = {"run__state": JobState.DONE.value}
ITEM, MODEL = "annotation.item", "metrics.trainedmodel"


def _items(value: bytes, number: Renumber) -> bytes:
    """Rewrite the ids of a shard's segments."""
    if len(value) % INTEGER.itemsize:
        raise ValueError(f"a multiple of {INTEGER.itemsize} bytes")
    numbers = [number(ITEM, old) for old in np.frombuffer(value, dtype=INTEGER).tolist()]
    if None in numbers:
        raise ValueError("lines of items")
    return np.array(numbers, dtype=INTEGER).tobytes()


def _study(value: int, number: Renumber) -> int | None:
    return number("correlations.study", value)


def _shard_enters(row: dict[str, Any]) -> None:
    """Check that the arrays have the shapes that they are read with."""
    n, cells = row["n"], len(row["valid"])
    fits = (
        len(row["item_ids"]) == 8 * n
        and len(row["segment_scores"]) == 8 * cells
        and (cells % n == 0 if n else not cells)
    )
    if not fits or len(row["statistics"]) % (8 * cells or 1):
        raise ValueError("arrays of different shapes")


TABLES = [
    Table(
        TrainedModel,
        where=DONE,
        left_out=registry.job_left_out(content="a file as it was uploaded"),
        fixed=DONE,
        translate={
            "report": registry.in_turn(
                registry.each_within("overlap", registry.within(dataset_id="annotation.dataset")),
                registry.under("same_as", registry.within(id=MODEL)),
            )
        },
    ),
    Table(RunGroup, translate={"origin_pk": _study}),
    Table(ScoreRun, where=DONE, left_out=registry.job_left_out(), fixed=DONE),
    Table(ScoreRun.systems.through, where={"scorerun__state": JobState.DONE.value}),
    Table(
        ScoreShard,
        where=OF_DONE | {"step": ShardStep.SCORES.value},
        left_out=registry.job_left_out(corpus_state="of a run that is not done"),
        fixed=DONE,
        translate={"item_ids": _items},
        enter=_shard_enters,
    ),
    Table(SystemScore, where=OF_DONE),
]
STAYS = {"metrics.systemratings": "computed again when it is needed"}


def run_hash(run: ScoreRun) -> str:
    """Return the SHA-256 of a run's signature, the scores of its systems, and those of each segment."""
    columns = ("system__name", "position", "score", "low", "high", "n_segments", "undefined_reason")
    scores = [list(row) for row in run.scores.order_by("position").values_list(*columns)]
    digest = hashlib.sha256(canonical_json([run.signature, run.signature_hash, scores]))
    names = dict(Item.objects.filter(dataset=run.dataset_id).values_list("pk", "external_id"))
    for shard in iter_shards(run):
        digest.update(canonical_json([names.get(pk) for pk in shard.item_ids.tolist()]))
        digest.update(shard.scores.tobytes() + shard.valid.tobytes())
    return digest.hexdigest()


def _hashes(project: Project) -> Iterator[Hashed]:
    for run in project.score_runs.filter(**DONE).order_by("number"):
        yield Hashed("score run", f"{run.number}: {run.signature}"[:300], run_hash(run))


def _missing(project: Project) -> Iterator[tuple[str, str, str]]:
    """Name the files of models: their rows travel."""
    for model in project.trained_models.filter(**DONE).order_by("slug", "version"):
        yield "model", str(model), model.digest


registry.register(tables=TABLES, hashes=[_hashes], missing=[_missing], stays=STAYS)
