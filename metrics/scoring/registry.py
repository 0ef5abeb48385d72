"""Every metric by name: those of this package, and those that other packages bring."""

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
from metrics.scoring.rouge_l import RougeL
from metrics.scoring.sbleu import SentenceBleu
from metrics.scoring.self_bleu import SelfBleu
from metrics.scoring.sentence_cosine import SentenceCosine
from metrics.scoring.ter import Ter
from metrics.scoring.texts import check_choice
from metrics.scoring.vector_extrema import VectorExtrema

ENTRY_POINTS = "assay.metrics"

OWN: tuple[type[Metric], ...] = (
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
)


class Registry(Mapping[str, type[Metric]]):
    """Names to metrics; other packages' (entry points of the group "assay.metrics") are loaded at first use."""

    def __init__(self, own: Iterable[type[Metric]]) -> None:
        self._own = {metric.name: metric for metric in own}

    def __getitem__(self, name: str) -> type[Metric]:
        return self._all[0][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all[0])

    def __len__(self) -> int:
        return len(self._all[0])

    @property
    def broken(self) -> dict[str, str]:
        """Entry points that could not be loaded, and why."""
        return self._all[1]

    def forget(self) -> None:
        """Look for entry points anew."""
        self.__dict__.pop("_all", None)

    @cached_property
    def _all(self) -> tuple[dict[str, type[Metric]], dict[str, str]]:
        found, broken = dict(self._own), {}
        for entry in entry_points(group=ENTRY_POINTS):
            where = f"{entry.name} = {entry.value}"
            try:
                metric = entry.load()
            except Exception as error:  # noqa: BLE001 # another package's code: whatever it raises concerns it alone
                broken[where] = f"{type(error).__name__}: {error}"
                continue
            reason = _refusal(metric, found)
            if reason:
                broken[where] = reason
            else:
                found[metric.name] = metric
        return found, broken


def _refusal(metric: object, found: Mapping[str, type[Metric]]) -> str:
    if not (inspect.isclass(metric) and issubclass(metric, Metric)):
        return f"found {metric!r}; accepted: a class derived from metrics.scoring.metric.Metric"
    if inspect.isabstract(metric):
        return f"found no {', '.join(sorted(metric.__abstractmethods__))}; accepted: a metric that defines them"
    # Looked for in the class itself: what it inherits knows nothing of its own fields.
    if "__dataclass_fields__" not in vars(metric):
        return "found no dataclass; accepted: a class under @dataclass(frozen=True)"
    missing = [name for name in ("name", "label", "summary") if not isinstance(getattr(metric, name, None), str)]
    if missing:
        return f"found no {missing[0]}; accepted: a class attribute with a text"
    if metric.group not in GROUPS:
        return f"found group {metric.group!r}; accepted: {', '.join(map(repr, GROUPS))}"
    if metric.name in found:
        return f"found name {metric.name!r}; accepted: one that is not taken"
    return _failure(metric)


def _failure(metric: type[Metric]) -> str:
    """What goes wrong where a metric is listed, offered in a form, or remembered by its parameters."""
    try:
        metric.unavailable()
        metric.parameter_list()
        hash(metric())
        metric().signature()
    except Exception as error:  # noqa: BLE001 # as above
        return f"{type(error).__name__}: {error}"
    return ""


METRICS = Registry(OWN)


def without_references(metric: type[Metric]) -> dict[str, Any]:
    """The choice by which a metric that compares with references reads none; empty where there is no such.

    Examples
    --------
    >>> without_references(METRICS["fm"]), without_references(METRICS["bleu"])
    ({'form': 'absolute'}, {})
    """
    if not metric.needs_references:
        return {}
    for parameter in metric.parameter_list():
        for value in parameter.choices if parameter.kind == "choice" else ():
            with suppress(ValueError):  # a choice that goes with others only
                if not metric(**{parameter.name: value}).needs_references:
                    return {parameter.name: value}
    return {}


def get_metric(name: str, /, **parameters: Any) -> Metric:
    """The metric of that name with these parameters; what is left out takes its default.

    Parameters
    ----------
    name : str
        One of `METRICS`.
    **parameters
        As the metric's `parameter_list` says.

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
