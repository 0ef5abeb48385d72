"""The kinds of studies: all that their pages and downloads need to know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from celery import Task
from django.http import Http404
from django.urls import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.charts import Spec
from annotation.core.views import MemberRequest
from annotation.models import JobState, Project, Release
from correlations.forms.base import StudyBaseForm
from correlations.selectors.reports import Table

Column = Callable[[Mapping[str, Any]], object]  # from a specification


@dataclass(frozen=True)
class Kind:
    model: type[Any]
    title: str
    question: str  # of the list's page
    empty: str  # the text of that page without a study
    purpose: str  # of the page for a new study
    eyebrow: Callable[[Any], str]
    columns: Mapping[str, Column]  # of the downloaded list
    cells: Mapping[str, Callable[[Any], str]]  # of the list's page, by heading
    create: Callable[..., tuple[Any, bool]]
    task: Task
    form: Callable[[MemberRequest, Release], tuple[StudyBaseForm, dict[str, Any]]]  # and its page's context
    report: Callable[[Any], dict[str, Any]]  # the context of a finished study's page
    table: Callable[[Any, str], Table | None]
    figure: Callable[..., Spec | None]

    @property
    def name(self) -> str:
        """Return the kind's name in addresses: study, parameter-study."""
        return str(self.model._meta.verbose_name).replace(" ", "-")

    @property
    def plural(self) -> str:
        return self.title.lower().replace(" ", "-")

    def label(self, text: str, *, plural: bool = False) -> str:
        """Return a text about the kind: New study, All parameter studies."""
        return f"{text} {self.title.lower() if plural else self.model._meta.verbose_name}"

    def template(self, view: str) -> str:
        return f"correlations/{self.name.replace('-', '_')}_{view}.html"

    def url(self, view: str, project: Project, *args: Any) -> str:
        return reverse(f"correlations:{self.name}-{view}", args=[project.slug, *args])


def study_or_404(project: Project, pk: int, kind: Kind) -> Any:
    studies = kind.model.objects.select_related("release__reference_set", "dataset", "requested_by")
    study = get_in_project_or_404(studies, project, pk=pk)
    study.kind = kind
    return study


def finished_study_or_404(project: Project, pk: int, kind: Kind) -> Any:
    study = study_or_404(project, pk, kind)
    if study.state != JobState.DONE or not study.result:
        raise Http404("This study has no result yet.")
    return study
