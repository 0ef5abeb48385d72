"""Metrics written on one line: ``bleu:order=4,tok=13a``."""

from __future__ import annotations

from typing import Any

from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS
from metrics.scoring.texts import check_choice

TRUE, FALSE = ("yes", "true", "1"), ("no", "false", "0")


def read_metric(written: str) -> tuple[str, dict[str, Any]]:
    """Return the metric's name, and the parameters given; the metric itself checks the values.

    Parameters
    ----------
    written : str
        ``name`` or ``name:key=value,key=value``; keys are a parameter's name or its key in signatures.

    Raises
    ------
    ValueError
        An unknown metric or parameter: which, and what is accepted.

    Examples
    --------
    >>> read_metric("bleu:order=4, tok=13a, lc=yes")
    ('bleu', {'max_order': 4, 'tokenize': '13a', 'lowercase': True})
    """
    name, _, options = written.strip().partition(":")
    name = name.strip()
    check_choice("metric", name, METRICS)
    return name, read_parameters(name, options)


def read_parameters(metric: str, options: str) -> dict[str, Any]:
    """Read what follows the colon, for a metric of that name.

    Examples
    --------
    >>> read_parameters("am_fm", "lambda=0.5,k=20")
    {'balance': 0.5, 'k': 20}
    """
    parameters = METRICS[metric].parameter_list()
    values: dict[str, Any] = {}
    for option in filter(None, map(str.strip, options.split(","))):
        key, equals, value = (part.strip() for part in option.partition("="))
        parameter = next((each for each in parameters if key in (each.name, each.key)), None)
        if parameter is None or not equals:
            accepted = ", ".join(map(_names, parameters)) or "no parameter"
            raise ValueError(f"{metric}: found {option!r}; accepted: {accepted}")
        values[parameter.name] = read_value(parameter, value)
    return values


def _names(parameter: Parameter) -> str:
    """Write ``max_order= or order=``."""
    return " or ".join(f"{name}=" for name in dict.fromkeys((parameter.name, parameter.key)))


def read_value(parameter: Parameter, value: str) -> Any:
    """Read a value of the parameter's kind; one that cannot be read stays a text, which the metric refuses."""
    if parameter.kind == "flag" and value.lower() in TRUE + FALSE:
        return value.lower() in TRUE
    read = {"whole": int, "real": float}.get(parameter.kind, str)
    try:
        return read(value)
    except ValueError:
        return value
