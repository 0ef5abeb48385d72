"""All items that a rater was shown, in order, with their answers; checks included."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation import models
from annotation.rating.selectors.handout import ANSWERED, BEFORE_WORK


@dataclass(frozen=True)
class Value:
    """The current answer on one criterion, the values before it, and the expected range."""

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
    position: int  # on the screen, from 1
    role: str
    values: list[Value]
    response_id: int | None = None


@dataclass(frozen=True)
class ShownItem:
    presentation: models.Presentation
    texts: list[Text]
    comment: str = ""

    @property
    def is_check(self) -> bool:
        return self.presentation.purpose in (*models.MIXED_IN, *BEFORE_WORK)

    @property
    def seconds(self) -> float | None:
        return self.presentation.seconds if self.presentation.outcome in ANSWERED else None

    @property
    def at(self) -> datetime | None:
        return self.presentation.ended_at or self.presentation.shown_at


# Revisions in order, by presentation and response or number of the text, then by criterion and turn.
Asked = tuple[int, int | None]
Answers = Mapping[tuple[int, int], Mapping[Asked, list[Any]]]


def _answers(rows: QuerySet[Any], presentations: Sequence[int], text: str) -> Answers:
    answers: defaultdict[tuple[int, int], dict[Asked, list[Any]]] = defaultdict(dict)
    for row in rows.filter(presentation__in=presentations).order_by("revision"):
        answers[row.presentation_id, getattr(row, text)].setdefault((row.criterion_id, row.turn), []).append(row)
    return answers


@dataclass(frozen=True)
class _Page:
    """What a page of presentations needs, read at once."""

    criteria: list[models.Criterion]
    ratings: Answers
    checks: Answers
    responses: Mapping[int, Mapping[int, models.UnitResponse]]  # by unit and number

    def texts(self, presentation: models.Presentation) -> list[Text]:
        check, unit = presentation.check_unit, self.responses.get(presentation.unit_id or 0, {})
        result = []
        for position, number in enumerate(presentation.order or sorted(unit), start=1):
            checked = self.checks.get((presentation.pk, number), {})
            if check is not None:
                text = check.texts[number]
                values = self.values(checked, expected=text.get("expected", {}))
                result.append(Text(text["text"], position, text.get("role", "plain"), values))
                continue
            response = unit[number]
            if presentation.purpose == models.Purpose.REPEAT:
                first = self.ratings.get((presentation.repeats_id or 0, response.response_id), {})
                values = self.values(checked, first=first)
            else:
                values = self.values(self.ratings.get((presentation.pk, response.response_id), {}))
            result.append(Text(response.response.text, position, "plain", values, response.response_id))
        return result

    def values(
        self,
        revisions: Mapping[Asked, list[Any]],
        *,
        expected: Mapping[str, Sequence[float]] | None = None,
        first: Mapping[Asked, list[Any]] | None = None,
    ) -> list[Value]:
        result = []
        turns = sorted({turn for _, turn in revisions if turn is not None})
        for criterion, turn in ((each, turn) for each in self.criteria for turn in (None, *turns)):
            if not (answers := revisions.get((criterion.pk, turn))):
                continue
            ends = (expected or {}).get(criterion.name)
            before = (first or {}).get((criterion.pk, turn))
            result.append(
                Value(
                    criterion=criterion.name if turn is None else f"{criterion.name}, turn {turn + 1}",
                    value=answers[-1].value,
                    cannot_judge=answers[-1].cannot_judge,
                    before=[answer.value for answer in answers[:-1]],
                    expected=(float(ends[0]), float(ends[1])) if ends else None,
                    first=before[-1].value if before else None,
                )
            )
        return result


def rater_items(
    campaign: models.Campaign, rater: models.Rater, *, after: int = 0, size: int = 50
) -> tuple[list[ShownItem], int | None]:
    """Return the rater's items in the order shown, and the id to continue from if there are more."""
    shown = models.Presentation.objects.filter(campaign=campaign, rater=rater, pk__gt=after).order_by("pk")
    presentations = list(shown.select_related("check_unit", "unit__item", "repeats")[: size + 1])
    page, more = presentations[:size], len(presentations) > size
    ids = [pk for presentation in page for pk in (presentation.pk, presentation.repeats_id) if pk]
    responses: defaultdict[int, dict[int, models.UnitResponse]] = defaultdict(dict)
    units = [presentation.unit_id for presentation in page if presentation.unit_id]
    for response in models.UnitResponse.objects.filter(unit__in=units).select_related("response"):
        responses[response.unit_id][response.number] = response
    data = _Page(
        list(models.Criterion.objects.filter(campaign=campaign)),
        _answers(models.Rating.objects.all(), ids, "response_id"),
        _answers(models.CheckAnswer.objects.all(), ids, "number"),
        responses,
    )
    comments = models.Comment.objects.filter(presentation__in=ids).order_by("revision")
    texts = dict(comments.values_list("presentation_id", "text"))
    items = [ShownItem(presentation, data.texts(presentation), texts.get(presentation.pk, "")) for presentation in page]
    return items, page[-1].pk if more else None
