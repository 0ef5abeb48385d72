"""What forms of studies make of metrics and references as they are chosen and written."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from correlations.selectors.metrics import RUN
from metrics.scoring.settings import SHARED
from metrics.scoring.written import read_metric
from metrics.selectors.usual import UsualSettings


def metrics_of_lines(text: str) -> list[dict[str, Any]]:
    """Read a metric with its own parameters from each line."""
    metrics = []
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            name, parameters = read_metric(line)
        except ValueError as error:
            raise forms.ValidationError(f"{line}: {error}") from error
        metrics.append({"name": name, "parameters": parameters})
    return metrics


def metric_entries(values: Iterable[str]) -> list[Any]:
    """Return ticked metrics as a specification names them.

    >>> metric_entries(["bleu", "run:7"])
    ['bleu', {'run': 7}]
    """
    return [{"run": int(value.removeprefix(RUN))} if value.startswith(RUN) else value for value in values]


def are_usual(usual: UsualSettings, shared: Mapping[str, Any]) -> bool:
    """Return whether a study's order, tokeniser and case, as values or as a browser sends them, are usual."""
    return all(str(shared[name]) == str(usual.shared[parameter]) for parameter, name in SHARED.items())


def special_of_ticked(usual: UsualSettings, name: str, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a ticked metric has besides the study's order, tokeniser and case, and its defaults.

    If a person chose another order, tokeniser or case, these hold for all metrics; the rest stays as usual.
    """
    special = usual.special_parameters(name)
    if are_usual(usual, shared):
        return special
    return {parameter: value for parameter, value in special.items() if parameter not in SHARED}


def ticked_entries(usual: UsualSettings, values: Iterable[str], shared: Mapping[str, Any]) -> list[Any]:
    """Return ticked metrics as a specification names them, with their usual settings."""
    return [
        {"name": each, "parameters": special}
        if isinstance(each, str) and (special := special_of_ticked(usual, each, shared))
        else each
        for each in metric_entries(values)
    ]


def subsets_of(text: str) -> list[str]:
    """Return the choices of references that are written with commas.

    >>> subsets_of("original, w>0,")
    ['original', 'w>0']
    """
    return [part.strip() for part in text.split(",") if part.strip()]
