"""The answers of the page of levels: over systems, over single outputs, and how both go with the study's headline."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import decimals, in_brackets
from correlations.charts.forest import ForestRow, forest_plot
from correlations.models import Study
from correlations.results.study import NO_REFERENCES, StudyResult
from correlations.selectors.headlines import study_headline
from correlations.selectors.levels import FEW_SYSTEMS, FEWEST_SYSTEMS, LevelsReport, RowOfLevels, levels_report
from correlations.selectors.reports import NAN, SIGNIFICANT, best_row, describes_only, number, rows_in_order
from correlations.selectors.trained import trained_sentence
from correlations.selectors.tuned import chosen_here, is_tuned
from correlations.stats.system_level import least_significant_r

FIGURE = "levels"
CAPTION = "Pearson’s r with 95% intervals: over systems for other systems and items, over outputs for other items."
OUTPUTS_ALONE = "Pearson’s r over outputs, with 95% intervals for other items. Systems are too few."
MOST_DRAWN = 12  # rows of the chart, besides those that lead
VERY_FEW = 6  # systems; below, r must be above 0.85 to be more than chance
NOT_SHOWN = "No metric is shown to."


@dataclass(frozen=True)
class Place:
    """A coefficient of a row under one question, with its rank among ``of`` rows; 1 is the highest."""

    value: float | None
    rank: int
    of: int

    @property
    def is_first(self) -> bool:
        return self.value is not None and self.rank == 1


@dataclass(frozen=True)
class Reconciled:
    """A row that leads under one of three questions, under all of them."""

    of: RowOfLevels
    units: Place
    systems: Place
    outputs: Place


@dataclass(frozen=True)
class LevelAnswers:
    """``verdict`` begins an answer in a few words, empty if there is none that short; ``sure`` says how sure it is."""

    systems_verdict: str
    systems_sure: list[str]
    outputs_verdict: str
    outputs_sure: list[str]
    headline: str
    rows: list[Reconciled]
    without_place: str = ""  # which rows have no place over units; empty if all have one


def level_answers(study: Study, result: StudyResult, report: LevelsReport) -> LevelAnswers:
    """Return the answers beside the sentences of the report itself."""
    best, of_outputs = report.best, report.leading_by_output[0]
    return LevelAnswers(
        systems_verdict=_systems_verdict(report),
        systems_sure=list(filter(None, [report.carried, *_about(study, result, best), few_systems_sentence(report)])),
        outputs_verdict=_outputs_verdict(report),
        outputs_sure=list(filter(None, [*_about(study, result, of_outputs), one_rater_sentence(result, of_outputs)])),
        headline=_headline(study, result, report),
        rows=_reconciled(result, report),
        without_place=_without_place(report),
    )


def few_systems_sentence(report: LevelsReport) -> str:
    """Return what chance gives over so few systems; empty if they are enough, or too few for any answer."""
    n, rows = report.n_systems, len(report.rows)
    if not FEWEST_SYSTEMS <= n < FEW_SYSTEMS:
        return ""
    if report.shown_over_systems is not None:
        opening = f"{n} systems are few"
    else:
        opening = f"A correlation over {n} systems says {'next to nothing' if n < VERY_FEW else 'little'}"
    return (
        f"{opening}: a metric that tells nothing reaches r = {decimals(least_significant_r(n))} or more, up or down, "
        f"once in 20 times{', and the highest of several rows more often' if rows > 1 else ''}."
    )


def one_rater_sentence(result: StudyResult, row: RowOfLevels) -> str:
    """Return how far one rater agrees with the others over outputs, beside the metric in that rater's place."""
    human = result.ceilings[row.index].coefficients[result.lead.key]
    if human.one_rater is None or human.metric is None:
        return ""
    symbol = result.lead.symbol
    return (
        f"For comparison: one rater who is left out agrees with the others at {symbol} = {decimals(human.one_rater)} "
        f"over outputs, and {row.row.label} in that rater’s place at {decimals(human.metric)}."
    )


def _about(study: Study, result: StudyResult, row: RowOfLevels | None) -> Iterator[str]:
    """Yield why a row that leads is no winner: it judges no quality, was chosen or has learnt on these outputs."""
    if row is not None and describes_only(row.row):
        yield f"{row.row.label} is a baseline: it does not judge quality."
    if row is not None:
        yield chosen_here(row.row) if is_tuned(result, row.row) else ""
        yield trained_sentence(study, row.row)


def _without_place(report: LevelsReport) -> str:
    few = sum(bool(row.row.few_units) for row in report.rows)
    if not few:
        return ""
    have = "has too few units for a place" if few == 1 else "have too few units for a place"
    return f"Units: {few} of the {len(report.rows)} rows {have} there."


def _systems_verdict(report: LevelsReport) -> str:
    if report.too_few or report.best is None:
        return "Not known."
    if shown := report.shown_over_systems:
        return f"{shown.name}."
    if report.best.p_of_all is None or report.best.p_of_all > SIGNIFICANT:
        return ""  # the sentence says it
    return "" if any(row.is_shown for row in report.rows) else NOT_SHOWN


