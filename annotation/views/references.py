"""Pages of reference sets and releases."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation import charts, tasks
from annotation.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.references import METHODS, ReferenceSetForm, ReleaseForm, WeightFilterForm
from annotation.models import JobState, Project, ReferenceSet, Release, ReleaseWeight, Role
from annotation.parameters import whole_number
from annotation.selectors.releases import (
    EVERYTHING,
    WEIGHT_COLUMNS,
    distribution,
    reference_sets,
    release_items,
    releases,
    source_names,
    value_histograms,
    weight_rows,
)
from annotation.services import jobs
from annotation.services.reference_sets import reference_set_create as create_reference_set
from annotation.services.releases import release_create as create_release
from annotation.views.figures import chart_theme, picture_response
from annotation.views.jobs import start_over

SET_COLUMNS = ("name", "slug", "dataset", "campaigns", "source_kinds", "source_systems", "finished_releases", "latest")
RELEASE_COLUMNS = (
    "number",
    "state",
    "method",
    "parameters",
    "exclusion_rules",
    "content_hash",
    "signature",
    "created_at",
    "requested_by",
    "report",
)


@login_required
@require_GET
def reference_set_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    sets = reference_sets(project)
    if "format" in request.GET:
        rows = map(_set_row, sets)
        name = f"{project.slug}-reference-sets"
        return table_response(format=request.GET["format"], filename=name, columns=SET_COLUMNS, rows=rows)
    context = {"project": project, "sets": sets, "may_manage": may_manage(project)}
    return render(request, "annotation/reference_set_list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def reference_set_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The data set is chosen first, by its own small form: what can be a reference depends on it."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    datasets = list(project.datasets.order_by("name"))
    asked = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    if asked is None:
        return render(request, "annotation/reference_set_form.html", {"project": project, "datasets": datasets})
    dataset = next((dataset for dataset in datasets if dataset.slug == asked), None)
    if dataset is None:
        raise Http404("No such data set in this project.")
    form = ReferenceSetForm(request.POST or None, dataset=dataset)
    if form.is_valid():
        try:
            made = create_reference_set(project=project, dataset=dataset, **form.asked())
        except AnnotationError as error:
            for name, texts in (error.fields or {"": [error.message]}).items():
                form.add_error(form.field_of(name), texts)
        else:
            messages.success(request, f"Reference set “{made}” is there. Build its first release next.")
            return redirect("annotation:reference-set-detail", project.slug, made.slug)
    context = {"project": project, "datasets": datasets, "dataset": dataset, "form": form}
    return render(request, "annotation/reference_set_form.html", context)


@login_required
@require_GET
def reference_set_detail(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    reference_set = _set_or_404(project, slug)
    if "format" in request.GET:
        rows = map(_release_row, releases(reference_set))
        name = f"{project.slug}-{slug}-releases"
        return table_response(format=request.GET["format"], filename=name, columns=RELEASE_COLUMNS, rows=rows)
    return _render_set(request, project, reference_set, ReleaseForm(reference_set=reference_set))


@login_required
@require_POST
def release_create(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    reference_set = _set_or_404(project, slug)
    form = ReleaseForm(request.POST, reference_set=reference_set)
    if form.is_valid():
        try:
            release = create_release(reference_set=reference_set, by=request.user, **form.asked())
        except AnnotationError as error:
            form.add_error(None, error.message)
        else:
            tasks.release_build.delay_on_commit(release.pk)
            return redirect(_release_url(project, release))
    return _render_set(request, project, reference_set, form, status=400)


@login_required
@require_GET
def release_detail(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    """Progress while it is built, then the browser of its weights."""
    project = get_project_or_404(request.user, project_slug)
    release = _release_or_404(project, slug, number)
    if request.htmx and release.is_finished and "progress" in request.GET:
        return HttpResponseClientRefresh()
    context = {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "method_label": dict(METHODS)[release.method],
        "may_manage": may_manage(project),
    }
    if request.htmx and "progress" in request.GET:
        return render(request, "annotation/release_progress.html", context)
    if release.state == JobState.DONE:
        context |= _browse(request, project, release)
    refused = "filter_form" in context and not context["filter_form"].is_valid()
    return render(request, "annotation/release_detail.html", context, status=400 if refused else 200)


@login_required
@require_POST
def release_cancel(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = _release_or_404(project, slug, number)
    jobs.job_request_cancel(release)
    return redirect(_release_url(project, release))


@login_required
@require_POST
def release_retry(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = _release_or_404(project, slug, number)
    start_over(release, tasks.release_build)
    return redirect(_release_url(project, release))


@login_required
@require_GET
def release_download(
    request: HttpRequest, project_slug: str, slug: str, number: int, file_format: str
) -> HttpResponseBase:
    """The weights, narrowed as the page was: one row per reference, or one line per item as TSV."""
    project = get_project_or_404(request.user, project_slug)
    release = _release_or_404(project, slug, number, state=JobState.DONE)
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    if not form.is_valid():
        return HttpResponseBadRequest(_refusal(form), content_type="text/plain; charset=utf-8")
    rows = weight_rows(release, form.chosen()).iterator(chunk_size=2000)
    name = f"{project.slug}-{release.reference_set.slug}-v{release.number}"
    if file_format == "tsv":
        response = StreamingHttpResponse(
            _multi_reference_lines(rows), content_type="text/tab-separated-values; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="{name}.tsv"'
        return response
    return table_response(format=file_format, filename=name, columns=WEIGHT_COLUMNS, rows=map(_weight_row, rows))


@login_required
@require_GET
def release_chart(request: HttpRequest, project_slug: str, slug: str, number: int, file_format: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    release = _release_or_404(project, slug, number, state=JobState.DONE)
    theme = chart_theme(request)
    if file_format == "json":
        return JsonResponse(charts.weight_distribution(distribution(release), theme=theme))
    specification = charts.weight_distribution(distribution(release), theme=theme, picture=True)
    return picture_response(specification, file_format, f"{release.reference_set.slug}-v{release.number}-weights")


# --- Parts ------------------------------------------------------------------------------------------------------------


def _release_url(project: Project, release: Release) -> str:
    return reverse("annotation:release-detail", args=[project.slug, release.reference_set.slug, release.number])


def _set_or_404(project: Project, slug: str) -> ReferenceSet:
    sets = ReferenceSet.objects.select_related("dataset", "project")
    return get_in_project_or_404(sets, project, slug=slug)


def _release_or_404(project: Project, slug: str, number: int, **lookup: object) -> Release:
    found = Release.objects.select_related("reference_set__dataset", "reference_set__project", "requested_by")
    return get_object_or_404(found, reference_set__project=project, reference_set__slug=slug, number=number, **lookup)


def _refusal(form: WeightFilterForm) -> str:
    """Which fields of the address were not understood, what was found, and why."""
    lines = (
        f"{form[name].label}: found {form[name].value()!r}. {' '.join(errors)}" for name, errors in form.errors.items()
    )
    return "\n".join(["Nothing was downloaded: the filter is not valid.", *lines, ""])


def _render_set(
    request: HttpRequest, project: Project, reference_set: ReferenceSet, form: ReleaseForm, status: int = 200
) -> HttpResponse:
    context = {
        "project": project,
        "reference_set": reference_set,
        "campaigns": reference_set.campaigns.order_by("id"),
        "sources": source_names(reference_set),
        "originals": [*reference_set.original_kinds, *reference_set.original_systems],
        "releases": releases(reference_set),
        "form": form,
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/reference_set_detail.html", context, status=status)


def _browse(request: HttpRequest, project: Project, release: Release) -> dict[str, object]:
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    chosen = form.chosen() if form.is_valid() else EVERYTHING
    page = release_items(release, chosen, after=whole_number(request, "after"), before=whole_number(request, "before"))
    shown = [weight for item in page.items for weight in item.shown_weights]
    histograms = value_histograms(release, [weight.response_id for weight in shown])
    for weight in shown:
        weight.histogram = histograms[weight.response_id]
    narrowed = _query(request, without=("after", "before"))
    return {
        "filter_form": form,
        "is_narrowed": chosen != EVERYTHING,
        "page": page,
        "narrowed": narrowed,
        "previous_url": None if page.before is None else f"?{narrowed}&before={page.before}".replace("?&", "?"),
        "next_url": None if page.after is None else f"?{narrowed}&after={page.after}".replace("?&", "?"),
    }


def _query(request: HttpRequest, *, without: tuple[str, ...]) -> str:
    return urlencode([(name, value) for name, value in request.GET.items() if value and name not in without])


def _set_row(reference_set: ReferenceSet) -> tuple[object, ...]:
    return (
        reference_set.name,
        reference_set.slug,
        reference_set.dataset.name,
        [campaign.name for campaign in reference_set.campaigns.all()],
        reference_set.source_kinds,
        reference_set.source_systems,
        reference_set.n_releases,
        reference_set.latest_number,
    )


def _release_row(release: Release) -> tuple[object, ...]:
    by = release.requested_by.get_username() if release.requested_by else None
    fields = (getattr(release, name) for name in RELEASE_COLUMNS[:8])
    return (*fields, by, release.report)


def _weight_row(weight: ReleaseWeight) -> tuple[object, ...]:
    return (
        weight.item.external_id,
        weight.response_id,
        weight.response.text,
        weight.weight,
        weight.rating_mean,
        weight.n_ratings,
        weight.standard_error,
        weight.low,
        weight.high,
        weight.is_original,
        [str(source) for source in weight.response.sources.all()],
    )


def _multi_reference_lines(weights: Iterable[ReleaseWeight]) -> Iterator[bytes]:
    """item, then weight and text of each reference, highest first; tabs and line breaks in texts become spaces."""
    for item, references in groupby(weights, key=lambda weight: weight.item):
        cells = [item.external_id]
        for weight in references:
            cells += [repr(weight.weight), " ".join(weight.response.text.split())]
        yield ("\t".join(cells) + "\n").encode()
