"""Pages of score runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.exports import objects_response, table_response
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Dataset, JobState, Project, Release, Role
from annotation.references.releases.selectors.releases import finished_releases
from metrics import charts, tasks
from metrics.forms.runs import ScoreRunForm
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS, without_references
from metrics.selectors import catalogue
from metrics.selectors import runs as selectors
from metrics.selectors.comparisons import comparisons_of, why_no_intervals
from metrics.selectors.models import finished_models, model_names_of, model_parameters, models_of_run
from metrics.selectors.reference_scores import is_bleu
from metrics.services.runs import score_run_create
from metrics.subsets import Subset

MOST_CHOICES = 50
AnyModel = TypeVar("AnyModel", bound=models.Model)
SMOOTHED = (
    "Sentence-level scores, smoothed where the metric is not; a system's score is not their mean unless the metric "
    "says so."
)


def get_run_or_404(project: Project, pk: int) -> ScoreRun:
    runs: models.QuerySet[ScoreRun] = ScoreRun.objects.select_related(
        "release__reference_set", "dataset", "requested_by"
    )
    return get_in_project_or_404(runs, project, pk=pk)


def finished_run_or_404(project: Project, pk: int) -> ScoreRun:
    return _finished_or_404(get_run_or_404(project, pk))


def _finished_or_404(run: ScoreRun) -> ScoreRun:
    if run.state != JobState.DONE:
        raise Http404("This run has no scores yet.")
    return run


@require_GET
@project_view(Role.VIEWER)
def run_list(request: MemberRequest) -> HttpResponse:
    project = request.project
    before = whole_number(request, "before")
    metrics, states = selectors.run_kinds(project)
    filters = _filters(request)
    known = _is_known(filters, metrics, states)
    runs, older = selectors.run_page(project, before=before, **filters) if known else ([], None)
    names = model_names_of(runs)
    context = {
        "project": project,
        "rows": [described(run, names) for run in runs],
        "older_url": f"?{urlencode(filters | {'before': older})}" if older else "",
        "newest_url": "" if before is None else f"?{urlencode(filters)}",
        "may_create": may_manage(project),
        "metrics": metrics,
        "states": [(state, JobState(state).label) for state in states],
        "filters": filters,
        "filters_query": f"?{urlencode(filters)}" if filters else "",
    }
    return render(request, "metrics/run_list.html", context)


def _filters(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name] for name in ("metric", "state") if request.GET.get(name)}


def _is_known(filters: Mapping[str, str], metrics: Iterable[str], states: Iterable[str]) -> bool:
    return filters.get("metric", "") in {"", *metrics} and filters.get("state", "") in {"", *states}


def described(run: ScoreRun, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what every page of a run shows; ``names`` are those of trained models, if the caller has them."""
    metric = selectors.run_metric(run)
    return {
        "run": run,
        "metric": selectors.metric_label(run),
        "subset": Subset.from_mapping(run.subset).label if selectors.reads_references(run) else "",
        "unscored_reason": selectors.unscored_reason(run),
        "parameters": selectors.parameter_summary(run, model_names_of([run]) if names is None else names),
        "better": "higher" if metric is None else metric.better,
    }


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def run_create(request: MemberRequest) -> HttpResponse:
    """Show the choice of a metric, then of a release or data set, which decide what the form asks."""
    project = request.project
    metric = _chosen_metric(request)
    if metric is None:
        groups = catalogue.catalogue(project)
        context = {
            "project": project,
            "groups": groups,
            "has_release": not any(entry.is_release_missing for entries in groups.values() for entry in entries),
        }
        return render(request, "metrics/run_create.html", context)
    entry = catalogue.entry_of(project, metric)
    release, dataset, choices = _chosen_texts(request, metric)
    alone = without_references(metric)  # parameters with which a metric that compares with references reads none
    context = {
        "project": project,
        "entry": entry,
        "choices": choices,
        "release": release,
        "dataset": dataset,
        "alone": alone,
    }
    if entry.missing or dataset is None:
        return render(request, "metrics/run_create.html", context)
    model_kinds = {parameter.choices[0] for parameter in model_parameters(metric.name)}
    form = ScoreRunForm(
        request.POST or None,
        metric=metric,
        dataset=dataset,
        release=release,
        values=(alone if release is None else {}) | request.GET.dict(),
        models={kind: list(finished_models(project, kind)) for kind in model_kinds},
    )
    if result := form.submit(score_run_create, project=project, release=release, dataset=dataset, by=request.user):
        run, created = result
        if created:
            tasks.execute.delay_on_commit(run.pk)
        else:
            messages.info(request, "Opened the existing run with this signature.")
        return redirect("metrics:run-detail", project.slug, run.pk)
    return render(request, "metrics/run_create.html", context | {"form": form})


def _chosen_metric(request: HttpRequest) -> type[Metric] | None:
    """Return the requested metric; None if none is chosen yet."""
    name = request.POST.get("metric") or request.GET.get("metric")
    if not name:
        return None
    if name not in METRICS or name == External.name:
        raise Http404(f"No metric {name[:40]!r} that could be run.")
    return METRICS[name]


@dataclass(frozen=True)
class TextChoice:
    """The choice of a release or of a data set."""

    field: str
    label: str
    options: list[tuple[int, str]]
    chosen: int | None


