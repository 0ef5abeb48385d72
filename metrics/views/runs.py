"""Pages of score runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
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
from metrics.forms.runs import ScoreRunForm, ScoreRunsForm
from metrics.models import ScoreRun
from metrics.scoring.colours import metric_colour
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS, without_references
from metrics.selectors import catalogue
from metrics.selectors import runs as selectors
from metrics.selectors.comparisons import Ranked, comparisons_of, why_no_intervals
from metrics.selectors.discouraged import rewards_bad
from metrics.selectors.models import finished_models, model_names_of, model_parameters, models_of_run
from metrics.selectors.predictions import cross_validation_of, trained_systems
from metrics.selectors.reference_scores import is_bleu
from metrics.selectors.run_items import item_set_of_report, references_name
from metrics.selectors.scripts import run_warning
from metrics.services.runs import score_run_create, score_runs_request
from metrics.subsets import Subset
from metrics.views.leaderboard import board_context

MOST_CHOICES = 50
AnyModel = TypeVar("AnyModel", bound=models.Model)
SMOOTHED = (
    "Scores of single items, smoothed even if the metric's system score is not. A system's score is their mean only "
    "if the metric says so."
)


def get_run_or_404(project: Project, number: int) -> ScoreRun:
    runs: models.QuerySet[ScoreRun] = ScoreRun.objects.select_related(
        "release__reference_set", "dataset", "requested_by"
    )
    return get_in_project_or_404(runs, project, number=number)


def finished_run_or_404(project: Project, number: int) -> ScoreRun:
    return _finished_or_404(get_run_or_404(project, number))


def _finished_or_404(run: ScoreRun) -> ScoreRun:
    if run.state != JobState.DONE:
        raise Http404("This run has no scores yet.")
    return run


@require_GET
@project_view(Role.VIEWER)
def run_list(request: MemberRequest) -> HttpResponse:
    """Show the leaderboard of a data set, then all runs; those requested together, or made by a study, in one row."""
    project = request.project
    before = whole_number(request, "before")
    metrics, states = selectors.run_kinds(project)
    filters = _filters(request)
    known = _is_known(filters, metrics, states)
    group = selectors.run_group(project, whole_number(request, "group"))
    if group is not None:
        filters |= {"group": str(group.pk)}
    elif "group" in request.GET:
        raise Http404("No such group of runs in this project.")
    each_run = request.GET.get("each") == "1"
    if each_run:
        filters |= {"each": "1"}
    groups: list[selectors.Group] = []
    older = None
    if known:
        groups, older = selectors.group_page(
            project, before=before, group=group, each_run=each_run, **_run_filters(filters)
        )
    names = model_names_of([run for each in groups for run in each.runs])
    rows = [(each, [described(run, names) for run in each.shown]) for each in groups]
    context = {
        "project": project,
        **board_context(request),
        "group": group,
        "waiting_text": selectors.waiting_text(project),
        "groups": rows,
        "n_rows": sum(len(of_group) or 1 for _, of_group in rows),
        "older_url": f"?{urlencode(filters | {'before': older})}#runs" if older else "",
        "newest_url": "" if before is None else f"?{urlencode(filters)}#runs",
        "n_comparable": sum(each.n_comparable for each in groups),
        "each_run": each_run,
        "each_url": f"?{urlencode(filters | {'each': 1})}#runs" if any(not each.shown for each in groups) else "",
        "may_create": may_manage(project),
        "metrics": metrics,
        "states": [(state, JobState(state).label) for state in states],
        "filters": filters,
        "filters_query": f"?{urlencode(_run_filters(filters))}" if _run_filters(filters) else "",
    }
    return render(request, "metrics/run_list.html", context)


def _run_filters(filters: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in filters.items() if name in ("metric", "state")}


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
    """Show the choice of texts and metrics; with ``?metric=`` one metric with its parameters."""
    metric = _chosen_metric(request)
    return _many_create(request) if metric is None else _one_create(request, metric)


def _many_create(request: MemberRequest) -> HttpResponse:
    project = request.project
    texts = chosen_texts(request)
    context: dict[str, Any] = {"project": project, "texts": texts, "dataset": texts.dataset, "release": texts.release}
    if texts.dataset is None:
        return render(request, "metrics/runs_create.html", context)
    groups = catalogue.catalogue_of(project, weighted=texts.release is not None, plain=texts.is_plain)
    entries = [entry for of_group in groups.values() for entry in of_group]
    form = ScoreRunsForm(
        request.POST or None, entries=entries, dataset=texts.dataset, release=texts.release, initial=request.GET.dict()
    )
    arguments = {"project": project, "release": texts.release, "dataset": texts.dataset, "by": request.user}
    if runs := form.submit(score_runs_request, **arguments):
        new = [run for run, created in runs if created]
        for run in new:
            tasks.execute.delay_on_commit(run.pk)
        if not new:
            messages.info(request, "All these runs exist already, with the same signatures.")
        if len(runs) == 1:
            return redirect("metrics:run-detail", project.slug, runs[0][0].number)
        return redirect(f"{reverse('metrics:run-list', args=[project.slug])}?dataset={texts.dataset.slug}")
    return render(request, "metrics/runs_create.html", context | {"form": form, "groups": groups})


def _one_create(request: MemberRequest, metric: type[Metric]) -> HttpResponse:
    project = request.project
    entry = catalogue.entry_of(project, metric)
    texts = chosen_texts(request, metric)
    release, dataset = texts.release, texts.dataset
    alone = without_references(metric)  # parameters with which a metric that compares with references reads none
    context = {
        "project": project,
        "entry": entry,
        "texts": texts,
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
        values=(alone if release is None and not texts.is_plain else {}) | request.GET.dict(),
        models={kind: list(finished_models(project, kind)) for kind in model_kinds},
    )
    # What the address gives stays if other texts are chosen.
    context["carried"] = [(name, request.GET[name]) for name in form.names.values() if name in request.GET]
    if result := form.submit(score_run_create, project=project, release=release, dataset=dataset, by=request.user):
        run, created = result
        if created:
            tasks.execute.delay_on_commit(run.pk)
        else:
            messages.info(request, "Opened the existing run with this signature.")
        return redirect("metrics:run-detail", project.slug, run.number)
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
class Texts:
    """A release or a data set whose texts are scored, and those that could be chosen instead."""

    options: list[tuple[str, str]]  # value and label, as the select has them
    release: Release | None = None
    dataset: Dataset | None = None
    is_plain: bool = False  # the data set has references of its own

    @property
    def value(self) -> str:
        return _text_value("release", self.release) if self.release else _text_value("dataset", self.dataset)


def _text_value(kind: str, row: models.Model | None) -> str:
    return f"{kind}-{row.pk}" if row else ""


def chosen_texts(request: MemberRequest, metric: type[Metric] | None = None, *, usual: Dataset | None = None) -> Texts:
    """Return the requested release or data set that this metric, or any, can read; else the usual, or the newest."""
    reads_references = metric is None or metric.needs_references
    finished = list(finished_releases(request.project)[:MOST_CHOICES])
    releases = finished if reads_references else []
    datasets = selectors.datasets_to_score(request.project, MOST_CHOICES)
    if metric is not None and metric.needs_references:
        if metric().needs_weights:
            datasets = []
        elif not without_references(metric):
            datasets = [(dataset, is_plain) for dataset, is_plain in datasets if is_plain]
    by_value: dict[str, Release | Dataset] = {_text_value("release", release): release for release in releases}
    options = [(value, _release_label(release)) for value, release in zip(by_value, releases, strict=True)]
    for dataset, is_plain in datasets:
        by_value[_text_value("dataset", dataset)] = dataset
        texts = " · its own references" if is_plain else " · outputs alone"
        options.append((_text_value("dataset", dataset), f"{dataset}{texts if reads_references else ''}"))
    requested = _requested_text(request)
    if not reads_references:  # a run was of a release with other metrics: this one reads that data set's outputs
        of_release = {_text_value("release", each): each.reference_set.dataset for each in finished}
        requested = _text_value("dataset", of_release[requested]) if requested in of_release else requested
    first = by_value.get(_text_value("dataset", usual)) if usual else None
    chosen = by_value.get(requested) if requested else first or next(iter(by_value.values()), None)
    if chosen is None and by_value:
        raise Http404("No such release or data set in this project that a run could be made of.")
    if isinstance(chosen, Release):
        return Texts(options, chosen, chosen.reference_set.dataset)
    return Texts(options, None, chosen, (chosen, True) in datasets)


def _requested_text(request: HttpRequest) -> str:
    """Return the text that is requested, as the select writes it; addresses may also say ``release`` or ``dataset``."""
    for sent in (request.POST, request.GET):
        if sent.get("texts"):
            return sent["texts"]
        for kind in ("release", "dataset"):
            if sent.get(kind):
                return f"{kind}-{sent[kind]}"
    return ""


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
        values |= {"dataset": run.dataset_id, "subset": str(Subset.from_mapping(run.subset))}
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
        comparisons = comparisons_of(run)
        context |= {
            "scores": list(selectors.system_scores(run)),
            "items": item_set_of_report(run),
            "references_name": references_name(run),
            "reads_weights": (metric := selectors.run_metric(run)) is None or metric.needs_weights,
            "comparisons": comparisons,
            "self_references": selectors.self_references(run),
            "models": models_of_run(run),
            "tokenizer_warning": run_warning(run),
            "rewards_bad": rewards_bad(run),
            "no_intervals": why_no_intervals(run),
            "cross_validation": cross_validation_of(run),
            "seen": run.report.get("seen"),
            "trained_systems": trained_systems(run),
            "is_judged_elsewhere": run.metric == External.name and bool(run.report["items"]),
            "again_query": "" if run.metric == External.name else again_query(run),
            "is_bleu": is_bleu(run),
            "digits": scores_digits(comparisons.ranked),
            "scores_caption": _scores_caption(run),
            "segments_caption": SMOOTHED if is_bleu(run) else "",
        }
    return render(request, "metrics/run_detail.html", context)


def scores_digits(ranked: Iterable[Ranked]) -> int:
    return selectors.shown_digits(max((abs(each.score.score or 0.0) for each in ranked), default=0.0))


def _scores_caption(run: ScoreRun) -> str:
    """Say which direction is better, on which range, and what the lines are."""
    better, scale = described(run)["better"], selectors.run_range(run)
    on = f"; {'scale of the import' if run.metric == External.name else 'published range'}: {scale}" if scale else ""
    lines = " Lines: 95% of the scores of resampled items." if run.bootstrap.get("replicates") else ""
    return f"{better.capitalize()} is better{on}.{lines}"


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
    name = f"{request.project.slug}-run-{run.number}-{table}"
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
    theme = chart_theme(request)
    colour = metric_colour(selectors.metric_label(run), theme)
    specification = charts.segment_distribution(_histogram(run), colour=colour, theme=theme)
    return chart_response(specification, file_format, f"{request.project.slug}-run-{run.number}-segments")


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_scores_figure(request: MemberRequest, run: ScoreRun, file_format: str = "json") -> HttpResponse:
    rows = [
        {"system": score.system.name, "score": score.score, "low": score.low, "high": score.high}
        for score in selectors.system_scores(run)
        if score.score is not None
    ]
    label, theme = selectors.metric_label(run), chart_theme(request)
    specification = charts.system_scores(rows, title=label, colour=metric_colour(label, theme), theme=theme)
    return chart_response(specification, file_format, f"{request.project.slug}-run-{run.number}-scores")
