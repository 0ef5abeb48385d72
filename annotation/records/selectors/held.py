"""The data that a project holds about a rater, by the id or name that the rater gives."""

import re
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import (
    CheckAnswer,
    Comment,
    Presentation,
    Project,
    ProviderEvent,
    Rater,
    RaterAnswer,
    RaterIdentity,
    Rating,
    Submission,
    WrittenText,
)
from annotation.rating.pseudonyms import MADE_HERE
from annotation.records.selectors.tables import NAMED

MOST = 20  # raters with one id
NUMBERED = re.compile(rf"{NAMED}([0-9]{{1,18}})")


@dataclass(frozen=True)
class Held:
    """A rater, the ids, and how much data there is."""

    rater: Rater
    in_records: str  # the name there, if it is not the pseudonym
    identities: list[tuple[str, str]]  # provider, id
    campaigns: list[tuple[int, str]]
    presentations: int
    ratings: int
    check_answers: int
    comments: int
    texts: int  # that the rater wrote for items
    answers: list[tuple[str, str]]  # to questions about the rater: the question's name, the answer
    submissions: int
    messages: int  # of providers, that hold one of the ids


def held_about(project: Project, rater_id: str) -> list[Held]:
    """Return the raters with exactly this id at a provider, submission's id, pseudonym or name in the records."""
    rater_id = rater_id.strip()
    if not rater_id:
        return []
    known_as = Q(pseudonym=rater_id) | Q(identity__external_id=rater_id) | Q(submissions__external_id=rater_id)
    if numbered := NUMBERED.fullmatch(rater_id):
        known_as |= Q(pk=int(numbered[1])) & ~Q(pseudonym__regex=f"^({MADE_HERE})$")
    raters = Rater.objects.filter(known_as, project=project)
    return [held_of(rater) for rater in raters.distinct().order_by("pk")[:MOST]]


def held_of(rater: Rater) -> Held:
    identities = list(RaterIdentity.objects.filter(rater=rater).values_list("provider", "external_id"))
    submissions = Submission.objects.filter(rater=rater)
    stays = submissions.values_list("recruitment__provider", "external_id").order_by("pk")
    known = [*identities, *(stay for stay in stays if not stay[1].startswith(Submission.ERASED_PREFIX))]
    presentations = Presentation.objects.filter(rater=rater)
    return Held(
        rater=rater,
        in_records="" if re.fullmatch(MADE_HERE, rater.pseudonym) else f"{NAMED}{rater.pk}",
        identities=known,
        campaigns=list(presentations.order_by("campaign").values_list("campaign_id", "campaign__name").distinct()),
        presentations=presentations.count(),
        ratings=Rating.objects.filter(rater=rater).count(),
        check_answers=CheckAnswer.objects.filter(rater=rater).count(),
        comments=Comment.objects.filter(rater=rater).exclude(text="").count(),
        texts=WrittenText.objects.filter(rater=rater).values("presentation").distinct().count(),
        answers=[
            (question, "; ".join(values))
            for question, values in RaterAnswer.objects.filter(participation__rater=rater).values_list(
                "question", "values"
            )
        ],
        submissions=submissions.count(),
        messages=_messages(rater.project_id, [each for provider, each in known if provider != "account"]),
    )


def _messages(project: int, ids: list[str]) -> int:
    if not ids:
        return 0
    named = Q()
    for external_id in ids:
        named |= Q(payload__icontains=external_id) | Q(error__contains=external_id)
    return ProviderEvent.objects.filter(named, account__project=project).count()
