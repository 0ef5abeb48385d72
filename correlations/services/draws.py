"""Resample a study's items and systems: each row's scores and outputs, written without code and read again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correlations.selectors.inputs import BoolArray, FloatArray
from correlations.services.inputs import Row, StudyInputs, Turned
from correlations.stats.draws import Drawn, shard_draws, shard_sizes
from correlations.stats.parameters import ParameterValue
from metrics.scoring.aggregates import aggregate_from

Report = Callable[[int, int], None]


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


def draw_sizes(rows: RowOutputs) -> list[int]:
    """Return how many draws each shard has; none if no resampling was requested."""
    bootstrap = rows.inputs.specification.bootstrap
    return list(shard_sizes(bootstrap)) if bootstrap >= 2 else []


def written_draws(rows: RowOutputs) -> dict[str, Any]:
    """Return arrays and names for `read_draws`, without code."""
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


def read_draws(tree: dict[str, Any]) -> Callable[[int, int], FloatArray]:
    """Return what draws a shard, of a number and a size."""
    values = [
        ParameterValue(each["statistics"], Turned(aggregate_from(each["aggregate"]), each["sign"]), each["scores"])
        for each in tree["values"]
    ]
    entries = [Drawn(values[each["row"]], each["outputs"]) for each in tree["entries"]]

    def draw(number: int, size: int) -> FloatArray:
        return shard_draws(entries, tree["human"], seed=tree["seed"], number=number, size=size)

    return draw
