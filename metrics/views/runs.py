"""Score runs: list, create, watch, cancel, repeat, download."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.charts import PICTURE_TYPES, picture_of
from annotation.exports import table_response
from annotation.models import JobState, Project, Release, Role, User
from annotation.parameters import whole_number
from annotation.selectors.releases import finished_releases
from annotation.services.jobs import job_request_cancel
from annotation.views.jobs import start_over
from metrics import charts, tasks
from metrics.errors import MetricsError
from metrics.forms import ScoreRunForm
from metrics.models import ScoreRun
from metrics.selectors import runs as selectors
from metrics.selectors.comparisons import comparisons_of, why_no_intervals
from metrics.selectors.models import model_names_of, models_of_run
from metrics.services.runs import score_run_create
from metrics.subsets import Subset

BLEU_LIKE = ("bleu", "sbleu", "delta_bleu")  # whose precisions and lengths are stored
SMOOTHED = (
    "Sentence-level scores, smoothed where the metric is not; a system's score is not their mean unless the metric "
    "says so."
)


def get_run_or_404(project: Project, pk: int) -> ScoreRun:
    runs = ScoreRun.objects.select_related("release__reference_set", "dataset", "requested_by")
    return get_in_project_or_404(runs, project, pk=pk)


@login_required
@require_GET
def run_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    before = whole_number(request, "before")
    runs, more = selectors.run_page(project, before=before)
    names = model_names_of(runs)
    context = {
        "project": project,
        "rows": [described(run, names) for run in runs],
        "older_url": f"?before={runs[-1].pk}" if more else "",
        "newest_url": "" if before is None else "?",
        "may_create": may_manage(project),
    }
    return render(request, "metrics/run_list.html", context)


def described(run: ScoreRun, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What every page of a run says of it; ``names`` are those of trained models, where they are known already."""
    metric = selectors.run_metric(run)
    return {
        "run": run,
        "metric": selectors.metric_label(run),
        "subset": Subset.from_mapping(run.subset).label if run.release_id else "",
        "parameters": selectors.parameter_words(run, model_names_of([run]) if names is None else names),
        "higher_is_better": metric is None or metric.higher_is_better,
    }


@login_required
@require_http_methods(["GET", "POST"])
def run_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    releases = list(finished_releases(project)[:50])
    release = chosen_release(request, releases)
    if release is None:
        return render(request, "metrics/run_create.html", {"project": project, "releases": releases})
    form = ScoreRunForm(request.POST or None, release=release)
    if form.is_valid():
        try:
            run, created = _create(project, release, form, cast(User, request.user))
        except MetricsError as error:
            form.add_error(None, error.message)
        else:
            if not created:
                messages.info(request, "This very run had been computed before: here it is.")
            return redirect("metrics:run-detail", project.slug, run.pk)
    context = {"project": project, "releases": releases, "release": release, "form": form}
    return render(request, "metrics/run_create.html", context)


def chosen_release(request: HttpRequest, releases: Sequence[Release]) -> Release | None:
    """The release asked for, else the newest; None where there is none yet."""
    asked = request.POST.get("release") or request.GET.get("release")
    if not asked:
        return releases[0] if releases else None
    found = next((release for release in releases if str(release.pk) == asked), None)
    if found is None:
        raise Http404("No such finished release in this project.")
    return found


@transaction.atomic
def _create(project: Project, release: Release, form: ScoreRunForm, by: User) -> tuple[ScoreRun, bool]:
    run, created = score_run_create(
        project=project,
        release=release,
        systems=list(form.cleaned_data["systems"]),
        metric=form.cleaned_data["metric"],
        parameters=form.parameters(),
        subset=form.chosen_subset(),
        by=by,
    )
    if created:
        tasks.execute.delay_on_commit(run.pk)
    return run, created


@login_required
@require_GET
def run_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    run = get_run_or_404(project, pk)
    context = {"project": project, **described(run), "may_manage": may_manage(project)}
    if request.htmx:  # type: ignore[attr-defined] # set by django_htmx's middleware
        # Finished while watched: the whole page has more to show now.
        return HttpResponseClientRefresh() if run.is_finished else render(request, "metrics/_run_status.html", context)
    if run.state == JobState.DONE:
        context |= {
            "scores": list(selectors.system_scores(run)),
            "comparisons": comparisons_of(run),
            "self_references": selectors.self_references(run),
            "models": models_of_run(run),
            "range": selectors.range_words(run),
            "no_intervals": why_no_intervals(run),
            "is_bleu": run.metric in BLEU_LIKE,
            "segments_caption": SMOOTHED if run.metric in BLEU_LIKE else "",
        }
    return render(request, "metrics/run_detail.html", context)


