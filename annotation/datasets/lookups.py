"""Look up data sets and responses of a project, or raise 404."""

from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.core.access import get_in_project_or_404
from annotation.core.views import MemberRequest
from annotation.models import Dataset, Project, Response


def dataset_or_404(project: Project, dataset_slug: str) -> Dataset:
    return get_in_project_or_404(Dataset.objects.all(), project, slug=dataset_slug)


def chosen_dataset(request: MemberRequest) -> tuple[list[Dataset], Dataset | None]:
    """Return the project's data sets and the requested one, by default the only one; None if it is not chosen yet."""
    datasets = list(request.project.datasets.order_by("name"))
    slug = request.GET.get("dataset") or (datasets[0].slug if len(datasets) == 1 else None)
    dataset = next((dataset for dataset in datasets if dataset.slug == slug), None)
    if dataset is None and slug is not None:
        raise Http404("No such data set in this project.")
    return datasets, dataset


def response_or_404(project: Project, pk: int) -> Response:
    responses = Response.objects.select_related("item__dataset")
    return get_object_or_404(responses, pk=pk, item__dataset__project=project)
