"""How many raters a study needed, from its result, as its page says it."""

from dataclasses import dataclass
from functools import cached_property

from annotation.core.charts import Spec, Theme
from correlations.charts.curves import CurveLine, curve_chart
from correlations.results.sensitivity import (
    ALL,
    COMBINED,
    ITEMS,
    N_REFERENCES,
    OUTPUTS,
    RATINGS_OF_OUTPUTS,
    RATINGS_OF_REFERENCES,
    REFERENCES,
    Curve,
    Draws,
    PairSources,
    SchemeLine,
    SchemeValue,
    Sensitivity,
)
from correlations.results.study import NO_REFERENCES, StudyResult, StudyRow
from correlations.selectors.reports import SIGNIFICANT, number, references_in_words
from correlations.selectors.tuned import references_chosen
from correlations.stats.subsampling import HELD_IN, enough_for, needed

MOST_TIMES = 20  # as many items or ratings: beyond that two metrics are as good as equal
FIGURE = "needed-"  # begins the names of charts
NOT_REQUESTED = "Not computed for this study."
SOURCES = {
    ITEMS: "Items",
    OUTPUTS: "Raters of outputs",
    REFERENCES: "Raters of references",
    "items+outputs": "Items and raters of outputs",
    "items+references": "Items and raters of references",
    ALL: "All",
}
CURVES = {
    RATINGS_OF_OUTPUTS: "Ratings of each output",
    RATINGS_OF_REFERENCES: "Ratings of each reference",
    N_REFERENCES: "References of each item",
}
WORDS = {RATINGS_OF_OUTPUTS: "rating", RATINGS_OF_REFERENCES: "rating", N_REFERENCES: "reference"}
EACH = {
    RATINGS_OF_OUTPUTS: "of each output",
    RATINGS_OF_REFERENCES: "of each reference",
    N_REFERENCES: "of each item",
}


@dataclass(frozen=True)
class SourceLine:
    """What was drawn anew, and how both rows of a pair and their difference fared; ``reason`` says why it was not."""

    name: str
    label: str
    reason: str
    first: Draws | None = None
    second: Draws | None = None
    difference: Draws | None = None
    ahead: float | None = None

    @property
    def over_items_alone(self) -> bool:
        return self.name == ITEMS


@dataclass(frozen=True)
class CurveSummary:
    """A curve of the pair: from how many on its first row stays ahead, of how many at most."""

    kind: str
    label: str
    curve: Curve
    pair: int

    @property
    def figure(self) -> str:
        return f"{FIGURE}{self.kind}"

    @property
    def reason(self) -> str:
        return self.curve.reason

    @property
    def most(self) -> int:
        return self.curve.points[-1].count

    @property
    def needed(self) -> int | None:
        """Return from which count on the first row is ahead in 95% of draws; None if only all of them settle it."""
        points = self.curve.points[:-1]  # with all there is nothing to draw
        return needed([point.count for point in points], [point.ahead[self.pair] for point in points])

    @property
    def with_one(self) -> float:
        return self.curve.points[0].ahead[self.pair]

    @property
    def needed_of_most(self) -> str:
        return f"{self.most if self.needed is None else self.needed} of {self.most}"


