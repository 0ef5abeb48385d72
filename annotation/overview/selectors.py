"""Reads for the front page of a project."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from django.db.models import Count, Q

from annotation import models
from annotation.core.access import may_manage
from annotation.core.numbers import card
from annotation.models import CampaignState, JobState, Project, Purpose, Target
from annotation.overview.campaigns import running_campaigns
from annotation.overview.jobs import failed_jobs, open_jobs, running_jobs
from annotation.overview.registry import FINDINGS, NEEDS, Finding, Need, Running
from annotation.overview.steps import Counts, NextStep, next_step

FINDINGS_SHOWN, ALL_FINDINGS = 5, 40
SHOWN = 5  # of what is running and of what is to do


class Dated(Protocol):
    @property
    def at(self) -> datetime: ...


AnyDated = TypeVar("AnyDated", bound=Dated)


@dataclass(frozen=True)
class Newest(Generic[AnyDated]):
    """The newest of something, and how many there are."""

    shown: list[AnyDated]
    total: int

    @property
    def more(self) -> int:
        return self.total - len(self.shown)


@dataclass(frozen=True)
class FrontPage:
    findings: Newest[Finding]
    running: Newest[Running]
    needs: Newest[Need]
    counts: Counts
    cards: list[dict[str, str]]
    step: NextStep | None


def front_page(project: Project, *, all_findings: bool = False) -> FrontPage:
    """Return what the project's page shows; what waits for a person, and the next step, only to those who manage."""
    most = ALL_FINDINGS if all_findings else FINDINGS_SHOWN
    jobs, manages, counts = open_jobs(project), may_manage(project), counts_of(project)
    needs = [need for source in NEEDS for need in source(project)] if manages else []
    return FrontPage(
        findings=_newest((finding for source in FINDINGS for finding in source(project, most + 1)), most),
        running=_newest([*running_campaigns(project), *running_jobs(project, jobs)], SHOWN),
        needs=_newest([*needs, *(failed_jobs(project, jobs) if manages else [])], SHOWN),
        counts=counts,
        cards=_cards(counts),
        step=next_step(project, counts) if manages else None,
    )


def _newest(rows: Iterable[AnyDated], most: int) -> Newest[AnyDated]:
    every = list(rows)
    return Newest(nlargest(most, every, key=attrgetter("at")), len(every))


def counts_of(project: Project) -> Counts:
    """Count what the steps have brought about."""
    # Apps above this one hold score runs and studies, so the project's relations reach them.
    anything: Any = project
    done = Q(state=JobState.DONE)
    states = project.campaigns.aggregate(
        n=Count("pk"),
        open=Count("pk", filter=Q(state__in=[CampaignState.RUNNING, CampaignState.PAUSED])),
        over=Count("pk", filter=Q(state=CampaignState.CLOSED)),
        of_references=Count("pk", filter=Q(imported=True) | Q(target__in=[Target.REFERENCES, Target.LISTED])),
    )
    return Counts(
        datasets=project.datasets.count(),
        campaigns=states["n"],
        open=states["open"],
        closed=states["over"],
        of_references=states["of_references"],
        judgements=models.Presentation.objects.filter(
            campaign__project=project,
            purpose=Purpose.WORK,
            outcome__in=[models.PresentationOutcome.SUBMITTED, models.PresentationOutcome.IMPORTED],
        ).count(),
        releases=models.Release.objects.filter(done, reference_set__project=project).count(),
        runs=anything.score_runs.filter(done).count(),
        studies=anything.studies.filter(done).count(),
    )


def _cards(counts: Counts) -> list[dict[str, str]]:
    """Return the numbers of the loop."""
    return [
        card("Judgements", counts.judgements, "of raters", "annotation:campaign-list"),
        card("Releases", counts.releases, "of weights", "annotation:reference-set-list"),
        card("Score runs", counts.runs, "finished", "metrics:run-list"),
        card("Studies", counts.studies, "finished", "correlations:study-list"),
    ]
