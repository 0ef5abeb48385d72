"""Every two rows of a study against each other, from its result, as its page says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter

import numpy as np

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import counted
from annotation.ranking import clusters, rank_ranges
from correlations.charts.significance import Cell, comparison_matrix
from correlations.results.significance import (
    OUTPUTS,
    OVER_BOTH,
    OVER_ITEMS,
    SWAP_BOTH,
    SWAP_ITEMS,
    SWAP_SYSTEMS,
    SYSTEMS,
    WILLIAMS,
    WILLIAMS_2,
    PairTests,
)
from correlations.results.study import NO_REFERENCES, Comparison, StudyResult, StudyRow
from correlations.selectors.levels import FEW_SYSTEMS, too_few_systems
from correlations.selectors.reports import SIGNIFICANT, references_in_words
from correlations.selectors.settings_words import settings_in_words
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS

UNITS = "units"
LEVELS = {UNITS: "Sampled units", SYSTEMS: "Systems", OUTPUTS: "Outputs"}
METHODS: Mapping[str, Mapping[str, str]] = {
    UNITS: {OVER_ITEMS: "Bootstrap over items"},
    SYSTEMS: {
        WILLIAMS: "Williams, n − 3",
        WILLIAMS_2: "Williams, n − 2",
        OVER_ITEMS: "Bootstrap over items",
        OVER_BOTH: "over items and systems",
        SWAP_SYSTEMS: "Permutation of systems",
        SWAP_BOTH: "of outputs",
        SWAP_ITEMS: "of items",
    },
    OUTPUTS: {
        SWAP_ITEMS: "Permutation of items",
        OVER_ITEMS: "Bootstrap over items",
        WILLIAMS: "Williams, n − 3",
        WILLIAMS_2: "Williams, n − 2",
    },
}
MEAN = (
    "Scores of outputs are swapped, so that a system’s score is their mean on all of this page; the other tests, and "
    "the page by system and by output, have its score over all outputs at once."
)
BY_MEANS = (SWAP_SYSTEMS, SWAP_BOTH, SWAP_ITEMS)
HERE = (
    "It asks of these very systems: metrics that think differently of them differ, though over other systems neither "
    "may be the better one."
)
NOTES: Mapping[tuple[str, str], str] = {
    (UNITS, OVER_ITEMS): "p comes from the standard error over resampled items, the same for both. Units of different "
    "pairs share items, so they are not independent: no test here takes them for that.",
    (SYSTEMS, SWAP_BOTH): f"Each output’s two scores are swapped or not, at random. {HERE} {MEAN}",
    (SYSTEMS, SWAP_ITEMS): f"The scores of all outputs of an item are swapped together. {HERE} {MEAN}",
    (SYSTEMS, SWAP_SYSTEMS): f"The scores of all outputs of a system are swapped together: other systems, these items. "
    f"{MEAN}",
    (SYSTEMS, OVER_ITEMS): "Items are drawn anew: other items, these systems. The interval is a 95% interval; p is "
    "cautious for metrics that think alike of systems and differ output by output alone.",
    (SYSTEMS, OVER_BOTH): "Items and systems are drawn anew, both at once: other items and other systems. The "
    "interval holds the truth in 95% or more, and p is cautious: it finds little where there is little.",
    (SYSTEMS, WILLIAMS): "Systems are the observations, taken for a random sample of normally distributed ones.",
    (SYSTEMS, WILLIAMS_2): "As some public scripts have it, with one degree of freedom more than the published test: "
    "its p is a little smaller.",
    (OUTPUTS, SWAP_ITEMS): "The scores of all outputs of an item are swapped together, since outputs of one item are "
    "not independent.",
    (OUTPUTS, OVER_ITEMS): "Items are drawn anew with all their outputs.",
    (OUTPUTS, WILLIAMS): "It takes outputs for independent, which those of one item or one system are not: p is too "
    "small where items differ.",
    (OUTPUTS, WILLIAMS_2): "As some public scripts have it. It takes outputs for independent, which those of one item "
    "or one system are not: p is too small where items differ.",
}
NOT_COMPARED = "not compared in this study"


@dataclass(frozen=True)
class Contestant:
    """A row of the study among those that are compared; ``place`` counts from 1."""

    row: StudyRow
    index: int
    place: int
    value: float | None
    cluster: int
    first: int
    last: int
    wins: int

    @property
    def references(self) -> str:
        return references_in_words(self.row)

    @property
    def ranks(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Pair:
    """Two rows by one test; the first is not farther from the raters. ``of`` counts outputs, over units items."""

    first: StudyRow
    second: StudyRow
    of: int | None
    first_value: float | None
    second_value: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    reason: str

    @property
    def difference(self) -> float | None:
        if self.first_value is None or self.second_value is None:
            return None
        return self.first_value - self.second_value

    @property
    def differs(self) -> bool:
        return self.p_holm is not None and self.p_holm <= SIGNIFICANT

    def turned(self) -> "Pair":
        return Pair(
            self.second,
            self.first,
            self.of,
            self.second_value,
            self.first_value,
            None if self.high is None else -self.high,
            None if self.low is None else -self.low,
            self.p,
            self.p_holm,
            self.reason,
        )


@dataclass(frozen=True)
class Contest:
    """One test of every two rows: who is closer to the raters, and who cannot be told apart."""

    level: str
    method: str
    coefficient: Coefficient
    draws: int
    n_systems: int
    contestants: list[Contestant]  # closest to the raters first
    by_places: Mapping[tuple[int, int], Pair]  # from above to below

    @cached_property
    def pairs(self) -> list[Pair]:
        """Return the pairs, the first not the farther from the raters, and those of the smallest p first."""
        turned = [pair.turned() if (pair.difference or 0) < 0 else pair for pair in self.by_places.values()]
        return sorted(turned, key=lambda pair: (pair.p_holm is None, pair.p_holm, pair.p, -(pair.difference or 0)))

    @property
    def best(self) -> Contestant | None:
        return next((each for each in self.contestants if each.value is not None), None)

    @property
    def clusters(self) -> list[list[Contestant]]:
        return [list(group) for _, group in groupby(self.contestants, key=attrgetter("cluster"))]

    @property
    def n_different(self) -> int:
        return sum(pair.differs for pair in self.by_places.values())

    @property
    def places_apart(self) -> list[int]:
        """Return the places, from 0, of the rows that differ significantly from any other."""
        return sorted({place for places, pair in self.by_places.items() if pair.differs for place in places})

    @property
    def others(self) -> int:
        return len(self.contestants) - 1

    @property
    def n_missing(self) -> int:
        n = len(self.contestants)
        return n * (n - 1) // 2 - len(self.by_places)

    @property
    def note(self) -> str:
        return NOTES[self.level, self.method]

    @property
    def least_p(self) -> float | None:
        """Return the least p that swapping whole systems can give; None for other tests, and where it is small."""
        least = 2.0 ** (1 - self.n_systems)
        is_shown = not too_few_systems(self.n_systems) and least > SIGNIFICANT / 5
        return least if self.method == SWAP_SYSTEMS and is_shown else None

    @property
    def by_means(self) -> bool:
        """Return whether a system's score is the mean of its outputs', in every number of this contest."""
        return self.level == SYSTEMS and self.method in BY_MEANS

    @property
    def few_systems(self) -> bool:
        """Return whether they are few, though enough for tests."""
        return self.level == SYSTEMS and not too_few_systems(self.n_systems) and self.n_systems < FEW_SYSTEMS

    @property
    def has_intervals(self) -> bool:
        return any(pair.low is not None for pair in self.by_places.values())

    @property
    def reason(self) -> str:
        """Return why nothing is tested; empty if a pair is."""
        pairs = self.by_places.values()
        if any(pair.p is not None for pair in pairs):
            return ""
        return next((pair.reason for pair in pairs if pair.reason), "there are no two rows")

    @property
    def over(self) -> str:
        """Return what the coefficients are over, as part of a sentence."""
        if self.level == SYSTEMS:
            return counted(self.n_systems, "system")
        return "sampled units" if self.level == UNITS else "outputs"


def usual_level(result: StudyResult) -> str:
    """Return the level that is shown first: units if every two rows were compared over them."""
    n = len(result.rows)
    if len(result.comparisons) == n * (n - 1) // 2:
        return UNITS
    return SYSTEMS if len(result.levels[0].system.systems) >= FEW_SYSTEMS else OUTPUTS


def contest(result: StudyResult, level: str | None = None, method: str | None = None) -> Contest | None:
    """Return a test of every two rows, by default the first of its level; None if there is none of that name."""
    level = level or usual_level(result)
    method = method or next(iter(METHODS.get(level, ())), "")
    if method not in METHODS.get(level, ()):
        return None
    if level == UNITS:
        return _contest(result, level, method, result.lead, _bootstrap_draws(result), _over_units(result))
    test = next(each for each in result.significance.tests if (each.level, each.method) == (level, method))
    pairs = _of_test(result, test)
    if level == SYSTEMS and (reason := too_few_systems(_n_systems(result))):
        pairs = {
            places: replace(pair, low=None, high=None, p=None, p_holm=None, reason=reason)
            for places, pair in pairs.items()
        }
    return _contest(result, level, method, COEFFICIENTS[test.coefficient], test.draws, pairs)


def every_contest(result: StudyResult) -> list[Contest]:
    found = (contest(result, level, method) for level, methods in METHODS.items() for method in methods)
    return [each for each in found if each is not None]


def _bootstrap_draws(result: StudyResult) -> int:
    return next((each.draws for each in result.significance.tests if each.method == OVER_ITEMS), 0)


Pairs = dict[tuple[int, int], Pair]  # by the rows' places in the study's table


def _over_units(result: StudyResult) -> Pairs:
    place = {(row.label, row.subset_label): index for index, row in enumerate(result.rows)}
    return {
        (place[a], place[b]): _of_comparison(result, each) for each in result.comparisons for a, b in [each.sides()]
    }


def _of_comparison(result: StudyResult, each: Comparison) -> Pair:
    first, second = (next(row for row in result.rows if (row.label, row.subset_label) == side) for side in each.sides())
    lead = result.lead.key
    low, high = each.interval or (None, None)
    values = each.first_value[lead], each.second_value[lead]
    return Pair(first, second, each.items, *values, low, high, each.p, each.p_holm, each.reason)


def _of_test(result: StudyResult, test: PairTests) -> Pairs:
    significance = result.significance
    columns = (test.first, test.second, test.low, test.high, test.p, test.p_holm, test.reasons)
    return {
        (a, b): Pair(result.rows[a], result.rows[b], outputs, *cells)
        for (a, b), outputs, *cells in zip(significance.pairs, significance.outputs, *columns, strict=True)
    }


def _contest(
    result: StudyResult, level: str, method: str, coefficient: Coefficient, draws: int, pairs: Pairs
) -> Contest:
    rows = list(range(len(result.rows))) if level == UNITS else list(result.significance.rows)
    by_means = level == SYSTEMS and method in BY_MEANS
    values = {index: _of_means(pairs, index) if by_means else _value(result, level, index) for index in rows}
    rows.sort(key=lambda index: -np.inf if values[index] is None else -(values[index] or 0.0))
    rows.sort(key=lambda index: values[index] is None)
    by_places: Pairs = {}
    for above, a in enumerate(rows):
        for below in range(above + 1, len(rows)):
            b = rows[below]
            if (a, b) in pairs:
                by_places[above, below] = pairs[a, b]
            elif (b, a) in pairs:
                by_places[above, below] = pairs[b, a].turned()
    p, better = np.full((len(rows), len(rows)), np.nan), np.zeros((len(rows), len(rows)), dtype=bool)
    for (above, below), pair in by_places.items():
        p[above, below] = p[below, above] = np.nan if pair.p_holm is None else pair.p_holm
        better[above, below], better[below, above] = (pair.difference or 0) > 0, (pair.difference or 0) < 0
    ranks, cluster = rank_ranges(p, better), clusters(p, better, np.arange(len(rows)))
    wins = ((p <= SIGNIFICANT) & better).sum(axis=1)
    contestants = [
        Contestant(
            result.rows[index],
            index,
            place + 1,
            values[index],
            int(cluster[place]) + 1,
            int(ranks[place, 0]),
            int(ranks[place, 1]),
            int(wins[place]),
        )
        for place, index in enumerate(rows)
    ]
    return Contest(level, method, coefficient, draws, _n_systems(result), contestants, by_places)


def _n_systems(result: StudyResult) -> int:
    return len(result.levels[0].system.systems) if result.levels else 0


def _value(result: StudyResult, level: str, index: int) -> float | None:
    """Return a row's coefficient over all that it can use."""
    if level == UNITS:
        return result.lead_value(result.rows[index])
    levels = result.levels[index]
    coefficients = levels.system.coefficients if level == SYSTEMS else levels.outputs[0].coefficients
    return coefficients["pearson"].value


