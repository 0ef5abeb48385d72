"""Metrics: parameters, a preparation that metrics share, statistics of any subset of the references, a signature.

workspace = Workspace(Segments(systems, references), [metric])
workspace.statistics(metric).system_scores()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring import VERSION
from metrics.scoring.aggregates import Aggregate, MeanAggregate
from metrics.scoring.arrays import Bools, Floats, Ints
from metrics.scoring.explain.case import SegmentCase, SegmentExplanation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import Parameter, parameters_of
from metrics.scoring.segments import Segments

WEIGHT_DECIMALS = 9

GROUPS = {
    "weighted": "Overlap with weighted references",
    "overlap": "Overlap with references",
    "adequacy-fluency": "Adequacy and fluency",
    "embedding": "Embeddings",
    "estimated": "Without references",
    "text": "The outputs alone",
    "external": "Scored elsewhere",
}


@dataclass(frozen=True, eq=False)
class MetricStatistics:
    """Statistics to sum over any set of segments, and the aggregate that turns sums into scores.

    Attributes
    ----------
    packed : (T, S, D) float
        Zero where the segment does not count.
    valid : (T, S) bool
        Whether the segment counts.
    sentence_scores : (T, S) float
        A score for each segment alone; NaN where it does not count.
    aggregate : Aggregate
        Sums (..., D) to scores (...).
    """

    packed: Floats
    valid: Bools
    sentence_scores: Floats
    aggregate: Aggregate

    #: Whether a system's score is ``aggregate`` of the sums over any segments, repeated ones included.
    sums: ClassVar[bool] = True

    def system_scores(self, segments: ArrayLike | None = None) -> Floats:
        """Return the scores (T,) over the segments with these indices, by default over all."""
        packed = self.packed if segments is None else self.packed[:, np.asarray(segments, dtype=np.int64)]
        return self.aggregate(packed.sum(axis=-2))


@dataclass(frozen=True, eq=False)
class PooledStatistics(MetricStatistics):
    """Statistics of a metric over a system's outputs as one pool (the number of distinct n-grams, say).

    No sums give its score: ``packed`` and ``aggregate`` are those of the mean of segment scores, another quantity.

    Attributes
    ----------
    pooled : callable
        Indices of segments, or None for all, to scores (T,). If a part was scored with the state of the whole corpus,
        None stands for the whole.
    means : bool
        A system's score is the mean of its segments' scores, each computed with the whole pool.
    """

    pooled: Callable[[Ints | None], Floats]
    means: bool = False

    sums: ClassVar[bool] = False

    def system_scores(self, segments: ArrayLike | None = None) -> Floats:
        return self.pooled(None if segments is None else np.asarray(segments, dtype=np.int64))


def mean_statistics(scores: Floats) -> MetricStatistics:
    """Return the statistics of a metric whose system score is the mean over segments.

    Parameters
    ----------
    scores : (T, S) float
        NaN for a segment that does not count.

    Examples
    --------
    >>> mean_statistics(np.array([[0.5, 1.0, np.nan]])).system_scores()
    array([0.75])
    """
    packed, valid = mean_packed(scores)
    return MetricStatistics(packed, valid, scores, MeanAggregate())


class MeanStatistics(MetricStatistics):
    """Statistics of the mean over segments, from ``packed`` (T, S, 2) of `mean_packed`; the rest is computed lazily."""

    def __init__(self, packed: Floats) -> None:
        object.__setattr__(self, "packed", packed)
        object.__setattr__(self, "aggregate", MeanAggregate())

    @cached_property
    def valid(self) -> Bools:
        return self.packed[..., 1] > 0

    @cached_property
    def sentence_scores(self) -> Floats:
        return np.where(self.valid, self.packed[..., 0], np.nan)


def mean_packed(scores: Floats, out: Floats | None = None) -> tuple[Floats, Bools]:
    """Return what `MeanAggregate` takes (..., 2), written to ``out`` if given, and which scores are defined (...)."""
    valid = np.isfinite(scores)
    packed = np.empty((*scores.shape, 2)) if out is None else out
    packed[..., 0], packed[..., 1] = np.where(valid, scores, 0.0), valid
    return packed, valid


class CorpusState(ABC):
    """What statistics of a segment take from the whole corpus, when a corpus is scored in parts.

    A large state is joined range by range, so that it is never in memory as a whole: the i-th range of every part is
    joined and `settled`; a part that is scored joins what `of_texts` leaves of each range. Small ones need `joined`.
    """

    @abstractmethod
    def joined(self, other: Any) -> CorpusState:
        """Return the state of two parts without a common segment, or of two ranges."""

    def ranged(self, index: int, of: int) -> CorpusState | None:
        """Return the ``index``-th of ``of`` ranges, cut alike for all parts of a corpus; None if it is empty.

        A range may be cut again: the k-th of m * of lies whole in the (k // m)-th of ``of``.
        """
        return None if index else self

    def settled(self) -> CorpusState:
        """Return what statistics read once all parts are joined; settled ranges can be joined, too."""
        return self

    def of_texts(self, prepared: Any) -> CorpusState:
        """Return what the statistics of these texts read."""
        return self


class Preparation(ABC):
    """What is computed once per corpus, for all weights and subsets. A frozen, hashable value."""

    @abstractmethod
    def __call__(self, segments: Segments, models: ModelStore) -> Any: ...

    def joined(self, other: Preparation) -> Preparation | None:
        """Return a preparation that serves both, or None."""
        return self if self == other else None


class Metric(ABC):
    """A metric with its parameters: a frozen dataclass, equal to another with the same parameters.

    Attributes
    ----------
    name : str
        In the registry, and the first word of signatures.
    label, summary : str
        For people: its name, and what it measures, in one sentence.
    group : str
        One of `GROUPS`.
    needs_references, needs_sources, needs_prompts : bool
        A prompt is all that a system was given, not only the message that is answered: see `Segments`.
    higher_is_better : bool
    judges_quality : bool
        False if neither direction is better in itself (length, diversity): ``higher_is_better`` then only orders
        systems, and gives the sign for correlations with ratings by convention.
    pools : bool
        A system's score is over its outputs as one pool (`PooledStatistics`); a corpus can be scored in parts only
        with a `corpus_state`.
    state_reads_texts : bool
        False if `corpus_state` reads weights only: then ``prepared`` may be None.
    low, high : float
        The range of its scores as published; infinite if there is no bound.
    is_bleu : bool
        Its precisions and lengths are stored, and a segment is explained n-gram by n-gram.
    slow : str
        Why a page computes it on request only: it starts a program, or loads a large model. Empty if it is fast.
    no_lone_score : str
        Why a segment has no score without the other segments; empty if it has one.
    together : str
        How several references make a score that is neither the best nor the mean of those against each one alone.
    ignores_case : bool
        Whether capitals make no difference to it as it is usually computed, without a parameter ``lowercase``.
    published : mapping
        Parameters with which scores on unweighted references are usually published, if they are not the defaults.
    usual : mapping
        Parameters that a reader presumes if only the metric's name is given; pages say where a score departs from them.
    version : str
        The last word of its signatures: raised whenever a score could change by more than rounding.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    summary: ClassVar[str]
    group: ClassVar[str] = "overlap"
    needs_references: ClassVar[bool] = True
    needs_sources: ClassVar[bool] = False
    needs_prompts: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True
    judges_quality: ClassVar[bool] = True
    pools: ClassVar[bool] = False
    state_reads_texts: ClassVar[bool] = True
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    is_bleu: ClassVar[bool] = False
    ignores_case: ClassVar[bool] = False
    slow: ClassVar[str] = ""
    no_lone_score: ClassVar[str] = ""
    together: ClassVar[str] = "parts of several"
    published: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    usual: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    version: ClassVar[str] = VERSION

    def __post_init__(self) -> None:
        for parameter in self.parameter_list():
            parameter.check(getattr(self, parameter.name))

    @property
    def needs_weights(self) -> bool:
        return False

    @property
    def better(self) -> str:
        """Return which direction is better, in a word."""
        if not self.judges_quality:
            return "neither"
        return "higher" if self.higher_is_better else "lower"

    @classmethod
    def unavailable(cls) -> str:
        """Return why it cannot be computed on this machine, and what would help; empty if it can."""
        return ""

    @classmethod
    def parameter_list(cls) -> tuple[Parameter, ...]:
        return parameters_of(cls)

    def parameters(self) -> dict[str, Any]:
        """Return what `get_metric(name, **parameters)` takes to build this metric again."""
        return {parameter.name: getattr(self, parameter.name) for parameter in self.parameter_list()}

    def signature_fields(self) -> list[tuple[str, object]]:
        """Return key and value of each parameter."""
        return [(each.key, each.written(getattr(self, each.name))) for each in self.parameter_list()]

    def signature(self, *, weights: str = "none", references: str = "all") -> str:
        """Return one line by which another person can compute the same score; names the weights and the subset."""
        fields = self.signature_fields()
        if self.needs_weights:
            fields.append(("weights", weights))
        if self.needs_references:
            fields.append(("refs", references))
        return signature_line(self.name, fields, self.version)

    @abstractmethod
    def preparation(self) -> Preparation: ...

    def corpus_state(
        self, prepared: Any, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> CorpusState | None:
        """Return what `statistics` of a part must know of the whole; None if they depend on nothing else."""
        return None

    def explanation(self, case: SegmentCase) -> SegmentExplanation:
        """Explain one segment's score; a metric that is made of parts names them."""
        return case.explanation()

    @abstractmethod
    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return the statistics of all T systems and S segments.

        Parameters
        ----------
        prepared
            What `preparation` returned for the texts.
        weights : (R,) float, optional
            One per reference, unitless; read if `needs_weights`.
        reference_mask : (R,) bool, optional
            True for a reference to use; all by default.
        state : CorpusState, optional
            Of the whole corpus, if these texts are a part of it.
        """

    def redrawn(self, prepared: Any, *, weights: Floats, reference_masks: Bools) -> Sequence[MetricStatistics]:
        """Return statistics under each of B sets of weights (B, R) against the references of its mask (B, R).

        One after the other, unless a metric can share the work.
        """
        return [
            self.statistics(prepared, weights=each if self.needs_weights else None, reference_mask=mask)
            for each, mask in zip(weights, reference_masks, strict=True)
        ]

    def threshold_sweep(
        self, prepared: Any, *, weights: ArrayLike, thresholds: Sequence[float]
    ) -> list[MetricStatistics]:
        """Return statistics against the references of weight >= t, for each t of the ascending ``thresholds``.

        One after the other, unless a metric can share the work.
        """
        return [
            self.statistics(prepared, weights=weights, reference_mask=at_least(weights, value)) for value in thresholds
        ]


class MeanMetric(Metric):
    """A metric whose system score is the mean of its segments' scores."""

    @abstractmethod
    def segment_scores(self, prepared: Any, weights: ArrayLike | None, reference_mask: ArrayLike | None) -> Floats:
        """Return the scores (T, S); NaN for a segment that does not count."""

    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 2): score and 1, or zeros for a segment that does not count."""
        return mean_statistics(self.segment_scores(prepared, weights, reference_mask))


def at_least(weights: ArrayLike, threshold: float) -> Bools:
    """Return which weights reach a threshold, both to nine decimals: 0.3 is 0.3 however it was computed."""
    return np.asarray(to_decimals(weights) >= to_decimals(threshold))


def to_decimals(weights: ArrayLike) -> Floats:
    """Round weights and thresholds for comparison.

    Examples
    --------
    >>> to_decimals([0.1 + 0.2, -0.6])
    array([ 0.3, -0.6])
    """
    return np.asarray(np.round(np.asarray(weights, dtype=np.float64), WEIGHT_DECIMALS))


class Workspace:
    """Texts under many metrics: each preparation is made once and shared, whatever weights and subsets follow.

    Parameters
    ----------
    segments : Segments
    metrics : iterable of Metric
        Those to prepare together; any other metric is prepared when it is first used.
    models : ModelStore, optional
    """

    def __init__(self, segments: Segments, metrics: Iterable[Metric] = (), models: ModelStore | None = None) -> None:
        self.segments = segments
        self.models = models or ModelStore()
        self._plans: list[Preparation] = []
        self._prepared: dict[Preparation, Any] = {}
        for metric in metrics:
            self._plan(metric.preparation())

    def prepared(self, metric: Metric) -> Any:
        """Return what the metric's preparation makes of the texts."""
        plan = self._plan(metric.preparation())
        if plan not in self._prepared:
            self._prepared[plan] = plan(self.segments, self.models)
        return self._prepared[plan]

    def statistics(
        self, metric: Metric, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> MetricStatistics:
        return metric.statistics(self.prepared(metric), weights=weights, reference_mask=reference_mask)

    def redrawn(self, metric: Metric, *, weights: Floats, reference_masks: Bools) -> Sequence[MetricStatistics]:
        """Return `Metric.redrawn` of the texts."""
        return metric.redrawn(self.prepared(metric), weights=weights, reference_masks=reference_masks)

    def threshold_sweep(
        self, metric: Metric, *, weights: ArrayLike, thresholds: Sequence[float]
    ) -> list[MetricStatistics]:
        """Return `Metric.threshold_sweep` of the texts."""
        return metric.threshold_sweep(self.prepared(metric), weights=weights, thresholds=thresholds)

    def _plan(self, preparation: Preparation) -> Preparation:
        for index, plan in enumerate(self._plans):
            both = plan.joined(preparation)
            if both is None:
                continue
            if both != plan:
                # The wider one replaces it, prepared or not.
                self._plans[index] = both
                self._prepared.pop(plan, None)
            return both
        self._plans.append(preparation)
        return preparation


def metric_labels(metrics: Sequence[Metric]) -> list[str]:
    """Return names for people; metrics of the same name (two semantics of ΔBLEU) are followed by what differs."""
    labels = []
    for metric in metrics:
        twins = [other for other in metrics if other.label == metric.label and other != metric]
        values = metric.parameters()
        differing = [
            _shown(parameter, values[parameter.name])
            for parameter in metric.parameter_list()
            if any(twin.parameters().get(parameter.name) != values[parameter.name] for twin in twins)
        ]
        labels.append(f"{metric.label} ({', '.join(differing)})" if twins else metric.label)
    return labels


def _shown(parameter: Parameter, value: object) -> str:
    """Write a value, with its key unless it is a word, which explains itself."""
    written = parameter.written(value)
    return written if parameter.kind == "choice" else f"{parameter.key} {written}"


def needed_weights(metric: Metric, weights: ArrayLike | None) -> ArrayLike:
    """Return the weights, or raise an error that says that this metric needs them."""
    if weights is None:
        raise ValueError(f"weights: found None; accepted by {metric.name}: one number per reference")
    return weights


def signature_line(name: str, fields: Iterable[tuple[str, object]], version: str = VERSION) -> str:
    """Write sacrebleu's form: ``name|key:value|...|version:x.y.z``.

    Examples
    --------
    >>> signature_line("bleu", [("order", 2), ("tok", "13a")])
    'bleu|order:2|tok:13a|version:0.1.0'
    """
    return "|".join([name, *(f"{key}:{value}" for key, value in fields), f"version:{version}"])
