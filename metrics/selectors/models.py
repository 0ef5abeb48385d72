"""Reads over trained models: lists, who uses one, its files, and the model that a parameter means."""

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
from annotation.models import Dataset, JobState, Project
from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.models.files import SHOWN, model_name
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS

CHUNK_BYTES = 1024 * 1024
PREFIX = "sha256:"
WRITTEN = re.compile(r"(?P<name>.+?)(?:/v(?P<version>[0-9]{1,9}))?")
LISTED = 20


def models_of(project: Project, kind: str = "") -> QuerySet[TrainedModel]:
    """Newest first, without the files they were trained on."""
    found = TrainedModel.objects.filter(project=project).select_related("dataset", "corpus", "requested_by")
    return (found.filter(kind=kind) if kind else found).defer("content").order_by("-pk")


def finished_models(project: Project, kind: str = "") -> QuerySet[TrainedModel]:
    return models_of(project, kind).filter(state=JobState.DONE).order_by("-finished_at", "-pk")


def trained_kinds(project: Project) -> set[str]:
    """Kinds that the project has a finished model of."""
    return set(finished_models(project).order_by().values_list("kind", flat=True).distinct())


def lacking_kind(metric: str, kinds: Set[str]) -> str:
    """The first kind of model that the metric reads and that is not among these; empty where it has all it reads."""
    return next((one.choices[0] for one in model_parameters(metric) if one.choices[0] not in kinds), "")


def model_choices(newest_first: Iterable[TrainedModel]) -> list[tuple[str, str]]:
    """Reference and name of each model of a kind, with what it was trained on; the newest is called so."""
    found = list(newest_first)
    newest = found[0] if len(found) > 1 else None
    told = [(str(model), _trained_on(model), "newest" if model is newest else "") for model in found]
    return [(model.reference, " · ".join(filter(None, parts))) for model, parts in zip(found, told, strict=True)]


def _trained_on(model: TrainedModel) -> str:
    gone_or_file = (model.source.get(name) for name in ("dataset", "corpus", "file", "registered"))
    return str(model.dataset or model.corpus or next(filter(None, gone_or_file), ""))


def folder_of(model: TrainedModel) -> Path:
    return Path(settings.MODELS_DIR) / model_name(model.kind, model.digest)


# --- Runs -------------------------------------------------------------------------------------------------------------


def model_parameters(metric: str) -> list[Parameter]:
    """Those parameters of a metric that name a trained model; none of a metric that is not here."""
    found = METRICS.get(metric)
    return [] if found is None else [one for one in found.parameter_list() if one.kind == "model"]


def _reading() -> dict[str, list[Parameter]]:
    """Metrics that read trained models, and by which parameters."""
    return {name: found for name in METRICS if (found := model_parameters(name))}


def runs_using(model: TrainedModel) -> QuerySet[ScoreRun]:
    """Score runs of its project whose numbers depend on it, newest first."""
    wanted = Q(pk__in=[])
    if model.digest:
        for metric, parameters in _reading().items():
            for parameter in parameters:
                wanted |= Q(metric=metric, **{f"parameters__{parameter.name}": model.reference})
    return ScoreRun.objects.filter(wanted, project=model.project_id).order_by("-pk")


def uses_by_reference(project: Project) -> Counter[str]:
    """How many score runs of a project read each model."""
    reading = _reading()
    runs = ScoreRun.objects.filter(project=project, metric__in=reading).order_by()
    counts: Counter[str] = Counter()
    for metric, parameters in runs.values_list("metric", "parameters").iterator(chunk_size=2000):
        counts.update({str(parameters.get(one.name)) for one in reading[metric]})
    return counts


def models_of_run(run: ScoreRun) -> list[tuple[Parameter, TrainedModel | None]]:
    """The trained models that a run reads, by the parameter that names them; None for one that is not here any more."""
    asked = [(one, str(run.parameters.get(one.name, ""))) for one in model_parameters(run.metric)]
    digests = [reference.removeprefix(PREFIX) for _, reference in asked]
    known = TrainedModel.objects.filter(project=run.project_id, digest__in=digests).defer("content").order_by("pk")
    found = {(model.kind, model.reference): model for model in known}  # of equal ones the newest
    return [(one, found.get((one.choices[0], reference))) for one, reference in asked if reference]


def model_names_of(runs: Iterable[ScoreRun]) -> dict[str, str]:
    """Name and version of every trained model that these runs of one project read, by its reference."""
    asked = {
        (run.project_id, str(run.parameters.get(one.name, ""))) for run in runs for one in model_parameters(run.metric)
    }
    if not asked:
        return {}
    known = TrainedModel.objects.filter(
        project__in={project for project, _ in asked}, digest__in={one.removeprefix(PREFIX) for _, one in asked if one}
    )
    return {model.reference: str(model) for model in known.defer("content").order_by("pk")}


# --- Which model is meant ---------------------------------------------------------------------------------------------


def model_named(project: Project, kind: str, written: str) -> TrainedModel | None:
    """The finished model meant by ``name``, ``name/v2`` or ``sha256:`` and digits; the newest where nothing is written.

    A name without version means its newest version.
    """
    finished = finished_models(project, kind)
    if not written:
        return finished.first()
    if "\0" in written:
        return None  # no name has one, and the database refuses to look for it
    if written.startswith(PREFIX):
        digits = written.removeprefix(PREFIX)
        return finished.filter(digest__startswith=digits).first() if len(digits) >= SHOWN else None
    parts = WRITTEN.fullmatch(written)
    if parts is None:
        return None
    named = finished.filter(Q(slug=parts["name"]) | Q(name=parts["name"])).order_by("-version")
    return named.filter(version=parts["version"]).first() if parts["version"] else named.first()


def model_limits(project: Project, metric: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    """The most that a metric's trained models serve, by the parameter that this bounds."""
    found = {}
    for parameter in model_parameters(metric):
        model = model_named(project, parameter.choices[0], parameters[parameter.name])
        known = {} if model is None else model.report.get("model", {})
        if "dimensions" in known and parameter.choices[0] == LsaModel.kind:
            found["k"] = int(known["dimensions"])
        if "order" in known:
            found["order"] = int(known["order"])
    return found


def beyond_limit(values: Iterable[object], most: int | None) -> int | None:
    """The first of these that asks a trained model for more than it has."""
    return next((value for value in values if most is not None and isinstance(value, int) and value > most), None)


def beyond_words(found: int, most: int) -> str:
    return f"found {found}; accepted: up to {most}, which is what the trained model has"


def model_names(project: Project, kind: str) -> str:
    """The names that a parameter of this kind accepts."""
    named = finished_models(project, kind).values_list("slug", "version")[:LISTED]
    return ", ".join(f"{slug}/v{version}" for slug, version in named)


# --- Overlap ----------------------------------------------------------------------------------------------------------


def overlap_rows(project: Project, report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a training shares with each data set that is still there: outputs and references, of how many."""
    rows = report.get("overlap", [])
    datasets = Dataset.objects.filter(project=project).in_bulk([row["dataset_id"] for row in rows])
    return [
        row | {"dataset": datasets[row["dataset_id"]], "shared": row["outputs"] + row["references"]}
        for row in rows
        if row["dataset_id"] in datasets
    ]


# --- Files ------------------------------------------------------------------------------------------------------------


def model_chunks(model: TrainedModel) -> Iterator[bytes]:
    """The model as a zip: equal models, equal bytes."""
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
