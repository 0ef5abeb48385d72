"""Reads for the front page of a project."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from annotation import models
from annotation.references.releases.selectors.releases import latest_deprecation

SHOWN = 6


@dataclass
class CampaignRow:
    campaign: models.Campaign
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
    datasets: list[models.Dataset]
    imports: list[models.DatasetImport]
    campaigns: list[CampaignRow]
    reference_sets: list[models.ReferenceSet]
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
        """Return the first step without a result; None before there is data."""
        return next((step for step in self.steps if step.count == 0), None) if self.has_data else None


def project_overview(project: models.Project) -> Overview:
    # Apps above this one hold score runs and studies, so the project's relations reach them.
    runs: Any = project.score_runs.order_by("-pk").only("metric", "subset", "state", "created_at")
    studies: Any = project.studies.order_by("-pk").only("name", "state", "created_at")
    parameter_studies: Any = project.parameter_studies.order_by("-pk").only("name", "state", "created_at")
    releases = models.Release.objects.filter(reference_set__project=project, state=models.JobState.DONE)
    counts = {
        "datasets": project.datasets.count(),
        "campaigns": project.campaigns.count(),
        "raters": project.raters.count(),
        "judgements": models.Presentation.objects.filter(
            campaign__project=project,
            purpose=models.Purpose.WORK,
            outcome__in=[models.PresentationOutcome.SUBMITTED, models.PresentationOutcome.IMPORTED],
        ).count(),
        "releases": releases.count(),
        "runs": runs.filter(state=models.JobState.DONE).count(),
        "studies": studies.filter(state=models.JobState.DONE).count(),
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


def _open_imports(project: models.Project) -> QuerySet[models.DatasetImport]:
    """Return imports that run, or that ended without a data set and were not repeated; newest first."""
    repeated = project.dataset_imports.filter(state=models.JobState.DONE, name=OuterRef("name"), pk__gt=OuterRef("pk"))
    open_imports = project.dataset_imports.exclude(state=models.JobState.DONE).exclude(Exists(repeated))
    return open_imports.defer("content", "report").order_by("-pk")


def _reference_sets(project: models.Project) -> QuerySet[models.ReferenceSet]:
    done = models.Release.objects.filter(reference_set=OuterRef("pk"), state=models.JobState.DONE).order_by("-number")
    latest = Subquery(done.values("number")[:1])
    return project.reference_sets.annotate(latest=latest, deprecation=latest_deprecation()).order_by("-pk")


def campaign_rows(project: models.Project, *, limit: int) -> list[CampaignRow]:
    """Return the newest campaigns with their progress: slots filled, or judgements imported."""
    campaigns = list(project.campaigns.order_by("-pk")[:limit])
    slots = models.Slot.objects.filter(campaign__in=campaigns).order_by()
    rows = slots.values_list("campaign").annotate(
        n=Count("pk"), n_done=Count("pk", filter=Q(state=models.SlotState.DONE))
    )
    counts = {campaign: (n, n_done) for campaign, n, n_done in rows}
    imported = models.Presentation.objects.filter(campaign__in=campaigns, campaign__imported=True).order_by()
    judgements = dict(imported.values_list("campaign").annotate(n=Count("pk")))
    result = []
    for campaign in campaigns:
        n, n_done = counts.get(campaign.pk, (0, 0))
        result.append(CampaignRow(campaign, n, n_done, judgements.get(campaign.pk, n_done)))
    return result


STEPS = (  # name, count and its words, what to do if it is zero, and where
    (
        "Rate",
        ("judgements", "judgement of a rater", "judgements of raters"),
        "Draft a campaign and share its link, or import ratings into a data set.",
        ("Campaigns", "annotation:campaign-list"),
    ),
    (
        "Weigh",
        ("releases", "release of weights", "releases of weights"),
        "Turn ratings into reference weights from −1 to +1.",
        ("Reference sets", "annotation:reference-set-list"),
    ),
    (
        "Score",
        ("runs", "finished score run", "finished score runs"),
        "Score the systems with metrics that use the weights.",
        ("Scores", "metrics:run-list"),
    ),
    (
        "Correlate",
        ("studies", "finished study", "finished studies"),
        "Compare the metrics with the same raters' ratings.",
        ("Studies", "correlations:study-list"),
    ),
)


def _steps(counts: dict[str, int]) -> list[Step]:
    return [
        Step(number, name, singular if counts[key] == 1 else plural, advice, action, url_name, counts[key])
        for number, (name, (key, singular, plural), advice, (action, url_name)) in enumerate(STEPS, start=1)
    ]
