"""A study of either kind, found or not there."""

from django.http import Http404

from annotation.access import get_in_project_or_404
from annotation.models import JobState, Project
from correlations.selectors.lists import AnyStudy


def get_study_or_404(kind: type[AnyStudy], project: Project, pk: int) -> AnyStudy:
    studies = kind.objects.select_related("release__reference_set", "dataset", "requested_by")
    return get_in_project_or_404(studies, project, pk=pk)


def get_result_or_404(kind: type[AnyStudy], project: Project, pk: int) -> AnyStudy:
    study = get_study_or_404(kind, project, pk)
    if study.state != JobState.DONE or not study.result:
        raise Http404("This study has no result yet.")
    return study
