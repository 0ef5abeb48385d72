"""A parameter study's result as the tables, sentences and charts of its report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import card, decimals
from correlations.charts.parameters import ParameterAxis, parameter_chart
from correlations.models import ParameterStudy
from correlations.results.parameters import (
    CrossValidation,
    Level,
    LevelEstimate,
    ParameterPoint,
    ParameterResult,
    ParameterSweep,
    Without,
)
from correlations.selectors.methods import raters_in_words
from correlations.selectors.reports import NAN, number, references_of
from correlations.selectors.tables import Columns, Table, high, low, table_of
from correlations.selectors.tuned import MARK
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.parameters import best_index
from metrics.scoring.registry import METRICS

LEVELS = {"system": "Over systems", "segment": "Over rated outputs"}
FEW_SYSTEMS = 10
DRIVEN = 0.2  # by how much one system may move a coefficient before the report names it
INTERVALS = "pearson"  # the coefficient whose interval tables and charts show


@dataclass(frozen=True)
class SweepReport:
    """One parameter, with the sentences and tables of its report."""

    sweep: ParameterSweep
    result: ParameterResult

    def _value(self, point: ParameterPoint | None) -> float | None:
        return None if point is None else point.system.coefficients[self.result.coefficient].value

    @property
    def own_value(self) -> float | None:
        return self._value(self.sweep.in_use)

    @property
    def best_value(self) -> float | None:
        return self._value(self.sweep.best_point)

    @property
    def lead(self) -> str:
        """Return what the value in use and the best one reach over systems."""
        sweep, label = self.sweep, self.result.deciding.label
        if sweep.best_point is None:
            return f"{sweep.label}: no coefficient over systems is defined ({sweep.in_use.system.reason})."
        own = "undefined" if self.own_value is None else decimals(self.own_value, 3)
        if sweep.best == sweep.chosen:
            in_use = f"the value in use, {sweep.in_use.shown}, is also the best"
            return f"{sweep.label}: {in_use}: {label} = {own} over systems."
        best = decimals(self.best_value or 0.0, 3)
        return (
            f"{sweep.label}: {label} over systems is {own} at {sweep.in_use.shown}, the value in use, and highest, "
            f"{best}, at {sweep.best_point.shown} ({MARK})."
        )

    @property
    def halves_sentence(self) -> str:
        """Return what the best value of one random half of the items reaches on the other; empty without halves."""
        halves = self.sweep.halves
        if halves is None:
            return ""
        return (
            f"On random halves: the best value has {self.result.deciding.label} {decimals(halves.chosen_on, 3)} on the "
            f"half where it was chosen, {decimals(halves.judged_on, 3)} on the other, where the value in use has "
            f"{decimals(halves.own, 3)}; means over {halves.n:,} halvings of {self.sweep.items:,} items."
        )

    @property
    def splits_sentence(self) -> str:
        """Return what the best value on one split reaches on the other; empty without splits."""
        splits = self.sweep.splits
        if splits is None or self.split_best is None:
            return ""
        judged, own = ("undefined" if value is None else decimals(value, 3) for value in (splits.judged_on, splits.own))
        return (
            f"On splits: {self.split_best} is best on “{splits.choose_on}”; on “{splits.judge_on}” it reaches "
            f"{judged}, the value in use {own}."
        )

    @property
    def chosen_sentence(self) -> str:
        """Return which value cross-validation chooses, and what it reaches on other items; empty without it."""
        cross = self.sweep.cross
        if cross is None:
            return ""
        order = sorted(range(len(cross.shares)), key=lambda index: -cross.shares[index])
        named = [
            f"{self.sweep.shown(index)} in {cross.shares[index]:.0%}" for index in order[:2] if cross.shares[index]
        ]
        text = f"Chosen by cross-validation: {' and '.join(named)} of {cross.judged:,} folds. "
        text += f"On items that it was not chosen on, the chosen value reaches {decimals(cross.outside, 3)}"
        if cross.loss is not None:
            text += f", {decimals(abs(cross.loss), 3)} {'less' if cross.loss >= 0 else 'more'} than on those it was"
        text += f"; the value in use, {self.sweep.in_use.shown}, reaches {decimals(cross.own, 3)} there"
        return f"{text}. {self._gain(cross)}"

    def _gain(self, cross: CrossValidation) -> str:
        low, high = cross.gain_range
        spread = f"{decimals(low, 3, plus=True)} to {decimals(high, 3, plus=True)} over the middle 95% of folds"
        if cross.gain > 0:
            return f"Choosing gains {decimals(cross.gain, 3)} ({spread})."
        return f"Choosing gains nothing ({decimals(cross.gain, 3, plus=True)}; {spread})."

    @property
    def has_ngrams(self) -> bool:
        return self.sweep.in_use.ngrams is not None

    @property
    def rows(self) -> list["PointRow"]:
        return [PointRow(self, index, point) for index, point in enumerate(self.sweep.points)]

    @property
    def charts(self) -> list[tuple[str, str]]:
        """Return the name and title of each chart."""
        return [(f"{self.sweep.parameter}-{level}", f"{self.sweep.label}: {title}") for level, title in LEVELS.items()]

    @property
    def table_title(self) -> str:
        return f"the table of {self.sweep.label}"

    @property
    def without_table(self) -> str:
        return f"{self.sweep.parameter}-without"

    @property
    def without_title(self) -> str:
        return f"coefficients without one system, {self.sweep.label}"

    @property
    def others(self) -> list[Coefficient]:
        """Return the coefficients shown by their value alone."""
        return [entry for entry in self.result.entries if entry.key != INTERVALS]

    @property
    def without_rows(self) -> list[tuple[Without, str | None]]:
        """Return each system left out, and the value that is best without it."""
        return [(entry, self.sweep.shown(entry.best_then)) for entry in self.sweep.without]

    @property
    def split_best(self) -> str | None:
        return None if self.sweep.splits is None else self.sweep.shown(self.sweep.splits.best)

    @property
    def driver(self) -> Without | None:
        """Return the system that moves the coefficient at the value in use most, if it moves it far."""
        value = self.own_value
        if value is None:
            return None
        changes = [(abs(entry.chosen - value), entry) for entry in self.sweep.without if entry.chosen is not None]
        largest, system = max(changes, key=lambda change: change[0], default=(0.0, None))
        return system if largest >= DRIVEN else None


@dataclass(frozen=True)
class PointRow:
    report: SweepReport
    index: int
    point: ParameterPoint

    @property
    def is_own(self) -> bool:
        return self.index == self.report.sweep.chosen

    @property
    def is_best(self) -> bool:
        return self.index == self.report.sweep.best

    @property
    def levels(self) -> list[tuple[str, Level, LevelEstimate, list[tuple[str, float | None]]]]:
        """Return, over “systems” and over “outputs”, Pearson's r and the other coefficients' symbols and values."""
        others = [(entry.symbol, entry.key) for entry in self.report.others]
        return [
            (
                over,
                level,
                level.coefficients[INTERVALS],
                [(symbol, level.coefficients[key].value) for symbol, key in others],
            )
            for over, level in (("systems", self.point.system), ("outputs", self.point.segment))
        ]


def metric_label(study: ParameterStudy) -> str:
    name = study.specification["metric"]["name"]
    return METRICS[name].label if name in METRICS else name


def summary_cards(study: ParameterStudy, result: ParameterResult) -> list[dict[str, str]]:
    """Return the numbers at the head of the report."""
    counts, items = result.counts, result.items
    return [
        card("Systems", len(study.specification["systems"])),
        card("Items", items.used, f"{items.left_out:,} left out"),
        card("Human judgements", counts.judgements, f"by {raters_in_words(study, counts.raters)}"),
        card("References", counts.references, references_of(study)),
    ]


def values_in_use(study: ParameterStudy) -> list[tuple[str, str]]:
    """Return labels and values of the metric's parameters except trained models, which have names."""
    metric = study.specification["metric"]
    known = METRICS[metric["name"]].parameter_list() if metric["name"] in METRICS else ()
    return [
        (parameter.label, parameter.written(metric["parameters"][parameter.name]))
        for parameter in known
        if parameter.kind != "model" and parameter.name in metric["parameters"]
    ]


