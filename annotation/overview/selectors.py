"""Reads for the front page of a project."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from django.db.models import Count, Exists, OuterRef, Q

from annotation import models
from annotation.campaigns.rated import has_rated_outputs, rated_by
from annotation.core.access import may_manage
from annotation.core.numbers import card
from annotation.models import CampaignState, JobState, Project, Purpose, Target
from annotation.overview.campaigns import at_work, running_campaigns
from annotation.overview.jobs import failed_jobs, open_jobs, running_jobs
from annotation.overview.registry import FINDINGS, NEEDS, Finding, Need, NextStep, Running, Source
from annotation.overview.steps import Counts, next_step

FINDINGS_SHOWN, ALL_FINDINGS = 5, 40
SHOWN = 5  # of what is running and of what is to do, before the rest is folded away
FOLDED = 30
MIXED = 20  # campaigns whose texts are counted to tell what they rate, newest first


class Dated(Protocol):
    @property
    def at(self) -> datetime: ...


AnyDated = TypeVar("AnyDated", bound=Dated)


@dataclass(frozen=True)
class Newest(Generic[AnyDated]):
    """The newest of something, how many there are, and further ones that the page folds away."""

    shown: list[AnyDated]
    total: int
    folded: list[AnyDated]

    @property
    def more(self) -> int:
        return self.total - len(self.shown)

    @property
    def not_listed(self) -> int:
        return self.more - len(self.folded)


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
        findings=_led(_newest(_once(finding for source in FINDINGS for finding in source(project, most + 1)), most)),
        running=_newest([*running_campaigns(project), *running_jobs(project, jobs)], SHOWN),
        needs=_newest([*needs, *(failed_jobs(project, jobs) if manages else [])], SHOWN),
        counts=counts,
        cards=_cards(counts),
        step=next_step(project, counts, jobs) if manages else None,
    )


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings without those that a newer one of their kind repeats word for word: it names their sources."""
    by_text: dict[tuple[str, str], Finding] = {}
    for finding in sorted(findings, key=attrgetter("at"), reverse=True):
        newest = by_text.setdefault((finding.kind, finding.text), finding)
        if newest is not finding:
            by_text[finding.kind, finding.text] = replace(
                newest,
                leads=newest.leads or finding.leads,
                stays=newest.stays or finding.stays,
                also=(*newest.also, Source(finding.about or finding.kind, finding.url), *finding.also),
            )
    return list(by_text.values())


def _newest(rows: Iterable[AnyDated], most: int) -> Newest[AnyDated]:
    every = list(rows)
    newest = nlargest(most + FOLDED, every, key=attrgetter("at"))
    return Newest(newest[:most], len(every), newest[most:])


def _led(findings: Newest[Finding]) -> Newest[Finding]:
    """Put the newest finding that leads first, and the newest that stays among those that are shown."""
    every = [*findings.shown, *findings.folded]
    n = len(findings.shown)
    stays = next((finding for finding in every if finding.stays), None)
    if n > 1 and stays is not None and stays not in every[: n - 1]:  # one place may go to the finding that leads
        every.remove(stays)
        every.insert(n - 2, stays)
    lead = next((finding for finding in every if finding.leads), None)
    if lead is not None:
        every.remove(lead)
        every.insert(0, lead)
    return Newest(every[:n], findings.total, every[n:])


def counts_of(project: Project) -> Counts:
    """Count what the steps have brought about."""
    # Apps above this one hold score runs and studies, so the project's relations reach them.
    anything: Any = project
    done = Q(state=JobState.DONE)
    states = project.campaigns.aggregate(
        n=Count("pk"),
        open=Count("pk", filter=Q(state__in=[CampaignState.RUNNING, CampaignState.PAUSED])),
        over=Count("pk", filter=Q(state=CampaignState.CLOSED)),
    )
    return Counts(
        datasets=project.datasets.count(),
        campaigns=states["n"],
        open=states["open"],
        complete=sum(row.is_complete for row in at_work(project)),
        to_reopen=sum(row.is_filled and row.left_out > 0 for row in at_work(project)),
        closed=states["over"],
        of_references=_of_references(project),
        **_answers(project),
        releases=models.Release.objects.filter(done, reference_set__project=project).count(),
        runs=anything.score_runs.filter(done).count(),
        references=models.ResponseSource.objects.filter(item__dataset__project=project, system=None).exists(),
        studies=anything.studies.filter(done).count(),
        rated_outputs=has_rated_outputs(project.campaigns.all()),
    )


def _answers(project: Project) -> dict[str, int]:
    """Count the answers that count, and those of excluded raters."""
    outcome = models.PresentationOutcome
    excluded = models.Participation.objects.filter(
        campaign=OuterRef("campaign"), rater=OuterRef("rater"), excluded_at__isnull=False
    )
    sent = models.Presentation.objects.filter(campaign__project=project, purpose=Purpose.WORK)
    sent = sent.filter(outcome__in=[outcome.SUBMITTED, outcome.IMPORTED, outcome.REPLACED])
    by_excluded = sent.filter(Exists(excluded))
    left_out = by_excluded.count()
    counted_ones = sent.exclude(outcome=outcome.REPLACED).exclude(pk__in=by_excluded.values("pk")).count()
    return {"answers": counted_ones, "left_out": left_out}


def _answers_hint(counts: Counts) -> str:
    if not counts.left_out:
        return "of raters, sent here or imported"
    return f"that count; {counts.left_out:,} more of excluded raters"


def _of_references(project: Project) -> int:
    """Count the campaigns whose ratings can become weights: those that rate mostly references."""
    others = project.campaigns.exclude(target=Target.REFERENCES).exclude(state=CampaignState.DRAFT)
    mixed = others.filter(Q(imported=True) | Q(target=Target.LISTED)).order_by("-pk")[:MIXED]
    plain = project.campaigns.filter(target=Target.REFERENCES).exclude(state=CampaignState.DRAFT).count()
    return plain + sum(not rated_by(campaign).mostly_outputs for campaign in mixed)


def _cards(counts: Counts) -> list[dict[str, str]]:
    """Return the numbers of the loop."""
    return [
        card("Answers", counts.answers, _answers_hint(counts), "annotation:campaign-list"),
        card("Releases", counts.releases, "of weights", "annotation:reference-set-list"),
        card("Score runs", counts.runs, "finished", "metrics:run-list"),
        card("Studies", counts.studies, "finished", "correlations:study-list"),
    ]
