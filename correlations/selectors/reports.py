"""A study's result as the sentences and charts of its report."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import card, counted
from correlations.charts.forest import ForestRow, forest_plot
from correlations.charts.observations import observation_scatter
from correlations.charts.sweeps import AXES, MOST_LINES_NAMED, Kind, sweep_chart
from correlations.models import ParameterStudy, Study
from correlations.results.study import (
    NO_REFERENCES,
    Circularity,
    Comparison,
    RowEstimate,
    StudyResult,
    StudyRow,
    Sweep,
    SystemShare,
)
from correlations.selectors.ceilings import raters_are_known, too_good
from correlations.selectors.settings_words import settings_in_words
from correlations.selectors.tuned import is_tuned
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.units import FEW_UNITS, FEW_UNITS_OF_PAIR, too_few_units
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS
from metrics.scoring.settings import with_settings
from metrics.selectors.copies import Copies, percent_of
from metrics.selectors.predictions import CROSS_VALIDATED
from metrics.templatetags.report import percent

NAN = float("nan")
SIGNIFICANT = 0.05
FEW_COMPARISONS = 30  # that a page shows in any case
MOST_COMPARISONS = 200  # that it shows; the download has all
MOST_RIVALS = 4  # before the lead sentence counts them
UNITS_COMPARE = "larger ones give higher numbers"  # why studies with other units do not compare
IN_COLOUR = 6  # lines that differ enough to be read in one chart
SWEPT: Mapping[str, str] = {"threshold": "thresholds", "unit_size": "unit sizes", "order": "orders of n-grams"}
NEARLY_ALL = 0.9  # share of a row's scores without a match of every n-gram length, from which the page says so
CLAMPED_WORTH_SHOWING = 0.02  # share of (unit, system) cells
HONEST = " of those that judge quality and cannot have seen the ratings"  # which rows one is the highest of


@dataclass(frozen=True)
class BestRow:
    """The row with the highest coefficient; ``rivals`` do not differ from it significantly, ``ahead`` are closer to
    the raters on the items that both can use."""

    row: StudyRow
    index: int
    estimate: RowEstimate
    rivals: list[str]
    ahead: list[str]
    ceiling: float | None
    is_tuned: bool  # the best of several choices of references
    passed_over: Sequence[str] = ()  # rows above it that may have seen the ratings

    @property
    def references(self) -> str:
        return references_in_words(self.row)

    @property
    def is_baseline(self) -> bool:
        """Return whether the metric describes outputs without judging them, such as their length."""
        return describes_only(self.row)


def describes_only(row: StudyRow) -> bool:
    return row.metric in METRICS and not METRICS[row.metric].judges_quality


def rivals_in_words(names: Sequence[str]) -> str:
    """Return the metrics that do not differ from another one, as the end of a sentence."""
    return f"{len(names)} others: {', '.join(names)}" if len(names) > MOST_RIVALS else alternatives(names)


def best_row(result: StudyResult) -> BestRow | None:
    """Return the row with the highest leading coefficient of those with enough units; None if none is defined.

    If that row is too good for a score that has not seen the ratings, it is the highest other one that judges quality.
    """
    values = [None if row.few_units else result.lead_value(row) for row in result.rows]
    defined = [index for index, value in enumerate(values) if value is not None]
    if not defined:
        return None
    best = max(defined, key=lambda index: values[index] or 0.0)
    seen = [row for row, _ in too_good(result)]
    honest = [index for index in defined if result.rows[index] not in seen and not describes_only(result.rows[index])]
    passed_over: list[str] = []
    if result.rows[best] in seen and honest:
        best = max(honest, key=lambda index: values[index] or 0.0)
        passed_over = list(dict.fromkeys(row.label for row in seen if row in map(result.rows.__getitem__, defined)))
    row = result.rows[best]
    rivals, ahead = [], []
    this = row.label, row.subset_label
    for entry in result.comparisons:
        sides = entry.sides()
        if this not in sides or entry.p_holm is None:
            continue
        label, references = sides[0] if sides[1] == this else sides[1]
        if label == row.label or label in passed_over:
            continue  # the same metric with other references
        name = label if references in (row.subset_label, NO_REFERENCES) else f"{label} with {_short(references)}"
        if entry.p_holm >= SIGNIFICANT:
            rivals.append(name)
        elif _lead(this, entry) < 0:
            ahead.append(name)
    ceiling = result.ceilings[best].coefficients[result.lead.key].ceiling
    lead = row.coefficients[result.lead.key]
    return BestRow(row, best, lead, rivals, ahead, ceiling, is_tuned(result, row), passed_over)


def alternatives(names: Sequence[str]) -> str:
    """Return names as a choice.

    >>> alternatives(["BLEU"]), alternatives(["BLEU", "chrF", "TER"])
    ('BLEU', 'BLEU, chrF or TER')
    """
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def references_in_words(row: StudyRow) -> str:
    """Return a row's references as part of a sentence; those behind imported scores are not known."""
    if is_predicted(row):
        return "no references"
    if is_imported(row):
        return "imported scores"
    named = {NO_REFERENCES: "no references", "all": "all references", "original": "the single original reference"}
    return named.get(row.subset, f"references of {row.subset_label}")


