"""Studies of either kind, for lists."""

from collections.abc import Collection
from typing import TypeVar

from django.db.models import QuerySet

from annotation.core.pages import newest_page
from annotation.models import Campaign, CampaignState, Dataset, Project
from correlations.models import ParameterStudy, Study

PAGE = 50

AnyStudy = TypeVar("AnyStudy", Study, ParameterStudy)


def listed_studies(kind: type[AnyStudy], project: Project) -> QuerySet[AnyStudy]:
    """Return studies, newest first; results stay in the database."""
    studies = kind.objects.filter(project=project).select_related("release__reference_set", "dataset")
    return studies.defer("result", "release__report")


def study_page(
    kind: type[AnyStudy], project: Project, *, before: int | None = None
) -> tuple[list[AnyStudy], int | None]:
    """Return a page of studies, newest first, and the id to continue from if there are older ones."""
    return newest_page(listed_studies(kind, project), before=before, size=PAGE)


def other_datasets(project: Project, without: Collection[int]) -> list[Dataset]:
    """Return the data sets with a campaign that could be studied, except these."""
    rated = Campaign.objects.filter(project=project).exclude(state=CampaignState.DRAFT).order_by()
    return list(project.datasets.filter(pk__in=rated.values("dataset")).exclude(pk__in=without).order_by("name"))
