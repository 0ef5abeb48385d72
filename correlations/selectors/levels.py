"""How metrics agree with raters over systems and over outputs, from a study's result, as its page says it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import counted, decimals
from annotation.core.prose import enumerated
from correlations.charts.systems import system_scatter
from correlations.results.common import Ends
from correlations.results.levels import (
    BY_LINE,
    BY_RANGE,
    ROUNDED_DOWN,
    LevelEstimate,
    OutputLevel,
    RowLevels,
    ScaledErrors,
    SystemEstimate,
    SystemLevel,
)
from correlations.results.significance import OUTPUTS, SWAP_ITEMS
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.ceilings import too_good
from correlations.selectors.reports import reads_references, references_in_words
from metrics.scoring.settings import with_settings
from metrics.templatetags.report import p_text

LEAD = "pearson"
CARRIES = 0.15  # a change of Pearson's r from which one system is said to carry the result
FEW_SYSTEMS = 8  # below, even a coefficient of 0.7 may be chance: its p is above 0.05
FEWEST_SYSTEMS = 4  # below, a line goes through the systems nearly by itself, and no range says what others give
SIGNIFICANT = 0.05
WHOLE = 1.995  # from this width on an interval is printed as [−1.00, 1.00]
ONE_BLEU = (
    "Of one output BLEU is BLEU+1, as sBLEU is: one is added to the counts of longer n-grams. The smoothing in BLEU’s "
    "signature is that of units and systems."
)
MOST_NAMED = 4  # in a list of the rows that do not differ from the best one
SCALED = {
    BY_RANGE: "lowest and highest score on the ends of the scale",
    ROUNDED_DOWN: "the same, rounded down to {step}",
    BY_LINE: "by straight lines, each fitted to the ratings of other items",
}


def too_few_systems(n: int) -> str:
    """Return why nothing is concluded over so many systems, and how many it takes; empty if they are enough."""
    if n >= FEWEST_SYSTEMS:
        return ""
    return (
        f"{counted(n, 'system')} are too few to show which metric agrees with the raters over systems: it takes "
        f"{FEWEST_SYSTEMS}, better {FEW_SYSTEMS}"
    )


@dataclass(frozen=True)
class RowOfLevels:
    """A row of the study with its levels; the page's tables show these."""

    row: StudyRow
    index: int
    levels: RowLevels
    may_have_seen: bool = False  # it agrees with the ratings more than is expected of a score that has not seen them
    of: int = 1  # rows of the study, from which the highest is picked
    one_rater: float | None = None  # the study's coefficient of a rater with the other raters, over the row's outputs

    @property
    def with_other_systems(self) -> Ends | None:
        """Return its interval with other systems, on other items: the one that sentence, chart and table show."""
        return self.lead.over_items_and_systems

    @property
    def name(self) -> str:
        """Return the row as a sentence names it."""
        label = with_settings(self.row.label, self.row.signature)
        return f"{label} with {references_in_words(self.row)}" if reads_references(self.row) else label

    @property
    def system(self) -> SystemLevel:
        return self.levels.system

    @property
    def lead(self) -> SystemEstimate:
        return self.system.coefficients[LEAD]

    @property
    def p(self) -> float | None:
        """Return the p of the coefficient over systems; None where they are too few for a conclusion."""
        return None if too_few_systems(len(self.system.systems)) else self.lead.p

    @property
    def p_of_all(self) -> float | None:
        """Return that p times the number of rows, as the highest of many is picked (Bonferroni)."""
        return None if self.lead.p is None else min(1.0, self.lead.p * self.of)

    @property
    def is_shown(self) -> bool:
        """Return whether the coefficient over systems is above 0 for other systems, too, by interval and p."""
        drawn = self.with_other_systems
        if self.p is None or self.p_of_all is None or drawn is None:
            return False
        return self.p_of_all <= SIGNIFICANT and drawn[0] > 0

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
    def other_way(self) -> tuple[str, float] | None:
        """Return the system that moves the coefficient most the other way, with r without it; None if it is little."""
        points = [(each.system, each.score, each.rating) for each in self.system.systems]
        known = [(name, score, rating) for name, score, rating in points if score is not None and rating is not None]
        value, without = self.lead.value, self.without
        if len(known) < FEWEST_SYSTEMS or value is None or without is None or self.system.without is None:
            return None
        names, *columns = zip(*known, strict=True)
        table = np.array(columns) * [[-1.0 if self.row.negated else 1.0], [1.0]]
        with np.errstate(invalid="ignore", divide="ignore"):
            each = {name: float(np.corrcoef(np.delete(table, i, axis=1))[0, 1]) for i, name in enumerate(names)}
        if not math.isclose(each.get(self.system.without.system, math.nan), without, abs_tol=1e-6):
            return None
        turn = -1 if without > value else 1
        name = max(each, key=lambda name: -math.inf if math.isnan(each[name]) else turn * each[name])
        return (name, each[name]) if turn * (each[name] - value) >= CARRIES else None

    @property
    def all_outputs(self) -> OutputLevel:
        return self.levels.outputs[0]

    @property
    def of_outputs(self) -> LevelEstimate:
        return self.all_outputs.coefficients[LEAD]

    @property
    def within_items(self) -> OutputLevel:
        return self.levels.outputs[1]

    @property
    def within_systems(self) -> OutputLevel:
        return self.levels.outputs[2]

    @property
    def errors(self) -> list[tuple[str, ScaledErrors]]:
        return [(SCALED[each.scaled].format(step=_step_in_words(each.step)), each) for each in self.levels.errors]