def reads_references(row: StudyRow) -> bool:
    """Return whether a row's metric reads references, which then belong to its name."""
    return row.subset != NO_REFERENCES and not is_imported(row)


def is_imported(row: StudyRow) -> bool:
    return row.metric == External.name


def is_predicted(row: StudyRow) -> bool:
    """Return whether a row's scores are cross-validated predictions, by their name."""
    return is_imported(row) and row.label.endswith(CROSS_VALIDATED)


def row_references(row: StudyRow) -> str:
    """Return a row's references as a table's cell."""
    return "imported" if is_imported(row) and not is_predicted(row) else row.subset_label


def side_references(entry: Comparison, result: StudyResult) -> tuple[str, str]:
    """Return the references of both sides of a comparison, as `row_references` has those of rows."""
    shown = {(row.label, row.subset_label): row_references(row) for row in result.rows}
    first, second = entry.sides()
    return shown.get(first, first[1]), shown.get(second, second[1])


def _short(references: str) -> str:
    """Return a choice of references as part of a list."""
    return {"all": "all references", "single": "the single original"}.get(references, references)


def _lead(row: tuple[str, str], entry: Comparison) -> float:
    """Return how much higher the row's coefficient is, over the items that both can use."""
    difference = entry.difference or 0.0
    return difference if entry.sides()[0] == row else -difference


def few_units(result: StudyResult) -> str:
    """Return why every row has too few units for a conclusion; empty if one has enough, or if none is defined."""
    defined = [row for row in result.rows if result.lead_value(row) is not None]
    if not defined or any(not row.few_units for row in defined):
        return ""
    return max(defined, key=lambda row: sum(pair.units for pair in row.pairs)).few_units


def copies(result: StudyResult) -> list[str]:
    """Return the systems that copy references, but for case, spaces and punctuation: see `copied`."""
    return [each.system for each in copied(result) if each.is_circular]


def copied(result: StudyResult) -> list[Copies]:
    """Return each system with outputs that are references, with how many of its rated outputs are."""
    rated: dict[str, int] = {}
    for row in result.rows:
        for system in row.systems:
            rated[system.system] = max(rated.get(system.system, 0), system.rated_items)
    return [
        Copies(entry.system, entry.items, max(rated.get(entry.system, 0), entry.items))
        for entry in result.circularity.same_text
    ]


def copied_in_words(result: StudyResult) -> str:
    """Return each system's share of outputs that are references."""
    return "; ".join(
        f"{each.system}: {each.copied:,} of {each.outputs:,}, {percent_of(each.share)}" for each in copied(result)
    )


def circularity_to_show(result: StudyResult) -> Circularity | None:
    """Return what is on both sides of the correlation; None if nothing is, or if no row reads references."""
    found, reading = result.circularity, any(row.subset != NO_REFERENCES for row in result.rows)
    return found if reading and (found.raters_on_both_sides or found.same_text_items) else None