# --- Charts -----------------------------------------------------------------------------------------------------------


def figure(result: ParameterResult, name: str, *, theme: Theme) -> Spec | None:
    """Return the chart ``k-system`` or ``k-segment``; None if there is no such chart."""
    parameter, _, level = name.rpartition("-")
    sweep = next((each for each in result.sweeps if each.parameter == parameter), None)
    if sweep is None or level not in LEVELS:
        return None
    levels: list[Level] = [getattr(point, level) for point in sweep.points]
    series = {entry.label: [number(each.coefficients[entry.key].value) for each in levels] for entry in result.entries}
    axis = ParameterAxis(
        sweep.label,
        [point.value for point in sweep.points],
        [point.shown for point in sweep.points],
        sweep.chosen,
        best_index(series[result.deciding.label]),
    )
    intervals = [each.coefficients[INTERVALS].interval for each in levels]
    ends = [interval or (NAN, NAN) for interval in intervals]
    bands = {COEFFICIENTS[INTERVALS].label: ([low for low, _ in ends], [high for _, high in ends])}
    title = f"{sweep.label}: {LEVELS[level].lower()}"
    return parameter_chart(axis, series, intervals=bands if any(intervals) else None, title=title, theme=theme)


# --- Tables for download ----------------------------------------------------------------------------------------------


