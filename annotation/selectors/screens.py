"""What is on a rater's screen: the item, the texts in the order drawn, the questions, the answers so far.

Work, repeats and checks come out alike: nothing here tells a template which of them it shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, pgettext

from annotation.allocation import MAX_LIST
from annotation.models import (
    AnswerDraft,
    Campaign,
    CheckAnswer,
    CheckUnit,
    Comment,
    CommentField,
    Criterion,
    Item,
    Presentation,
    PresentationKind,
    PresentationOutcome,
    Purpose,
    Rating,
    ScaleKind,
    Unit,
    UnitResponse,
)
from annotation.selectors.campaigns import rated_sources
from annotation.selectors.handout import ANSWERED, BEFORE_WORK

MOST_LABELLED = 7  # points whose labels are all shown
SHORT_LABEL = 9  # characters that fit under a point on a phone
SHORT_ROW = 5  # points of which each has room for a short label on a phone

Texts = Mapping[str, str]  # bare field name -> what it holds


@dataclass(frozen=True)
class Point:
    value: int
    label: str
    key: str  # that chooses it; empty where there are more points than digits
    checked: bool

    @property
    def shown(self) -> str:
        return str(self.value).replace("-", "−")

    @property
    def other_key(self) -> str:
        """The key, where it is not the number that stands on the point."""
        return "" if self.key == str(self.value) or (self.value, self.key) == (10, "0") else self.key


@dataclass(frozen=True)
class Question:
    """One criterion asked of one response on screen, or a preference asked of the pair."""

    name: str
    field: str  # the name of its form field
    criterion: Criterion
    text: str = ""  # what its field holds
    error: str = ""

    @property
    def kind(self) -> str:
        return self.criterion.kind

    @property
    def points(self) -> list[Point]:
        pairs = preference_points(self.criterion) if self.kind == ScaleKind.PREFERENCE else self.criterion.points
        keys = point_keys([value for value, _ in pairs], is_preference=self.kind == ScaleKind.PREFERENCE)
        return [
            Point(value, label, key, self.text == str(value)) for (value, label), key in zip(pairs, keys, strict=True)
        ]

    @property
    def layout(self) -> str:
        """Of the points: numbers alone; all labels in a row; or a row that becomes a list on a phone."""
        if self.kind != ScaleKind.LIKERT:
            return "list" if self.kind == ScaleKind.PREFERENCE else self.kind
        labels = [label for _, label in self.criterion.points]
        if not any(labels[1:-1] or labels) or len(labels) > MOST_LABELLED:
            return "numbers"
        fits = max(map(len, labels)) <= SHORT_LABEL and len(labels) <= SHORT_ROW
        return "row" if fits else "list"

    @property
    def ends(self) -> tuple[str, str] | None:
        """The labels of both ends, for where there is no room for all of them."""
        labels = self.criterion.labels
        if not any(labels) or self.kind not in (ScaleKind.LIKERT, ScaleKind.SLIDER):
            return None
        return str(labels[0]), str(labels[-1])

    @property
    def step(self) -> str:
        """Of a slider's number field."""
        return f"{self.criterion.step:g}" if self.criterion.step else "any"


@dataclass(frozen=True)
class ShownResponse:
    letter: str  # empty where there is only one
    text: str
    questions: list[Question]
    position: int = 0
    reason: str = ""  # why it cannot be judged
    reason_field: str = ""
    reason_error: str = ""


@dataclass(frozen=True)
class Screen:
    item: Item | CheckUnit
    responses: list[ShownResponse]
    answered: bool
    preferences: list[Question] = field(default_factory=list)
    standard: str = ""  # the text that magnitudes are relative to
    reasons: Sequence[str] = ()
    takes_comment: bool = False
    comment: str = ""
    comment_field: str = "comment"
    comment_required: bool = False
    comment_error: str = ""
    n_errors: int = 0

    @property
    def questions(self) -> list[Question]:
        return [*(one for response in self.responses for one in response.questions), *self.preferences]

    @property
    def is_long(self) -> bool:
        """Worth keeping on the server before it is sent, and a count of what is done."""
        return len(self.responses) > 2


@dataclass(frozen=True)
class _Shown:
    """What a screen shows, whatever it is for."""

    item: Item | CheckUnit
    texts: Mapping[int, str]  # by canonical number
    order: Sequence[int]
    standard: str = ""


def form_field(name: str, token: UUID) -> str:
    """A field name of this unit alone: going back, browsers fill fields of equal names with another unit's answers."""
    return f"{name}.{token.hex[:8]}"


def criteria_of(campaign: Campaign) -> list[Criterion]:
    """In order; kept in memory from launch on, when they change no more."""
    if campaign.design_hash:
        return _frozen_criteria(campaign.pk, campaign.design_hash)
    return list(Criterion.objects.filter(campaign=campaign).order_by("position", "id"))