@dataclass(frozen=True)
class LevelsReport:
    """What the page shows: all rows, those that agree best over systems first, and one of them in full."""

    rows: Sequence[RowOfLevels]
    chosen: RowOfLevels
    differ: Mapping[frozenset[int], bool]  # of two rows' indices: whether they differ significantly over outputs

    @property
    def best(self) -> RowOfLevels | None:
        """Return the row that agrees best over systems; None if none is defined.

        A row that may have seen the ratings is named only if no other is defined.
        """
        defined = [row for row in self.rows if row.lead.value is not None]
        return next((row for row in defined if not row.may_have_seen), next(iter(defined), None))

    @property
    def rows_by_output(self) -> Sequence[RowOfLevels]:
        """Return the rows, those that agree best over all outputs first."""
        return sorted(self.rows, key=lambda row: -_order(row.of_outputs))

    @property
    def leading_by_output(self) -> Sequence[RowOfLevels]:
        """Return them without rows that may have seen the ratings, unless these are all."""
        honest = [row for row in self.rows_by_output if not row.may_have_seen and row.of_outputs.value is not None]
        return honest or self.rows_by_output

    @property
    def opened(self) -> RowOfLevels:
        """Return the row that the page opens its chart on: the best over systems if it is shown, else over outputs."""
        return self.shown_over_systems or self.leading_by_output[0]

    @property
    def over_systems(self) -> str:
        """Return the answer over systems. What chance gives as easily is not put down to a metric."""
        best, n = self.best, counted(self.n_systems, "system")
        if best is None:
            return f"Over systems no coefficient is defined: {self.chosen.system.reason}."
        if self.too_few:
            return f"{self.too_few}."
        if best.lead.p is None:
            return f"Over {n} r has no p, so that no metric is shown to agree with the raters."
        if (best.p_of_all or 0.0) > SIGNIFICANT:
            return self._not_shown(n, best)
        drawn, value = best.with_other_systems, _shown(best.lead.value)
        seen = " It may have seen these ratings." if best.may_have_seen else ""
        if drawn is None:
            return f"Over {n}, {self._leads(best)} = {value} ({p_text(best.lead.p)}).{seen}"
        lies = f"with other systems like these it may lie from {decimals(drawn[0])} to {decimals(drawn[1])}"
        if drawn[0] <= 0:
            return f"Over {n}, {self._leads(best)} = {value}, but agreement is not shown beyond them: {lies}.{seen}"
        return f"Over {n}, {self._leads(best)} = {value}; {lies}.{seen}"

    def _leads(self, best: RowOfLevels) -> str:
        if len(self.rows) == 1:
            return f"{best.name} has r"
        return f"{best.name} has{self._but_for(best)} the highest r"

    def _but_for(self, best: RowOfLevels) -> str:
        """Return which rows are passed over for one, as part of a sentence; empty if none is."""
        seen = [] if best.may_have_seen else [row.row.label for row in self.rows if row.may_have_seen]
        if not seen:
            return ""
        return f", but for {enumerated(list(dict.fromkeys(seen)))}, which may have seen these ratings,"

    def _not_shown(self, systems: str, best: RowOfLevels) -> str:
        """Return that chance may give the highest coefficient, too; name its row with what is known of it."""
        drawn, p = best.with_other_systems, p_text(best.lead.p)
        number = f"r = {_shown(best.lead.value)}"
        if drawn and drawn[1] - drawn[0] >= WHOLE:
            number += ", with other systems anything from −1 to 1"
        elif drawn:
            number += f" [{decimals(drawn[0])}, {decimals(drawn[1])}]"
        if len(self.rows) == 1:
            return f"Over {systems} {best.name} is not shown to agree with the raters: {number}, {p}."
        return (
            f"Over {systems} no metric is shown to agree with the raters; the highest{self._but_for(best)} is "
            f"{best.name}, {number} ({p} "
            f"for that row alone, {p_text(best.p_of_all)} as the highest of {len(self.rows)} rows)."
        )

    @property
    def equal_rows(self) -> str:
        """Return which rows have the same scores of outputs, as BLEU and the mean of its sentences do; else empty."""
        by_values: dict[tuple[float | None, ...], list[str]] = {}
        for row in self.rows:
            values = tuple(estimate.value for estimate in row.all_outputs.coefficients.values())
            if any(value is not None for value in values):
                by_values.setdefault(values, []).append(row.row.label)
        equal = list(dict.fromkeys(tuple(sorted(set(labels))) for labels in by_values.values() if len(set(labels)) > 1))
        if not equal:
            return ""
        rows = "; ".join(" and ".join(labels) for labels in equal)
        said = (
            f"Equal rows: {rows} give each single output the same score, with the same references, and differ over "
            "units and systems alone."
        )
        return f"{said} {ONE_BLEU}" if any({"BLEU", "sBLEU"} <= set(labels) for labels in equal) else said

    @property
    def over_outputs(self) -> str:
        """Return the answer over single outputs; it names a best row only if no other is as good."""
        best = self.leading_by_output[0]
        estimate, outputs = best.of_outputs, counted(best.all_outputs.outputs, "single output")
        if estimate.value is None:
            return ""
        interval = (
            f" [{decimals(estimate.over_items[0])}, {decimals(estimate.over_items[1])}]" if estimate.over_items else ""
        )
        leads = f"Over {outputs}, {self._leads(best)} = {_shown(estimate.value)}{interval}"
        if not (near := self.as_good_over_outputs):
            return f"{leads}."
        return f"{leads}, but which metric is best is not shown: {self._no_farther(best, near)}."

    def _no_farther(self, best: RowOfLevels, near: Sequence[RowOfLevels]) -> str:
        """Return which rows do not differ significantly from the highest over single outputs."""
        others = sum(row.of_outputs.value is not None for row in self.leading_by_output) - 1
        if len(near) == others > 1:
            return f"none of the {others:,} others differs from it significantly"
        labels = [row.row.label for row in (best, *near)]
        names = [row.row.label if labels.count(row.row.label) == 1 else row.name for row in near]
        return f"{enumerated(names, MOST_NAMED)} {'does' if len(near) == 1 else 'do'} not differ from it significantly"

    @property
    def as_good_over_outputs(self) -> list[RowOfLevels]:
        """Return the rows that do not differ significantly from the highest over single outputs.

        The test is the one of metric against metric. Rows that it leaves out count if they lie within the range of the
        highest, or equal it.
        """
        best, *others = self.leading_by_output
        estimate = best.of_outputs
        if estimate.value is None:
            return []
        least = estimate.over_items[0] if estimate.over_items else estimate.value
        near = []
        for row in others:
            if row.of_outputs.value is not None:
                differs = self.differ.get(frozenset((best.index, row.index)), row.of_outputs.value < least)
                near += [] if differs else [row]
        return near

    @property
    def shown_over_outputs(self) -> RowOfLevels | None:
        """Return the row that is shown to be best over single outputs; None if none is."""
        best = self.leading_by_output[0]
        ends = best.of_outputs.over_items
        return None if ends is None or ends[0] <= 0 or self.as_good_over_outputs else best

    @property
    def shown_over_systems(self) -> RowOfLevels | None:
        """Return the row with the highest coefficient over systems, if it is above 0 for other systems, too."""
        return self.best if self.best is not None and self.best.is_shown else None

    @property
    def carried(self) -> str:
        """Return which system carries the best row's coefficient over systems; empty if none does, or they are few."""
        if self.too_few or self.best is None or not self.best.carried or self.best.system.without is None:
            return ""
        of = "the highest r, that of" if len(self.rows) > 1 else "r of"
        left_out, other = self.best.system.without.system, self.best.other_way
        though = f", though {_shown(other[1])} without {other[0]}" if other else ""
        return (
            f"Over systems one system {'lowers' if self.is_lowered else 'carries'} {of} {self.best.name}: it is "
            f"{_shown(self.best.lead.value)}, and {_shown(self.best.without)} without {left_out}{though}."
        )

    @property
    def is_lowered(self) -> bool:
        """Return whether the best row's coefficient over systems rises if a system is left out."""
        best = self.best
        return best is not None and best.without is not None and best.without > (best.lead.value or 0.0)

    @property
    def carried_result(self) -> str:
        """Return which system carries the highest coefficient over systems, for a lead; empty if none does.

        What may be chance as a whole is no result that one system could carry.
        """
        p = None if self.best is None else self.best.p_of_all
        return "" if p is None or p > SIGNIFICANT or self.is_lowered else self.carried

    @property
    def n_systems(self) -> int:
        return len(self.chosen.system.systems)

    @property
    def too_few(self) -> str:
        return too_few_systems(self.n_systems)

    @property
    def few_systems(self) -> bool:
        """Return whether they are few, though enough for an answer."""
        return not self.too_few and self.n_systems < FEW_SYSTEMS


