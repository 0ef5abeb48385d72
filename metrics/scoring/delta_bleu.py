"""ΔBLEU: BLEU in which each match has the human weight, from -1 to +1, of its reference.

    p_n = sum_i sum_g max_{j: g in r_ij} w_ij min(#g(h_i), #g(r_ij))  /  sum_i sum_g (max_j w_ij) #g(h_i)

over the n-grams g of each hypothesis h_i; the brevity penalty and the mean over orders are BLEU's. That is
``semantics="galley2015"``; "sacrebleu2018", the first author's later code, multiplies the highest weight of the
references that hold g by the highest count. A numerator may be negative: it has no logarithm, counts as 0 and is
marked. Items without a reference of positive weight do not count.

Galley, Brockett, Sordoni, Ji, Auli, Quirk, Mitchell, Gao, Dolan, ΔBLEU: A Discriminative Metric for Generation Tasks
with Intrinsically Diverse Targets, ACL 2015, section 3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.bleu import BleuScore, score_details
from metrics.scoring.metric import MetricStatistics, needed_weights
from metrics.scoring.ngrams import MatchTable, NgramMetric, build_match_table, reference_counts
from metrics.scoring.parameters import choice
from metrics.scoring.redrawn import redrawn_statistics
from metrics.scoring.statistics import (
    SEMANTICS,
    SegmentStatistics,
    SummedStatistics,
    WeightScale,
    delta_bleu_statistics,
    flat_weights,
    weight_scales,
)
from metrics.scoring.texts import Text, check_choice, check_flag
from metrics.scoring.thresholds import threshold_sweep

SMOOTHINGS = ("none", "exp")
ON_NO_POSITIVE = ("error", "drop")

# The later public code always smooths; the paper never does.
_USUAL_SMOOTHING = {"galley2015": "none", "sacrebleu2018": "exp"}


@dataclass(frozen=True)
class DeltaBleuScore(BleuScore):
    """A corpus ΔBLEU and its parts; see `metrics.scoring.bleu.BleuScore` for the other attributes.

    Attributes
    ----------
    numerators, denominators : tuple of N floats
        In units of weight; a numerator may be negative, and is then ``clamped``.
    dropped : tuple of ints
        Indices of the items left out because no weight is positive.
    """

    dropped: tuple[int, ...] = ()


@dataclass(frozen=True)
class DeltaBleu(NgramMetric):
    """Corpus ΔBLEU."""

    name: ClassVar[str] = "delta_bleu"
    label: ClassVar[str] = "ΔBLEU"
    summary: ClassVar[str] = "BLEU that rewards matches with good references and punishes matches with bad ones."
    group: ClassVar[str] = "weighted"
    state_reads_texts: ClassVar[bool] = False
    together: ClassVar[str] = "an n-gram counts with the highest weight of a reference that has it"

    semantics: str = choice(
        "galley2015", SEMANTICS, label="Formula", key="sem", hint="The paper's equation, or its author's later code."
    )
    smoothing: str | None = choice(
        None,
        SMOOTHINGS,
        label="Smoothing of an order without a match",
        key="smooth",
        optional=True,
        hint="As usual with the formula, if left open: the paper never smooths, the later code always.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing is None:
            object.__setattr__(self, "smoothing", _USUAL_SMOOTHING[self.semantics])

    @property
    def needs_weights(self) -> bool:
        return True

    @property
    def smooths_without_match(self) -> bool:
        """Return whether "exp" smooths a corpus without any positive numerator, as sacrebleu did in 2018."""
        return self.semantics == "sacrebleu2018"

    def signature_fields(self) -> list[tuple[str, object]]:
        order, tokenize, lowercase, semantics, smoothing = super().signature_fields()
        return [order, semantics, tokenize, lowercase, smoothing]

    def corpus_state(
        self, prepared: Any, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> WeightScale:
        """Return the scale of the weights of the whole corpus, so that the sums of its parts agree."""
        return weight_scales(needed_weights(self, weights), reference_mask)

    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 2 + 2 N) with flat ``weights`` (R,)."""
        segments = delta_bleu_statistics(
            self.preparation().checked(prepared),
            needed_weights(self, weights),
            reference_mask,
            semantics=self.semantics,
            max_order=self.max_order,
            weight_scale=state,
        )
        return SummedStatistics(segments, self.smoothing or "none", without_match=self.smooths_without_match)

    def redrawn(self, prepared: Any, *, weights: Floats, reference_masks: Bools) -> Sequence[MetricStatistics]:
        segments = redrawn_statistics(
            self.preparation().checked(prepared),
            weights,
            reference_masks,
            max_order=self.max_order,
            semantics=self.semantics,
        )
        without_match = self.smooths_without_match
        return [SummedStatistics(each, self.smoothing or "none", without_match=without_match) for each in segments]

    def threshold_sweep(
        self, prepared: Any, *, weights: ArrayLike, thresholds: Sequence[float]
    ) -> list[MetricStatistics]:
        sweep = threshold_sweep(self.preparation().checked(prepared), weights, thresholds, self.max_order)
        without_match = self.smooths_without_match
        return [
            SummedStatistics(level, self.smoothing or "none", without_match=without_match)
            for level in sweep.delta_bleu(self.semantics)
        ]