def _chosen_texts(request: MemberRequest, metric: type[Metric]) -> tuple[Release | None, Dataset | None, TextChoice]:
    """Return the requested release, else the newest; a data set alone for a metric without references."""
    releases = list(finished_releases(request.project)[:MOST_CHOICES])
    of_dataset = "dataset" in request.POST or "dataset" in request.GET or not releases
    if metric.needs_references and not (of_dataset and without_references(metric)):
        release = chosen_release(request, releases)
        label = "Release of reference weights"
        options = [(each.pk, _release_label(each)) for each in releases]
        texts = TextChoice("release", label, options, release.pk if release else None)
        return release, release.reference_set.dataset if release else None, texts
    datasets = list(request.project.datasets.filter(systems__isnull=False).distinct().order_by("-pk")[:MOST_CHOICES])
    dataset = _requested(request, "dataset", datasets)
    options = [(each.pk, each.name) for each in datasets]
    texts = TextChoice("dataset", "Data set", options, dataset.pk if dataset else None)
    return None, dataset, texts


def chosen_release(request: HttpRequest, releases: Sequence[Release]) -> Release | None:
    """Return the requested release, else the newest; None if there is none yet."""
    return _requested(request, "release", releases)


def _release_label(release: Release) -> str:
    deprecated = " (deprecated)" if release.deprecated_at else ""
    imported = " (weights made elsewhere)" if release.is_imported else ""
    return f"{release} · {release.reference_set.dataset}{deprecated}{imported}"


def _requested(request: HttpRequest, name: str, rows: Sequence[AnyModel]) -> AnyModel | None:
    pk = request.POST.get(name) or request.GET.get(name)
    if not pk:
        return rows[0] if rows else None
    chosen = next((row for row in rows if str(row.pk) == pk), None)
    if chosen is None:
        raise Http404(f"No such {name} in this project that a run could be made of.")
    return chosen


def again_query(run: ScoreRun) -> str:
    """Return the query of a new run's form with the values of this run."""
    values: dict[str, Any] = {"metric": run.metric, **run.parameters}
    if run.release_id is None:
        values["dataset"] = run.dataset_id
    else:
        subset = Subset.from_mapping(run.subset)
        values |= {"release": run.release_id, "subset": str(subset), "items": subset.items}
    return urlencode({name: value for name, value in values.items() if value is not None})


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_detail(request: MemberRequest, run: ScoreRun) -> HttpResponse:
    context = {"project": request.project, **described(run), "may_manage": may_manage(request.project)}
    if request.htmx:
        return job_part(request, run, "metrics/_run_status.html", context)
    if run.state == JobState.DONE:
        context |= {
            "scores": list(selectors.system_scores(run)),
            "comparisons": comparisons_of(run),
            "self_references": selectors.self_references(run),
            "models": models_of_run(run),
            "range": selectors.run_range(run),
            "no_intervals": why_no_intervals(run),
            "again_query": "" if run.metric == External.name else again_query(run),
            "is_bleu": is_bleu(run),
            "segments_caption": SMOOTHED if is_bleu(run) else "",
        }
    return render(request, "metrics/run_detail.html", context)


run_cancel = cancel_view(get_run_or_404, "metrics:run-detail")
run_retry = retry_view(get_run_or_404, tasks.execute, "metrics:run-detail")


@require_GET
@project_view(Role.VIEWER)
def run_list_download(request: MemberRequest, file_format: str) -> HttpResponseBase:
    filters = _filters(request)
    runs = ScoreRun.objects.filter(project=request.project)
    runs = runs.filter(**filters) if _is_known(filters, *selectors.run_kinds(request.project)) else runs.none()
    return _scores_as_table(f"{request.project.slug}-score-runs", file_format, runs)


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_download(request: MemberRequest, run: ScoreRun, table: str, file_format: str) -> HttpResponseBase:
    name = f"{request.project.slug}-run-{run.pk}-{table}"
    if table == "systems":
        return _scores_as_table(name, file_format, ScoreRun.objects.filter(pk=run.pk))
    if table == "dropped":
        dropped = selectors.dropped_items(run)
        return table_response(format=file_format, filename=name, columns=("reason", "item"), rows=dropped)
    if table == "segments":
        rows, columns = selectors.segment_score_rows(_finished_or_404(run)), selectors.SEGMENT_COLUMNS
        return table_response(format=file_format, filename=name, columns=columns, rows=rows, types={"score": "number"})
    if table == "distribution":
        shares = ((entry["system"], entry["low"], entry["high"], entry["share"]) for entry in _histogram(run))
        titles = ("system", "low", "high", "share_of_segments")
        return table_response(format=file_format, filename=name, columns=titles, rows=shares)
    raise Http404(f"No table {table!r}; there are systems, segments, distribution and dropped.")


def _scores_as_table(name: str, file_format: str, runs: models.QuerySet[ScoreRun]) -> HttpResponseBase:
    scores = selectors.scores_of(runs)
    return objects_response(file_format, name, scores, selectors.SCORE_COLUMNS, selectors.SCORE_TYPES)


def _histogram(run: ScoreRun) -> list[dict[str, Any]]:
    return selectors.segment_histogram(_finished_or_404(run))


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_figure(request: MemberRequest, run: ScoreRun, file_format: str = "json") -> HttpResponse:
    specification = charts.segment_distribution(_histogram(run), theme=chart_theme(request))
    return chart_response(specification, file_format, f"{request.project.slug}-run-{run.pk}-segments")


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_scores_figure(request: MemberRequest, run: ScoreRun, file_format: str = "json") -> HttpResponse:
    rows = [
        {"system": score.system.name, "score": score.score, "low": score.low, "high": score.high}
        for score in selectors.system_scores(run)
        if score.score is not None
    ]
    specification = charts.system_scores(rows, title=selectors.metric_label(run), theme=chart_theme(request))
    return chart_response(specification, file_format, f"{request.project.slug}-run-{run.pk}-scores")
