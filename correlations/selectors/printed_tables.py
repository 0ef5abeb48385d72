"""The tables of a study's report as it is printed: each stands alone, with its caption and notes."""

from collections.abc import Iterable
from math import comb

from annotation.core.numbers import counted, decimals, in_brackets
from correlations.documents.model import UNDEFINED, Column, Grid
from correlations.results.common import Ends
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.ceilings import ceiling_lines
from correlations.selectors.held import RESAMPLES
from correlations.selectors.levels import WHOLE, levels_report
from correlations.selectors.reports import (
    BestRow,
    comparisons_worth_showing,
    row_references,
    rows_in_order,
    side_references,
)
from correlations.selectors.settings_words import settings_in_words
from correlations.selectors.tuned import MARK, chosen_here, is_tuned
from correlations.selectors.worth import IN_PLACE_OF, WHOM, saved_in_words, stand_in_candidates
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.paired_outputs import MOST_PAIRS
from correlations.stats.worth import MARGINS
from metrics.templatetags.report import percent

METRIC, REFERENCES = Column("Metric"), Column("References")
DIGITS = 3
SMALLEST_P = 0.001


def number(value: float | None, digits: int = DIGITS, *, plus: bool = False) -> str:
    return UNDEFINED if value is None else decimals(value, digits, plus=plus)


def interval(ends: Ends | None) -> str:
    """Return an interval with two decimals, or with as many as show that it leaves out 0."""
    return in_brackets(ends).strip() or UNDEFINED


def p_value(value: float | None) -> str:
    if value is None:
        return UNDEFINED
    return f"< {SMALLEST_P}" if value < SMALLEST_P else number(value)


def names(row: StudyRow) -> tuple[str, str]:
    """Return a row's metric and its references; settings stand below the first chart and the first table."""
    return row.label, row_references(row)


def _numbers(*labels: str) -> tuple[Column, ...]:
    return tuple(Column(label, is_number=True) for label in labels)


def _reasons(reasons: Iterable[tuple[StudyRow, str]]) -> tuple[str, ...]:
    """Return why values are undefined, each reason once, with the rows that it is about."""
    by_reason: dict[str, list[str]] = {}
    for row, reason in reasons:
        if reason:
            by_reason.setdefault(reason, []).append(", ".join(names(row)))
    return tuple(f"Undefined for {'; '.join(dict.fromkeys(rows))}: {reason}." for reason, rows in by_reason.items())


def correlation_grids(result: StudyResult, best: BestRow | None) -> list[Grid]:
    """Return a table for each coefficient, the leading one first; rows in the order of the chart, as on the page."""
    return [_correlation_grid(result, entry, None if best is None else best.index) for entry in result.entries]


def _correlation_grid(result: StudyResult, entry: Coefficient, best: int | None) -> Grid:
    columns = (
        METRIC,
        REFERENCES,
        *_numbers(entry.symbol, "over items", "items, raters", "Fisher's z", "other raters", "N", "items"),
    )
    rows, reasons, order = [], [], rows_in_order(result)
    for row, ceiling in ((result.rows[index], result.ceilings[index]) for index in order):
        estimate = row.coefficients[entry.key]
        cells = (
            number(estimate.value),
            interval(estimate.over_items),
            interval(estimate.over_items_and_raters),
            interval(estimate.paper),
            number(ceiling.coefficients[entry.key].ceiling),
            f"{row.n_observations:,}",
            f"{row.items:,}",
        )
        rows.append((*names(row), *cells))
        reasons.append((row, estimate.reason))
    notes = [*_reasons(reasons)]
    if best is not None and is_tuned(result, result.rows[best]):
        notes.append(f"In bold: the highest {result.lead.symbol}. {chosen_here(result.rows[best])}")
    if entry is result.entries[0] and (settings := settings_in_words(result)):
        notes.append(settings)  # for a table that stands alone in a paper
    if any(row.negated for row in result.rows):
        lower = "; ".join(dict.fromkeys(names(row)[0] for row in result.rows if row.negated))
        notes.append(f"Low scores are the better ones of {lower}: coefficients are of the score with its sign turned.")
    caption = (
        f"{entry.label} of each metric with the mean ratings over units, the mean of "
        f"{counted(result.assignments, 'random assignment')} of items to units. Over items: 95% interval, bootstrap. "
        "Over items and raters: range of resamples, pulled towards 0 by noise (simulated it holds the truth in "
        f"{RESAMPLES}, not in 95 %). Fisher's z: as published in 2015, every observation counted as independent. Other "
        "raters: how far another group of as many is estimated to agree. N: observations in one assignment. "
        f"Rows, here and in every table but that of raters replaced: the highest {result.lead.symbol} over units first."
    )
    best_row = None if best is None else order.index(best)
    return Grid(f"correlation-{entry.key}", caption, columns, tuple(rows), tuple(notes), best_row)