def corpus_delta_bleu(  # nine parameters: the settings that papers report, each by its name
    hypotheses: Sequence[Text],
    references: Sequence[Sequence[Text]],
    weights: Sequence[Sequence[float]],
    *,
    max_order: int = 2,
    semantics: str = "galley2015",
    tokenize: str = "none",
    lowercase: bool = False,
    smoothing: str | None = None,
    on_no_positive: str = "error",
) -> DeltaBleuScore:
    """Return ΔBLEU: BLEU that rewards matches with good references and punishes matches with bad ones.

    Parameters
    ----------
    hypotheses : sequence of S texts
        Token sequences, or strings (see ``tokenize``).
    references : S sequences; the i-th holds R_i >= 1 texts
    weights : S sequences aligned with ``references``; unitless, in [-1, +1]
    max_order : int, 1 to 4
        N.
    semantics : {"galley2015", "sacrebleu2018"}
        "galley2015", the paper's equation: per n-gram the maximum of weight times clipped count. "sacrebleu2018", the
        first author's later code: the highest weight times the highest clipped count, perhaps of two references.
    tokenize : {"none", "whitespace", "13a", "char", "intl", "zh"}
        "none" takes token sequences, or strings with whitespace between tokens.
    lowercase : bool
    smoothing : {"none", "exp"}, optional
        By default "none" for "galley2015" and "exp" for "sacrebleu2018". "exp" depends on the scale of the weights.
        Where no order has a positive numerator, it smooths all with "sacrebleu2018" and none with "galley2015".
    on_no_positive : {"error", "drop"}
        For items whose highest weight is not above 0: ΔBLEU is not defined for them.

    Returns
    -------
    DeltaBleuScore
        ``score`` in [0, 1]. A numerator <= 0 has no logarithm: its precision counts as 0, hence the score is 0 unless
        smoothed, and ``clamped`` says so. NaN, with a reason, if no item counts or no text has a token. Of equally
        close references the shorter counts for the brevity penalty, whatever its weight.

    Raises
    ------
    ValueError
        Which input, at which index, and what would be right.

    References
    ----------
    Galley et al., ΔBLEU: A Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets, ACL 2015, §3.

    Examples
    --------
    >>> result = corpus_delta_bleu(
    ...     ["i can imagine", "me either"],
    ...     [["i can imagine !", "it your imagination"], ["me either !!", "well then"]],
    ...     [[0.8, -0.1], [0.4, -0.8]],
    ...     tokenize="whitespace",
    ... )
    >>> round(result.score, 4), result.numerators, result.denominators, result.dropped
    (1.0, (3.2, 2.0), (3.2, 2.0), ())
    >>> corpus_delta_bleu(["a a"], [["a", "a a"]], [[0.9, 0.5]], max_order=1).numerators
    (1.0,)
    """
    metric = DeltaBleu(max_order, tokenize, lowercase, semantics, smoothing)
    check_choice("on_no_positive", on_no_positive, ON_NO_POSITIVE)
    table = build_match_table([hypotheses], references, max_order=max_order, tokenize=tokenize, lowercase=lowercase)
    flat = _checked_range(table, flat_weights(table, weights))
    segments = delta_bleu_statistics(table, flat, semantics=semantics)[0]
    dropped = tuple(np.flatnonzero(~segments.valid).tolist())
    if dropped and on_no_positive == "error":
        raise ValueError(_no_positive_message(weights, dropped))
    signature = metric.signature(
        weights=f"sha256-{weights_digest(flat)}",
        references=f"all|nrefs:{reference_counts(table)}|nopos:{on_no_positive}",
    )
    details = score_details(segments, metric.smoothing or "none", without_match=metric.smooths_without_match)
    return DeltaBleuScore(**details, signature=signature, dropped=dropped)


