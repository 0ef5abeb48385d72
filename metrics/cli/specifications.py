"""Metrics as they are written on a command line."""

from __future__ import annotations

from metrics.cli.errors import CommandError
from metrics.scoring.metric import Metric
from metrics.scoring.models import sentence_encoder
from metrics.scoring.models.kinds import TRAINABLE
from metrics.scoring.models.sentence_encoder import SentenceEncoder
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.written import read_parameters


def metric_from(written: str, models: ModelStore) -> Metric:
    """Build a metric from ``name:key=value,key=value``; a key is a parameter's name or its key in signatures.

    Raises
    ------
    CommandError
        An unknown metric or parameter, or a value that is not accepted: which, and what is accepted.

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
        values = read_parameters(name, options)
    except ValueError as error:
        raise CommandError(f"--metric {error}") from error
    try:
        for parameter in metric.parameter_list():
            if parameter.kind == "model":
                values[parameter.name] = _by_hash(parameter, values.get(parameter.name, ""), models)
        return get_metric(name, **values)
    except ValueError as error:
        raise CommandError(f"--metric {name}: {error}") from error


def _by_hash(parameter: Parameter, named: str, models: ModelStore) -> str:
    """Return the model's hash, for signatures and the cache."""
    kind = parameter.choices[0]
    if not named:
        raise ValueError(
            f"{parameter.name}: found none; accepted: a {kind} model, {parameter.key}= with its path or "
            f"sha256:...; {_known(kind, models)}"
        )
    return models.reference(kind, sentence_encoder.located(named) if kind == SentenceEncoder.kind else named)


def _known(kind: str, models: ModelStore) -> str:
    """Say which models of a kind are in the given folders."""
    if not models.directories:
        return "--models names folders of them"
    folders = ", ".join(map(str, models.directories))
    if known := models.references(kind):
        return f"in {folders}: {', '.join(known)}"
    return f"in {folders}: none" + (f" (python -m metrics train {kind} makes one)" if kind in TRAINABLE else "")