def summary_cards(study: Study, result: StudyResult) -> list[dict[str, str]]:
    """Return the numbers at the head of the report."""
    counts, unit_size = result.counts, study.specification["unit_size"]
    excluded = f", {counts.raters_excluded:,} excluded" if counts.raters_excluded else ""
    known = raters_are_known(result)
    raters = counted(counts.raters, "rater") if known else "medians or means, raters not known"
    return [
        card("Human judgements" if known else "Ratings of groups", counts.judgements, f"{raters}{excluded}"),
        card("Items", result.items.used, f"{result.items.left_out:,} left out{_fewer_items(result)}", "#left-out"),
        card(
            "References", counts.references, references_of(study) if counts.references else "no metric reads any here"
        ),
        card("Assignments to units", result.assignments, f"units of {counted(unit_size, 'item')}; {UNITS_COMPARE}"),
    ]


def _fewer_items(result: StudyResult) -> str:
    """Return how many of the items each metric has; empty if each has all."""
    fewest, most = min(row.items for row in result.rows), max(row.items for row in result.rows)
    return f"; by metric {fewest:,} to {most:,}" if fewest < result.items.used else ""


def references_of(study: Study | ParameterStudy) -> str:
    """Return where a study's references come from."""
    return f"of “{study.dataset}”, all alike" if study.release is None else f"weighted by {study.release}"


def estimates(result: StudyResult, row: StudyRow) -> list[tuple[Coefficient, RowEstimate]]:
    return [(entry, row.coefficients[entry.key]) for entry in result.entries]


def n_significant(result: StudyResult) -> int:
    """Count the comparisons of two metrics that differ significantly, after the correction."""
    return sum(map(_is_significant, result.comparisons))


def _is_significant(entry: Comparison) -> bool:
    return entry.p_holm is not None and entry.p_holm < SIGNIFICANT


def comparisons_worth_showing(result: StudyResult) -> list[tuple[Comparison, float | None, float | None]]:
    """Return comparisons with both coefficients: all if few, else the significant ones and those with the best metric
    of each choice of references."""
    lead = result.lead.key
    return [(entry, entry.first_value[lead], entry.second_value[lead]) for entry in _worth_showing(result)]


def _worth_showing(result: StudyResult) -> Sequence[Comparison]:
    if len(result.comparisons) <= FEW_COMPARISONS:
        return result.comparisons
    best: dict[str, tuple[float, str]] = {}
    for row in result.rows:
        value = result.lead_value(row)
        if value is not None:
            candidate = value, row.label
            best[row.subset_label] = max(best.get(row.subset_label, candidate), candidate, key=itemgetter(0))
    if alone := best.get(NO_REFERENCES):  # reads no references, and is compared under each choice of them
        best = {label: max(candidate, alone) for label, candidate in best.items()}
    leaders = {label: leader for label, (_, leader) in best.items()}
    return [
        entry
        for entry in result.comparisons
        if _is_significant(entry)
        or not entry.subset_label
        or leaders.get(entry.subset_label) in (entry.first, entry.second)
    ][:MOST_COMPARISONS]


def metrics_in_colour(result: StudyResult) -> list[str]:
    """Return labels of the metrics closest to the raters, whatever their references, closest first."""
    best: dict[str, float] = {}
    for row in result.rows:
        value = result.lead_value(row)
        best[row.label] = max(best.get(row.label, -math.inf), -math.inf if value is None else value)
    return sorted(best, key=lambda label: -best[label])[:IN_COLOUR]


def units_of(study: Study) -> str:
    """Return what the study's coefficients are over, as part of a sentence."""
    return f"units of {counted(study.specification['unit_size'], 'item')}"


@dataclass(frozen=True)
class ClampedRow:
    row: StudyRow
    index: int
    worst: list[SystemShare]


def clamped_rows(result: StudyResult) -> list[ClampedRow]:
    """Return rows in which clamping explains something, with the three systems it affects most, worst first."""
    rows = [
        ClampedRow(row, index, sorted(row.clamped.systems, key=lambda entry: -entry.share)[:3])
        for index, row in enumerate(result.rows)
        if row.clamped.share >= CLAMPED_WORTH_SHOWING
    ]
    return sorted(rows, key=lambda each: -each.row.clamped.share)