def comparison_grid(result: StudyResult, *, of_best: bool) -> Grid | None:
    """Return the comparisons of metrics, ``of_best`` if with each metric's best references; None if there are none."""
    shown = comparisons_worth_showing(result)
    if not shown:
        return None
    names_of = [(row.label, row.subset_label) for row in (result.rows[index] for index in rows_in_order(result))]
    places = {name: place for place, name in reversed(list(enumerate(names_of)))}
    shown = sorted(shown, key=lambda each: sorted(places.get(side, len(places)) for side in each[0].sides()))
    symbol = result.lead.symbol
    of_values = _numbers("items", symbol, f"{symbol}, second", "difference", "95%", "p", "p, Holm")
    columns = (Column("Compared"), REFERENCES, *of_values)
    rows: list[tuple[str, ...]] = []
    reasons: dict[tuple[str, str], list[str]] = {}
    for entry, first, second in shown:
        references = entry.subset_label or " against ".join(side_references(entry, result))
        values = (number(first), number(second), number(entry.difference, plus=True))
        tests = (interval(entry.interval), p_value(entry.p), p_value(entry.p_holm))
        rows.append((f"{entry.first} – {entry.second}", references, f"{entry.items:,}", *values, *tests))
        if entry.reason:
            reasons.setdefault((references, entry.reason), []).append(f"{entry.first} – {entry.second}")
    whole = f"all {len(result.comparisons):,} comparisons"
    part = (
        ""
        if len(shown) == len(result.comparisons)
        else (f"; shown are {len(shown):,}: the significant ones, and those with the metric closest to the raters")
    )
    caption = (
        f"Differences of mean {symbol} between two metrics, over the items that both can use. Interval and two-sided p "
        f"from the standard error over resampled items, the same for both; p corrected after Holm for {whole}{part}."
    )
    notes = [f"{', '.join(pairs)}; {references}: {reason}." for (references, reason), pairs in reasons.items()]
    if of_best and any(not entry.subset_label for entry, *_ in shown):
        notes.append(f"One choice of references against another: the best of each metric, {MARK}.")
    return Grid("comparisons", caption, columns, tuple(rows), tuple(notes))


def ceiling_grid(result: StudyResult) -> Grid | None:
    """Return how far raters agree, beside each metric; None where that is not known of any."""
    known = [human for row in result.ceilings for human in row.coefficients.values()]
    if all(human.ceiling is None and human.one_rater is None for human in known):
        return None
    units, outputs = ("metric, units", "halves", "all raters", "reached"), ("one rater", "metric instead", "raters")
    columns = (METRIC, REFERENCES, Column(""), *_numbers(*units, *outputs))
    rows, reasons = [], []
    lines = ceiling_lines(result)
    for line in (lines[index] for index in rows_in_order(result)):
        for cell in line.cells:
            human = cell.human
            of_units = (number(human.halves), number(human.ceiling), cell.reached_in_words)
            of_outputs = (number(human.one_rater), number(human.metric), f"{human.raters:,}")
            rows.append((*names(line.row), cell.entry.symbol, number(cell.estimate.value), *of_units, *of_outputs))
            reasons += [(line.row, human.reason), (line.row, line.ceiling.one_rater_reason)]
    caption = (
        "How far raters agree among themselves. Over units: random halves of the raters, and from these what another "
        "group as large as this one is estimated to reach (Spearman-Brown). Over single outputs: a rater who is left "
        "out against the others, and the metric in that rater's place."
    )
    return Grid("raters", caption, columns, tuple(rows), _reasons(reasons))


def ranking_grid(result: StudyResult) -> Grid:
    others = ("in systems", "ties of others", "any two")
    columns = (METRIC, REFERENCES, *_numbers("pairs right", "with ties", "tie up to", "as sure", *others))
    rows = tuple(
        (
            *names(row),
            percent(worth.ranking.pairwise),
            percent(worth.ranking.calibrated),
            number(worth.ranking.epsilon),
            percent(worth.ranking.soft),
            percent(worth.ranking.within_systems.calibrated),
            percent(worth.ranking.within_systems.held_out),
            percent(worth.ranking.over_all.calibrated),
        )
        for row, worth in ((result.rows[index], result.worth[index]) for index in rows_in_order(result))
    )
    caption = (
        "Share of pairs of systems that a metric ranks as the raters do, item by item; the same with ties, scores up "
        f"to a threshold apart, {MARK}; how near it is to being as sure as raters (soft pairwise accuracy over "
        "systems). Last: pairs of one system's outputs with ties, the same with the threshold of other systems, any "
        "two outputs with ties. Random scores get half of the pairs that raters do not tie, and a soft accuracy of "
        "0.50 if raters are sure of every pair, of up to 0.75 if of none."
    )
    reasons = (
        (result.rows[index], pairs.reason)
        for index in rows_in_order(result)
        for pairs in (result.worth[index].ranking.within_systems, result.worth[index].ranking.over_all)
    )
    most_outputs = max((worth.ranking.over_all.outputs for worth in result.worth), default=0)
    drawn = (
        "Of more than a million pairs of outputs a million are drawn: another draw may give 0.1 points more or less."
        if comb(most_outputs, 2) > MOST_PAIRS
        else ""
    )
    return Grid("ranking", caption, columns, rows, tuple(filter(None, [*_reasons(reasons), drawn])))


