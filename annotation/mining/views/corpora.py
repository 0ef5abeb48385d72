"""Corpora: list, upload, search, cancel, retry and delete them."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import errors_response, object_rows, objects_response, table_response
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.kept_files import FileKeeper
from annotation.core.problems import unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.datasets.lookups import chosen_dataset
from annotation.mining import selectors
from annotation.mining.forms import CorpusFromDatasetForm, CorpusSearchForm, CorpusUploadForm
from annotation.mining.services import corpora as services
from annotation.mining.services.report import corpus_report_rows
from annotation.mining.tasks import corpus_index
from annotation.mining.views.common import corpus_or_404, page_or_part
from annotation.models import Corpus, Project, Role

# The columns of downloads, with the attributes that they show.
CORPUS_COLUMNS = {
    "corpus": "name",
    "slug": "slug",
    "state": "state",
    "triples": "n_triples",
    "index_bytes": "index_bytes",
    "language": "language",
    "licence": "licence",
    "index": "index_signature",
    "content_hash": "content_hash",
    "runs": "n_runs",
    "created": "created_at",
}
HIT_COLUMNS = {
    "triple": "number",
    "score": "score",
    "message_score": "message_score",
    "response_score": "response_score",
    "context": "triple.context",
    "message": "triple.message",
    "response": "triple.response",
}
SEARCH_SIZE = 15


@require_GET
@project_view(Role.VIEWER)
def corpus_list(request: MemberRequest) -> HttpResponseBase:
    """List corpora and mining runs."""
    project = request.project
    corpora: QuerySet[Any] = selectors.corpora_of(project)
    if file_format := request.GET.get("format"):
        return objects_response(file_format, f"{project.slug}-corpora", corpora, CORPUS_COLUMNS)
    context = {
        "project": project,
        "corpora": corpora,
        "runs": selectors.mining_runs_of(project),
        "datasets": project.datasets.order_by("name"),
        "may_manage": may_manage(project),
        "seeds_url": _seeds_url(project),
    }
    return render(request, "annotation/mining/corpus_list.html", context)


def _seeds_url(project: Project) -> str:
    try:
        return reverse("annotation:seed-list", args=[project.slug])
    except NoReverseMatch:
        return ""


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
@takes_uploads
def corpus_create(request: MemberRequest) -> HttpResponseBase:
    keeper = FileKeeper(request.project, request.user)
    form = CorpusUploadForm(request.POST or None, request.FILES or None, keeper=keeper)
    if corpus := form.submit(services.corpus_upload, project=request.project, by=request.user):
        return _index(corpus)
    return render(request, "annotation/mining/corpus_form.html", {"project": request.project, "form": form})


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def corpus_from_dataset(request: MemberRequest) -> HttpResponseBase:
    """Choose the data set first: it decides which responses can be chosen."""
    project = request.project
    datasets, dataset = chosen_dataset(request)
    context: dict[str, Any] = {"project": project, "datasets": datasets}
    if dataset is None:
        return render(request, "annotation/mining/corpus_from_dataset.html", context)
    form = CorpusFromDatasetForm(request.POST or None, dataset=dataset)
    if corpus := form.submit(services.corpus_from_dataset, project=project, by=request.user, dataset=dataset):
        return _index(corpus)
    return render(request, "annotation/mining/corpus_from_dataset.html", context | {"dataset": dataset, "form": form})


def _index(corpus: Corpus) -> HttpResponse:
    corpus_index.delay_on_commit(corpus.pk)
    return redirect("annotation:corpus-detail", corpus.project.slug, corpus.slug)


@require_GET
@object_view(corpus_or_404, Role.VIEWER)
def corpus_detail(request: MemberRequest, corpus: Corpus) -> HttpResponseBase:
    """Show a corpus and its search, the progress of its index, or the errors of its file."""
    if "message" in request.GET or "response" in request.GET:
        return _search(request, corpus)
    if file_format := request.GET.get("format"):
        if "errors" in corpus.report:
            return errors_response(file_format, corpus.slug, corpus.report["errors"])
        rows = corpus_report_rows(corpus.report.get("counts", {}))
        columns = ("what", "count")
        return table_response(format=file_format, filename=f"{corpus.slug}-report", columns=columns, rows=rows)
    context = _context(request.project, corpus) | {"search_form": CorpusSearchForm()}
    if request.htmx and "progress" in request.GET:
        return job_part(request, corpus, "annotation/mining/corpus_progress.html", context)
    return render(request, "annotation/mining/corpus_detail.html", context)


def _context(project: Project, corpus: Corpus) -> dict[str, object]:
    errors = corpus.report.get("errors", [])
    return {
        "project": project,
        "corpus": corpus,
        "parameters": corpus.options.get("index", {}),
        "sources": [*corpus.options.get("source_kinds", []), *corpus.options.get("source_systems", [])],
        "errors": errors,
        "more": unlisted(errors, corpus.report.get("total", 0)),
        "counts": corpus_report_rows(corpus.report.get("counts", {})),
        "runs": corpus.mining_runs.select_related("dataset")[:20],
        "may_manage": may_manage(project),
    }


def _search(request: MemberRequest, corpus: Corpus) -> HttpResponseBase:
    form = CorpusSearchForm(request.GET)
    hits, refusal = [], ""
    if form.is_valid():
        try:
            hits = selectors.corpus_search(corpus, **form.cleaned_data, n=SEARCH_SIZE)
        except AnnotationError as error:
            refusal = error.message
    if file_format := request.GET.get("format"):
        rows = ((rank, *row) for rank, row in enumerate(object_rows(hits, HIT_COLUMNS), start=1))
        columns = ["rank", *HIT_COLUMNS]
        return table_response(format=file_format, filename=f"{corpus.slug}-found", columns=columns, rows=rows)
    context = _context(request.project, corpus) | {
        "search_form": form,
        "searched": form.is_valid() and not refusal,
        "hits": hits,
        "refusal": refusal,
        "downloads": {each: f"?{request.GET.urlencode()}&format={each}" for each in ("csv", "json")},
    }
    return page_or_part(request, "corpus_detail", "corpus_found", context)


corpus_cancel = cancel_view(corpus_or_404, "annotation:corpus-detail")
corpus_retry = retry_view(corpus_or_404, corpus_index, "annotation:corpus-detail")


@require_POST
@object_view(corpus_or_404, Role.MANAGER)
def corpus_delete(request: MemberRequest, corpus: Corpus) -> HttpResponseBase:
    if perform(request, services.corpus_delete, f"The corpus “{corpus}” and its files were deleted.", corpus=corpus):
        return redirect("annotation:corpus-list", request.project.slug)
    return redirect("annotation:corpus-detail", request.project.slug, corpus.slug)
