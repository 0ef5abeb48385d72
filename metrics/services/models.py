"""Which trained models a metric's parameters mean: names become content hashes before anything is signed."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Project
from metrics.errors import ScoreRunRefused
from metrics.scoring.models.kinds import KINDS, TRAINABLE
from metrics.scoring.registry import METRICS
from metrics.selectors.models import (
    beyond_limit,
    beyond_words,
    model_limits,
    model_named,
    model_names,
    model_parameters,
)


def parameters_with_models(project: Project, metric: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, each trained model among them as ``sha256:`` and its digest.

    A model may be written as ``name``, ``name/v2`` or ``sha256:...``; where none is, the project's newest of the kind
    is meant. One that is not there is a refusal of the field, which says how to make one; so is a parameter that asks a
    model for more than it has.
    """
    settled = dict(parameters)
    for parameter in model_parameters(metric):
        written = settled.get(parameter.name)
        written = "" if written is None else written
        if isinstance(written, str):  # anything else the metric itself refuses, in its own words
            settled[parameter.name] = _reference(project, parameter.choices[0], written, parameter.name)
    _check_limits(project, metric, settled)
    return settled


def _check_limits(project: Project, metric: str, settled: dict[str, Any]) -> None:
    models = model_parameters(metric)
    if not models:
        return
    asked = {one.name: one.default for one in METRICS[metric].parameter_list()} | settled
    if not all(isinstance(asked[one.name], str) for one in models):
        return
    for name, most in model_limits(project, metric, asked).items():
        found = beyond_limit([asked.get(name)], most)
        if found is not None:
            raise ScoreRunRefused.at(name, f"{name}: {beyond_words(found, most)}.")


def _reference(project: Project, kind: str, written: str, field: str) -> str:
    model = model_named(project, kind, written)
    if model is not None:
        return model.reference
    label = KINDS[kind].label
    names = model_names(project, kind)
    if names:
        message = f"{field}: found {written!r}; accepted: {names}, or sha256: and 12 or more digits of one of them."
    else:
        found = f"found {written!r}, but" if written else "none was named, and"
        message = f"{field}: {found} this project has no {label} yet. {how_to_make(project, kind)}"
    raise ScoreRunRefused(message, fields={field: [message]})


def how_to_make(project: Project, kind: str) -> str:
    """How a project comes by a model of a kind."""
    command = f"manage.py train_metric_model --project {project.slug} --kind {kind}"
    if kind in TRAINABLE:
        return f"Train one under Models, or with {command}."
    return f"Register one with {command} --register FOLDER."