@lru_cache(maxsize=64)
def _frozen_criteria(campaign_id: int, _design_hash: str) -> list[Criterion]:
    return list(Criterion.objects.filter(campaign=campaign_id).order_by("position", "id"))


def screen(
    presentation: Presentation,
    *,
    campaign: Campaign | None = None,
    sent: Texts | None = None,
    errors: Mapping[str, Sequence[str]] | None = None,
) -> Screen:
    """The texts in the order drawn for this presentation, with the rater's answers or the ones just sent."""
    campaign = campaign or presentation.campaign
    criteria = criteria_of(campaign)
    shown = _shown(presentation, criteria)
    answered = presentation.outcome in ANSWERED
    held = sent if sent is not None else _held(presentation, criteria, shown, campaign)
    return _screen(campaign, criteria, shown, held, errors or {}, token=presentation.token, answered=answered)


def preview_screen(
    campaign: Campaign, *, criteria: Sequence[Criterion] | None = None, item: Item | None = None
) -> Screen | None:
    """What raters will see, with the first item that has something to rate; None where there is nothing."""
    criteria = list(campaign.criteria.all()) if criteria is None else criteria
    sources = rated_sources(campaign)
    if item is None:
        first = sources.select_related("item").first()
        if first is None:
            return None
        item = first.item
    several = {PresentationKind.SINGLE: 1, PresentationKind.PAIR: 2, PresentationKind.LIST: MAX_LIST}
    of_item = sources.filter(item=item).select_related("response")
    texts = list({source.response_id: source.response.text for source in of_item}.values())
    texts = texts[: several[PresentationKind(campaign.presentation)]]
    if not texts:
        return None
    standard = next((_example_standard(item, one) for one in criteria if one.kind == ScaleKind.MAGNITUDE), "")
    shown = _Shown(item, dict(enumerate(texts)), range(len(texts)), standard)
    return _screen(campaign, criteria, shown, {}, {}, token=None, answered=False)


def preference_points(criterion: Criterion) -> list[tuple[int, str]]:
    """From "the first is much better" to "the second is", each with its words."""
    highest = criterion.scale_max
    values = [value for value in range(highest, -highest - 1, -1) if value or criterion.ties]
    labels = list(criterion.labels)
    if len(labels) == 2 * highest + 1:  # of every value from the lowest, whether ties are allowed or not
        return [(value, labels[value + highest]) for value in values]
    if len(labels) == len(values):
        return list(zip(values, reversed(labels), strict=True))
    return [(value, _preference_words(value, highest)) for value in values]


def point_keys(values: Sequence[int], *, is_preference: bool = False) -> list[str]:
    """The key of each point: its own digit where every point has one (10 is 0), or else its place."""
    if not is_preference and all(0 <= value <= 9 for value in values):
        return [str(value) for value in values]
    if not is_preference and all(1 <= value <= 10 for value in values):
        return [str(value % 10) for value in values]
    if len(values) > 10:
        return [""] * len(values)
    return [str((place + 1) % 10) for place in range(len(values))]


def training_place(presentation: Presentation) -> tuple[int, int] | None:
    """Which training or test screen this is, of how many; None for all other screens."""
    if presentation.purpose not in BEFORE_WORK or presentation.check_unit is None:
        return None
    total = CheckUnit.objects.filter(campaign=presentation.campaign_id, kind=presentation.purpose).count()
    return presentation.check_unit.number + 1, total


# --- What is shown ----------------------------------------------------------------------------------------------------


def _shown(presentation: Presentation, criteria: Sequence[Criterion]) -> _Shown:
    check = presentation.check_unit
    if check is not None:
        texts = {number: str(one["text"]) for number, one in enumerate(check.texts)}
        own = check.context or check.message or check.meaning_representation or check.item is None
        return _Shown(check if own else check.item, texts, presentation.order, check.standard)
    entries = list(UnitResponse.objects.filter(unit=presentation.unit_id).select_related("response__item"))
    texts = {entry.number: entry.response.text for entry in entries}
    return _Shown(entries[0].response.item, texts, presentation.order, _standard(presentation, criteria))


def _standard(presentation: Presentation, criteria: Sequence[Criterion]) -> str:
    if not any(one.kind == ScaleKind.MAGNITUDE for one in criteria):
        return ""
    return Unit.objects.filter(pk=presentation.unit_id).values_list("standard__text", flat=True).get() or ""


def _example_standard(item: Item, criterion: Criterion) -> str:
    named = criterion.standard_source
    by_kind = item.sources.filter(kind=named) | item.sources.filter(system__name=named)
    found = by_kind.select_related("response").order_by("pk").first()
    return found.response.text if found else ""


# --- What its fields hold ---------------------------------------------------------------------------------------------


