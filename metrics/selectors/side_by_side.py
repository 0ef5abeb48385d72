"""Runs side by side: on what they agree, and in which settings they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from metrics.models import ScoreRun
from metrics.scoring.registry import METRICS
from metrics.selectors.leaderboard_table import Column, Leaderboard
from metrics.selectors.runs import run_metric


@dataclass(frozen=True)
class Agreement:
    """How far two runs order the systems alike."""

    first: Column
    second: Column
    same: int
    pairs: int

    @property
    def differing_items(self) -> str:
        """Return which items each run is over; empty if they are the same."""
        first, second = self.first.items, self.second.items
        return "" if first == second else f"{first.label} against {second.label}"


def agreements(columns: Sequence[Column], board: Leaderboard) -> list[Agreement]:
    """Return, for the first run and each other one, on how many pairs of systems they agree about the better one."""
    if len(columns) < 2:
        return []
    first, places = columns[0], {column.key: place for place, column in enumerate(board.columns)}
    scores = {
        column.key: [
            None if cell.score is None else cell.score if column.higher_is_better else -cell.score
            for cell in (row.cells[places[column.key]] for row in board.rows)
        ]
        for column in columns
    }
    agreed = []
    for column in columns[1:]:
        both = [
            (a, b)
            for a, b in zip(scores[first.key], scores[column.key], strict=True)
            if a is not None and b is not None
        ]
        pairs = list(combinations(both, 2))
        same = sum(_sign(x[0] - y[0]) == _sign(x[1] - y[1]) for x, y in pairs)
        agreed.append(Agreement(first, column, same, len(pairs)))
    return agreed


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


@dataclass(frozen=True)
class Setting:
    name: str
    values: list[str]
    differs: bool


def settings_of(columns: Sequence[Column]) -> list[Setting]:
    """Return what runs were computed with, side by side."""
    runs = [column.run for column in columns if column.run]
    rows: dict[str, list[str]] = {
        "Metric": [column.label for column in columns],
        "References": [column.references_shown for column in columns],
        "Weights of references": [_weights(run) for run in runs],
        "Items": [_items(column) for column in columns],
        "Systems": [f"{run.n_systems:,}" for run in runs],  # type: ignore[attr-defined] # annotated
    }
    taken: dict[str, list[str]] = {}
    for index, run in enumerate(runs):
        metric = METRICS.get(run.metric)
        for parameter in metric.parameter_list() if metric else ():
            value = run.parameters.get(parameter.name, parameter.default)
            taken.setdefault(parameter.label, ["–"] * len(runs))[index] = str(parameter.written(value))
    rows |= taken
    return [Setting(name, values, len(set(values)) > 1) for name, values in rows.items()]


def _weights(run: ScoreRun) -> str:
    metric = run_metric(run)
    return "–" if metric is None else "read" if metric.needs_weights else "not read"


def _items(column: Column) -> str:
    is_positive = column.run is not None and column.run.subset.get("items") == "positive"
    return f"{column.items.count}, with a positive weight" if is_positive else column.items.label
