"""The answer of the page of metric against metric, and its chart: the rows in order, with intervals."""

from collections.abc import Iterable

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import counted, decimals
from annotation.core.prose import enumerated
from correlations.charts.forest import ForestRow, forest_plot
from correlations.results.common import Ends
from correlations.results.significance import OUTPUTS, SWAP_SYSTEMS, SYSTEMS
from correlations.results.study import NO_REFERENCES, StudyResult, StudyRow
from correlations.selectors.ceilings import too_good
from correlations.selectors.levels import levels_report
from correlations.selectors.reports import (
    HONEST,
    NAN,
    best_row,
    n_significant,
    number,
    reads_references,
    references_in_words,
)
from correlations.selectors.settings_words import settings_in_words
from correlations.selectors.significance import LEVELS, UNITS, Contest, Contestant, contest
from correlations.selectors.tuned import references_chosen
from metrics.templatetags.report import p_text

FIGURE = "ranking-"  # begins the names of charts, which end with the level
BY_MEANS = "-by-means"  # after the level, if scores of systems are means of their outputs'
MOST_NAMED = 4  # rows that the closest one is significantly closer than
OVERLAP = "Intervals that overlap may still differ, as each pair is tested on the same items."
INTERVALS = {
    UNITS: "95% intervals over items.",
    SYSTEMS: "95% intervals over other systems and items.",
    OUTPUTS: "95% intervals over items.",
}


def verdict(shown: Contest) -> str:
    """Return the answer in a few words."""
    if shown.reason or shown.best is None:
        return "Nothing is tested here."
    if not shown.n_different:
        return f"Over {shown.over} no two metrics{' that are compared' if shown.n_missing else ''} can be told apart."
    return f"{shown.n_different:,} of {counted(len(shown.by_places), 'pair')} can be told apart."


def answer(result: StudyResult, shown: Contest) -> str:
    """Return what follows the verdict: the clearest difference, or who is closest and how far the rows fall apart."""
    best = shown.best
    if shown.reason or best is None:
        reason = shown.reason or "no coefficient is defined"
        return f"{reason[:1].upper()}{reason[1:]}."
    if not shown.n_different:
        value = f"{shown.coefficient.label} = {decimals(best.value or 0.0, 3)}"
        closest = f"{name_of(best.row)} is closest to the raters: {value}."
        parts = [clearest_sentence(shown), closest, _chosen(result, shown, best), _headline(result, shown, best)]
        return " ".join(filter(None, parts))
    if best.wins == shown.others > 1:
        wins = f"significantly closer than each of the {shown.others} others"
    elif best.wins:
        beaten = [name_of(shown.contestants[place - 1].row) for place in places_beaten(shown, best)]
        wins = f"significantly closer than {enumerated(beaten, MOST_NAMED)}"
    else:
        wins = "but not significantly closer than any other"
    value = f"{shown.coefficient.label} = {decimals(best.value or 0.0, 3)}"
    closest = f"Over {shown.over}, {name_of(best.row)} is closest to the raters: {value}, {wins}"
    parts = [f"{closest}; {_clusters(shown)}.", _chosen(result, shown, best), _headline(result, shown, best)]
    return " ".join(filter(None, parts))


def _chosen(result: StudyResult, shown: Contest, best: Contestant) -> str:
    """Return of which of the closest rows, here and in the headline, the references were chosen; empty if of none."""
    headline = None if shown.level == UNITS else best_row(result)
    return references_chosen(result, [best.row, *([headline.row] if headline else [])])


def clearest_sentence(shown: Contest) -> str:
    """Return the pair with the smallest corrected p, which is no difference yet."""
    pair = next(each for each in shown.pairs if each.p_holm is not None)
    tests = sum(each.p_holm is not None for each in shown.by_places.values())
    size = decimals(abs(pair.difference or 0.0), 3)
    correction = f" after Holm’s correction for {tests:,} pairs" if tests > 1 else ""
    return (
        f"The clearest difference is that of {name_of(pair.first)} and {name_of(pair.second)}: {size} in "
        f"{shown.coefficient.symbol}, {p_text(pair.p_holm)}{correction}."
    )


def _clusters(shown: Contest) -> str:
    n, rows = len(shown.clusters), len(shown.contestants)
    if n > 1:
        return f"the {rows} rows fall into {n} clusters"
    return f"the {rows} rows are one cluster: nowhere is every row above significantly closer than every row below"


