"""The kinds of studies: all that their pages and downloads need to know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from celery import Task
from django.http import Http404
from django.urls import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.charts import Spec, Theme
from annotation.core.views import MemberRequest
from annotation.models import Dataset, JobState, Project, Release, User
from correlations.forms.base import StudyBaseForm
from correlations.results.codec import Result
from correlations.selectors.lists import AnyStudy
from correlations.selectors.tables import Table

AnyResult = TypeVar("AnyResult", bound=Result)
Co = TypeVar("Co", covariant=True)
Contra = TypeVar("Contra", contravariant=True)
Context = dict[str, Any]  # of a template
Column = Callable[[Mapping[str, Any]], object]  # from a specification


class Create(Protocol[Co]):
    def __call__(
        self, *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
    ) -> tuple[Co, bool]: ...


class Figure(Protocol[Contra]):
    def __call__(self, result: Contra, name: str, *, theme: Theme) -> Spec | None: ...


@dataclass(frozen=True)
class Kind(Generic[AnyStudy, AnyResult]):
    model: type[AnyStudy]
    title: str
    question: str  # of the list's page
    empty: str  # the text of that page without a study
    purpose: str  # of the page for a new study
    eyebrow: Callable[[AnyStudy], str]
    columns: Mapping[str, Column]  # of the downloaded list
    cells: Mapping[str, Callable[[AnyStudy], str]]  # of the list's page, by heading
    create: Create[AnyStudy]
    task: Task
    form: Callable[[MemberRequest, Dataset, Release | None], tuple[StudyBaseForm, Context]]  # and its page's context
    read: Callable[[AnyStudy], AnyResult]
    report: Callable[[AnyStudy, AnyResult], Context]  # of a finished study's page
    table: Callable[[AnyResult, str], Table | None]
    figure: Figure[AnyResult]

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

    def url(self, view: str, project: Project, *args: object) -> str:
        return reverse(f"correlations:{self.name}-{view}", args=[project.slug, *args])


@dataclass(frozen=True)
class StudyPage(Generic[AnyStudy, AnyResult]):
    """A study and its kind."""

    kind: Kind[AnyStudy, AnyResult]
    study: AnyStudy

    @cached_property
    def result(self) -> AnyResult:
        return self.kind.read(self.study)


def study_or_404(project: Project, pk: int, kind: Kind[AnyStudy, AnyResult]) -> AnyStudy:
    studies = kind.model.objects.select_related("release__reference_set", "dataset", "requested_by")
    return get_in_project_or_404(studies, project, pk=pk)


def study_page_or_404(project: Project, pk: int, kind: Kind[AnyStudy, AnyResult]) -> StudyPage[AnyStudy, AnyResult]:
    return StudyPage(kind, study_or_404(project, pk, kind))


def finished_study_or_404(project: Project, pk: int, kind: Kind[AnyStudy, AnyResult]) -> StudyPage[AnyStudy, AnyResult]:
    page = study_page_or_404(project, pk, kind)
    if page.study.state != JobState.DONE or not page.study.result:
        raise Http404("This study has no result yet.")
    return page