def table(result: ParameterResult, name: str) -> Table | None:
    """Return ``k``, ``k-without`` or ``k-systems``; None if there is no such table."""
    for sweep in result.sweeps:
        if name == sweep.parameter:
            return _curve_table(sweep, result.coefficients)
        if name == f"{sweep.parameter}-without":
            return _without_table(sweep)
        if name == f"{sweep.parameter}-systems":
            return _system_table(sweep)
    return None


def _curve_table(sweep: ParameterSweep, coefficients: Sequence[str]) -> Table:
    shares: Sequence[float | None] = [None] * len(sweep.points) if sweep.halves is None else sweep.halves.shares
    columns: Columns = {
        "parameter": lambda *_: sweep.parameter,
        "value": lambda index, point: point.shown,
        "in_use": lambda index, point: index == sweep.chosen,
        "best": lambda index, point: index == sweep.best,
        "tuned": lambda index, point: MARK if index == sweep.best != sweep.chosen else "",
        "ngrams_of_order": lambda index, point: point.ngrams and point.ngrams.of_order,
        "ngrams_up_to_order": lambda index, point: point.ngrams and point.ngrams.up_to,
        **_level_columns(coefficients),
        "most_influential_system": lambda index, point: point.influential and point.influential.system,
        "pearson_without_it": lambda index, point: point.influential and point.influential.pearson,
        "chosen_share_of_halves": lambda index, point: shares[index],
        "chosen_share_of_folds": lambda index, point: sweep.cross and sweep.cross.shares[index],
    }
    return table_of(columns, enumerate(sweep.points))


def _level_columns(coefficients: Sequence[str]) -> Columns:
    cells: dict[str, Callable[..., object]] = {"n": lambda level: level.n}
    for key in coefficients:
        cells[key] = lambda level, key=key: level.coefficients[key].value
        if key == INTERVALS:
            cells["p"] = lambda level: level.p
        cells[f"{key}_low"] = lambda level, key=key: low(level.coefficients[key].interval)
        cells[f"{key}_high"] = lambda level, key=key: high(level.coefficients[key].interval)
    cells["undefined_reason"] = lambda level: level.reason
    return {
        f"{name}_{part}": lambda index, point, name=name, cell=cell: cell(getattr(point, name))
        for name in LEVELS
        for part, cell in cells.items()
    }


def _without_table(sweep: ParameterSweep) -> Table:
    columns: Columns = {
        "parameter": lambda _: sweep.parameter,
        "without": lambda each: each.system,
        "in_use": lambda each: each.chosen,
        "at_best_of_all": lambda each: each.best,
        "best_value_then": lambda each: sweep.shown(each.best_then),
        "coefficient_then": lambda each: each.best_then_value,
        "coefficient_then_tuned": lambda each: "" if each.best_then in (None, sweep.chosen) else MARK,
    }
    return table_of(columns, ((each,) for each in sweep.without))


def _system_table(sweep: ParameterSweep) -> Table:
    rows = (
        (sweep.parameter, point.shown, system.system, score, system.rating, system.rated)
        for point in sweep.points
        for system, score in zip(sweep.systems, point.scores, strict=True)
    )
    return ("parameter", "value", "system", "score", "mean_rating", "rated_outputs"), rows