def clamped_sentences(result: StudyResult) -> list[str]:
    """Return which rows have next to no score with a match of every n-gram length, and what that means."""
    said: dict[tuple[str, bool], list[str]] = {}
    for each in result.rows:
        if each.clamped.share >= NEARLY_ALL:
            name = f"{with_settings(each.label, each.signature)}, {row_references(each)}"
            said.setdefault((percent(each.clamped.share), each.smoothed), []).append(name)
    return [
        f"{'; '.join(names)}: {share} of the scores lack a match of some n-gram length. "
        + (
            "Smoothing makes them small instead of 0, so that it decides more than the texts do."
            if smoothed
            else "They count as 0, so that this metric cannot tell outputs apart here."
        )
        for (share, smoothed), names in said.items()
    ]


def sweeps_to_draw(result: StudyResult) -> list[tuple[Kind, str, str]]:
    """Return the name, title and caption of each sweep that has a point to draw."""
    whole = copies(result) if circularity_to_show(result) else []
    copied = (
        f" Many outputs of {' and '.join(whole)} are references: metrics without weights find these perfect."
        if whole
        else ""
    )
    return [
        (name, axis.chart_title, f"References: {result.sweeps[name].references}.{_left_out(result, name)}{copied}")
        for name, axis in AXES.items()
        if (sweep := drawn_sweep(result, name)) and _has_point(result, sweep)
    ]


def drawn_sweep(result: StudyResult, kind: Kind) -> Sweep | None:
    """Return the points of a sweep that a chart draws: of unit sizes those that leave enough units; None without any.

    A last, shorter unit counts, as in most studies.
    """
    sweep = result.sweeps.get(kind)
    if sweep is None or kind != "unit_size":
        return sweep
    enough = [
        place
        for place, size in enumerate(sweep.points)
        if not too_few_units([math.ceil(pair.items / size) for pair in result.pairs])
    ]
    if not enough:
        return None
    series = (replace(each, points=tuple(each.points[place] for place in enough)) for each in sweep.series)
    return replace(sweep, points=tuple(sweep.points[place] for place in enough), series=tuple(series))


def _left_out(result: StudyResult, kind: Kind) -> str:
    """Return which sizes of units are not drawn, and why; empty if all are."""
    sweep, drawn = result.sweeps[kind], drawn_sweep(result, kind)
    missing = [f"{point:g}" for point in sweep.points if drawn is None or point not in drawn.points]
    if not missing:
        return ""
    leave = "leaves" if len(missing) == 1 else "leave"
    return (
        f" Not drawn: M = {', '.join(missing)}, which {leave} fewer than {FEW_UNITS} units of all pairs, or fewer than "
        f"{FEW_UNITS_OF_PAIR} of one."
    )


def sweeps_title(result: StudyResult) -> str:
    """Return the heading over the sweeps that are drawn."""
    names = [SWEPT[name] for name, *_ in sweeps_to_draw(result)]
    return f"Other {' and '.join(filter(None, [', '.join(names[:-1]), *names[-1:]]))}"


def _has_point(result: StudyResult, sweep: Sweep) -> bool:
    return any(result.lead_value(point) is not None for series in sweep.series for point in series.points)


# --- Charts ----------------------------------------------------------------------------------------------------------

FORESTS: Mapping[str, Callable[[StudyResult], Sequence[Coefficient]]] = {
    "forest": lambda result: [result.lead],
    "forest-all": lambda result: result.entries,
}


def figure(result: StudyResult, name: str, *, theme: Theme) -> Spec | None:
    """Return the specification of a chart; None if there is no chart of that name."""
    if name in FORESTS:
        rows = _forest_rows(result, FORESTS[name](result), with_paper=name != "forest")
        return forest_plot(rows, settings=settings_in_words(result), theme=theme)
    kind = next((kind for kind in AXES if kind == name), None)
    if kind is not None and kind in result.sweeps:
        sweep = drawn_sweep(result, kind)
        return None if sweep is None else _sweep_figure(result, kind, sweep, theme)
    places = {f"row-{index}": index for index in range(len(result.rows))}
    return _scatter(result, places[name], theme) if name in places else None


