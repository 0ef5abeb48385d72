"""Paired samples, many at once: coefficients share their ranks and counts of pairs.

``mirrored`` samples hold observations (x, y) and stand for the doubled sample {(x, y), (-x, -y)}: so the sign of
system-pair differences does not depend on which system is called A. The doubled sample is never built. With
a = |x|, its centred rank of x is sign(x) (rank(a) - 1/2), and a pair of observations counts as concordant, over its
four mirror images, only through the one that dominates in |x| and |y|.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from correlations.stats.concordance import BITSET_LIMIT, concordant_minus_discordant, doubled_dominance
from correlations.stats.ranks import Bools, Floats, Ints, RankedBatch, rank_batch


@dataclass(frozen=True, eq=False)
class Sample:
    """One side of paired samples, shape (batch, n)."""

    values: Floats
    mirrored: bool

    @cached_property
    def missing(self) -> Bools:
        """(batch,): the row holds a NaN."""
        return np.asarray(np.isnan(self.values).any(axis=1))

    @cached_property
    def ranks(self) -> RankedBatch:
        """Ranks of the values; of their sizes if the sample is mirrored."""
        return rank_batch(np.abs(self.values) if self.mirrored else self.values)

    @cached_property
    def signs(self) -> Floats:
        return np.asarray(np.nan_to_num(np.sign(self.values)))


class Concordance(NamedTuple):
    """Counts of unordered pairs of observations, each of shape (batch,)."""

    balance: Floats  # concordant minus discordant
    untied_x: Ints  # not tied in x
    untied_y: Ints


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """x, the metric's side, and y, the ratings' side."""

    x: Sample
    y: Sample

    @property
    def n(self) -> int:
        return int(self.x.values.shape[1])

    @property
    def mirrored(self) -> bool:
        return self.x.mirrored

    @property
    def complete(self) -> Bools:
        """(batch,): neither side holds a NaN."""
        return np.asarray(~self.x.missing & ~self.y.missing)

    @cached_property
    def concordance(self) -> Concordance:
        x, y, n = self.x, self.y, self.n
        if self.mirrored and n > BITSET_LIMIT:
            # Signed ranks stand in for the values, so the doubled sample can be built and counted by merging.
            first, second = (side.signs * side.ranks.doubled for side in (x, y))
            doubled = (Sample(np.hstack([ranks, -ranks]), mirrored=False) for ranks in (first, second))
            return PairedSamples(*doubled).concordance
        tied_x, tied_y = x.ranks.tied_pairs(), y.ranks.tied_pairs()
        if self.mirrored:
            pairs = n * (2 * n - 1)
            balance = np.einsum("bn,bn->b", x.signs * y.signs, doubled_dominance(x.ranks, y.ranks).astype(np.float64))
            # Each group of equal |x| appears twice, once per sign; zeros are their own mirror image and tie across.
            tied_x = 2 * tied_x + (x.signs == 0).sum(axis=1) ** 2
            tied_y = 2 * tied_y + (y.signs == 0).sum(axis=1) ** 2
        else:
            pairs = n * (n - 1) // 2
            balance = concordant_minus_discordant(x.ranks, y.ranks).astype(np.float64)
        return Concordance(balance, pairs - tied_x, pairs - tied_y)

    def ratio(self, numerator: Floats, squares: Floats) -> Floats:
        """Return numerator / sqrt(squares), within [-1, 1]; NaN where a side is constant or incomplete."""
        result = np.full(numerator.shape, np.nan)
        np.divide(numerator, np.sqrt(squares), out=result, where=(squares > 0) & self.complete)
        return np.asarray(np.clip(result, -1.0, 1.0))
