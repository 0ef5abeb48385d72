"""Test every two rows of a study against each other, over systems and over outputs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from annotation.core.numbers import finite_or_none
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
    Numbers,
    PairTests,
    Significance,
)
from correlations.results.study import Table
from correlations.selectors.inputs import BoolArray, FloatArray
from correlations.services.draws import Report, RowOutputs, row_outputs
from correlations.services.table import NO_BOOTSTRAP
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.draws import Draws
from correlations.stats.intervals import Interval
from correlations.stats.nested import Over, output_permutation_tests, system_permutation_tests
from correlations.stats.parameters import system_ratings, system_scores
from correlations.stats.resampling import bootstrap_difference
from correlations.stats.significance import Comparison, holm_correction, williams_test

COEFFICIENT = "pearson"
MOST_ROWS = 30  # of the table; of more, each metric's best row is compared
PERMUTATIONS_PER_RESAMPLE, MOST_PERMUTATIONS = 20, 10_000  # the observed labelling is one of them
SWAPS: dict[str, Over] = {SWAP_ITEMS: "items", SWAP_SYSTEMS: "systems", SWAP_BOTH: "both"}
CONSTANT = "a coefficient is undefined: constant scores or ratings"
NAN = float("nan")


@dataclass(frozen=True)
class RowsCompared:
    rows: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]


class Outcome(NamedTuple):
    """A test of one pair; NaN where undefined."""

    first: float = NAN
    second: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN
    reason: str = ""


Outcomes = dict[str, Outcome]  # by method


def rows_compared(table: Table) -> RowsCompared:
    """Return all rows of a table, or each metric's best if they are many, and every two of them."""
    rows = tuple(range(len(table.rows)))
    if len(rows) > MOST_ROWS:
        lead = table.coefficients[0]
        best: dict[str, int] = {}
        for index in sorted(rows, key=lambda index: -(table.rows[index].coefficients[lead].value or -1.0)):
            best.setdefault(table.rows[index].label, index)
        rows = tuple(sorted(best.values()))
    return RowsCompared(rows, tuple(combinations(rows, 2)))


def study_significance(rows: RowOutputs, draws: Draws | None, compared: RowsCompared, report: Report) -> Significance:
    """Return the tests of every two rows, each on the outputs that both can use."""
    scored = {row: row_outputs(rows.inputs, rows.inputs.rows[row]) for row in compared.rows}
    groups: dict[bytes, tuple[BoolArray, list[tuple[int, int]]]] = {}
    for a, b in compared.pairs:
        shared = scored[a] & scored[b]
        groups.setdefault(shared.tobytes(), (shared, []))[1].append((a, b))
    of_systems: dict[tuple[int, int], Outcomes] = {}
    of_outputs: dict[tuple[int, int], Outcomes] = {}
    counted: dict[tuple[int, int], int] = {}
    for done, (shared, pairs) in enumerate(groups.values()):
        report(done, len(groups))
        group = _Group(rows, draws, shared, pairs)
        of_systems |= zip(pairs, group.of_systems(), strict=True)
        of_outputs |= zip(pairs, group.of_outputs(), strict=True)
        counted |= dict.fromkeys(pairs, int(shared.sum()))
    n_resamples = rows.inputs.specification.bootstrap
    n_draws = {OVER_ITEMS: n_resamples, OVER_BOTH: n_resamples, **dict.fromkeys(SWAPS, permutations(n_resamples))}
    tests = [
        _pair_tests(level, method, n_draws.get(method, 0), [of_pairs[pair][method] for pair in compared.pairs])
        for level, methods, of_pairs in (
            (SYSTEMS, (OVER_ITEMS, OVER_BOTH, *SWAPS, WILLIAMS, WILLIAMS_2), of_systems),
            (OUTPUTS, (OVER_ITEMS, SWAP_ITEMS, WILLIAMS, WILLIAMS_2), of_outputs),
        )
        for method in methods
    ]
    return Significance(compared.rows, compared.pairs, tuple(counted[pair] for pair in compared.pairs), tuple(tests))


def permutations(n_resamples: int) -> int:
    """Return how many permutations go with so many resamples."""
    return min(PERMUTATIONS_PER_RESAMPLE * n_resamples, MOST_PERMUTATIONS) - 1 if n_resamples >= 2 else 0


