"""Trained models in a metric's parameters: their names become content hashes, which signatures show."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Project
from metrics.errors import ScoreRunRefused
from metrics.scoring.models.kinds import KINDS, RATED, TRAINABLE
from metrics.scoring.registry import METRICS
from metrics.selectors import models as selectors


def parameters_with_models(project: Project, metric: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with each trained model as ``sha256:`` and its digest.

    A model may be given as ``name``, ``name/v2`` or ``sha256:...``; the default is the project's newest of the kind.
    An unknown model is refused, and so is a parameter that exceeds what the model has.
    """
    resolved = dict(parameters)
    for parameter in selectors.model_parameters(metric):
        name = "" if resolved.get(parameter.name) is None else resolved[parameter.name]
        if isinstance(name, str):  # the metric itself refuses anything else
            resolved[parameter.name] = _reference(project, parameter.choices[0], name, parameter.name)
    _check_limits(project, metric, resolved)
    return resolved


def _check_limits(project: Project, metric: str, resolved: dict[str, Any]) -> None:
    models = selectors.model_parameters(metric)
    if not models:
        return
    values = {parameter.name: parameter.default for parameter in METRICS[metric].parameter_list()} | resolved
    if not all(isinstance(values[parameter.name], str) for parameter in models):
        return
    for name, limit in selectors.model_limits(project, metric, values).items():
        excess = selectors.beyond_limit([values.get(name)], limit)
        if excess is not None:
            raise ScoreRunRefused.at(name, f"{name}: {selectors.beyond_words(excess, limit)}.")


def _reference(project: Project, kind: str, name: str, field: str) -> str:
    model = selectors.model_named(project, kind, name)
    if model is not None:
        return model.reference
    names = selectors.model_names(project, kind)
    if names:
        message = f"{field}: found {name!r}; accepted: {names}, or sha256: and 12 or more digits of one of them."
        raise ScoreRunRefused.at(field, message)
    command = f"manage.py train_metric_model --project {project.slug} --kind {kind}"
    remedy = f"Register one with {command} --register FOLDER."
    if kind in (*TRAINABLE, *RATED):
        remedy = f"Train one under Models, or with {command}."
    given = f"found {name!r}, but" if name else "none was named, and"
    raise ScoreRunRefused.at(field, f"{field}: {given} this project has no {KINDS[kind].label} yet. {remedy}")
