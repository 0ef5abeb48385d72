"""AM, FM and AM-FM: texts in a space and their probabilities, computed once; how several references count."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import MeanMetric, Preparation, needed_weights
from metrics.scoring.models.language_model import MAX_ORDER, LanguageModel
from metrics.scoring.models.lsa import MAX_COMPONENTS, LsaModel, Products, products
from metrics.scoring.models.store import ModelStore
from metrics.scoring.pairs import checked_mask, make_pairs
from metrics.scoring.parameters import choice, whole
from metrics.scoring.segments import Segments

# How several references may count, in words.
OVER_REFERENCES = {
    "max": "the best",
    "mean": "all alike",
    "centroid": "their mean vector",
    "weighted": "the best of weight times score, over the highest weight",
}

# References of models, each with the dimensions or orders to compute.
Requests: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, eq=False)
class AdequacyFluency:
    """Texts as AM and FM read them, for any subset of the references.

    Attributes
    ----------
    segments : Segments
    spaces : dict of (model, k) to Products
        Inner products of every pair, and of references of one segment.
    within : two (Q,) int arrays
        The pairs of references of one segment: each twice, a reference with itself once; empty without centroids.
    fluency : dict of (model, order) to (H,) and (R,) float
        Log probability per word of hypotheses and of references.
    """

    segments: Segments
    spaces: Mapping[tuple[str, int], Products]
    within: tuple[Ints, Ints]
    fluency: Mapping[tuple[str, int], tuple[Floats, Floats]]

    def cosines(self, model: str, k: int) -> Floats:
        """Return the cosine (P,) of each pair, negative ones cut to 0; 0 if a text is the origin."""
        space, pairs = self.spaces[model, k], self.segments.pairs
        return _cosine(space.cross, space.left_norm[pairs.row] * space.right_norm[pairs.reference])

    def centroid_cosines(self, model: str, k: int, mask: ArrayLike | None) -> Floats:
        """Return the cosine (H,) with the mean vector of the references in the subset; NaN if there is none."""
        space, pairs, segments = self.spaces[model, k], self.segments.pairs, self.segments
        chosen = checked_mask(mask, segments.n_references)
        # The angle to the mean is that to the sum.
        product = np.bincount(pairs.row, weights=space.cross * chosen[pairs.reference], minlength=pairs.n_rows)
        both = chosen[self.within[0]] & chosen[self.within[1]]
        of_segment = segments.reference_segment[self.within[0]]
        square = np.bincount(of_segment, weights=space.within * both, minlength=segments.n_segments)
        norm = np.sqrt(np.maximum(square, 0.0))[segments.row_segment]
        counts = np.bincount(segments.reference_segment[chosen], minlength=segments.n_segments)[segments.row_segment]
        return np.where(counts > 0, _cosine(product, space.left_norm * norm), np.nan)

    def ratios(self, model: str, order: int) -> Floats:
        """Return (P,) the smaller of two probabilities over the larger; 1 if both are 0."""
        rows, references = self.fluency[model, order]
        left, right = rows[self.segments.pairs.row], references[self.segments.pairs.reference]
        equal = left == right
        return np.where(equal, 1.0, np.exp(-np.abs(np.where(equal, 0.0, left) - np.where(equal, 0.0, right))))

    def probabilities(self, model: str, order: int) -> Floats:
        """Return the probability per word (H,) of each hypothesis."""
        return np.exp(self.fluency[model, order][0])


@dataclass(frozen=True)
class AdequacyFluencyPreparation(Preparation):
    """The spaces and language models that texts are put through; one preparation serves several metrics.

    Attributes
    ----------
    spaces : pairs of an LSA model and numbers of dimensions
    centroids : bool
        Whether products of references with each other are computed, too.
    language_models : pairs of a language model and orders
    """

    spaces: Requests = ()
    centroids: bool = False
    language_models: Requests = ()

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
            # Every reference with all of its segment, itself included.
            twins = make_pairs(segments.reference_segment, segments.reference_offsets)
            within = twins.row, twins.reference
        cross = (segments.pairs.row, segments.pairs.reference)
        spaces, fluency = {}, {}
        for name, dimensions in self.spaces:
            lsa: LsaModel = models.load(LsaModel.kind, name)
            by_dimension = products(lsa, segments.row_texts, segments.reference_texts, dimensions, cross, within)
            spaces.update({(name, k): inner for k, inner in by_dimension.items()})
        for name, orders in self.language_models:
            language_model: LanguageModel = models.load(LanguageModel.kind, name)
            rows = language_model.per_word(segments.row_texts, orders)
            references = language_model.per_word(segments.reference_texts, orders)
            fluency.update({(name, order): (rows[order], references[order]) for order in orders})
        return AdequacyFluency(segments, spaces, within, fluency)


class AdequacyFluencyMetric(MeanMetric):
    """AM, FM or AM-FM; each has a parameter ``references``."""

    group: ClassVar[str] = "adequacy-fluency"
    ignores_case: ClassVar[bool] = True

    references: str

    @property
    def needs_weights(self) -> bool:
        return self.references == "weighted"

    @abstractmethod
    def row_scores(self, prepared: AdequacyFluency, weights: ArrayLike | None, mask: ArrayLike | None) -> Floats:
        """Return the scores (H,) of hypothesis rows."""

    def segment_scores(
        self, prepared: AdequacyFluency, weights: ArrayLike | None, reference_mask: ArrayLike | None
    ) -> Floats:
        read = needed_weights(self, weights) if self.needs_weights else None
        return self.row_scores(prepared, read, reference_mask)[prepared.segments.rows]

    def over_references(
        self, prepared: AdequacyFluency, values: Floats, weights: ArrayLike | None, mask: ArrayLike | None
    ) -> Floats:
        """Return (H,) from values of pairs (P,): their "max" or "mean", or the "weighted" maximum.

        The weighted maximum is ``max_j w_ij v_ij / max_j w_ij`` over the references of the subset: like ΔBLEU, it is 1
        for a text equal to the best reference, does not depend on the scale of weights, and is NaN if none is positive.
        """
        pairs = prepared.segments.pairs
        if self.references == "mean":
            return pairs.mean(values, mask)
        if self.references == "max":
            return pairs.best(values, mask)
        weight = np.asarray(weights, dtype=np.float64)
        if weight.shape != (pairs.n_references,) or not np.isfinite(weight).all():
            raise ValueError(
                f"weights: found shape {weight.shape}; accepted: {(pairs.n_references,)}, a finite number per reference"
            )
        pair_weight = weight[pairs.reference]
        largest = pairs.best(pair_weight, mask)
        positive = largest > 0
        return np.where(positive, pairs.best(pair_weight * values, mask) / np.where(positive, largest, 1.0), np.nan)


def dimension_parameter() -> Any:
    """Return the parameter k of AM and AM-FM."""
    return whole(
        10,
        low=1,
        high=MAX_COMPONENTS,
        label="Dimensions of the space",
        key="k",
        hint="More tell finer meanings apart; fewer keep to the main themes.",
    )


def order_parameter() -> Any:
    """Return the parameter n of FM and AM-FM."""
    return whole(
        2,
        low=1,
        high=MAX_ORDER,
        label="Longest n-gram",
        key="order",
        hint="2: a word's probability follows from the one before it.",
    )


def reference_parameter(*accepted: str) -> Any:
    """Return the parameter that is one of `OVER_REFERENCES`."""
    hint = "; ".join(f"{how}: {OVER_REFERENCES[how]}" for how in accepted)
    return choice("max", accepted, label="Over several references", key="over", hint=f"{hint}.")


def _cosine(inner: ArrayLike, norms: Floats) -> Floats:
    product = np.asarray(inner, dtype=np.float64)
    defined = norms > 0
    return np.where(defined, np.clip(product / np.where(defined, norms, 1.0), 0.0, 1.0), 0.0)


def _union(left: Requests, right: Requests) -> Requests:
    union: dict[str, set[int]] = {}
    for name, values in (*left, *right):
        union.setdefault(name, set()).update(values)
    return tuple((name, tuple(sorted(values))) for name, values in sorted(union.items()))
