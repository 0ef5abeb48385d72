"""Every two rows of a study against each other, over systems and over outputs, by several tests."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEMS, OUTPUTS = "systems", "outputs"
OVER_ITEMS, OVER_BOTH = "items", "items-systems"  # bootstraps
SWAP_ITEMS, SWAP_SYSTEMS, SWAP_BOTH = "swap-items", "swap-systems", "swap-both"  # permutations
WILLIAMS, WILLIAMS_2 = "williams", "williams-2"  # n - 3 and n - 2 degrees of freedom

Numbers = tuple[float | None, ...]


@dataclass(frozen=True)
class PairTests:
    """One test of every pair, each on the outputs that both rows can use; lists are in the order of the pairs.

    ``draws`` are resamples or permutations, 0 for a formula. ``low`` and ``high`` are None where the test gives no
    interval. A reason says why a p is None, or is empty.
    """

    level: str
    method: str
    coefficient: str
    draws: int
    first: Numbers  # coefficients
    second: Numbers
    low: Numbers  # of the difference
    high: Numbers
    p: Numbers
    p_holm: Numbers
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Significance:
    """``rows`` are the places of the rows that are compared in the study's table, ``pairs`` two of these places each.

    ``outputs`` counts, for each pair, those that both rows score and raters rated.
    """

    rows: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]
    tests: tuple[PairTests, ...]
