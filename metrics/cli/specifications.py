"""Metrics and choices of references as one writes them on a command line."""

from __future__ import annotations

from metrics.cli.errors import CommandError
from metrics.scoring.metric import Metric
from metrics.scoring.models import sentence_encoder
from metrics.scoring.models.kinds import TRAINABLE
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.written import read_parameters


def metric_from(written: str, models: ModelStore) -> Metric:
    """``name`` or ``name:key=value,key=value``; keys are a parameter's name or its key in signatures.

    Raises
    ------
    CommandError
        An unknown metric or parameter, or a value that is not accepted: which, and what is.

    Examples
    --------
    >>> metric_from("bleu:order=4,tok=13a,lc=yes", ModelStore()).signature()
    'bleu|order:4|tok:13a|lc:yes|smooth:none|refs:all|version:0.1.0'
    """
    name, _, options = written.partition(":")
    if name not in METRICS:
        raise CommandError(f"--metric: found {name!r}; accepted: {', '.join(METRICS)}")
    metric = METRICS[name]
    if reason := metric.unavailable():
        raise CommandError(f"--metric: {name} cannot be computed here. {reason}")
    try:
        given = read_parameters(name, options)
    except ValueError as error:
        raise CommandError(f"--metric {error}") from error
    try:
        for parameter in metric.parameter_list():
            if parameter.kind == "model":
                given[parameter.name] = _by_hash(parameter, given.get(parameter.name, ""), models)
        return get_metric(name, **given)
    except ValueError as error:
        raise CommandError(f"--metric {name}: {error}") from error


def _by_hash(parameter: Parameter, named: str, models: ModelStore) -> str:
    """The model's hash, so that signatures and kept scores know it by what it holds."""
    kind = parameter.choices[0]
    if not named:
        raise ValueError(
            f"{parameter.name}: found none; accepted: a {kind} model, {parameter.key}= with its path or "
            f"sha256:...; {_known(kind, models)}"
        )
    found = sentence_encoder.located(named) if kind == sentence_encoder.SentenceEncoder.kind else named
    return models.reference(kind, found)


def _known(kind: str, models: ModelStore) -> str:
    """Which models of a kind lie in the folders that were named."""
    if not models.directories:
        return "--models names folders of them"
    where = ", ".join(map(str, models.directories))
    if known := models.references(kind):
        return f"in {where}: {', '.join(known)}"
    return f"in {where}: none" + (f" (python -m metrics train {kind} makes one)" if kind in TRAINABLE else "")