def _of_means(pairs: Pairs, index: int) -> float | None:
    """Return a row's coefficient by means of outputs' scores, from the pair that shares most of its outputs."""
    sides = [
        (pair.of or 0, value)
        for (first, second), pair in pairs.items()
        for row, value in ((first, pair.first_value), (second, pair.second_value))
        if row == index and value is not None
    ]
    return max(sides)[1] if sides else None


def significance_sentence(result: StudyResult) -> str:
    """Return in one sentence how far metrics can be told apart, for pages that lead to the report."""
    shown = contest(result)
    if shown is None or shown.best is None or shown.reason:
        return f"No two rows are tested: {shown.reason if shown else 'there are none'}."
    n_pairs = counted(len(shown.by_places), "pair")
    over = "single outputs, not units" if shown.level == OUTPUTS else shown.over
    return f"Over {over}, {shown.n_different:,} of {n_pairs} of rows differ significantly: {cluster_text(shown)}."


def cluster_text(shown: Contest) -> str:
    n = len(shown.clusters)
    if n > 1:
        return counted(n, "cluster")
    return "nowhere is every row above significantly closer than every row below, so they are one cluster"


def matrix_figure(result: StudyResult, name: str, theme: Theme) -> Spec | None:
    """Return the chart ``matrix-LEVEL-METHOD``; None if the name is another's, or there are no two rows."""
    kind, _, rest = name.partition("-")
    level, _, method = rest.partition("-")
    shown = contest(result, level, method) if kind == "matrix" and level in LEVELS and method else None
    if shown is None or not shown.by_places:
        return None
    places = shown.places_apart or range(len(shown.contestants))
    names = _names(shown.contestants)
    return comparison_matrix(
        [names[place] for place in places],
        [[_cell(shown, a, b) for b in places] for a in places],
        places=[place + 1 for place in places],
        coefficient=shown.coefficient.label,
        over=shown.over,
        settings=settings_in_words(result),
        theme=theme,
    )


def _names(contestants: Sequence[Contestant]) -> list[str]:
    """Return the rows as the chart of correlations names them: a row that reads no references, by its metric alone."""
    rows = [each.row for each in contestants]
    several = len({row.subset for row in rows}) > 1
    return [
        f"{row.label} · {row.subset_label}" if several and row.subset != NO_REFERENCES else row.label for row in rows
    ]


def _cell(shown: Contest, a: int, b: int) -> Cell | None:
    """Return the row's side of a comparison; None of a row with itself."""
    if a == b:
        return None
    pair = shown.by_places.get((min(a, b), max(a, b)))
    if pair is None:
        return Cell(None, None, NOT_COMPARED)
    pair = pair if a < b else pair.turned()
    return Cell(pair.difference, pair.p_holm, pair.reason)
