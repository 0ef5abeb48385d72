"""Read the decisions about raters: who is excluded, and which slots could be reopened."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from annotation import models


def excluded_raters(campaigns: Iterable[models.Campaign]) -> QuerySet[models.Rater]:
    """Return the raters who are excluded now in any of these campaigns."""
    campaign_ids = [campaign.pk for campaign in campaigns]
    excluded = models.Participation.objects.filter(campaign__in=campaign_ids, excluded_at__isnull=False)
    return models.Rater.objects.filter(pk__in=excluded.values("rater")).order_by("pk")


def excluded_rater_ids(campaigns: Iterable[models.Campaign]) -> list[int]:
    return list(excluded_raters(campaigns).values_list("pk", flat=True))


def decisions(campaign: models.Campaign, rater: models.Rater | None = None) -> QuerySet[models.RaterDecision]:
    """Return the decisions, newest first."""
    rows = models.RaterDecision.objects.filter(campaign=campaign).select_related("rater", "rules", "decided_by")
    return (rows if rater is None else rows.filter(rater=rater)).order_by("-pk")


def filled(campaign: models.Campaign) -> QuerySet[models.Presentation]:
    """Return the presentations that fill a slot."""
    return models.Presentation.objects.filter(
        campaign=campaign, purpose=models.Purpose.WORK, outcome=models.PresentationOutcome.SUBMITTED, slot__isnull=False
    )


def replaceable(campaign: models.Campaign, rater: models.Rater | None = None) -> QuerySet[models.Presentation]:
    """Return the presentations whose slots replacing reopens: of all excluded raters, or of one."""
    slots = filled(campaign).filter(rater__in=_excluded(campaign).values("rater"))
    return slots if rater is None else slots.filter(rater=rater)


def _excluded(campaign: models.Campaign) -> QuerySet[models.Participation]:
    return models.Participation.objects.filter(campaign=campaign, excluded_at__isnull=False)


def reopened_slots(campaign: models.Campaign) -> int:
    """Return how many slots decisions about raters have opened again for others."""
    total = campaign.decisions.aggregate(n=Sum("reopened_slots"))["n"]
    return int(total or 0)


def to_reopen(campaign: models.Campaign, per_unit: int) -> list[models.Presentation]:
    """Return the earliest unjudged presentations of each unit, up to ``per_unit`` reopened slots of it in all.

    An answer is unjudged if its latest revision lacks a value. Slots of excluded raters are left to ``replaceable``.
    """
    unjudged = (
        filled(campaign).filter(_lacks_a_value()).exclude(rater__in=_excluded(campaign).values("rater")).order_by("pk")
    )
    by_unit: defaultdict[int | None, list[models.Presentation]] = defaultdict(list)
    for presentation in unjudged.filter(unit__isnull=False):
        by_unit[presentation.unit_id].append(presentation)
    replaced = models.Presentation.objects.filter(
        campaign=campaign, unit__in=by_unit, outcome=models.PresentationOutcome.REPLACED
    )
    reopened = dict(replaced.filter(_lacks_a_value()).order_by().values_list("unit").annotate(n=Count("pk")))
    chosen = [
        presentation
        for unit, presentations in by_unit.items()
        for presentation in presentations[: max(per_unit - reopened.get(unit, 0), 0)]
    ]
    return sorted(chosen, key=lambda presentation: presentation.pk)


def _lacks_a_value() -> Q:
    later = models.Rating.objects.filter(
        Q(turn=OuterRef("turn")) | Q(turn__isnull=True),
        presentation=OuterRef("presentation"),
        response=OuterRef("response"),
        criterion=OuterRef("criterion"),
        revision__gt=OuterRef("revision"),
    )
    return Q(Exists(models.Rating.objects.filter(~Exists(later), presentation=OuterRef("pk"), value__isnull=True)))