def _headline(result: StudyResult, shown: Contest, best: Contestant) -> str:
    """Return that the closest row may have seen the ratings, and what is found over units, as in the headline."""
    headline = best_row(result)
    is_seen = any(best.row is row for row, _ in too_good(result))
    seen = f"{best.row.label} may have seen these ratings." if is_seen else ""
    if headline is None:
        return seen
    value = f"{result.lead.symbol} = {decimals(headline.estimate.value or 0.0)}"
    if shown.level == UNITS:
        passed_over = headline.passed_over and headline.index != best.index
        return f"{seen} {name_of(headline.row)} is closest{HONEST} ({value}).".strip() if passed_over else seen
    closest = "it is closest, too" if headline.index == best.index else f"{name_of(headline.row)} is closest"
    closest += HONEST if headline.passed_over else ""
    apart = ""
    if result.comparisons:
        n, pairs = n_significant(result), counted(len(result.comparisons), "pair")
        apart = f"; {n:,} of {pairs} that are compared there differ{'s' if n == 1 else ''}"
    return f"{seen} Over units, as in the study’s headline, {closest} ({value}){apart}.".strip()


def name_of(row: StudyRow) -> str:
    """Return a row as part of a sentence, without its settings."""
    return f"{row.label} with {references_in_words(row)}" if reads_references(row) else row.label


def places_beaten(shown: Contest, row: Contestant) -> list[int]:
    """Return the places of the rows that one is significantly closer than; 1 is the first."""
    beaten = []
    for (above, below), pair in shown.by_places.items():
        if pair.differs and above == row.place - 1 and (pair.difference or 0) > 0:
            beaten.append(below + 1)
        elif pair.differs and below == row.place - 1 and (pair.difference or 0) < 0:
            beaten.append(above + 1)
    return sorted(beaten)


def in_ranges(places: Iterable[int]) -> str:
    """Return ascending numbers with runs of them as ranges.

    >>> in_ranges([2, 3, 4, 6, 8, 9]), in_ranges([])
    ('2–4, 6, 8–9', '')
    """
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def ranking_name(shown: Contest) -> str:
    """Return the name of the chart of the rows in order; tests by means of outputs have one of their own."""
    return f"{FIGURE}{shown.level}{BY_MEANS if shown.by_means else ''}"


def ranking_caption(shown: Contest) -> str:
    if shown.by_means:
        return f"{shown.coefficient.label} over {shown.over}, whose scores are means of their outputs’."
    return f"{shown.coefficient.label} over {shown.over}. {INTERVALS[shown.level]} {OVERLAP}"


def matrix_caption(shown: Contest) -> str:
    """Return how to read the matrix, and how many rows it leaves out."""
    out = len(shown.contestants) - len(shown.places_apart)
    left = (
        f" {counted(out, 'row')} that differ{'s' if out == 1 else ''} from none {'is' if out == 1 else 'are'} left out."
    )
    return f"Each line against each column, by their numbers.{left if out else ''}"


def pairs_summary(shown: Contest) -> str:
    """Return what the section of pairs holds."""
    if shown.reason:
        return "Nothing is tested."
    n, pairs = shown.n_different, counted(len(shown.by_places), "pair")
    return f"{pairs}, the smallest p first; {n:,} differ{'s' if n == 1 else ''} significantly."


def ranking_figure(result: StudyResult, name: str, theme: Theme) -> Spec | None:
    """Return the chart ``ranking-LEVEL``; None if the name is another's."""
    level = name.removeprefix(FIGURE)
    method = SWAP_SYSTEMS if level == SYSTEMS + BY_MEANS else None
    level = level.removesuffix(BY_MEANS)
    shown = contest(result, level, method) if name.startswith(FIGURE) and level in LEVELS else None
    if shown is None or not shown.contestants:
        return None
    return forest_plot(
        [_forest_row(result, shown, each) for each in shown.contestants],
        title="Metrics in order",
        settings=settings_in_words(result),
        about=[ranking_caption(shown)],
        theme=theme,
    )


def _forest_row(result: StudyResult, shown: Contest, each: Contestant) -> ForestRow:
    return ForestRow(
        metric=each.row.label,
        subset="" if each.row.subset == NO_REFERENCES else each.row.subset_label,
        coefficient=shown.coefficient.label,
        mean=number(each.value),
        honest=(None if shown.by_means else _interval(result, shown.level, each.index)) or (NAN, NAN),
        reason="not defined",
    )


def _interval(result: StudyResult, level: str, index: int) -> Ends | None:
    if level == UNITS:
        return result.rows[index].coefficients[result.lead.key].over_items
    report = levels_report(result, index)
    if report is None:
        return None
    return report.chosen.with_other_systems if level == SYSTEMS else report.chosen.of_outputs.over_items