def sentence_delta_bleu(
    hypothesis: Text,
    references: Sequence[Text],
    weights: Sequence[float],
    *,
    max_order: int = 2,
    semantics: str = "galley2015",
    tokenize: str = "none",
    lowercase: bool = False,
    smooth_brevity: bool = False,
) -> float:
    """Return ΔBLEU of one sentence, smoothed like BLEU+1 by the top weight instead of one.

    The top weight max_j w_j is added to numerator and denominator of every order above the first, after negative
    numerators are set to 0. With unit weights this is BLEU+1; a common scale of the weights changes nothing.

    Parameters
    ----------
    hypothesis : text
    references : sequence of R >= 1 texts
    weights : sequence of R numbers in [-1, +1], at least one above 0
    max_order, semantics, tokenize, lowercase
        As in `corpus_delta_bleu`; no "exp" smoothing is applied here.
    smooth_brevity : bool
        Also add one to the reference length in the brevity penalty.

    Returns
    -------
    float
        In [0, 1]; 0 if the unigram numerator is <= 0; NaN if both sides are empty.

    Raises
    ------
    ValueError
        No positive weight, or input of the wrong kind.

    Examples
    --------
    >>> round(sentence_delta_bleu("a b c d", ["a b x d", "c"], [1.0, -0.5]), 4)
    0.559
    """
    check_flag("smooth_brevity", smooth_brevity)
    table = build_match_table([[hypothesis]], [references], max_order=max_order, tokenize=tokenize, lowercase=lowercase)
    flat = _checked_range(table, flat_weights(table, [weights]))
    segments: SegmentStatistics = delta_bleu_statistics(table, flat, semantics=semantics)
    if not segments.valid.all():
        raise ValueError(_no_positive_message([weights], (0,)))
    return float(segments.sentence_scores(smooth_brevity=smooth_brevity).item())


def weights_digest(weights: ArrayLike) -> str:
    """Return twelve hexadecimal digits that change with any weight, for signatures."""
    little_endian = np.ascontiguousarray(weights, dtype="<f8")
    return hashlib.sha256(little_endian.tobytes()).hexdigest()[:12]


def _checked_range(table: MatchTable, weights: Floats) -> Floats:
    outside = np.flatnonzero(~(np.abs(weights) <= 1.0))
    if outside.size:
        segment = int(table.reference_segment[outside[0]])
        reference = int(outside[0] - table.reference_offsets[segment])
        raise ValueError(
            f"weights[{segment}][{reference}]: found {weights[outside[0]]:g}; accepted: -1 to +1 "
            "(ratings become weights with annotation.weighting.linear_weights)"
        )
    return weights


def _no_positive_message(weights: Sequence[Sequence[float]], dropped: tuple[int, ...]) -> str:
    index = dropped[0]
    weight = f"highest weight {max(weights[index]):g}" if len(weights[index]) else "no reference"
    more = f" ({len(dropped)} such items in all)" if len(dropped) > 1 else ""
    return (
        f"weights[{index}]: found {weight}{more}; accepted: at least one weight above 0 per item, "
        "or on_no_positive='drop'"
    )
