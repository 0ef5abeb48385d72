"""Store what raters answer about themselves, once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models.functions import Now

from annotation.campaigns.questions import kind_of
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState, Participation, Rater, RaterAnswer
from annotation.rating.selectors.questions import questionnaire_of
from annotation.rating.services.handout import standing_lock


@transaction.atomic
def questions_answer(*, campaign: Campaign, rater: Rater, given: Mapping[str, Sequence[str]]) -> bool:
    """Store the answers by the names of their questions: all of them, or none if one is refused.

    Return False if the rater has answered before: the first answers stand.
    """
    standing = standing_lock(campaign=campaign, rater=rater)
    if standing.state == CampaignState.CLOSED:
        raise AnnotationError("This campaign has been closed; answers are no longer accepted.")
    participation = Participation.objects.get(campaign=campaign, rater=rater)
    if participation.questions_answered_at is not None:
        return False
    answers: dict[str, list[str]] = {}
    problems: defaultdict[str, list[str]] = defaultdict(list)
    for question in questionnaire_of(campaign).questions:
        try:
            answers[question.name] = kind_of(question).read(given.get(question.name, ()))
        except ValueError as refusal:
            problems[question.name].append(str(refusal))
    if problems:
        message = " ".join(f"{name}: {texts[0]}" for name, texts in problems.items())
        raise AnnotationError(message, fields=problems)
    RaterAnswer.objects.bulk_create(
        RaterAnswer(participation=participation, question=name, values=values)
        for name, values in answers.items()
        if values
    )
    Participation.objects.filter(pk=participation.pk).update(questions_answered_at=Now())
    return True
