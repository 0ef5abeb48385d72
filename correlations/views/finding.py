"""Return a study of a project, or 404."""

from django.http import Http404

from annotation.core.access import get_in_project_or_404
from annotation.models import JobState, Project
from correlations.models import ParameterStudy, Study
from correlations.selectors.lists import AnyStudy


def study_or_404(project: Project, pk: int) -> Study:
    return _of_kind(Study, project, pk)


def parameter_study_or_404(project: Project, pk: int) -> ParameterStudy:
    return _of_kind(ParameterStudy, project, pk)


def finished_study_or_404(project: Project, pk: int) -> Study:
    return finished_of_kind_or_404(Study, project, pk)


def finished_of_kind_or_404(kind: type[AnyStudy], project: Project, pk: int) -> AnyStudy:
    study = _of_kind(kind, project, pk)
    if study.state != JobState.DONE or not study.result:
        raise Http404("This study has no result yet.")
    return study


def _of_kind(kind: type[AnyStudy], project: Project, pk: int) -> AnyStudy:
    studies = kind.objects.select_related("release__reference_set", "dataset", "requested_by")
    return get_in_project_or_404(studies, project, pk=pk)