@dataclass(frozen=True)
class SensitivityReport:
    result: StudyResult
    part: Sensitivity
    chosen: int  # index of the pair

    @property
    def pair(self) -> PairSources | None:
        return self.part.pairs[self.chosen] if self.part.pairs else None

    @property
    def choices(self) -> list[tuple[int, str]]:
        """Return the pairs that can be chosen, as "X and Y"."""
        names = ((self.name(pair.first), self.name(pair.second)) for pair in self.part.pairs)
        return [(index, f"{first} and {second}") for index, (first, second) in enumerate(names)]

    def row(self, index: int) -> StudyRow:
        return self.result.rows[index]

    def name(self, index: int) -> str:
        """Return a row as part of a sentence."""
        row = self.row(index)
        return row.label if not row.signature else f"{row.label} with {references_in_words(row)}"

    @property
    def first(self) -> str:
        return self.name(self.part.pairs[self.chosen].first)

    @property
    def second(self) -> str:
        return self.name(self.part.pairs[self.chosen].second)

    @property
    def labels(self) -> tuple[str, str]:
        """Return short names of both rows: with their references only if they are of one metric."""
        pair = self.part.pairs[self.chosen]
        rows = self.row(pair.first), self.row(pair.second)
        if rows[0].label != rows[1].label:
            return rows[0].label, rows[1].label
        return rows[0].subset_label, rows[1].subset_label

    @property
    def settled(self) -> bool:
        """Return whether other items and other raters leave the first row ahead in 95% of draws."""
        return self.pair is not None and self.pair.ahead.get(ALL, 0.0) >= HELD_IN

    @cached_property
    def summaries(self) -> list[CurveSummary]:
        return [CurveSummary(kind, label, self.part.curves[kind], self.chosen) for kind, label in CURVES.items()]

    @property
    def curves(self) -> list[CurveSummary]:
        """Return the curves that could be drawn."""
        return [each for each in self.summaries if not each.reason]

    @property
    def answer(self) -> str:
        """Return the first sentence, which names the winner and what it took; or says what would be needed."""
        if self.part.reason:
            return f"Not known: {self.part.reason}."
        if self.pair is None:
            return "This study has one metric: there is no other to put it ahead of."
        if self.settled:
            return f"{_capital(self._what_it_took())}."
        return (
            f"No number was enough: even all ratings do not settle whether {self.first} or {self.second} is closer to "
            "the raters."
        )

    @property
    def tuned(self) -> str:
        """Return of which of the two rows the references were chosen on these items; empty if of none."""
        if self.part.reason or self.pair is None:
            return ""
        return references_chosen(self.result, [self.row(self.pair.first), self.row(self.pair.second)])

    def _what_it_took(self) -> str:
        by_kind = {each.kind: each for each in self.curves}
        outputs = by_kind.get(RATINGS_OF_OUTPUTS)
        ahead = f"put {self.first} ahead of {self.second} in 95% of draws"
        if outputs is None:
            text = f"other items and raters leave {self.first} ahead of {self.second} in 95% of draws"
        elif outputs.needed is None:
            text = f"it took all {outputs.most} ratings of each output to {ahead}"
        elif outputs.needed == 1:
            text = f"one rating of each output is enough to {ahead}"
        else:
            text = f"{outputs.needed} ratings of each output already {ahead}"
        references = by_kind.get(RATINGS_OF_REFERENCES)
        needs = []
        if references is not None:
            needs.append(_times(references, "rating"))
        readers = self._readers
        if N_REFERENCES in by_kind and readers:
            needs.append(_times(by_kind[N_REFERENCES], "reference") + " per item")
        if not needs:
            return text
        if references is None and len(readers) == 1:
            return f"{text}, with {needs[0]} for {readers[0]}"
        return f"{text}; {'references' if references else 'it'} needed {' each, and '.join(needs)}"

    @property
    def _readers(self) -> list[str]:
        """Return the rows of the pair that read references, by their short names."""
        pair = self.part.pairs[self.chosen]
        rows = zip((pair.first, pair.second), self.labels, strict=True)
        return [label for index, label in rows if self.row(index).subset != NO_REFERENCES]

    @property
    def beside_the_test(self) -> str:
        """Return why a pair can be settled here and not differ significantly; empty if both say the same."""
        pair = self.pair
        if pair is None or not self.settled:
            return ""
        sides = {(row.label, row.subset_label) for row in (self.row(pair.first), self.row(pair.second))}
        tested = next((entry for entry in self.result.comparisons if set(entry.sides()) == sides), None)
        if tested is None or tested.p_holm is None or tested.p_holm < SIGNIFICANT:
            return ""
        return (
            "Ahead in 95% of draws asks less than the study’s comparison of metrics, which is two-sided and corrected "
            "for all pairs: there the two do not differ significantly."
        )

    @property
    def outlook(self) -> str:
        """Return how sure the conclusion is, and what would settle it if it is not."""
        pair = self.pair
        if pair is None or ALL not in pair.ahead:
            return ""
        drawn = "items" if {OUTPUTS, REFERENCES} <= set(self.part.missing) else "items and raters"
        sure = f"If other {drawn} had been drawn, {self.first} would be ahead in {pair.ahead[ALL]:.0%} of draws"
        if self.settled:
            return " ".join(filter(None, [f"{sure}.", self.beside_the_test]))
        return f"{sure}. {self._what_would_settle(pair)}"

    def _what_would_settle(self, pair: PairSources) -> str:
        of_items, of_all = pair.sources[ITEMS].spread, pair.sources[ALL].spread
        if of_items is None or of_all is None:
            return "What would settle it is not known."
        ratings, items = enough_for(of_items, of_all, pair.difference)
        if ratings is not None and ratings <= MOST_TIMES:
            return f"About {_factor(ratings)} as many ratings of the same outputs and references would settle it."
        if items is not None and items <= MOST_TIMES:
            return f"More ratings of the same items would not settle it; about {_factor(items)} as many items would."
        return f"The two are as good as equal: more than {MOST_TIMES} times as many items would be needed."

    @property
    def sources(self) -> list[SourceLine]:
        """Return what was drawn anew, or could not be, for the pair."""
        pair = self.pair
        if pair is None:
            return []
        rows = {entry.row: entry.sources for entry in self.part.rows}
        lines = []
        for name, label in SOURCES.items():
            missing = [self.part.missing[part] for part in COMBINED[name] if part in self.part.missing]
            if name in pair.ahead:
                cells = rows[pair.first][name], rows[pair.second][name], pair.sources[name], pair.ahead[name]
                lines.append(SourceLine(name, label, "", *cells))
            elif len(COMBINED[name]) == 1:
                lines.append(SourceLine(name, label, missing[0]))
        return lines

    @property
    def weights_choose(self) -> bool:
        """Return whether other weights can mean other references in some row."""
        return any(self.row(index).subset.startswith("w>") for index in self.part.schemes.rows)

    @property
    def schemes(self) -> list[tuple[SchemeLine, StudyRow | None, SchemeValue | None]]:
        """Return a line for each set of weights and row; one without a row for weights that do not exist."""
        lines: list[tuple[SchemeLine, StudyRow | None, SchemeValue | None]] = []
        for line in self.part.schemes.lines:
            if line.reason:
                lines.append((line, None, None))
            rows = zip(self.part.schemes.rows, line.rows, strict=True) if line.rows else ()
            lines += [(line, self.row(index), value) for index, value in rows]
        return lines