def _held(
    presentation: Presentation, criteria: Sequence[Criterion], shown: _Shown, campaign: Campaign
) -> Mapping[str, str]:
    if presentation.outcome in ANSWERED:
        return _answers(presentation, criteria, shown, campaign)
    if len(shown.order) > 2 and presentation.outcome == PresentationOutcome.SHOWN:
        draft = AnswerDraft.objects.filter(presentation=presentation).values_list("fields", flat=True).first()
        return {str(name): str(value) for name, value in (draft or {}).items()}
    return {}


def _answers(
    presentation: Presentation, criteria: Sequence[Criterion], shown: _Shown, campaign: Campaign
) -> dict[str, str]:
    by_pk = {criterion.pk: criterion for criterion in criteria}
    held: dict[str, str] = {}
    only_compared = all(criterion.kind == ScaleKind.PREFERENCE for criterion in criteria)
    model: Any = Rating if presentation.purpose == Purpose.WORK else CheckAnswer
    answers = model.objects.filter(presentation=presentation).order_by("revision")
    for position, criterion_id, value, reason in answers.values_list("position", "criterion", "value", "cannot_judge"):
        criterion = by_pk[criterion_id]
        if criterion.kind == ScaleKind.PREFERENCE and position:
            continue  # the other side of what stands at position 0
        name = f"r{position}-{criterion.name}"
        held.pop(name, None)
        if value is not None:
            held[name] = f"{value:.15g}"
        if criterion.kind != ScaleKind.PREFERENCE or only_compared:  # else each text has a reason of its own
            held[f"cannot-{position}"] = reason
    if campaign.comment != CommentField.OFF:
        last = Comment.objects.filter(presentation=presentation).order_by("-revision").first()
        held["comment"] = last.text if last else ""
    return held


# --- The screen itself ------------------------------------------------------------------------------------------------


def _screen(
    campaign: Campaign,
    criteria: Sequence[Criterion],
    shown: _Shown,
    held: Texts,
    errors: Mapping[str, Sequence[str]],
    *,
    token: UUID | None,
    answered: bool,
) -> Screen:
    def field_of(name: str) -> str:
        return form_field(name, token) if token else name

    def question(position: int, criterion: Criterion) -> Question:
        name = f"r{position}-{criterion.name}"
        text = held.get(name, "")
        return Question(name, field_of(name), criterion, text, problem(criterion, text) if name in errors else "")

    each = [one for one in criteria if one.kind != ScaleKind.PREFERENCE]
    reasons = campaign.cannot_judge_reasons
    responses = [
        ShownResponse(
            letter=ascii_uppercase[position] if len(shown.order) > 1 else "",
            text=shown.texts[number],
            questions=[question(position, criterion) for criterion in each],
            position=position,
            reason=held.get(f"cannot-{position}", ""),
            reason_field=field_of(f"cannot-{position}") if reasons else "",
            reason_error=gettext("Please choose one of the reasons.") if f"cannot-{position}" in errors else "",
        )
        for position, number in enumerate(shown.order)
    ]
    return Screen(
        item=shown.item,
        responses=responses,
        answered=answered,
        preferences=[question(0, one) for one in criteria if one.kind == ScaleKind.PREFERENCE],
        standard=shown.standard,
        reasons=reasons,
        takes_comment=campaign.comment != CommentField.OFF,
        comment=held.get("comment", ""),
        comment_field=field_of("comment"),
        comment_required=campaign.comment == CommentField.REQUIRED,
        comment_error=_comment_problem(held.get("comment", "")) if "comment" in errors else "",
        n_errors=len(errors),
    )


def problem(criterion: Criterion, text: str) -> str:
    """What is wrong with an answer, in the rater's words and language."""
    if criterion.kind in (ScaleKind.LIKERT, ScaleKind.PREFERENCE):
        return gettext("Please choose an answer.")
    if criterion.kind == ScaleKind.MAGNITUDE:
        return gettext("Please give a number above 0.")
    low, high = criterion.scale_min, criterion.scale_max
    if text.strip() and criterion.step not in (0, 1):
        step = f"{criterion.step:g}"
        return gettext("Please give a number from %(low)s to %(high)s in steps of %(step)s.") % {
            "low": low, "high": high, "step": step,
        }  # fmt: skip
    return gettext("Please give a number from %(low)s to %(high)s.") % {"low": low, "high": high}


def _comment_problem(text: str) -> str:
    if not text.strip():
        return gettext("Please write a few words.")
    return gettext("This is too long: up to 2,000 characters, please.")


def _preference_words(value: int, highest: int) -> str:
    letter = "A" if value > 0 else "B"
    if value == 0:
        return pgettext("neither of two texts is better", "Equal")
    strength = abs(value)
    if highest > 1 and strength == highest:
        return gettext("%(letter)s much better") % {"letter": letter}
    if highest > 1 and strength == 1:
        return gettext("%(letter)s slightly better") % {"letter": letter}
    words = gettext("%(letter)s better") % {"letter": letter}
    return f"{words} ({strength})" if highest > 3 else words
