"""What a project holds about somebody, by the id or name that they give."""

from dataclasses import dataclass

from django.db.models import Q

from annotation.models import (
    CheckAnswer,
    Comment,
    Presentation,
    Project,
    ProviderEvent,
    Rater,
    RaterIdentity,
    Rating,
    Submission,
)

MOST = 20


@dataclass(frozen=True)
class Held:
    """One rater, by which ids they are known, and how much there is of them."""

    rater: Rater
    identities: list[tuple[str, str]]  # provider, id
    campaigns: list[tuple[int, str]]
    presentations: int
    ratings: int
    check_answers: int
    comments: int
    submissions: int
    messages: int  # of providers, that hold one of the ids


def held_about(project: Project, wanted: str) -> list[Held]:
    """Everybody whose id at a provider, submission's id or pseudonym is exactly ``wanted``."""
    wanted = wanted.strip()
    if not wanted:
        return []
    found = Rater.objects.filter(
        Q(pseudonym=wanted) | Q(identity__external_id=wanted) | Q(submissions__external_id=wanted), project=project
    )
    return [held_of(rater) for rater in found.distinct().order_by("pk")[:MOST]]


def held_of(rater: Rater) -> Held:
    identities = list(RaterIdentity.objects.filter(rater=rater).values_list("provider", "external_id"))
    submissions = Submission.objects.filter(rater=rater)
    stays = submissions.values_list("recruitment__provider", "external_id").order_by("pk")
    known = [*identities, *(stay for stay in stays if not stay[1].startswith("erased-"))]
    presentations = Presentation.objects.filter(rater=rater)
    return Held(
        rater=rater,
        identities=known,
        campaigns=list(presentations.order_by("campaign").values_list("campaign_id", "campaign__name").distinct()),
        presentations=presentations.count(),
        ratings=Rating.objects.filter(rater=rater).count(),
        check_answers=CheckAnswer.objects.filter(rater=rater).count(),
        comments=Comment.objects.filter(rater=rater).exclude(text="").count(),
        submissions=submissions.count(),
        messages=_messages(rater.project_id, [one for provider, one in known if provider != "account"]),
    )


def _messages(project: int, ids: list[str]) -> int:
    if not ids:
        return 0
    named = Q()
    for one in ids:
        named |= Q(payload__icontains=one) | Q(error__contains=one)
    return ProviderEvent.objects.filter(named, account__project=project).count()
