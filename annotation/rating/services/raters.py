"""Raters come and agree; each is a pseudonym."""

import secrets
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from annotation.allocation.seeds import derive_seed
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Participation, Project, Rater, Stage
from annotation.rating.services.qualification import first_stage

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike
MAX_NAME = 60


def rater_create(*, project: Project, name: str = "") -> Rater:
    """A rater under the given name, or an anonymous one. A name that is taken gets a number."""
    name = " ".join(name.split())
    if "\x00" in name:
        message = "Found a NUL character; accepted: any other."
        raise AnnotationError.at("name", message)
    if len(name) > MAX_NAME - 4:
        message = f"Found {len(name)} characters; accepted: up to {MAX_NAME - 4}."
        raise AnnotationError.at("name", message)
    if not name:
        return Rater.objects.create(project=project, pseudonym=f"rater-{_random(8)}")
    for suffix in ["", *(f" {number}" for number in range(2, 1000))]:
        rater, created = Rater.objects.get_or_create(project=project, pseudonym=f"{name}{suffix}")
        if created:
            return rater
    return Rater.objects.create(project=project, pseudonym=f"{name[:40]} {_random(8)}")


def rater_of_token(*, project: Project, access_token: UUID | None) -> Rater | None:
    return Rater.objects.filter(project=project, access_token=access_token).first() if access_token else None


@transaction.atomic
def participation_start(*, campaign: Campaign, rater: Rater) -> Participation:
    """The rater agrees and may begin; agreeing twice is once."""
    if campaign.state == CampaignState.DRAFT or campaign.imported:
        raise AnnotationError("This campaign has not been launched.")
    if campaign.state == CampaignState.CLOSED:
        raise AnnotationError("This campaign has been closed; ratings are no longer accepted.")
    participation, _ = Participation.objects.get_or_create(
        campaign=campaign,
        rater=rater,
        defaults={
            "order_seed": derive_seed(campaign.seed, "rater", rater.pk),
            "consented_at": Now(),
            "stage": first_stage(campaign),
            "attempt": int(first_stage(campaign) == Stage.TEST),
        },
    )
    return participation


def _random(length: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(length))
