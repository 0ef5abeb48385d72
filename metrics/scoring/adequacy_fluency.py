"""What AM, FM and AM-FM share: texts in a space and their probabilities, computed once; how references count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.metric import Metric, Preparation, needed_weights
from metrics.scoring.models.language_model import MAX_ORDER, LanguageModel
from metrics.scoring.models.lsa import MAX_COMPONENTS, LsaModel, Products, products
from metrics.scoring.models.store import ModelStore
from metrics.scoring.pairs import Pairs, checked_mask, make_pairs
from metrics.scoring.parameters import choice, whole
from metrics.scoring.segments import Segments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# How several references may count, and what people are told of it.
OVER_REFERENCES = {
    "max": "the best",
    "mean": "all alike",
    "centroid": "their mean vector",
    "weighted": "the best of weight times score, over the highest weight",
}

# A model's reference, and for which dimensions or orders.
Wanted: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, eq=False)
class AdequacyFluency:
    """Texts as AM and FM see them, whatever subset of references follows.

    Attributes
    ----------
    segments : Segments
    spaces : dict of (model, k) to Products
        Inner products of every pair, and of references of one segment.
    within : two (Q,) int arrays
        Those pairs of references, each twice, a reference with itself once; empty unless centroids were asked for.
    fluency : dict of (model, order) to (H,) and (R,) float
        Log probability per word of hypotheses and of references.
    """

    segments: Segments
    spaces: Mapping[tuple[str, int], Products]
    within: tuple[Ints, Ints]
    fluency: Mapping[tuple[str, int], tuple[Floats, Floats]]

    def cosines(self, model: str, k: int) -> Floats:
        """(P,) cosine of each pair, negative ones cut to 0; 0 where a text is the origin."""
        found, pairs = self.spaces[model, k], self.segments.pairs
        return _cosine(found.cross, found.left_norm[pairs.row] * found.right_norm[pairs.reference])

    def centroid_cosines(self, model: str, k: int, mask: ArrayLike | None) -> Floats:
        """(H,) cosine with the mean of the vectors of the references kept; NaN where none is."""
        found, pairs, segments = self.spaces[model, k], self.segments.pairs, self.segments
        n = segments.n_references
        kept = np.ones(n, dtype=np.bool_) if mask is None else checked_mask(mask, n)
        # The angle to the mean is that to the sum.
        product = np.bincount(pairs.row, weights=found.cross * kept[pairs.reference], minlength=pairs.n_rows)
        both = kept[self.within[0]] & kept[self.within[1]]
        of_segment = segments.reference_segment[self.within[0]]
        square = np.bincount(of_segment, weights=found.within * both, minlength=segments.n_segments)
        norm = np.sqrt(np.maximum(square, 0.0))[segments.row_segment]
        counts = np.bincount(segments.reference_segment[kept], minlength=segments.n_segments)[segments.row_segment]
        return np.where(counts > 0, _cosine(product, found.left_norm * norm), np.nan)

    def ratios(self, model: str, order: int) -> Floats:
        """(P,) the smaller of two probabilities over the larger; 1 where both are 0."""
        rows, references = self.fluency[model, order]
        pairs = self.segments.pairs
        one, other = rows[pairs.row], references[pairs.reference]
        equal = one == other
        return np.where(equal, 1.0, np.exp(-np.abs(np.where(equal, 0.0, one) - np.where(equal, 0.0, other))))

    def probabilities(self, model: str, order: int) -> Floats:
        """(H,) probability per word of each hypothesis."""
        return np.exp(self.fluency[model, order][0])


@dataclass(frozen=True)
class AdequacyFluencyPreparation(Preparation):
    """Which spaces and language models texts are put through; one preparation serves all that ask.

    Attributes
    ----------
    spaces : pairs of an LSA model and the numbers of dimensions wanted
    centroids : bool
        Whether products of references with each other are wanted, too.
    language_models : pairs of a language model and the orders wanted
    """

    spaces: Wanted = ()
    centroids: bool = False
    language_models: Wanted = ()

    def joined(self, other: Preparation) -> AdequacyFluencyPreparation | None:
        if not isinstance(other, AdequacyFluencyPreparation):
            return None
        return AdequacyFluencyPreparation(
            _union(self.spaces, other.spaces),
            self.centroids or other.centroids,
            _union(self.language_models, other.language_models),
        )

    def __call__(self, segments: Segments, models: ModelStore) -> AdequacyFluency:
        within = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if self.centroids:
            # Every reference beside all of its segment, itself included.
            twins = make_pairs(segments.reference_segment, segments.reference_offsets)
            within = twins.row, twins.reference
        cross = (segments.pairs.row, segments.pairs.reference)
        spaces, fluency = {}, {}
        for name, dimensions in self.spaces:
            lsa: LsaModel = models.load(LsaModel.kind, name)
            found = products(lsa, segments.row_texts, segments.reference_texts, dimensions, cross, within)
            spaces.update({(name, k): one for k, one in found.items()})
        for name, orders in self.language_models:
            language_model: LanguageModel = models.load(LanguageModel.kind, name)
            rows = language_model.per_word(segments.row_texts, orders)
            references = language_model.per_word(segments.reference_texts, orders)
            fluency.update({(name, order): (rows[order], references[order]) for order in orders})
        return AdequacyFluency(segments, spaces, within, fluency)


def over_references(
    pairs: Pairs, values: Floats, how: str, mask: ArrayLike | None, weights: ArrayLike | None
) -> Floats:
    """(H,) from values of pairs: their "max" or "mean", or the "weighted" maximum.

    The weighted maximum is ``max_j w_ij v_ij / max_j w_ij`` over the references kept: like ΔBLEU's, it is 1 for a text
    equal to the best reference, the same for all weights scaled alike, and undefined (NaN) where no weight is positive.
    """
    if how == "mean":
        return pairs.mean(values, mask)
    if how == "max":
        return pairs.best(values, mask)
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != (pairs.n_references,) or not np.isfinite(weight).all():
        raise ValueError(
            f"weights: found shape {weight.shape}; accepted: {(pairs.n_references,)}, a finite number per reference"
        )
    own = weight[pairs.reference]
    largest = pairs.best(own, mask)
    positive = largest > 0
    return np.where(positive, pairs.best(own * values, mask) / np.where(positive, largest, 1.0), np.nan)


def weights_for(metric: Metric, weights: ArrayLike | None) -> ArrayLike | None:
    """The weights where the metric reads them, an error where it needs them and there are none."""
    return needed_weights(metric, weights) if metric.needs_weights else None


def dimension_parameter() -> Any:
    """The parameter k of AM and AM-FM."""
    return whole(
        10,
        low=1,
        high=MAX_COMPONENTS,
        label="Dimensions of the space",
        key="k",
        hint="More tell finer meanings apart; fewer keep to the main themes.",
    )


def order_parameter() -> Any:
    """The parameter n of FM and AM-FM."""
    return whole(
        2,
        low=1,
        high=MAX_ORDER,
        label="Longest n-gram",
        key="order",
        hint="2: a word's probability follows from the one before it.",
    )


def reference_parameter(*accepted: str) -> Any:
    """The parameter that says which of `OVER_REFERENCES` is meant."""
    hint = "; ".join(f"{how}: {OVER_REFERENCES[how]}" for how in accepted)
    return choice("max", accepted, label="Over several references", key="over", hint=f"{hint}.")


def _cosine(inner: ArrayLike, norms: Floats) -> Floats:
    product = np.asarray(inner, dtype=np.float64)
    there = norms > 0
    return np.where(there, np.clip(product / np.where(there, norms, 1.0), 0.0, 1.0), 0.0)


def _union(one: Wanted, other: Wanted) -> Wanted:
    found: dict[str, set[int]] = {}
    for name, values in (*one, *other):
        found.setdefault(name, set()).update(values)
    return tuple((name, tuple(sorted(values))) for name, values in sorted(found.items()))