def stand_in_grid(result: StudyResult) -> Grid:
    beaten, others = ("beaten", "win rate"), ("advantage", "one rating", "lead", "p", "saved")
    columns = (METRIC, REFERENCES, Column("stands in"), *_numbers(*beaten), *_numbers(*others))
    rows, reasons = [], []
    for each in stand_in_candidates(result, IN_PLACE_OF):
        margin, worth = each.margin, each.worth
        rows.append(
            (
                *names(each.row),
                each.stands_in or UNDEFINED,
                UNDEFINED if margin is None else f"{margin.beaten} of {len(worth.stand_in.raters)}",
                number(None if margin is None else margin.winning_rate),
                number(worth.stand_in.advantage),
                number(worth.same_rating.advantage),
                number(each.lead) + (f" ({number(each.fitted.lead)})" if each.fitted else ""),
                UNDEFINED if each.lead is None else p_value(each.lead_p),
                saved_in_words(worth.saved),
            )
        )
        reasons.append((each.row, worth.stand_in.reason))
    caption = (
        f"Each metric in place of a rater of {WHOM[IN_PLACE_OF]} (alternative annotator test, ε = "
        f"{number(MARGINS[IN_PLACE_OF], 2)}): it passes with a winning rate of 0.5 or more, and stands in if enough "
        "raters are tested and it shows more than one and the same rating for every output would. Advantage: share of "
        "outputs on which it is as close to the other raters as the rater is; one rating: the same for that rating; "
        "lead: on how many more outputs it is closer than that rating, in brackets if its scores are fitted as a "
        "metric’s are, with the one-sided p that this is no more than ε, after Holm. Ratings "
        "saved by its scores, for equally sure means of systems. Rows, as on the page: those that stand in first."
    )
    return Grid("stand-in", caption, columns, tuple(rows), _reasons(reasons))


def level_grids(result: StudyResult) -> list[Grid]:
    """Return agreement over systems, and over outputs."""
    report = levels_report(result, None)
    if report is None:
        return []
    over_systems, over_outputs, system_reasons, output_reasons = [], [], [], []
    order = rows_in_order(result)
    for each in sorted(report.rows, key=lambda each: order.index(each.index)):
        lead, within, outputs = each.lead, each.within_items.coefficients, each.all_outputs
        others = [each.system.coefficients[key].value for key in ("spearman", "kendall")]
        without = each.system.without
        over_systems.append(
            (
                *names(each.row),
                number(lead.value),
                interval(lead.over_items),
                interval(lead.over_items_and_systems),
                p_value(each.p),
                *map(number, others),
                UNDEFINED if without is None else f"{number(each.without)} ({without.system})",
            )
        )
        pearson, spearman = (outputs.coefficients[key] for key in ("pearson", "spearman"))
        over_outputs.append(
            (
                *names(each.row),
                number(pearson.value),
                interval(pearson.over_items),
                number(spearman.value),
                number(within["pearson"].value),
                number(within["kendall"].value),
                number(each.within_systems.coefficients["pearson"].value),
                f"{outputs.outputs:,}",
            )
        )
        system_reasons.append((each.row, each.system.reason))
        output_reasons.append((each.row, outputs.reason))
    systems = (METRIC, REFERENCES, *_numbers("r", "over items", "items, systems", "p", "ρ", "τ", "r without one"))
    drawn = [each.lead.over_items_and_systems for each in report.rows]
    if all(ends is None or ends[1] - ends[0] >= WHOLE for ends in drawn):  # whatever the metric
        place = [column.label for column in systems].index("items, systems")
        systems = (*systems[:place], *systems[place + 1 :])
        over_systems = [(*cells[:place], *cells[place + 1 :]) for cells in over_systems]
    of_outputs = _numbers("r", "over items", "ρ", "r in items", "τ in items", "r in systems", "outputs")
    return [
        Grid(
            "systems",
            f"Scores and mean ratings over {report.n_systems} systems. Last: r without the system whose absence moves "
            "it most.",
            systems,
            tuple(over_systems),
            _reasons(system_reasons),
        ),
        Grid(
            "outputs",
            "Scores and mean ratings output by output: over all outputs, and the mean within items and within systems.",
            (METRIC, REFERENCES, *of_outputs),
            tuple(over_outputs),
            _reasons(output_reasons),
        ),
    ]
