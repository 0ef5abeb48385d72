"""What forms of studies make of metrics and references as they are chosen and written."""

from collections.abc import Iterable
from typing import Any

from django import forms

from correlations.selectors.metrics import RUN
from metrics.scoring.written import read_metric


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


def subsets_of(text: str) -> list[str]:
    """Return the choices of references that are written with commas.

    >>> subsets_of("original, w>0,")
    ['original', 'w>0']
    """
    return [part.strip() for part in text.split(",") if part.strip()]
