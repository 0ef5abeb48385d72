"""Trained models: lists, uses, files, and the model that a parameter names."""

import re
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from annotation.core.errors import AnnotationError
from annotation.core.zips import zip_chunks
from annotation.models import Campaign, Dataset, JobState, Project
from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.models.files import SHOWN, model_name
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS

CHUNK_BYTES = 1024 * 1024
PREFIX = "sha256:"
NAME_AND_VERSION = re.compile(r"(?P<name>.+?)(?:/v(?P<version>[0-9]{1,9}))?")
LISTED = 20


def models_of(project: Project, kind: str = "") -> QuerySet[TrainedModel]:
    """Return models, newest first, without the files they were trained on."""
    models = TrainedModel.objects.filter(project=project).select_related("dataset", "corpus", "requested_by")
    return (models.filter(kind=kind) if kind else models).defer("content").order_by("-pk")


def learnt_from(campaign: Campaign) -> QuerySet[TrainedModel]:
    """Return models that learn, or are to learn, from a campaign's ratings."""
    models = TrainedModel.objects.filter(project=campaign.project_id)
    return models.filter(source__campaigns__contains=[campaign.name]).defer("content").order_by("pk")


def finished_models(project: Project, kind: str = "") -> QuerySet[TrainedModel]:
    return models_of(project, kind).filter(state=JobState.DONE).order_by("-finished_at", "-pk")


def trained_kinds(project: Project) -> set[str]:
    """Return the kinds of the project's finished models."""
    return set(finished_models(project).order_by().values_list("kind", flat=True).distinct())


def lacking_kind(metric: str, kinds: Set[str]) -> str:
    """Return the first kind of model that the metric reads and that is not among these; empty if there is none."""
    return next((each.choices[0] for each in model_parameters(metric) if each.choices[0] not in kinds), "")


def model_choices(newest_first: Iterable[TrainedModel]) -> list[tuple[str, str]]:
    """Return reference and label of each model: its name, what it was trained on, whether it is the newest."""
    models = list(newest_first)
    newest = models[0] if len(models) > 1 else None
    labels = [(str(model), _trained_on(model), "newest" if model is newest else "") for model in models]
    return [(model.reference, " · ".join(filter(None, parts))) for model, parts in zip(models, labels, strict=True)]


def _trained_on(model: TrainedModel) -> str:
    names = (model.source.get(name) for name in ("dataset", "corpus", "file", "registered"))
    return str(model.dataset or model.corpus or next(filter(None, names), ""))


def folder_of(model: TrainedModel) -> Path:
    return Path(settings.MODELS_DIR) / model_name(model.kind, model.digest)


# --- Runs -------------------------------------------------------------------------------------------------------------


def model_parameters(metric: str) -> list[Parameter]:
    """Return the parameters that name a trained model; none for a metric that is not installed."""
    if metric not in METRICS:
        return []
    return [parameter for parameter in METRICS[metric].parameter_list() if parameter.kind == "model"]


def _model_readers() -> dict[str, list[Parameter]]:
    """Return the metrics that read trained models, with the parameters that name them."""
    return {name: parameters for name in METRICS if (parameters := model_parameters(name))}


def runs_using(model: TrainedModel) -> QuerySet[ScoreRun]:
    """Return the project's score runs that read the model, newest first."""
    condition = Q(pk__in=[])
    if model.digest:
        for metric, parameters in _model_readers().items():
            for parameter in parameters:
                condition |= Q(metric=metric, **{f"parameters__{parameter.name}": model.reference})
    return ScoreRun.objects.filter(condition, project=model.project_id).order_by("-pk")


def uses_by_reference(project: Project) -> Counter[str]:
    """Return how many score runs of a project read each model."""
    readers = _model_readers()
    runs = ScoreRun.objects.filter(project=project, metric__in=readers).order_by()
    counts: Counter[str] = Counter()
    for metric, parameters in runs.values_list("metric", "parameters").iterator(chunk_size=2000):
        counts.update({str(parameters.get(reader.name)) for reader in readers[metric]})
    return counts


