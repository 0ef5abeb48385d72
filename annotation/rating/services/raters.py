"""Create raters, each under a pseudonym, and record their consent."""

import secrets
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from annotation.allocation.seeds import derive_seed
from annotation.core.errors import AnnotationError
from annotation.core.limits import Limit, limit_count
from annotation.models import Campaign, CampaignState, Participation, Project, Rater, Stage
from annotation.rating.pseudonyms import LETTERS
from annotation.rating.services.qualification import first_stage

MAX_NAME = 60
LONGEST_NAME = MAX_NAME - 4  # leaves room for a number
ARRIVALS = "new raters from your address"


def rater_create(*, project: Project, name: str = "") -> Rater:
    """Create a rater under the given name, or anonymously. A name that is taken gets a number."""
    name = " ".join(name.split())
    if "\x00" in name:
        raise AnnotationError.at("name", "Found a NUL character; accepted: any other.")
    if len(name) > LONGEST_NAME:
        raise AnnotationError.at("name", f"Found {len(name)} characters; accepted: up to {LONGEST_NAME}.")
    if not name:
        return Rater.objects.create(project=project, pseudonym=f"rater-{_random(8)}")
    for suffix in ["", *(f" {number}" for number in range(2, 1000))]:
        rater, created = Rater.objects.get_or_create(project=project, pseudonym=f"{name}{suffix}")
        if created:
            return rater
    return Rater.objects.create(project=project, pseudonym=f"{name[:40]} {_random(8)}")


def arrival_count(*, project: Project, address: str) -> None:
    """Count a person who comes from this address; raise ``LimitReached`` if too many have come lately.

    Every such person may hold an item, so that a script could otherwise take all items at once. Simulated raters come
    from one address.
    """
    if project.is_sandbox:
        return
    minute = settings.RATER_ARRIVALS_PER_MINUTE
    limit_count(limit=Limit("arrivals", most=minute, seconds=60, uses=ARRIVALS), subject=address)
    limit_count(limit=Limit("arrivals-hour", most=10 * minute, seconds=3600, uses=ARRIVALS), subject=address)


def rater_of_token(*, project: Project, access_token: UUID | None) -> Rater | None:
    return Rater.objects.filter(project=project, access_token=access_token).first() if access_token else None


@transaction.atomic
def participation_start(*, campaign: Campaign, rater: Rater) -> Participation:
    """Record the rater's consent; a second consent changes nothing."""
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
            "stage": (stage := first_stage(campaign)),
            "attempt": int(stage == Stage.TEST),
        },
    )
    return participation


def _random(length: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(length))
