"""Reads over decisions about raters: who is left out of a campaign's figures, and what replacing them would open."""

from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import (
    Campaign,
    Participation,
    Presentation,
    PresentationOutcome,
    Purpose,
    Rater,
    RaterDecision,
    Rating,
)


def excluded_raters(campaigns: Iterable[Campaign]) -> QuerySet[Rater]:
    """Raters excluded in one of some campaigns, and not taken back in there."""
    excluded = Participation.objects.filter(
        campaign__in=[campaign.pk for campaign in campaigns], excluded_at__isnull=False
    )
    return Rater.objects.filter(pk__in=excluded.values("rater")).order_by("pk")


def excluded_rater_ids(campaigns: Iterable[Campaign]) -> list[int]:
    return list(excluded_raters(campaigns).values_list("pk", flat=True))


def decisions(campaign: Campaign, rater: Rater | None = None) -> QuerySet[RaterDecision]:
    """Newest first."""
    found = RaterDecision.objects.filter(campaign=campaign).select_related("rater", "rules", "decided_by")
    return (found if rater is None else found.filter(rater=rater)).order_by("-pk")


def filled(campaign: Campaign) -> QuerySet[Presentation]:
    """Presentations that fill a slot."""
    return Presentation.objects.filter(
        campaign=campaign, purpose=Purpose.WORK, outcome=PresentationOutcome.SUBMITTED, slot__isnull=False
    )


def replaceable(campaign: Campaign, rater: Rater | None = None) -> QuerySet[Presentation]:
    """Slots filled by raters who are excluded now, or by one of them: what replacing would open again."""
    excluded = Participation.objects.filter(campaign=campaign, excluded_at__isnull=False)
    of = excluded if rater is None else excluded.filter(rater=rater)
    return filled(campaign).filter(rater__in=of.values("rater"))


def unjudged(campaign: Campaign) -> QuerySet[Presentation]:
    """Presentations that fill a slot though their latest answer leaves something out as not to be judged."""
    return filled(campaign).filter(_leaves_out())


def reopenings(campaign: Campaign, units: Iterable[int]) -> dict[int, int]:
    """How often a place of some units was opened again because somebody could not judge it."""
    again = Presentation.objects.filter(campaign=campaign, unit__in=list(units), outcome=PresentationOutcome.REPLACED)
    counted = again.filter(_leaves_out()).order_by().values_list("unit").annotate(n=Count("pk"))
    return dict(counted)


def to_reopen(campaign: Campaign, per_unit: int) -> list[Presentation]:
    """Return the earliest unjudged presentations of each unit, up to ``per_unit`` reopened slots of it in all.

    Those of excluded raters are left to ``replaceable``.
    """
    excluded = Participation.objects.filter(campaign=campaign, excluded_at__isnull=False)
    by_unit: dict[int, list[Presentation]] = {}
    for presentation in unjudged(campaign).exclude(rater__in=excluded.values("rater")).order_by("pk"):
        if presentation.unit_id is not None:
            by_unit.setdefault(presentation.unit_id, []).append(presentation)
    reopened = reopenings(campaign, by_unit)
    chosen = [
        presentation
        for unit, presentations in by_unit.items()
        for presentation in presentations[: max(per_unit - reopened.get(unit, 0), 0)]
    ]
    return sorted(chosen, key=lambda presentation: presentation.pk)


def _leaves_out() -> Q:
    later = Rating.objects.filter(
        presentation=OuterRef("presentation"),
        response=OuterRef("response"),
        criterion=OuterRef("criterion"),
        revision__gt=OuterRef("revision"),
    )
    without = Rating.objects.filter(presentation=OuterRef("pk"), value__isnull=True).filter(~Exists(later))
    return Q(Exists(without))
