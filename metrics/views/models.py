"""Pages of trained models."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.charts import MEDIA_TYPES
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response, zip_response
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.kept_files import FileKeeper, KeptFileForm
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.models import Dataset, JobState, Project, Role
from metrics import charts_models, charts_quality, tasks
from metrics.forms.models import CorpusTrainingForm, DatasetTrainingForm, ModelForm, ModelUploadForm, UploadTrainingForm
from metrics.forms.quality import RatingTrainingForm
from metrics.models import TrainedModel
from metrics.scoring.models.kinds import KINDS, RATED, Kind
from metrics.scoring.qe.options import FOLDS, QualityOptions
from metrics.selectors import models as selectors
from metrics.selectors.predictions import WHOLE
from metrics.selectors.training_ratings import rated_datasets
from metrics.selectors.training_texts import corpora_to_train_on, source_label, texts_label
from metrics.services import training as services
from metrics.services.quality_training import model_train_on_ratings

MODEL_COLUMNS = ("model", "version", "kind", "state", "texts", "words", "vocabulary", "bytes", "sha256", "runs", "made")
OVERLAP_COLUMNS = ("dataset", "outputs", "outputs_of", "references", "references_of", "kept_apart")
SHOWN_RUNS = 20


def get_model_or_404(project: Project, pk: int) -> TrainedModel:
    return get_in_project_or_404(selectors.models_of(project), project, pk=pk)


# --- List -------------------------------------------------------------------------------------------------------------


@require_GET
@project_view(Role.VIEWER)
def model_list(request: MemberRequest) -> HttpResponseBase:
    project = request.project
    uses = selectors.uses_by_reference(project)
    rows: list[dict[str, Any]] = [
        {"model": model, "source": source_label(model), "n_runs": uses[model.reference] if model.digest else 0}
        for model in selectors.models_of(project)
    ]
    if file_format := request.GET.get("format"):
        filename, table = f"{project.slug}-models", [_table_row(row["model"], row["n_runs"]) for row in rows]
        return table_response(format=file_format, filename=filename, columns=MODEL_COLUMNS, rows=table)
    context = {"project": project, "rows": rows, "kinds": KINDS.values(), "may_manage": may_manage(project)}
    return render(request, "metrics/model_list.html", context)


def _table_row(model: TrainedModel, n_runs: int) -> tuple[object, ...]:
    report = model.report
    counts = (report.get("texts"), report.get("words"), report.get("model", {}).get("vocabulary"), model.size or None)
    return model.slug, model.version, model.kind, model.state, *counts, model.digest, n_runs, model.finished_at


# --- New --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """Where a model can come from, with the form and the service for it."""

    value: str
    label: str
    form: type[ModelForm]
    create: Callable[..., TrainedModel]
    source: dict[str, Any] = field(default_factory=dict)  # the data set or corpus


def origins_for(project: Project, kind: Kind) -> list[Origin]:
    """Return data sets, corpora and an upload of texts; for some kinds a file of another program."""
    origins: list[Origin] = []
    if kind.name in RATED:
        for dataset in rated_datasets(project):
            value, label = f"ratings:{dataset.slug}", f"Ratings: {dataset.name}"
            origins.append(Origin(value, label, RatingTrainingForm, _train_on_ratings, {"dataset": dataset}))
    elif kind.options is not None:
        train: Callable[..., TrainedModel] = services.model_train_on_dataset
        for dataset in project.datasets.order_by("name"):
            value, label = f"dataset:{dataset.slug}", f"Data set: {dataset.name}"
            origins.append(Origin(value, label, DatasetTrainingForm, train, {"dataset": dataset}))
        train = services.model_train_on_corpus
        for corpus in corpora_to_train_on(project):
            value, label = f"corpus:{corpus.slug}", f"Corpus: {corpus.name}"
            origins.append(Origin(value, label, CorpusTrainingForm, train, {"corpus": corpus}))
        label = "An upload: one text per line"
        origins.append(Origin("texts", label, UploadTrainingForm, services.model_train_on_upload))
    if kind.made_elsewhere:
        label = "An upload: a model made elsewhere"
        origins.append(Origin("model", label, ModelUploadForm, services.model_register_upload))
    return origins


def _train_on_ratings(*, dataset: Dataset, **arguments: Any) -> TrainedModel:
    """Queue a training on ratings; the campaigns name the data set."""
    return model_train_on_ratings(**arguments)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
@takes_uploads
def model_create(request: MemberRequest) -> HttpResponse:
    """Show the choice of kind and origin, which decide what the form asks."""
    project = request.project
    kind = _chosen_kind(request)
    origins = origins_for(project, kind)
    origin = _chosen_origin(request, origins)
    context: dict[str, Any] = {
        "project": project,
        "kind": kind,
        "kinds": KINDS.values(),
        "origins": origins,
        "origin": origin,
        "folder_command": (
            f"manage.py train_metric_model --project {project.slug} --user {request.user} --kind {kind.name}"
        ),
    }
    if origin is not None:
        keeps = {"keeper": FileKeeper(project, request.user)} if issubclass(origin.form, KeptFileForm) else {}
        form = origin.form(
            request.POST or None,
            request.FILES or None,
            kind=kind,
            project=project,
            by=request.user,
            initial={"name": _usual_name(kind, origin)},
            **origin.source,
            **keeps,
        )
        if model := form.submit(origin.create, **origin.source):
            tasks.train_model.delay_on_commit(model.pk)
            return redirect("metrics:model-detail", project.slug, model.pk)
        context["form"] = form
    return render(request, "metrics/model_create.html", context)


def _chosen_kind(request: HttpRequest) -> Kind:
    name = request.GET.get("kind") or next(iter(KINDS))
    if name not in KINDS:
        raise Http404(f"No kind {name!r} of model; there are {', '.join(KINDS)}.")
    return KINDS[name]


def _chosen_origin(request: MemberRequest, origins: list[Origin]) -> Origin | None:
    """Return the requested origin; the first if none is requested, or for a kind that lacks the one chosen before."""
    value = request.GET.get("from", "")
    chosen = next((origin for origin in origins if origin.value == value), None)
    if chosen is None and value and (request.method == "POST" or not _is_of_another_kind(request.project, value)):
        raise Http404(f"Nothing to train on is called {value!r}: it was deleted or never existed.")
    return chosen or next(iter(origins), None)


def _is_of_another_kind(project: Project, value: str) -> bool:
    return any(origin.value == value for kind in KINDS.values() for origin in origins_for(project, kind))


def _usual_name(kind: Kind, origin: Origin) -> str:
    source = next(iter(origin.source.values()), None)
    return f"{source} {kind.label}" if source is not None else ""


# --- A model ----------------------------------------------------------------------------------------------------------


@require_GET
@object_view(get_model_or_404, Role.VIEWER)
def model_detail(request: MemberRequest, model: TrainedModel) -> HttpResponse:
    project = request.project
    context: dict[str, Any] = {"project": project, "model": model, "may_manage": may_manage(project)}
    context["learning"] = learning_context(model)
    if request.htmx:
        template = "metrics/parts/learning_curve.html" if "curve" in request.GET else "metrics/_model_status.html"
        return job_part(request, model, template, context)
    kind = KINDS[model.kind]
    context |= {
        "kind": kind,
        "kind_title": capfirst(kind.label),
        "source": source_label(model),
        "texts": texts_label(model),
        "options": _shown_options(model, kind),
        "facts": model.report.get("model", {}),
        "may_retry": may_manage(project) and model.state in (JobState.FAILED, JobState.CANCELLED),
        "here": model.source.get("here", False),
        "learns_from_ratings": model.kind in RATED,
    }
    if model.kind in RATED:
        context["together_words"] = FOLDS[QualityOptions.stored(model.options).folds]
    if model.state == JobState.DONE:
        runs = selectors.runs_using(model)
        overlap = selectors.overlap_rows(project, model.report)
        context |= {
            "runs": list(runs[:SHOWN_RUNS]),
            "n_runs": runs.count(),
            "overlap": overlap,
            "kept_apart": model.source.get("keep_apart", False),
            "has_unseen": any(row["outputs"] < row["outputs_of"] for row in overlap),
            "new": {name: sum(row.get(name, 0) for row in overlap) for name in ("same_source", "same_system")},
            "shares": any(row["shared"] for row in overlap) and not model.source.get("keep_apart", False),
            "spectrum": charts_models.spectrum_summary(model.report.get("model", {})),
        }
    return render(request, "metrics/model_detail.html", context)


def learning_context(model: TrainedModel) -> dict[str, Any] | None:
    """Return what the page says of a training in passes; None for one without."""
    curves = model.report.get("curves", {})
    best = charts_quality.best_pass(curves)
    return None if best is None else {"best": best, "folds": len(curves) - 1, "n": curves[WHOLE][-1]["number"]}


def _shown_options(model: TrainedModel, kind: Kind) -> list[tuple[str, object]]:
    """Return label and value of the options that the training read."""
    read = QualityOptions.stored(model.options).read if model.kind in RATED else model.options
    return [
        (option.label, _yes_or_no(model.options[option.name]))
        for option in kind.parameters
        if option.name in model.options and option.name in read
    ]


def _yes_or_no(value: object) -> object:
    if value is None:
        return "as in the training"
    return ("yes" if value else "no") if isinstance(value, bool) else value


model_cancel = cancel_view(get_model_or_404, "metrics:model-detail")
model_retry = retry_view(get_model_or_404, tasks.train_model, "metrics:model-detail")


@require_POST
@object_view(get_model_or_404, Role.MANAGER)
def model_delete(request: MemberRequest, model: TrainedModel) -> HttpResponse:
    if perform(request, services.model_delete, f"The model “{model}” is gone.", model=model):
        return redirect("metrics:model-list", request.project.slug)
    return redirect("metrics:model-detail", request.project.slug, model.pk)


# --- Downloads --------------------------------------------------------------------------------------------------------


def _done_or_404(project: Project, pk: int) -> TrainedModel:
    model = get_model_or_404(project, pk)
    if model.state != JobState.DONE:
        raise Http404("This model is not there yet.")
    return model


@require_GET
@object_view(_done_or_404, Role.VIEWER)
def model_download(request: MemberRequest, model: TrainedModel) -> HttpResponseBase:
    """Send the model's folder as a zip that is named after its hash."""
    try:
        chunks = selectors.model_chunks(model)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("metrics:model-detail", request.project.slug, model.pk)
    return zip_response(chunks, f"{model.slug}-v{model.version}-{model.digest[:12]}.zip")


