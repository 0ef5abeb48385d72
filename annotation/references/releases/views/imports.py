"""The page of an import of weights, which shows its progress and, if the file is refused, its row errors."""

from django.http import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.core.access import get_in_project_or_404
from annotation.core.job_views import cancel_view
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.views.imports import import_page
from annotation.models import Project, Role, WeightsImport
from annotation.references.sets.access import release_url


def _import_or_404(project: Project, pk: int) -> WeightsImport:
    jobs = WeightsImport.objects.defer("content").select_related("dataset", "release__reference_set")
    return get_in_project_or_404(jobs, project, pk=pk)


@require_GET
@object_view(_import_or_404, Role.VIEWER)
def weights_import_detail(request: MemberRequest, job: WeightsImport) -> HttpResponseBase:
    project = request.project
    form_url = reverse("annotation:reference-set-import", args=[project.slug])
    return import_page(
        request,
        job,
        kind="weights",
        made_url=release_url(project, job.release) if job.release else "",
        page="references/weights_import_detail",
        made_label="Open the release",
        again_url=f"{form_url}?dataset={job.dataset.slug}&again={job.pk}",
        in_steps=True,  # reading, storing: too few for a progress bar
        counts=_counts(job),
    )


def _counts(job: WeightsImport) -> list[tuple[str, int]]:
    """Return what a finished import added."""
    if job.release is None:
        return []
    report = job.release.report
    return [("References with a weight", report["references"]["weighted"]), ("Items", report["items"]["with_weight"])]


weights_import_cancel = cancel_view(_import_or_404, "annotation:weights-import-detail")
