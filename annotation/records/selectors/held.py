"""The data that a project holds about a rater, by the id or name that the rater gives."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet

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
from annotation.models.identities import digests_of, texts_by_digest
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
    digests = digests_of(rater_id)
    known_as = Q(pseudonym=rater_id) | Q(identity__digest__in=digests) | Q(submissions__digest__in=digests)
    known_as |= Q(identity__local_id=rater_id)
    if numbered := NUMBERED.fullmatch(rater_id):
        known_as |= Q(pk=int(numbered[1])) & ~Q(pseudonym__regex=f"^({MADE_HERE})$")
    raters = Rater.objects.filter(known_as, project=project)
    return [held_of(rater) for rater in raters.distinct().order_by("pk")[:MOST]]


def held_of(rater: Rater) -> Held:
    identities = RaterIdentity.objects.filter(rater=rater)
    submissions = Submission.objects.filter(rater=rater)
    stays = submissions.exclude(sealed="").select_related("recruitment").order_by("pk")
    known = [(identity.provider, identity.shown_id) for identity in identities]
    known += [(stay.recruitment.provider, stay.shown_id) for stay in stays]
    elsewhere = [each for provider, each in known if provider != RaterIdentity.ACCOUNT]
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
        messages=messages_naming(rater.project_id, elsewhere).count(),
    )


def messages_naming(project: int, ids: Iterable[str]) -> QuerySet[ProviderEvent]:
    """Return the providers' messages with one of these ids."""
    return ProviderEvent.objects.filter(account__project=project, digests__overlap=list(texts_by_digest(ids)))