@require_GET
@object_view(_done_or_404, Role.VIEWER)
def model_overlap_download(request: MemberRequest, model: TrainedModel, file_format: str) -> HttpResponseBase:
    rows = [
        (row["dataset"].slug, *(row[name] for name in OVERLAP_COLUMNS[1:-1]), model.source.get("keep_apart"))
        for row in selectors.overlap_rows(request.project, model.report)
    ]
    filename = f"{model.slug}-v{model.version}-overlap"
    return table_response(format=file_format, filename=filename, columns=OVERLAP_COLUMNS, rows=rows)


@require_GET
@object_view(get_model_or_404, Role.VIEWER)
def model_learning(request: MemberRequest, model: TrainedModel, file_format: str = "") -> HttpResponseBase:
    """Send the learning curve for the page or as a picture, or its numbers as a table, also while the model learns."""
    curves = model.report.get("curves", {})
    if not curves:
        raise Http404("This model has no learning curve.")
    filename = f"{request.project.slug}-model-{model.pk}-learning-curve"
    if not file_format or file_format in MEDIA_TYPES:
        chart = charts_quality.learning_curve(curves, theme=chart_theme(request))
        return chart_response(chart, file_format or "json", filename)
    rows = [tuple(row.values()) for row in charts_quality.curve_points(curves)]
    columns = ("training", "pass", "coefficient", "value")
    return table_response(format=file_format, filename=filename, columns=columns, rows=rows)


@require_GET
@object_view(_done_or_404, Role.VIEWER)
def model_spectrum(request: MemberRequest, model: TrainedModel, file_format: str = "") -> HttpResponseBase:
    """Send the chart for the page or as a picture, or its numbers as a table."""
    values = model.report.get("model", {}).get("singular_values", [])
    if not values:
        raise Http404("This model has no singular values.")
    filename = f"{request.project.slug}-model-{model.pk}-singular-values"
    if not file_format or file_format in MEDIA_TYPES:
        chart = charts_models.spectrum(values, theme=chart_theme(request))
        return chart_response(chart, file_format or "json", filename)
    rows = [(point["dimension"], point["value"], point["share"]) for point in charts_models.spectrum_points(values)]
    columns = ("dimension", "singular_value", "cumulative_share")
    return table_response(format=file_format, filename=filename, columns=columns, rows=rows)