def _outputs_verdict(report: LevelsReport) -> str:
    if report.leading_by_output[0].of_outputs.value is None:
        return "Not known."
    if shown := report.shown_over_outputs:
        return f"{shown.name}."
    ends = [row.of_outputs.over_items for row in report.rows if row.of_outputs.over_items is not None]
    if not ends:
        return ""
    return "No single one is shown to be best." if any(low > 0 for low, _ in ends) else NOT_SHOWN


def _headline(study: Study, result: StudyResult, report: LevelsReport) -> str:
    """Return what the study's headline asks, which row leads there, and where that row is here."""
    size = study.specification["unit_size"]
    asks = (
        "The study’s headline asks a third thing: which of two systems is better on "
        f"{'single items' if size == 1 else f'units of {size:,} items'}?"
    )
    headline = study_headline(study, result)
    if headline is None:
        return f"{asks} There no metric leads: there are too few units, or no coefficient is defined."
    best, value = headline.best, headline.best.estimate
    interval = in_brackets(value.over_items)
    leads = f"There {_name(report, best.index)} leads: {result.lead.symbol} = {decimals(value.value or 0.0)}{interval}."
    row = next(each for each in _reconciled(result, report) if each.of.index == best.index)
    places = {"over systems": row.systems, "over outputs": row.outputs}
    known = {over: place for over, place in places.items() if place.value is not None}
    if all(place.is_first for place in known.values()):
        return f"{asks} {leads} It has the highest r {' and '.join(known)}, too." if known else f"{asks} {leads}"
    here = " and ".join(f"{over} number {place.rank} of {place.of} by r" for over, place in known.items())
    few = 0 < report.n_systems < FEW_SYSTEMS and not row.systems.is_first and row.systems.value is not None
    why = "few systems leave much of their order to chance" if few else "another question may have another winner"
    return f"{asks} {leads} Here it is {here}: {why}."


def _name(report: LevelsReport, index: int) -> str:
    return next(row.name for row in report.rows if row.index == index)


def _reconciled(result: StudyResult, report: LevelsReport) -> list[Reconciled]:
    """Return the rows that lead over units, over systems and over outputs, in this order, each once."""

    def over_units(row: RowOfLevels) -> float | None:
        return None if row.row.few_units else result.lead_value(row.row)

    questions: list[Callable[[RowOfLevels], float | None]] = [
        over_units,
        lambda row: None if report.too_few else row.lead.value,
        lambda row: row.of_outputs.value,
    ]
    order = rows_in_order(result)
    rows = sorted(report.rows, key=lambda row: order.index(row.index))
    leading: dict[int, RowOfLevels] = {}
    for value in questions:
        defined = [row for row in rows if value(row) is not None]
        if defined:
            first = max(defined, key=lambda row: value(row) or 0.0)
            leading.setdefault(first.index, first)
    if headline := best_row(result):  # it passes over rows that may have seen the ratings
        leading.setdefault(headline.index, next(row for row in rows if row.index == headline.index))
    return [Reconciled(row, *(_place(rows, row, value) for value in questions)) for row in leading.values()]


def _place(rows: list[RowOfLevels], row: RowOfLevels, value: Callable[[RowOfLevels], float | None]) -> Place:
    defined, this = [each for each in map(value, rows) if each is not None], value(row)
    return Place(this, 1 + sum(each > this for each in defined) if this is not None else 0, len(defined))


def chart_caption(report: LevelsReport) -> str:
    return OUTPUTS_ALONE if report.too_few else CAPTION


def levels_figure(result: StudyResult, theme: Theme) -> Spec | None:
    """Return the chart of each row's coefficients over systems and over outputs, in the order of the study's table."""
    report = levels_report(result, None)
    if report is None:
        return None
    order, leads = rows_in_order(result), [each.of.index for each in _reconciled(result, report)]
    drawn = [index for place, index in enumerate(order) if place < MOST_DRAWN or index in leads]
    rows = {row.index: row for row in report.rows}
    return forest_plot(
        [each for index in drawn for each in _forest_rows(rows[index], bool(report.too_few))],
        title="By output" if report.too_few else "By system and by output",
        about=[chart_caption(report)],
        theme=theme,
    )


def _forest_rows(row: RowOfLevels, without_systems: bool) -> Iterator[ForestRow]:
    subset = "" if row.row.subset == NO_REFERENCES else row.row.subset_label
    sides = [
        ("systems", row.lead.value, row.with_other_systems, row.system.reason),
        ("outputs", row.of_outputs.value, row.of_outputs.over_items, row.all_outputs.reason),
    ]
    for name, value, ends, reason in sides[1:] if without_systems else sides:
        yield ForestRow(
            metric=row.row.label,
            subset=subset,
            coefficient="Pearson’s r" if without_systems else name,
            mean=number(value),
            honest=ends or (NAN, NAN),
            reason=reason or "not defined",
        )
