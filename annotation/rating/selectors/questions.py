"""The questions that raters answer about themselves: as they read them, and how often each answer was given."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.campaigns.design.questionnaire import AFTER, Questionnaire
from annotation.campaigns.questions import AnswerKind, Question, Wording, kind_of, wording
from annotation.models import Campaign, CampaignState, Participation, Presentation, Rater, RaterAnswer, Stage
from annotation.rating.selectors.handout import ANSWERED, BEFORE_WORK, participation_of

FEWEST_FOR_QUARTILES = 5  # fewer numbers would show what single raters answered


def questionnaire_of(campaign: Campaign) -> Questionnaire:
    return Questionnaire.lenient(campaign.questions)


def field_of(question: Question) -> str:
    """Return the name of a question's field in the rater's form."""
    return f"q-{question.name}"


@dataclass(frozen=True)
class ShownQuestion:
    """A question on the rater's page, with what the rater gave and what is wrong with it."""

    question: Question
    answers: AnswerKind
    wording: Wording
    given: Sequence[str]
    error: str = ""

    @property
    def field(self) -> str:
        return field_of(self.question)

    @property
    def options(self) -> list[tuple[str, str, bool]]:
        """Return value and label of each answer to choose from, and whether it is chosen."""
        labels = zip(self.question.options, self.wording.options, strict=True)
        return [(value, label, value in self.given) for value, label in labels]


def shown_questions(
    campaign: Campaign,
    *,
    given: Mapping[str, Sequence[str]] | None = None,
    errors: Mapping[str, Sequence[str]] | None = None,
) -> list[ShownQuestion]:
    """Return the questions in the rater's language; ``given`` and ``errors`` are by the names of the questions."""
    return [
        ShownQuestion(
            question,
            kind_of(question),
            wording(question),
            (given or {}).get(question.name, ()),
            " ".join((errors or {}).get(question.name, ())),
        )
        for question in questionnaire_of(campaign).questions
    ]


def questions_are_due(*, campaign: Campaign, rater: Rater) -> bool:
    """Return whether the rater has to answer the campaign's questions before the next item."""
    if not campaign.questions or campaign.state != CampaignState.RUNNING:
        return False
    participation = participation_of(campaign=campaign, rater=rater)
    if participation is None or participation.questions_answered_at or participation.excluded_at:
        return False
    if participation.stage == Stage.FAILED:
        return False
    if questionnaire_of(campaign).when == AFTER:
        answered = Presentation.objects.filter(campaign=campaign, rater=rater, outcome__in=ANSWERED)
        return answered.exclude(purpose__in=BEFORE_WORK).exists()
    return True


@dataclass(frozen=True)
class AnswerCounts:
    """How raters answered a question. ``counts`` is empty for answers in words and for numbers."""

    question: Question
    asked: int  # raters who sent their answers
    answered: int
    counts: list[tuple[str, int]]
    quartiles: tuple[float, float, float] | None = None  # of numbers, if there are enough of them


def answer_counts(campaign: Campaign) -> list[AnswerCounts]:
    """Return the counts of answers to each question of the campaign; they name no rater."""
    questions = questionnaire_of(campaign).questions
    if not questions:
        return []
    asked = Participation.objects.filter(campaign=campaign, questions_answered_at__isnull=False).count()
    given: dict[str, list[list[str]]] = defaultdict(list)
    rows = RaterAnswer.objects.filter(participation__campaign=campaign).order_by()
    for name, values in rows.values_list("question", "values"):
        given[name].append(values)
    return [_counted(question, asked, given[question.name]) for question in questions]


def _counted(question: Question, asked: int, given: list[list[str]]) -> AnswerCounts:
    counts: list[tuple[str, int]] = []
    quartiles = None
    if kind_of(question).is_listed:
        times = Counter(value for values in given for value in values)
        counts = [(option, times[option]) for option in question.options if times[option]]
    elif question.kind == "number" and len(given) >= FEWEST_FOR_QUARTILES:
        low, middle, high = np.quantile([float(values[0]) for values in given], (0.25, 0.5, 0.75)).tolist()
        quartiles = (low, middle, high)
    return AnswerCounts(question, asked, len(given), counts, quartiles)


def answers_of(campaign: Campaign, rater: Rater) -> list[tuple[Question, str]]:
    """Return what a rater answered to each question, for managers; empty if it was left out."""
    rows = RaterAnswer.objects.filter(participation__campaign=campaign, participation__rater=rater)
    given = dict(rows.values_list("question", "values"))
    questions = questionnaire_of(campaign).questions if given else ()
    return [(question, "; ".join(given.get(question.name, ()))) for question in questions]
