"""The registry of metrics: those of this package, and those of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any

from metrics.scoring.am import Am
from metrics.scoring.am_fm import AmFm
from metrics.scoring.bleu import Bleu
from metrics.scoring.chrf import Chrf
from metrics.scoring.cider import Cider
from metrics.scoring.delta_bleu import DeltaBleu
from metrics.scoring.distinct import Distinct
from metrics.scoring.embedding_average import EmbeddingAverage
from metrics.scoring.entropy import Entropy
from metrics.scoring.external import External
from metrics.scoring.fm import Fm
from metrics.scoring.greedy_matching import GreedyMatching
from metrics.scoring.ibleu import IBleu
from metrics.scoring.length import Length
from metrics.scoring.meteor import Meteor
from metrics.scoring.metric import GROUPS, Metric
from metrics.scoring.quality_estimate import QualityEstimate
from metrics.scoring.rouge_l import RougeL
from metrics.scoring.sbleu import SentenceBleu
from metrics.scoring.self_bleu import SelfBleu
from metrics.scoring.sentence_cosine import SentenceCosine
from metrics.scoring.ter import Ter
from metrics.scoring.texts import check_choice
from metrics.scoring.vector_extrema import VectorExtrema

ENTRY_POINTS = "assay.metrics"

BUILT_IN: tuple[type[Metric], ...] = (
    Bleu,
    SentenceBleu,
    DeltaBleu,
    IBleu,
    Chrf,
    Ter,
    RougeL,
    Meteor,
    Cider,
    EmbeddingAverage,
    VectorExtrema,
    GreedyMatching,
    SentenceCosine,
    Am,
    Fm,
    AmFm,
    Length,
    Distinct,
    Entropy,
    SelfBleu,
    External,
    QualityEstimate,
)


class Registry(Mapping[str, type[Metric]]):
    """Names to metrics; other packages' (entry points of the group "assay.metrics") are loaded at first use."""

    def __init__(self, built_in: Iterable[type[Metric]]) -> None:
        self._built_in = {metric.name: metric for metric in built_in}

    def __getitem__(self, name: str) -> type[Metric]:
        return self._all[0][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all[0])

    def __len__(self) -> int:
        return len(self._all[0])

    @property
    def broken(self) -> dict[str, str]:
        """Return the entry points that could not be loaded, and why."""
        return self._all[1]

    def forget(self) -> None:
        """Load entry points again at the next use."""
        self.__dict__.pop("_all", None)

    @cached_property
    def _all(self) -> tuple[dict[str, type[Metric]], dict[str, str]]:
        metrics, broken = dict(self._built_in), {}
        for entry in entry_points(group=ENTRY_POINTS):
            try:
                metric = entry.load()
                reason = _refusal(metric, metrics)
            except Exception as error:  # noqa: BLE001 # another package may raise anything
                reason = f"{type(error).__name__}: {error}"
            if reason:
                broken[f"{entry.name} = {entry.value}"] = reason
            else:
                metrics[metric.name] = metric
        return metrics, broken


def _refusal(metric: object, metrics: Mapping[str, type[Metric]]) -> str:
    if not (inspect.isclass(metric) and issubclass(metric, Metric)):
        return f"found {metric!r}; accepted: a class derived from metrics.scoring.metric.Metric"
    if inspect.isabstract(metric):
        return f"found no {', '.join(sorted(metric.__abstractmethods__))}; accepted: a metric that defines them"
    # In the class itself: an inherited one does not have its fields.
    if "__dataclass_fields__" not in vars(metric):
        return "found no dataclass; accepted: a class under @dataclass(frozen=True)"
    missing = [name for name in ("name", "label", "summary") if not isinstance(getattr(metric, name, None), str)]
    if missing:
        return f"found no {missing[0]}; accepted: a class attribute with a text"
    if metric.group not in GROUPS:
        return f"found group {metric.group!r}; accepted: {', '.join(map(repr, GROUPS))}"
    if metric.name in metrics:
        return f"found name {metric.name!r}; accepted: one that is not taken"
    # It must not fail when it is listed, offered in a form, or used as a key.
    metric.unavailable()
    metric.parameter_list()
    hash(metric())
    metric().signature()
    return ""


METRICS = Registry(BUILT_IN)


def without_references(metric: type[Metric]) -> dict[str, Any]:
    """Return the choice by which a metric that compares with references reads none; empty if there is none.

    Examples
    --------
    >>> without_references(METRICS["fm"]), without_references(METRICS["bleu"])
    ({'form': 'absolute'}, {})
    """
    if not metric.needs_references:
        return {}
    for parameter in metric.parameter_list():
        for value in parameter.choices if parameter.kind == "choice" else ():
            with suppress(ValueError):  # a choice that needs other choices
                if not metric(**{parameter.name: value}).needs_references:
                    return {parameter.name: value}
    return {}


def get_metric(name: str, /, **parameters: Any) -> Metric:
    """Return the metric of that name with these parameters, and defaults for the others.

    Parameters
    ----------
    name : str
        One of `METRICS`.
    **parameters
        See the metric's `parameter_list`.

    Raises
    ------
    ValueError
        An unknown name or parameter, or a value that is not accepted: which, what was found, what is accepted.

    Examples
    --------
    >>> get_metric("delta_bleu", tokenize="whitespace", lowercase=True).signature(weights="release-3")
    'delta_bleu|order:2|sem:galley2015|tok:whitespace|lc:yes|smooth:none|weights:release-3|refs:all|version:0.1.0'
    >>> from metrics.scoring.metric import Workspace
    >>> from metrics.scoring.segments import Segments
    >>> workspace = Workspace(Segments([["a b", "c"], ["b", "c d"]], [["a b"], ["c d"]]))
    >>> workspace.statistics(get_metric("sbleu")).system_scores().round(4)
    array([0.6839, 0.6839])
    """
    check_choice("metric", name, METRICS)
    metric = METRICS[name]
    accepted = [parameter.name for parameter in metric.parameter_list()]
    for parameter in parameters:
        if parameter not in accepted:
            raise ValueError(f"{name}: found parameter {parameter!r}; accepted: {', '.join(accepted)}")
    return metric(**parameters)
