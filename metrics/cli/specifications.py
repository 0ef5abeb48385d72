"""Metrics and choices of references as one writes them on a command line."""

from __future__ import annotations

from metrics.cli.errors import CommandError
from metrics.scoring.metric import Metric
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric

TRUE, FALSE = ("yes", "true", "1"), ("no", "false", "0")


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
    known = metric.parameter_list()
    given = {}
    for option in filter(None, options.split(",")):
        key, equals, value = option.partition("=")
        parameter = next((one for one in known if key in (one.name, one.key)), None)
        if parameter is None or not equals:
            accepted = ", ".join(f"{one.name}=" for one in known) or "no parameter"
            raise CommandError(f"--metric {name}: found {option!r}; accepted: {accepted}")
        given[parameter.name] = _read(parameter, value, models)
    try:
        return get_metric(name, **given)
    except ValueError as error:
        raise CommandError(f"--metric {name}: {error}") from error


def _read(parameter: Parameter, value: str, models: ModelStore) -> object:
    """The value as its kind has it; what cannot be read stays a text, which the metric then refuses by name."""
    if parameter.kind == "flag" and value.lower() in TRUE + FALSE:
        return value.lower() in TRUE
    if parameter.kind == "model":
        return models.reference(parameter.choices[0], value)
    try:
        match parameter.kind:
            case "whole":
                return int(value)
            case "real":
                return float(value)
    except ValueError:
        pass
    return value
