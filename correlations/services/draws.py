"""Resample a study's items and systems, in shards that any worker takes if there are several."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from django.db import transaction

from annotation.core.jobs import Claim, jobs_requeue
from annotation.core.packing import packed, unpacked
from annotation.core.progress import Beat
from annotation.core.shards import Enqueue, Work, is_going_on, shards_finish, shards_help
from annotation.models import JobState
from correlations.errors import StudyError
from correlations.models import Study, StudyDraws, StudyShard
from correlations.selectors.inputs import BoolArray, FloatArray
from correlations.services.inputs import Row, StudyInputs
from correlations.stats.draws import Drawn, Draws, joined, shard_draws, shard_sizes
from correlations.stats.parameters import ParameterValue
from metrics.scoring.aggregates import Aggregate, aggregate_from

Report = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Turned:
    """An aggregate whose scores are turned if low ones are the better."""

    aggregate: Aggregate
    sign: float

    def __call__(self, sums: FloatArray) -> FloatArray:
        return self.sign * self.aggregate(sums)


@dataclass(frozen=True, eq=False)
class RowOutputs:
    """Rows of a study, each on sets of outputs (T, S) that are scored and rated: its own, and those that it shares."""

    inputs: StudyInputs
    values: tuple[ParameterValue, ...]  # of each row, high scores the better
    places: Mapping[tuple[int, bytes], int]  # row and outputs, to the place of their draws
    entries: tuple[Drawn, ...]

    @classmethod
    def of(cls, inputs: StudyInputs, pairs: Sequence[tuple[int, int]]) -> "RowOutputs":
        values = tuple(row_value(row) for row in inputs.rows)
        places: dict[tuple[int, bytes], int] = {}
        entries: list[Drawn] = []
        scored = [row_outputs(inputs, row) for row in inputs.rows]
        needed = [(index, outputs) for index, outputs in enumerate(scored)]
        needed += [(index, scored[a] & scored[b]) for a, b in pairs for index in (a, b)]
        for index, outputs in needed:
            if places.setdefault((index, outputs.tobytes()), len(entries)) == len(entries):
                entries.append(Drawn(values[index], outputs))
        return cls(inputs, values, places, tuple(entries))

    def place(self, row: int, outputs: BoolArray) -> int:
        return self.places[row, outputs.tobytes()]


def row_value(row: Row) -> ParameterValue:
    """Return a row's scores, high ones the better."""
    statistics, sign = row.statistics, _sign(row)
    return ParameterValue(statistics.packed, Turned(statistics.aggregate, sign), sign * statistics.sentence_scores)


def _sign(row: Row) -> float:
    return 1.0 if row.metric.higher_is_better else -1.0


def row_outputs(inputs: StudyInputs, row: Row) -> BoolArray:
    """Return the outputs (T, S) that a row scores and raters rated."""
    return np.asarray(row.statistics.valid & np.isfinite(inputs.human.mean))


class Draw(Protocol):
    """Resamples items and systems; None if no resampling was requested."""

    def __call__(self, rows: RowOutputs, *, report: Report) -> Draws | None: ...


def draws_here(rows: RowOutputs, *, report: Report) -> Draws | None:
    """Return the coefficients on resampled items and systems, all drawn in this process."""
    human, seed, sizes = rows.inputs.human.mean, rows.inputs.specification.seed, _sizes(rows)
    drawn = []
    for number, size in enumerate(sizes):
        drawn.append(shard_draws(rows.entries, human, seed=seed, number=number, size=size))
        report(number + 1, len(sizes))
    return joined(drawn) if drawn else None


def _sizes(rows: RowOutputs) -> list[int]:
    bootstrap = rows.inputs.specification.bootstrap
    return list(shard_sizes(bootstrap)) if bootstrap >= 2 else []


def study_draws(rows: RowOutputs, *, study: Study, claim: Claim, report: Report, enqueue: Enqueue) -> Draws | None:
    """Return the coefficients on resampled items and systems; None if no resampling was requested.

    ``enqueue`` gets the number of helpers that would find work.
    """
    sizes = _sizes(rows)
    if len(sizes) < 2:
        return draws_here(rows, report=report)
    _create_shards(study, claim, packed(_written(rows)), sizes)
    shards = study.shards.all()

    def beat() -> None:
        report(shards.filter(state=JobState.DONE).count(), len(sizes))

    shards_finish(shards, _work(study.pk), failure=_failure, beat=beat, enqueue=enqueue)
    shape = len(rows.entries), -1
    drawn = shards.order_by("number").values_list("draws", "size")
    return joined([np.frombuffer(values, dtype="<f8").reshape(*shape, size) for values, size in drawn])


def study_draws_help(*, study_id: int) -> bool:
    """Draw shards of a study that another worker holds, for one turn. Return whether there may be more."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None or not is_going_on(study):
        return False
    return shards_help(study, study.shards.all(), _work(study_id))


def draws_delete(study: Study) -> None:
    """Delete what workers shared; call it in the transaction that ends the study."""
    study.shards.all().delete()
    StudyDraws.objects.filter(study=study).delete()


def _create_shards(study: Study, claim: Claim, content: bytes, sizes: Sequence[int]) -> None:
    """Store what shards are drawn from, and shards; those of an earlier attempt stay if they are of the same."""
    digest = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        claim.lock()
        if StudyDraws.objects.filter(study=study, digest=digest).exists():
            jobs_requeue(study.shards.all())
            return
        draws_delete(study)
        StudyDraws.objects.create(study=study, content=content, digest=digest)
        StudyShard.objects.bulk_create(
            StudyShard(study=study, number=number, size=size) for number, size in enumerate(sizes)
        )


def _work(study_id: int) -> Work[StudyShard]:
    """Return a function that draws a shard; it reads once what all are drawn from."""
    read: list[tuple[list[Drawn], FloatArray, int]] = []

    def work(shard: StudyShard, claim: Claim, beat: Beat) -> None:
        beat()
        if not read:
            stored = StudyDraws.objects.values_list("content", flat=True)
            read.append(_read(unpacked(bytes(stored.get(study=study_id)))))
        entries, human, seed = read[0]
        drawn = shard_draws(entries, human, seed=seed, number=shard.number, size=shard.size)
        claim.finish(draws=drawn.astype("<f8").tobytes())

    return work


def _failure(shard: StudyShard) -> StudyError:
    return StudyError(f"Resamples from {shard.number} x {shard.size} on: {shard.error}")


def _written(rows: RowOutputs) -> dict[str, Any]:
    """Return arrays and names for `_read`, without code."""
    values = [
        {
            "statistics": value.statistics,
            "scores": value.scores,
            "aggregate": row.statistics.aggregate.parameters(),
            "sign": _sign(row),
        }
        for value, row in zip(rows.values, rows.inputs.rows, strict=True)
    ]
    return {
        "seed": rows.inputs.specification.seed,
        "human": rows.inputs.human.mean,
        "values": values,
        "entries": [{"row": row, "outputs": rows.entries[place].outputs} for (row, _), place in rows.places.items()],
    }


def _read(tree: dict[str, Any]) -> tuple[list[Drawn], FloatArray, int]:
    values = [
        ParameterValue(each["statistics"], Turned(aggregate_from(each["aggregate"]), each["sign"]), each["scores"])
        for each in tree["values"]
    ]
    return [Drawn(values[each["row"]], each["outputs"]) for each in tree["entries"]], tree["human"], tree["seed"]