def models_of_run(run: ScoreRun) -> list[tuple[Parameter, TrainedModel | None]]:
    """Return the parameters that name a run's models, each with its model; None for one that is gone."""
    named = [(each, str(run.parameters.get(each.name, ""))) for each in model_parameters(run.metric)]
    digests = [reference.removeprefix(PREFIX) for _, reference in named]
    models = TrainedModel.objects.filter(project=run.project_id, digest__in=digests).defer("content").order_by("pk")
    by_reference = {(model.kind, model.reference): model for model in models}  # of equal ones the newest
    return [(each, by_reference.get((each.choices[0], reference))) for each, reference in named if reference]


def model_names_of(runs: Iterable[ScoreRun]) -> dict[str, str]:
    """Return name and version of the trained models that these runs read, by their references."""
    named = {
        (run.project_id, str(run.parameters.get(each.name, "")))
        for run in runs
        for each in model_parameters(run.metric)
    }
    if not named:
        return {}
    projects, references = {project for project, _ in named}, {reference for _, reference in named}
    digests = {reference.removeprefix(PREFIX) for reference in references if reference}
    models = TrainedModel.objects.filter(project__in=projects, digest__in=digests)
    return {model.reference: str(model) for model in models.defer("content").order_by("pk")}


# --- Names ------------------------------------------------------------------------------------------------------------


def model_named(project: Project, kind: str, text: str) -> TrainedModel | None:
    """Return the finished model of ``name``, ``name/v2`` or ``sha256:`` and digits; the newest for an empty text.

    A name without version is that of its newest version.
    """
    finished = finished_models(project, kind)
    if not text:
        return finished.first()
    if "\0" in text:
        return None  # the database refuses to look for it
    if text.startswith(PREFIX):
        digits = text.removeprefix(PREFIX)
        return finished.filter(digest__startswith=digits).first() if len(digits) >= SHOWN else None
    parts = NAME_AND_VERSION.fullmatch(text)
    if parts is None:
        return None
    named = finished.filter(Q(slug=parts["name"]) | Q(name=parts["name"])).order_by("-version")
    return named.filter(version=parts["version"]).first() if parts["version"] else named.first()


def model_limits(project: Project, metric: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the largest values that a metric's trained models allow, by parameter."""
    limits = {}
    for parameter in model_parameters(metric):
        model = model_named(project, parameter.choices[0], parameters[parameter.name])
        facts = {} if model is None else model.report.get("model", {})
        if "dimensions" in facts and parameter.choices[0] == LsaModel.kind:
            limits["k"] = int(facts["dimensions"])
        if "order" in facts:
            limits["order"] = int(facts["order"])
    return limits


def beyond_limit(values: Iterable[object], most: int | None) -> int | None:
    """Return the first value above a trained model's limit; None if there is none."""
    return next((value for value in values if most is not None and isinstance(value, int) and value > most), None)


def beyond_words(found: int, most: int) -> str:
    return f"found {found}; accepted: up to {most}, which is what the trained model has"


def model_names(project: Project, kind: str) -> str:
    """Return the names that a parameter of this kind accepts."""
    named = finished_models(project, kind).values_list("slug", "version")[:LISTED]
    return ", ".join(f"{slug}/v{version}" for slug, version in named)


# --- Overlap ----------------------------------------------------------------------------------------------------------


def overlap_rows(project: Project, report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return how many outputs and references a training shares with each data set that still exists."""
    rows = report.get("overlap", [])
    datasets = Dataset.objects.filter(project=project).in_bulk([row["dataset_id"] for row in rows])
    return [
        row | {"dataset": datasets[row["dataset_id"]], "shared": row["outputs"] + row["references"]}
        for row in rows
        if row["dataset_id"] in datasets
    ]


# --- Files ------------------------------------------------------------------------------------------------------------


def model_chunks(model: TrainedModel) -> Iterator[bytes]:
    """Return a model's zip; equal models have equal bytes."""
    folder = folder_of(model)
    if not folder.exists():
        raise AnnotationError(
            f"The files of “{model}” are not on this host: {socket.gethostname()} has no {folder}. "
            f"Let every host share {settings.MODELS_DIR}, or copy them there from the host that has them."
        )
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return zip_chunks((file.relative_to(folder.parent).as_posix(), _pieces(file)) for file in files)


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while piece := stream.read(CHUNK_BYTES):
            yield piece