def sensitivity_report(result: StudyResult, pair: int | None) -> SensitivityReport | None:
    """Return the report for a pair of rows, by default of the best and its nearest rival; None for an unknown pair."""
    part = result.sensitivity
    if part is None or (pair is not None and not 0 <= pair < len(part.pairs)):
        return None
    if pair is None:
        nearest = set(part.shown[:2])
        pair = next((n for n, each in enumerate(part.pairs) if {each.first, each.second} == nearest), 0)
    return SensitivityReport(result, part, pair)


def sensitivity_sentence(result: StudyResult) -> str:
    """Return the answer in one sentence, for pages that lead to the report."""
    report = sensitivity_report(result, None)
    return NOT_REQUESTED if report is None else " ".join(filter(None, [report.answer, report.tuned]))


def sensitivity_figure(result: StudyResult, name: str, theme: Theme) -> Spec | None:
    """Return the chart of a curve, with a band for the best row and its nearest rival."""
    report, kind = sensitivity_report(result, None), name.removeprefix(FIGURE)
    if report is None or name == kind or kind not in report.part.curves or report.part.curves[kind].reason:
        return None
    points = report.part.curves[kind].points
    lines = []
    for position, index in enumerate(report.part.shown):
        values = [point.rows[position] for point in points]
        ends = [value.ends or (None, None) for value in values]
        lines.append(
            CurveLine(
                _line_name(report, index),
                [number(value.mean) for value in values],
                [number(low) for low, _ in ends],
                [number(high) for _, high in ends],
            )
        )
    axis, title = CURVES[kind].lower(), f"With fewer {CURVES[kind].split()[0].lower()}"
    counts = [point.count for point in points]
    return curve_chart(counts, lines, axis=axis, title=title, coefficient=result.lead.label, theme=theme)


def _line_name(report: SensitivityReport, index: int) -> str:
    labels = [report.row(each).label for each in report.part.shown]
    row = report.row(index)
    return row.label if labels.count(row.label) == 1 else f"{row.label}, {row.subset_label}"


def _times(curve: CurveSummary, word: str) -> str:
    count = curve.most if curve.needed is None else curve.needed
    text = f"{count} {word}{'' if count == 1 else 's'}"
    return f"all {text}" if curve.needed is None else text


def _factor(times: float) -> str:
    return f"{times:.1f} times" if times < 10 else f"{times:.0f} times"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
