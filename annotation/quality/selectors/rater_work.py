"""Everything one rater was shown and answered, in order, checks included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.models import (
    Campaign,
    CheckAnswer,
    Comment,
    Criterion,
    Presentation,
    PresentationOutcome,
    Purpose,
    Rater,
    Rating,
    UnitResponse,
)

MARKED = {
    Purpose.REPEAT,
    Purpose.GOLD,
    Purpose.ATTENTION,
    Purpose.DEGRADED,
    Purpose.ANCHOR,
    Purpose.TRAINING,
    Purpose.TEST,
}


@dataclass(frozen=True)
class Value:
    """One answer on one criterion, as it stands; what it was before, what was expected."""

    criterion: str
    value: float | None
    cannot_judge: str
    before: list[float | None]
    expected: tuple[float, float] | None = None
    first: float | None = None  # of a repeat

    @property
    def is_met(self) -> bool | None:
        if self.expected is None:
            return None
        return self.value is not None and self.expected[0] <= self.value <= self.expected[1]


@dataclass(frozen=True)
class Text:
    text: str
    place: int  # on the screen, from 1
    role: str
    values: list[Value]
    response_id: int | None = None


@dataclass(frozen=True)
class Screen:
    """One screen in front of the rater."""

    presentation: Presentation
    texts: list[Text]
    comment: str = ""

    @property
    def is_check(self) -> bool:
        return self.presentation.purpose in MARKED

    @property
    def seconds(self) -> float | None:
        answered = self.presentation.outcome in (
            PresentationOutcome.SUBMITTED,
            PresentationOutcome.LATE,
            PresentationOutcome.REPLACED,
        )
        return self.presentation.seconds if answered else None

    @property
    def at(self) -> datetime | None:
        return self.presentation.ended_at or self.presentation.shown_at


@dataclass
class _Answers:
    """Values by presentation, then by response or number of the text, then by criterion; every revision in order."""

    found: dict[int, dict[int, dict[int, list[Rating | CheckAnswer]]]] = field(default_factory=dict)

    def add(self, presentation: int, text: int, answer: Rating | CheckAnswer) -> None:
        texts = self.found.setdefault(presentation, {})
        texts.setdefault(text, {}).setdefault(answer.criterion_id, []).append(answer)


def rater_screens(
    campaign: Campaign, rater: Rater, *, after: int = 0, size: int = 50
) -> tuple[list[Screen], int | None]:
    """The rater's screens in the order they were shown, and the id to go on from, if there are more."""
    shown = Presentation.objects.filter(campaign=campaign, rater=rater, pk__gt=after).order_by("pk")
    found = list(shown.select_related("check_unit", "unit__item", "repeats")[: size + 1])
    page = found[:size]
    return _screens(campaign, page), (page[-1].pk if len(found) > size else None)


def _screens(campaign: Campaign, page: Sequence[Presentation]) -> list[Screen]:
    criteria = list(Criterion.objects.filter(campaign=campaign))
    ids = [one.pk for one in page] + [one.repeats_id for one in page if one.repeats_id]
    ratings, checks = _Answers(), _Answers()
    for rating in Rating.objects.filter(presentation__in=ids).order_by("revision"):
        ratings.add(rating.presentation_id, rating.response_id, rating)
    for answer in CheckAnswer.objects.filter(presentation__in=ids).order_by("revision"):
        checks.add(answer.presentation_id, answer.number, answer)
    units = [one.unit_id for one in page if one.unit_id]
    responses: dict[int, dict[int, UnitResponse]] = {}
    for shown in UnitResponse.objects.filter(unit__in=units).select_related("response"):
        responses.setdefault(shown.unit_id, {})[shown.number] = shown
    comments = dict(
        Comment.objects.filter(presentation__in=ids).order_by("revision").values_list("presentation_id", "text")
    )
    return [Screen(one, _texts(one, criteria, ratings, checks, responses), comments.get(one.pk, "")) for one in page]


def _texts(
    one: Presentation,
    criteria: Sequence[Criterion],
    ratings: _Answers,
    checks: _Answers,
    responses: Mapping[int, Mapping[int, UnitResponse]],
) -> list[Text]:
    result = []
    order = one.order or sorted(responses.get(one.unit_id or 0, {}))
    for place, number in enumerate(order, start=1):
        if one.check_unit is not None:
            text = one.check_unit.texts[number]
            values = _values(criteria, checks.found.get(one.pk, {}).get(number, {}), expected=text.get("expected", {}))
            result.append(Text(text["text"], place, text.get("role", "plain"), values))
            continue
        shown = responses[one.unit_id or 0][number]
        if one.purpose == Purpose.REPEAT:
            first = ratings.found.get(one.repeats_id or 0, {}).get(shown.response_id, {})
            values = _values(criteria, checks.found.get(one.pk, {}).get(number, {}), first=first)
        else:
            values = _values(criteria, ratings.found.get(one.pk, {}).get(shown.response_id, {}))
        result.append(Text(shown.response.text, place, "plain", values, shown.response_id))
    return result


def _values(
    criteria: Sequence[Criterion],
    given: Mapping[int, list[Any]],
    *,
    expected: Mapping[str, Sequence[float]] | None = None,
    first: Mapping[int, list[Any]] | None = None,
) -> list[Value]:
    result = []
    for criterion in criteria:
        answers = given.get(criterion.pk)
        if not answers:
            continue
        ends = (expected or {}).get(criterion.name)
        before = (first or {}).get(criterion.pk)
        result.append(
            Value(
                criterion=criterion.name,
                value=answers[-1].value,
                cannot_judge=answers[-1].cannot_judge,
                before=[one.value for one in answers[:-1]],
                expected=(float(ends[0]), float(ends[1])) if ends else None,
                first=before[-1].value if before else None,
            )
        )
    return result
