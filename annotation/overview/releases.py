"""Weights on the front page: finished releases, and closed campaigns that no release counts."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotation.campaigns.rated import weights_url
from annotation.core.numbers import counted, decimals
from annotation.models import Campaign, CampaignState, JobState, Project, Release, Target
from annotation.overview.registry import Finding, Need, register
from annotation.references.releases.selectors.releases import finished_releases

MOST = 5


def release_findings(project: Project, most: int) -> Iterator[Finding]:
    for release in finished_releases(project).filter(deprecated_at=None).order_by("-finished_at")[:most]:
        report = release.report
        references, ratings = report.get("references", {}), report.get("ratings", {})
        n_weights = references.get("all", 0) - sum(references.get("without_weight", {}).values())
        judgements = ratings.get("judgements", 0)
        origin = f"from {counted(judgements, 'rating')}" if judgements else "that were made elsewhere"
        yield Finding(
            "Weights",
            release.finished_at,  # type: ignore[arg-type] # finished ones have a time
            f"{release}: {counted(n_weights, 'weight')} {origin}.",
            _sure(release, judgements / n_weights if n_weights else 0.0),
            reverse("annotation:release-detail", args=[project.slug, release.reference_set.slug, release.number]),
        )


def _sure(release: Release, each: float) -> str:
    """Return how many ratings a weight rests on, and how far the raters agree."""
    agreement = release.report.get("agreement", {})
    alpha, low, high = (agreement.get(name) for name in ("alpha", "alpha_low", "alpha_high"))
    parts = [f"{each:.1f} ratings each".replace(".0 ", " ")] if each else []
    if alpha is not None:
        interval = "" if low is None else f" [{decimals(low)}, {decimals(high)}]"
        parts.append(f"raters agree with α\u00a0=\u00a0{decimals(alpha)}{interval}")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def unweighed(project: Project) -> Iterator[Need]:
    """Yield closed campaigns about references that no finished release counts."""
    counted_in = Release.objects.filter(reference_set__campaigns=OuterRef("pk"), state=JobState.DONE)
    closed = Campaign.objects.filter(
        project=project, state=CampaignState.CLOSED, target=Target.REFERENCES, imported=False
    ).exclude(Exists(counted_in))
    closed = closed.select_related("project", "dataset")
    for campaign in closed.order_by("-closed_at")[:MOST]:
        yield Need(
            campaign.closed_at,  # type: ignore[arg-type] # closed ones have a time
            f"“{campaign.name}” is closed, and no weights are built from its ratings.",
            "Build weights",
            weights_url(campaign),
        )


register(findings=[release_findings], needs=[unweighed])
