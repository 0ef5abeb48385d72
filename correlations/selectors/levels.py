"""How metrics agree with raters over systems and over outputs, from a study's result, as its page says it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import counted, decimals
from correlations.charts.systems import system_scatter
from correlations.results.levels import (
    BY_LINE,
    BY_RANGE,
    ROUNDED_DOWN,
    LevelEstimate,
    OutputLevel,
    RowLevels,
    ScaledErrors,
    SystemLevel,
)
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.reports import references_in_words
from correlations.stats.system_level import USUAL

LEAD = "pearson"
CARRIES = 0.15  # a change of Pearson's r from which one system is said to carry the result
FEW_SYSTEMS = 8  # below, even a coefficient of 0.7 may be chance: its p is above 0.05
SCALED = {
    BY_RANGE: "lowest and highest score on the ends of the scale",
    ROUNDED_DOWN: "the same, rounded down to half points",
    BY_LINE: "by straight lines, each fitted to the ratings of other items",
}


@dataclass(frozen=True)
class RowOfLevels:
    """A row of the study with its levels; the page's tables show these."""

    row: StudyRow
    index: int
    levels: RowLevels

    @property
    def references(self) -> str:
        return references_in_words(self.row)

    @property
    def system(self) -> SystemLevel:
        return self.levels.system

    @property
    def lead(self) -> LevelEstimate:
        return self.system.coefficients[LEAD]

    @property
    def estimates(self) -> list[LevelEstimate]:
        return [self.system.coefficients[key] for key in USUAL]

    @property
    def without(self) -> float | None:
        return None if self.system.without is None else self.system.without.values[LEAD]

    @property
    def carried(self) -> bool:
        """Return whether one system carries the coefficient."""
        if self.lead.value is None or self.system.without is None:
            return False
        return self.without is None or abs(self.lead.value - self.without) >= CARRIES

    @property
    def all_outputs(self) -> OutputLevel:
        return self.levels.outputs[0]

    @property
    def within_items(self) -> OutputLevel:
        return self.levels.outputs[1]

    @property
    def within_systems(self) -> OutputLevel:
        return self.levels.outputs[2]

    @property
    def errors(self) -> list[tuple[str, ScaledErrors]]:
        return [(SCALED[each.scaled], each) for each in self.levels.errors]


@dataclass(frozen=True)
class LevelsReport:
    """What the page shows: all rows, those that agree best over systems first, and one of them in full."""

    rows: Sequence[RowOfLevels]
    chosen: RowOfLevels

    @property
    def best(self) -> RowOfLevels | None:
        """Return the row that agrees best over systems; None if none is defined."""
        return self.rows[0] if self.rows[0].lead.value is not None else None

    @property
    def best_of_outputs(self) -> RowOfLevels | None:
        """Return the row that agrees best over all outputs; None if none is defined."""
        found = max(self.rows, key=lambda row: _order(row.all_outputs.coefficients[LEAD]))
        return found if found.all_outputs.coefficients[LEAD].value is not None else None

    @property
    def n_systems(self) -> int:
        return len(self.chosen.system.systems)

    @property
    def few_systems(self) -> bool:
        return self.n_systems < FEW_SYSTEMS


def _order(estimate: LevelEstimate) -> float:
    return -math.inf if estimate.value is None else estimate.value


def levels_report(result: StudyResult, row: int | None) -> LevelsReport | None:
    """Return the report with a row in full, by default the best; None for an unknown row."""
    entries = [
        RowOfLevels(each, index, levels)
        for index, (each, levels) in enumerate(zip(result.rows, result.levels, strict=True))
    ]
    ordered = sorted(entries, key=lambda entry: -_order(entry.lead))
    chosen = next((entry for entry in ordered if row is None or entry.index == row), None)
    return None if chosen is None else LevelsReport(ordered, chosen)


def levels_sentence(result: StudyResult) -> str:
    """Return in one sentence which row agrees best over systems, for pages that lead to the report."""
    report = levels_report(result, None)
    if report is None or report.best is None:
        return "Over systems no coefficient is defined; the page says why."
    best = report.best
    n = counted(report.n_systems, "system")
    sentence = f"Over {n}, r is highest for {best.row.label}: {_shown(best.lead.value)}"
    without = best.system.without
    return f"{sentence}; {_shown(best.without)} without {without.system}." if without else f"{sentence}."


def _shown(value: float | None) -> str:
    return "undefined" if value is None else decimals(value)


def systems_figure(result: StudyResult, index: int, theme: Theme) -> Spec | None:
    """Return the chart of a row's systems; None if none has a score and a rating."""
    row, level = result.rows[index], result.levels[index].system
    points = [(each.rating, each.score, each.system) for each in level.systems]
    drawn = [(rating, score, name) for rating, score, name in points if rating is not None and score is not None]
    if not drawn:
        return None
    ratings, scores, names = zip(*drawn, strict=True)
    subtitle = f"Pearson’s r = {_shown(level.coefficients[LEAD].value)}"
    return system_scatter(ratings, scores, names, metric_name=row.label, subtitle=subtitle, theme=theme)