def _order(estimate: LevelEstimate) -> float:
    return -math.inf if estimate.value is None else estimate.value


def levels_report(result: StudyResult, row: int | None) -> LevelsReport | None:
    """Return the report with a row in full, by default the first sentence’s; None for an unknown row."""
    suspicious = too_good(result)
    entries = [
        RowOfLevels(
            row=each,
            index=index,
            levels=levels,
            may_have_seen=any(each is seen for seen, _ in suspicious),
            of=len(result.rows),
            one_rater=ceiling.coefficients[result.lead.key].one_rater,
        )
        for index, (each, levels, ceiling) in enumerate(zip(result.rows, result.levels, result.ceilings, strict=True))
    ]
    ordered = sorted(entries, key=lambda entry: -_order(entry.lead))
    chosen = next((entry for entry in ordered if row is None or entry.index == row), None)
    if chosen is None:
        return None
    report = LevelsReport(ordered, chosen, _differ_over_outputs(result))
    return report if row is not None else replace(report, chosen=report.opened)


def _differ_over_outputs(result: StudyResult) -> dict[frozenset[int], bool]:
    """Return which rows differ significantly over single outputs, by the test of items' scores swapped."""
    found = (each for each in result.significance.tests if (each.level, each.method) == (OUTPUTS, SWAP_ITEMS))
    corrected = next((each.p_holm for each in found), ())
    pairs = zip(result.significance.pairs, corrected, strict=False)
    return {frozenset(pair): p <= SIGNIFICANT for pair, p in pairs if p is not None}


def levels_sentence(result: StudyResult) -> str:
    """Return what the page answers over systems and over outputs, for pages that lead to it."""
    report = levels_report(result, None)
    return "" if report is None else " ".join(filter(None, [report.over_systems, report.over_outputs]))


def _step_in_words(step: float | None) -> str:
    """Return what scores were rounded to.

    >>> _step_in_words(1.0), _step_in_words(0.5), _step_in_words(0.25), _step_in_words(None)
    ('whole points', 'half points', 'steps of 0.25 points', 'the precision of the ratings')
    """
    if step is None:
        return "the precision of the ratings"
    return {1.0: "whole points", 0.5: "half points"}.get(step, f"steps of {step:g} points")


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
    if row.negated:
        scores = tuple(-score for score in scores)
        subtitle += "; scores with their sign turned, since low ones are better"
    metric = with_settings(row.label, row.signature) + (", negated" if row.negated else "")
    return system_scatter(ratings, scores, names, metric_name=metric, subtitle=subtitle, theme=theme)
