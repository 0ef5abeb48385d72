"""Rows and files of models: what every way to make one needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from annotation.core.names import slug_of
from annotation.models import JobState, Project, User
from annotation.projects.services.audit import audit_record
from metrics.errors import MetricsError
from metrics.models import TrainedModel
from metrics.scoring.models.files import Model
from metrics.scoring.models.kinds import Kind, get_kind
from metrics.selectors.models import folder_of
from metrics.services.scoring import model_store

log = structlog.get_logger("assay.model")

Fields = dict[str, Any]  # of a finished model


@dataclass(frozen=True)
class Made:
    """A finished model. ``store`` writes what belongs to it in the transaction that ends the job, and returns what the
    report says of that."""

    fields: Fields
    store: Callable[[], dict[str, Any]] = dict


@dataclass(frozen=True)
class ModelRequest:
    """A new model. Its name gets another version if it exists; ``keep_apart`` leaves out the project's outputs and
    references."""

    project: Project
    by: User | None
    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    keep_apart: bool = True


def get_kind_or_refuse(name: str) -> Kind:
    try:
        return get_kind(name)
    except ValueError as error:
        raise MetricsError.at("kind", f"{error}.") from error


def model_create(request: ModelRequest, source: dict[str, Any], **fields: Any) -> TrainedModel:
    """Create the next version of the name."""
    is_trained = "registered" not in source
    if is_trained and "campaigns" not in source:
        source["keep_apart"] = request.keep_apart
    options = _checked_options(request) if is_trained else {}
    project, name, kind = request.project, request.name.strip(), request.kind
    slug = slug_of(name)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # versions are counted one request at a time
        newest = project.trained_models.filter(slug=slug).order_by("-version").values_list("version", "kind").first()
        if newest is not None and newest[1] != kind:
            message = f"Name: {slug!r} is a model of kind {newest[1]} already; choose another name."
            raise MetricsError.at("name", message)
        model = TrainedModel.objects.create(
            project=project,
            requested_by=request.by,
            name=name,
            slug=slug,
            version=1 if newest is None else newest[0] + 1,
            kind=kind,
            options=options,
            source=source,
            **fields,
        )
        audit_record(
            verb="model.train" if is_trained else "model.register",
            summary=f"Requested the {model.kind_label} “{model}”.",
            project=project,
            by=request.by,
            data={"model": f"{slug}/v{model.version}", "kind": kind, "options": options, "source": source},
        )
    return model


def _checked_options(request: ModelRequest) -> dict[str, Any]:
    try:
        return get_kind_or_refuse(request.kind).checked(request.options).as_dict()
    except ValueError as error:
        raise MetricsError.at(str(error).split(":", 1)[0], f"{error}.") from error


def model_keep(model: TrainedModel, made: Model, report: dict[str, Any]) -> Fields:
    """Write a model's files; return the fields of its row."""
    try:
        model_store().add(made)
    except OSError as error:
        log.error("model not written", folder=str(settings.MODELS_DIR), error=str(error))
        raise MetricsError(f"The model cannot be written: {error.strerror or type(error).__name__}.") from error
    model.digest = made.digest
    size = sum(file.stat().st_size for file in folder_of(model).rglob("*") if file.is_file())
    return {"digest": made.digest, "size": size, "report": report | {"model": made.facts}, "training_hash": ""}


def trained_before(model: TrainedModel, training_hash: str) -> TrainedModel | None:
    """Return a model of the same training in this project whose files are on this host."""
    done = TrainedModel.objects.filter(
        project=model.project_id, kind=model.kind, training_hash=training_hash, state=JobState.DONE
    )
    return next((other for other in done.defer("content").order_by("pk") if folder_of(other).exists()), None)
