"""Every metric by name."""

from __future__ import annotations

import inspect
from typing import Any

from metrics.scoring.bleu import Bleu
from metrics.scoring.delta_bleu import DeltaBleu
from metrics.scoring.metric import Metric
from metrics.scoring.sbleu import SentenceBleu
from metrics.scoring.texts import check_choice

METRICS: dict[str, type[Bleu] | type[SentenceBleu] | type[DeltaBleu]] = {
    metric.name: metric for metric in (Bleu, SentenceBleu, DeltaBleu)
}


def get_metric(name: str, /, **parameters: Any) -> Metric:
    """The metric of that name with these parameters; what is left out takes its default.

    Parameters
    ----------
    name : {"bleu", "sbleu", "delta_bleu"}
    **parameters
        All: ``max_order`` (1 to 4, default 2), ``tokenize``, ``lowercase``. "bleu" and "delta_bleu": ``smoothing``.
        "sbleu": ``smooth_brevity``. "delta_bleu": ``semantics``.

    Raises
    ------
    ValueError
        An unknown name or parameter, or a value that is not accepted: which, what was found, what is accepted.

    Examples
    --------
    >>> get_metric("delta_bleu", tokenize="whitespace", lowercase=True).signature(weights="release-3")
    'delta_bleu|order:2|sem:galley2015|tok:whitespace|lc:yes|smooth:none|weights:release-3|refs:all|version:0.1.0'
    >>> from metrics.scoring.ngrams import build_match_table
    >>> table = build_match_table([["a b", "c"], ["b", "c d"]], [["a b"], ["c d"]])
    >>> get_metric("sbleu").statistics(table).system_scores().round(4)
    array([0.6839, 0.6839])
    """
    check_choice("metric", name, METRICS)
    metric = METRICS[name]
    accepted = inspect.signature(metric).parameters
    for parameter in parameters:
        if parameter not in accepted:
            raise ValueError(f"{name}: found parameter {parameter!r}; accepted: {', '.join(accepted)}")
    return metric(**parameters)