def forest_caption(result: StudyResult, *, with_paper: bool = False) -> str:
    """Return how to read the chart; the raters' bar only if there is one, the paper's band in that of all coefficients.

    That band takes observations for independent and is too narrow, so that it is kept out of the first chart.
    """
    caption = "Line: 95% interval, bootstrap over items."
    if with_paper:
        caption += " Band: Fisher’s z as in ΔBLEU (Galley et al., 2015), too narrow."
    if all(each.coefficients[result.lead.key].ceiling is None for each in result.ceilings):
        return " ".join(filter(None, [caption, settings_in_words(result)]))
    caption = f"{caption} Upright bar: how far another group of as many raters is estimated to agree."
    return " ".join(filter(None, [caption, settings_in_words(result)]))


def rows_in_order(result: StudyResult) -> list[int]:
    """Return the positions of the rows in the order of the chart and of every table of rows: the closest first."""
    positions = range(len(result.rows))
    return sorted(positions, key=lambda position: _sorting(result.lead_value(result.rows[position])), reverse=True)


def _forest_rows(result: StudyResult, coefficients: Sequence[Coefficient], *, with_paper: bool) -> list[ForestRow]:
    rows = [(result.rows[position], result.ceilings[position]) for position in rows_in_order(result)]
    return [
        ForestRow(
            metric=row.label,
            subset="" if row.subset == NO_REFERENCES else row.subset_label,
            coefficient=entry.label,
            mean=number(estimate.value),
            honest=estimate.over_items or (NAN, NAN),
            paper=(estimate.paper if with_paper else None) or (NAN, NAN),
            ceiling=number(None if estimate.value is None else ceiling.coefficients[entry.key].ceiling),
            reason=estimate.reason,
        )
        for row, ceiling in rows
        for entry, estimate in estimates(result, row)
        if entry in coefficients
    ]


def _sorting(value: float | None) -> float:
    return -math.inf if value is None else value


def _sweep_figure(result: StudyResult, kind: Kind, sweep: Sweep, theme: Theme) -> Spec:
    series = {each.label: [number(result.lead_value(point)) for point in each.points] for each in sweep.series}
    label = result.lead.label
    settings = "" if kind == "order" else settings_in_words(result)
    in_colour = _in_colour(result, sweep)
    return sweep_chart(
        sweep.points, series, kind=kind, coefficient=label, settings=settings, theme=theme, in_colour=in_colour
    )


def _in_colour(result: StudyResult, sweep: Sweep) -> list[str] | None:
    """Return the lines of a sweep that are in colour; None if all are."""
    labels = [each.label for each in sweep.series]
    if len(labels) <= IN_COLOUR:
        return None
    best = metrics_in_colour(result)
    named = {label.split(" (")[0] for label in best}  # two orders of one metric are one line of the order sweep
    return [label for label in labels if label in best or label in named][:IN_COLOUR]


def unnamed_lines(result: StudyResult, kind: Kind) -> list[str]:
    """Return the lines of a sweep's chart that have no name in it."""
    sweep = drawn_sweep(result, kind)
    if sweep is None or len(sweep.series) <= MOST_LINES_NAMED:
        return []
    coloured = _in_colour(result, sweep) or []
    return [each.label for each in sweep.series if each.label not in coloured]


def _scatter(result: StudyResult, index: int, theme: Theme) -> Spec | None:
    row, observations = result.rows[index], result.observations[index]
    human, metric = ([number(value) for value in side] for side in (observations.human, observations.metric))
    if all(map(math.isnan, metric)):
        return None
    names = [f"{pair.a} – {pair.b}" for pair in result.pairs]
    return observation_scatter(
        human,
        metric,
        metric_name=f"{with_settings(row.label, row.signature)}, {row.subset_label}",
        pairs=[names[pair] for pair in observations.pair],
        subtitle="One assignment of items to units",
        theme=theme,
    )


def number(value: float | None) -> float:
    return NAN if value is None else value