class _Group:
    """Pairs of rows that share the same outputs (T, S)."""

    def __init__(
        self, rows: RowOutputs, draws: Draws | None, outputs: BoolArray, pairs: Sequence[tuple[int, int]]
    ) -> None:
        self.draws, self.outputs, self.pairs = draws, outputs, pairs
        self.indices = sorted({index for pair in pairs for index in pair})
        self.local = [(self.indices.index(a), self.indices.index(b)) for a, b in pairs]
        self.places = [rows.place(index, outputs) for index in self.indices]
        self.values = [rows.values[index] for index in self.indices]
        self.ratings = np.where(outputs, rows.inputs.human.mean, np.nan)
        self.scores = np.stack([np.where(outputs, value.scores, np.nan) for value in self.values])
        self.names = [system.name for system in rows.inputs.corpus.systems]
        self.spec = rows.inputs.specification

    def of_systems(self) -> list[Outcomes]:
        methods = (OVER_ITEMS, OVER_BOTH, *SWAPS, WILLIAMS, WILLIAMS_2)
        if reason := self._too_few_systems():
            return [dict.fromkeys(methods, Outcome(reason=reason)) for _ in self.pairs]
        once = np.ones((1, self.outputs.shape[1]))
        scores = np.stack([system_scores(value, self.outputs, once)[0] for value in self.values])
        found = self._without_draws(scores, system_ratings(self.ratings, once)[0])
        over = (self.draws.over_items, self.draws.over_items_and_systems) if self.draws else ({}, {})
        for method, replicates in zip((OVER_ITEMS, OVER_BOTH), over, strict=True):
            self._bootstrap(found, method, replicates.get(COEFFICIENT))
        means = np.where(self.outputs, self.scores, 0.0).sum(axis=2) / self.outputs.sum(axis=1)
        coefficients = COEFFICIENTS[COEFFICIENT].batch(means, system_ratings(self.ratings, once)[0])
        for stream, (method, over_what) in enumerate(SWAPS.items()):
            tests = partial(system_permutation_tests, self.scores, self.ratings, self.local, over=over_what)
            self._permute(found, method, coefficients, tests, stream)
        return found

    def of_outputs(self) -> list[Outcomes]:
        n = int(self.outputs.sum())
        if n < 3:
            reason = f"{n} outputs that both score and raters rated: at least 3 are needed"
            methods = (OVER_ITEMS, SWAP_ITEMS, WILLIAMS, WILLIAMS_2)
            return [dict.fromkeys(methods, Outcome(reason=reason)) for _ in self.pairs]
        scores, ratings = self.scores[:, self.outputs], self.ratings[self.outputs]
        found = self._without_draws(scores, ratings)
        self._bootstrap(found, OVER_ITEMS, self.draws.outputs if self.draws else None)
        tests = partial(output_permutation_tests, self.scores, self.ratings, self.local)
        self._permute(found, SWAP_ITEMS, COEFFICIENTS[COEFFICIENT].batch(scores, ratings), tests, len(SWAPS))
        return found

    def _too_few_systems(self) -> str:
        if len(self.names) < 3:
            return f"{len(self.names)} systems: at least 3 are needed"
        without = np.flatnonzero(~self.outputs.any(axis=1))
        return f"no output of {self.names[without[0]]} that both score and raters rated" if without.size else ""

    def _without_draws(self, scores: FloatArray, ratings: FloatArray) -> list[Outcomes]:
        """Return both forms of Williams' test of scores (R, n), which also hold the coefficients."""
        coefficients = COEFFICIENTS[COEFFICIENT].batch(scores, ratings)
        found: list[Outcomes] = []
        for a, b in self.local:
            first, second = float(coefficients[a]), float(coefficients[b])
            if np.isnan([first, second]).any():
                found.append(dict.fromkeys((WILLIAMS, WILLIAMS_2), Outcome(first, second, reason=CONSTANT)))
                continue
            between = float(COEFFICIENTS[COEFFICIENT].batch(scores[a], scores[b]))
            tests = {
                WILLIAMS: williams_test(first, second, between, ratings.size),
                WILLIAMS_2: williams_test(first, second, between, ratings.size, dof="n-2"),
            }
            found.append({method: _tested(first, second, test) for method, test in tests.items()})
        return found

    def _bootstrap(self, found: list[Outcomes], method: str, replicates: FloatArray | None) -> None:
        """Add a test by resamples (E, B), of the coefficients that Williams' test holds."""
        for outcomes, (a, b) in zip(found, self.local, strict=True):
            first, second = outcomes[WILLIAMS].first, outcomes[WILLIAMS].second
            if replicates is None:
                outcomes[method] = Outcome(first, second, reason=NO_BOOTSTRAP)
                continue
            drawn = (replicates[self.places[index]][:, None] for index in (a, b))
            test = bootstrap_difference(first - second, *drawn)
            outcomes[method] = _with_interval(first, second, test.interval, test.p_value, test.reason)

    def _permute(
        self,
        found: list[Outcomes],
        method: str,
        coefficients: FloatArray,
        test: Callable[..., Iterable[Comparison]],
        stream: int,
    ) -> None:
        """Add a test by permutation; the streams of random numbers are apart."""
        tests: Iterable[Comparison] = [Comparison(NAN, NAN, NO_BOOTSTRAP)] * len(self.pairs)
        if self.draws is not None:
            rng = np.random.default_rng(np.random.SeedSequence([self.spec.seed, stream]))
            tests = test(rng=rng, n_permutations=permutations(self.spec.bootstrap))
        for outcomes, (a, b), each in zip(found, self.local, tests, strict=True):
            outcomes[method] = _tested(float(coefficients[a]), float(coefficients[b]), each)


def _tested(first: float, second: float, test: Comparison) -> Outcome:
    return Outcome(first, second, p=test.pvalue, reason=test.reason or "")


def _with_interval(first: float, second: float, interval: Interval, p: float, reason: str | None) -> Outcome:
    return Outcome(first, second, interval.low, interval.high, p, reason or "")


def _pair_tests(level: str, method: str, draws: int, outcomes: Sequence[Outcome]) -> PairTests:
    """Return one test of all pairs, corrected for their number by Holm's method."""
    adjusted = holm_correction([outcome.p for outcome in outcomes]).adjusted.tolist()
    return PairTests(
        level=level,
        method=method,
        coefficient=COEFFICIENT,
        draws=draws,
        first=_numbers(outcome.first for outcome in outcomes),
        second=_numbers(outcome.second for outcome in outcomes),
        low=_numbers(outcome.low for outcome in outcomes),
        high=_numbers(outcome.high for outcome in outcomes),
        p=_numbers(outcome.p for outcome in outcomes),
        p_holm=_numbers(adjusted),
        reasons=tuple(outcome.reason for outcome in outcomes),
    )


def _numbers(values: Iterable[float]) -> Numbers:
    return tuple(finite_or_none(float(value)) for value in values)