@login_required
@require_POST
def run_cancel(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    run = get_run_or_404(project, pk)
    job_request_cancel(run)
    return redirect("metrics:run-detail", project.slug, run.pk)


@login_required
@require_POST
def run_retry(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    run = get_run_or_404(project, pk)
    start_over(run, tasks.execute)
    return redirect("metrics:run-detail", project.slug, run.pk)


@login_required
@require_GET
def run_list_download(request: HttpRequest, project_slug: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    return _scores_as_table(f"{project.slug}-score-runs", file_format, ScoreRun.objects.filter(project=project))


@login_required
@require_GET
def run_download(request: HttpRequest, project_slug: str, pk: int, table: str, file_format: str) -> HttpResponseBase:
    project = get_project_or_404(cast(User, request.user), project_slug)
    run = get_run_or_404(project, pk)
    name = f"{project.slug}-run-{run.pk}-{table}"
    if table == "systems":
        return _scores_as_table(name, file_format, ScoreRun.objects.filter(pk=run.pk))
    if table == "dropped":
        rows = selectors.dropped_items(run)
        return table_response(format=file_format, filename=name, columns=("reason", "item"), rows=rows)
    if table == "segments":
        shares = ((entry["system"], entry["low"], entry["high"], entry["share"]) for entry in _histogram(run))
        columns = ("system", "low", "high", "share_of_segments")
        return table_response(format=file_format, filename=name, columns=columns, rows=shares)
    raise Http404(f"No table {table!r}; there are systems, segments and dropped.")


def _scores_as_table(name: str, file_format: str, runs: Any) -> HttpResponseBase:
    rows: Iterator[Sequence[Any]] = selectors.score_rows(runs)
    return table_response(
        format=file_format, filename=name, columns=selectors.SCORE_COLUMNS, rows=rows, types=selectors.SCORE_TYPES
    )


def _histogram(run: ScoreRun) -> list[dict[str, Any]]:
    if run.state != JobState.DONE:
        raise Http404("This run has no scores yet.")
    return selectors.segment_histogram(run)


@login_required
@require_GET
def run_figure(request: HttpRequest, project_slug: str, pk: int) -> JsonResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    dark = request.GET.get("theme") == "dark"
    return JsonResponse(charts.segment_distribution(_histogram(get_run_or_404(project, pk)), dark=dark))


@login_required
@require_GET
def run_figure_download(request: HttpRequest, project_slug: str, pk: int, file_format: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    run = get_run_or_404(project, pk)
    specification = charts.segment_distribution(_histogram(run), picture=True)
    return _picture(specification, f"{project.slug}-run-{run.pk}-segments", file_format)


def _scores_figure(run: ScoreRun, *, dark: bool = False, picture: bool = False) -> dict[str, Any]:
    if run.state != JobState.DONE:
        raise Http404("This run has no scores yet.")
    rows = [
        {"system": one.system.name, "score": one.score, "low": one.low, "high": one.high}
        for one in selectors.system_scores(run)
        if one.score is not None
    ]
    return charts.system_scores(rows, title=selectors.metric_label(run), dark=dark, picture=picture)


@login_required
@require_GET
def run_scores_figure(request: HttpRequest, project_slug: str, pk: int) -> JsonResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    return JsonResponse(_scores_figure(get_run_or_404(project, pk), dark=request.GET.get("theme") == "dark"))


@login_required
@require_GET
def run_scores_figure_download(request: HttpRequest, project_slug: str, pk: int, file_format: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    run = get_run_or_404(project, pk)
    return _picture(_scores_figure(run, picture=True), f"{project.slug}-run-{run.pk}-scores", file_format)


def _picture(specification: dict[str, Any], name: str, file_format: str) -> HttpResponse:
    if file_format not in PICTURE_TYPES:
        raise Http404(f"No figure as {file_format!r}; there are {', '.join(PICTURE_TYPES)}.")
    response = HttpResponse(picture_of(specification, file_format), content_type=PICTURE_TYPES[file_format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{file_format}"'
    return response
