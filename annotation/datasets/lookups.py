"""Look up a data set or a response of a project, or raise 404."""

from django.shortcuts import get_object_or_404

from annotation.core.access import get_in_project_or_404
from annotation.models import Dataset, Project, Response


def dataset_or_404(project: Project, dataset_slug: str) -> Dataset:
    return get_in_project_or_404(Dataset.objects.all(), project, slug=dataset_slug)


def response_or_404(project: Project, pk: int) -> Response:
    responses = Response.objects.select_related("item__dataset")
    return get_object_or_404(responses, pk=pk, item__dataset__project=project)
