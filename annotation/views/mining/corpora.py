"""Corpora: the list, with what was mined from them; upload; one with its search; its life as a job."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.mining import CorpusFromDatasetForm, CorpusSearchForm, CorpusUploadForm
from annotation.models import Corpus, Project, Role
from annotation.selectors import mining as selectors
from annotation.services import mining as services
from annotation.services.jobs import job_request_cancel
from annotation.services.mining.report import corpus_report_rows
from annotation.tasks import corpus_index
from annotation.views.jobs import start_over
from annotation.views.mining.common import blame, corpus_or_404, page_or_part

CORPUS_COLUMNS = (
    "corpus", "slug", "state", "triples", "index_bytes", "language", "licence", "index", "content_hash", "runs",
    "created",
)  # fmt: skip
FOUND_COLUMNS = (
    "rank", "triple", "score", "message_score", "response_score", "context", "message", "response",
)  # fmt: skip
SEARCH_SIZE = 15


@login_required
@require_GET
def corpus_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Where mining begins: corpora, the runs over them, and the way to the seeds."""
    project = get_project_or_404(request.user, project_slug)
    corpora = selectors.corpora_of(project)
    if wanted := request.GET.get("format"):
        rows = (
            (c.name, c.slug, c.state, c.n_triples, c.index_bytes, c.language, c.licence, c.index_signature,
             c.content_hash, c.n_runs, c.created_at)
            for c in corpora
        )  # fmt: skip
        return table_response(format=wanted, filename=f"{project.slug}-corpora", columns=CORPUS_COLUMNS, rows=rows)
    context = {
        "project": project,
        "corpora": corpora,
        "runs": selectors.mining_runs_of(project),
        "datasets": project.datasets.order_by("name"),
        "may_manage": may_manage(project),
        "seeds_url": _seeds_url(project),
    }
    return render(request, "annotation/corpus_list.html", context)


def _seeds_url(project: Project) -> str:
    try:
        return reverse("annotation:seed-list", args=[project.slug])
    except NoReverseMatch:
        return ""


@login_required
@require_http_methods(["GET", "POST"])
def corpus_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    form = CorpusUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            corpus = services.corpus_upload(
                project=project,
                by=request.user,
                name=form.cleaned_data["name"],
                filename=file.name,
                content=file.read(),
                options=form.options(),
                **form.details(),
            )
        except AnnotationError as error:
            blame(form, error)
        else:
            corpus_index.delay_on_commit(corpus.pk)
            return redirect("annotation:corpus-detail", project.slug, corpus.slug)
    return render(request, "annotation/corpus_form.html", {"project": project, "form": form})


@login_required
@require_http_methods(["GET", "POST"])
def corpus_from_dataset(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The data set is chosen first: which responses there are depends on it."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    datasets = list(project.datasets.order_by("name"))
    asked = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    context = {"project": project, "datasets": datasets}
    if asked is None:
        return render(request, "annotation/corpus_from_dataset.html", context)
    dataset = next((one for one in datasets if one.slug == asked), None)
    if dataset is None:
        raise Http404("No such data set in this project.")
    form = CorpusFromDatasetForm(request.POST or None, dataset=dataset)
    if request.method == "POST" and form.is_valid():
        try:
            corpus = services.corpus_from_dataset(project=project, by=request.user, dataset=dataset, **form.asked())
        except AnnotationError as error:
            blame(form, error)
        else:
            corpus_index.delay_on_commit(corpus.pk)
            return redirect("annotation:corpus-detail", project.slug, corpus.slug)
    return render(request, "annotation/corpus_from_dataset.html", context | {"dataset": dataset, "form": form})


@login_required
@require_GET
def corpus_detail(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    """Its facts and its search box; while it is indexed, how far that is; where it failed, every bad line."""
    project = get_project_or_404(request.user, project_slug)
    corpus = corpus_or_404(project, slug)
    if "message" in request.GET or "response" in request.GET:
        return _search(request, project, corpus)
    if wanted := request.GET.get("format"):
        return _report_download(corpus, wanted)
    context = _context(project, corpus) | {"search_form": CorpusSearchForm()}
    if request.htmx and "progress" in request.GET:  # type: ignore[attr-defined] # set by its middleware
        if corpus.is_finished:
            return _reloaded()
        return render(request, "annotation/corpus_progress.html", context)
    return render(request, "annotation/corpus_detail.html", context)


def _reloaded() -> HttpResponse:
    """Whoever watched sees the whole page now."""
    return HttpResponse(headers={"HX-Refresh": "true"})


def _context(project: Project, corpus: Corpus) -> dict[str, object]:
    errors = corpus.report.get("errors", [])
    return {
        "project": project,
        "corpus": corpus,
        "parameters": corpus.options.get("index", {}),
        "errors": errors,
        "more": corpus.report.get("total", 0) - len(errors),
        "counts": corpus_report_rows(corpus.report.get("counts", {})),
        "runs": corpus.mining_runs.select_related("dataset")[:20],
        "may_manage": may_manage(project),
    }


def _search(request: HttpRequest, project: Project, corpus: Corpus) -> HttpResponse:
    form = CorpusSearchForm(request.GET)
    found, refusal = [], ""
    if form.is_valid():
        try:
            found = selectors.corpus_search(corpus, **form.cleaned_data, n=SEARCH_SIZE)
        except AnnotationError as error:
            refusal = error.message
    if wanted := request.GET.get("format"):
        rows = (
            (rank, one.number, one.score, one.message_score, one.response_score, list(one.triple.context),
             one.triple.message, one.triple.response)
            for rank, one in enumerate(found, start=1)
        )  # fmt: skip
        return table_response(format=wanted, filename=f"{corpus.slug}-found", columns=FOUND_COLUMNS, rows=rows)
    context = _context(project, corpus) | {
        "search_form": form,
        "searched": form.is_valid() and not refusal,
        "found": found,
        "refusal": refusal,
        "query": request.GET.urlencode(),
    }
    return page_or_part(request, "corpus_detail", "corpus_found", context)


def _report_download(corpus: Corpus, wanted: str) -> HttpResponse:
    if "errors" in corpus.report:
        columns = ["file", "line", "field", "found", "accepted"]
        rows = [[error[column] for column in columns] for error in corpus.report["errors"]]
        return table_response(format=wanted, filename=f"{corpus.slug}-errors", columns=columns, rows=rows)
    found = corpus_report_rows(corpus.report.get("counts", {}))
    return table_response(format=wanted, filename=f"{corpus.slug}-report", columns=["what", "count"], rows=found)


@login_required
@require_POST
def corpus_cancel(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    job_request_cancel(corpus_or_404(project, slug))
    return redirect("annotation:corpus-detail", project.slug, slug)


@login_required
@require_POST
def corpus_retry(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    start_over(corpus_or_404(project, slug), corpus_index)
    return redirect("annotation:corpus-detail", project.slug, slug)


@login_required
@require_POST
def corpus_delete(request: HttpRequest, project_slug: str, slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    corpus = corpus_or_404(project, slug)
    try:
        services.corpus_delete(corpus=corpus, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:corpus-detail", project.slug, slug)
    messages.success(request, f"The corpus “{corpus}” and its files are gone.")
    return redirect("annotation:corpus-list", project.slug)
