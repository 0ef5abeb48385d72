"""Reads for the front page of a project."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from annotation.models import (
    Campaign,
    Dataset,
    DatasetImport,
    JobState,
    Presentation,
    PresentationOutcome,
    Project,
    Purpose,
    ReferenceSet,
    Release,
    Slot,
    SlotState,
)
from annotation.references.releases.selectors.releases import latest_deprecation

SHOWN = 6


@dataclass
class CampaignRow:
    campaign: Campaign
    slots: int
    done: int
    judgements: int

    @property
    def percent(self) -> int:
        return 100 * self.done // self.slots if self.slots else 0


@dataclass
class Step:
    """One of the four steps of the loop: a count, and what to do if it is zero."""

    number: int
    name: str
    hint: str
    advice: str
    action: str
    url_name: str
    count: int

    @property
    def label(self) -> str:
        return f"{self.number}. {self.name}"


@dataclass
class Overview:
    datasets: list[Dataset]
    imports: list[DatasetImport]
    campaigns: list[CampaignRow]
    reference_sets: list[ReferenceSet]
    runs: list[Any]
    studies: list[Any]
    parameter_studies: list[Any]
    steps: list[Step]
    counts: dict[str, int]

    @property
    def has_data(self) -> bool:
        return self.counts["datasets"] > 0

    @property
    def next_step(self) -> Step | None:
        """The first step without a result; None before there is data."""
        return next((step for step in self.steps if step.count == 0), None) if self.has_data else None


def project_overview(project: Project) -> Overview:
    # Apps above this one hold score runs and studies, so the project's relations reach them.
    runs: Any = project.score_runs.order_by("-pk").only("metric", "subset", "state", "created_at")
    studies: Any = project.studies.order_by("-pk").only("name", "state", "created_at")
    parameter_studies: Any = project.parameter_studies.order_by("-pk").only("name", "state", "created_at")
    releases = Release.objects.filter(reference_set__project=project, state=JobState.DONE)
    counts = {
        "datasets": project.datasets.count(),
        "campaigns": project.campaigns.count(),
        "raters": project.raters.count(),
        "judgements": Presentation.objects.filter(
            campaign__project=project,
            purpose=Purpose.WORK,
            outcome__in=[PresentationOutcome.SUBMITTED, PresentationOutcome.IMPORTED],
        ).count(),
        "releases": releases.count(),
        "runs": runs.filter(state=JobState.DONE).count(),
        "studies": studies.filter(state=JobState.DONE).count(),
    }
    return Overview(
        datasets=list(project.datasets.annotate(n_items=Count("items")).order_by("-pk")[:SHOWN]),
        imports=list(_open_imports(project)[:SHOWN]),
        campaigns=campaign_rows(project, limit=SHOWN),
        reference_sets=list(_reference_sets(project)[:SHOWN]),
        runs=list(runs[:SHOWN]),
        studies=list(studies[:SHOWN]),
        parameter_studies=list(parameter_studies[:SHOWN]),
        steps=_steps(counts),
        counts=counts,
    )


def _open_imports(project: Project) -> QuerySet[DatasetImport]:
    """Return imports that run, or that ended without a data set and were not repeated; newest first."""
    repeated = project.dataset_imports.filter(state=JobState.DONE, name=OuterRef("name"), pk__gt=OuterRef("pk"))
    open_imports = project.dataset_imports.exclude(state=JobState.DONE).exclude(Exists(repeated))
    return open_imports.defer("content", "report").order_by("-pk")


def _reference_sets(project: Project) -> QuerySet[ReferenceSet]:
    done = Release.objects.filter(reference_set=OuterRef("pk"), state=JobState.DONE).order_by("-number")
    latest = Subquery(done.values("number")[:1])
    return project.reference_sets.annotate(latest=latest, deprecation=latest_deprecation()).order_by("-pk")


def campaign_rows(project: Project, *, limit: int) -> list[CampaignRow]:
    """Return the newest campaigns with their progress: slots filled, or judgements imported."""
    campaigns = list(project.campaigns.order_by("-pk")[:limit])
    slots = _by_campaign(Slot.objects.filter(campaign__in=campaigns), Count("pk"))
    done = _by_campaign(Slot.objects.filter(campaign__in=campaigns, state=SlotState.DONE), Count("pk"))
    imported = [campaign for campaign in campaigns if campaign.imported]
    judgements = _by_campaign(Presentation.objects.filter(campaign__in=imported), Count("pk"))
    return [
        CampaignRow(row, slots.get(row.pk, 0), done.get(row.pk, 0), judgements.get(row.pk, done.get(row.pk, 0)))
        for row in campaigns
    ]


def _by_campaign(rows: QuerySet[Any], aggregate: Count) -> dict[int, int]:
    return dict(rows.order_by().values("campaign").annotate(n=aggregate).values_list("campaign", "n"))


def _steps(counts: dict[str, int]) -> list[Step]:
    def hint(name: str, singular: str, plural: str) -> str:
        return singular if counts[name] == 1 else plural

    return [
        Step(
            1,
            "Rate",
            hint("judgements", "judgement of a rater", "judgements of raters"),
            "Draft a campaign and share its link, or import ratings into a data set.",
            "Campaigns",
            "annotation:campaign-list",
            counts["judgements"],
        ),
        Step(
            2,
            "Weigh",
            hint("releases", "release of weights", "releases of weights"),
            "Turn ratings into reference weights from −1 to +1.",
            "Reference sets",
            "annotation:reference-set-list",
            counts["releases"],
        ),
        Step(
            3,
            "Score",
            hint("runs", "finished score run", "finished score runs"),
            "Score the systems with metrics that use the weights.",
            "Score runs",
            "metrics:run-list",
            counts["runs"],
        ),
        Step(
            4,
            "Correlate",
            hint("studies", "finished study", "finished studies"),
            "Compare the metrics with the same raters' ratings.",
            "Studies",
            "correlations:study-list",
            counts["studies"],
        ),
    ]
