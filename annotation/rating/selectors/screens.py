"""A rater's screen: the item, the texts in the order drawn, the questions and the current answers.

Work, repeats and checks look alike: nothing here tells a template which it shows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from annotation import models
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.scales import Scale, Slider, WholeScale, with_standard
from annotation.campaigns.selectors import rated_sources
from annotation.rating.selectors.handout import ANSWERED, BEFORE_WORK

SHORT_TEXT = 150  # characters

Texts = Mapping[str, str]  # field name without the token -> value


@dataclass(frozen=True)
class Point:
    value: int
    sign: str
    label: str
    key: str  # that chooses it; empty if there are more points than digits
    checked: bool

    @property
    def other_key(self) -> str:
        """Return the key if it is not the number shown on the point."""
        return "" if self.key == str(self.value) or (self.value, self.key) == (10, "0") else self.key


@dataclass(frozen=True)
class Field:
    """A form field and its value."""

    name: str  # in messages
    field: str  # as sent, with the token
    text: str = ""


@dataclass(frozen=True)
class Question:
    """A criterion for one response on screen, or for all of them."""

    criterion: models.Criterion
    fields: Sequence[Field]
    error: str = ""
    focus: bool = False  # the first on the screen with an error

    @property
    def name(self) -> str:
        return self.fields[0].name

    @property
    def field(self) -> str:
        return self.fields[0].field

    @property
    def text(self) -> str:
        return self.fields[0].text

    @property
    def scale(self) -> Scale:
        return self.criterion.scale

    @property
    def wraps(self) -> bool:
        """Return whether a phone shows its points in several rows."""
        return self.scale.columns[0] < len(self.points)

    @property
    def missing(self) -> str:
        """Return what is said as long as there is no answer."""
        return self.scale.message("")

    @property
    def points(self) -> list[Point]:
        return [
            Point(value, self.scale.sign(value), label, key, self.text == str(value))
            for (value, label), key in zip(self.scale.points, self.scale.keys, strict=True)
        ]


@dataclass(frozen=True)
class ShownResponse:
    letter: str  # empty if there is only one response
    text: str
    questions: list[Question]
    position: int = 0
    reason: str = ""  # why it cannot be judged
    reason_field: str = ""
    reason_error: str = ""

    @property
    def scrolls(self) -> bool:
        """Return whether it may be too long to stay in sight as a whole while its questions are answered."""
        return len(self.questions) > 1 and len(self.text) > SHORT_TEXT


@dataclass(frozen=True)
class ShownWriting:
    """The field for a text of the rater's own."""

    design: Writing
    field: str
    pasted_field: str
    sure_field: str
    text: str
    pasted: str = "0"
    error: str = ""
    warning: str = ""  # the rater may send the text all the same
    focus: bool = False

    @property
    def missing(self) -> str:
        return gettext("Please write a text.")

    @property
    def described(self) -> str:
        return " error-written" if self.error or self.warning else ""


@dataclass(frozen=True)
class Screen:
    item: models.Item | models.CheckUnit
    responses: list[ShownResponse]
    answered: bool
    shared: list[Question] = field(default_factory=list)  # about all responses
    standard: str = ""  # the text that magnitudes are relative to
    reasons: Sequence[str] = ()
    takes_comment: bool = False
    comment: str = ""
    comment_field: str = "comment"
    comment_required: bool = False
    comment_error: str = ""
    comment_focus: bool = False
    n_errors: int = 0
    writing: "ShownWriting | None" = None

    @property
    def comment_missing(self) -> str:
        return _comment_problem("")

    @property
    def questions(self) -> list[Question]:
        return [*(question for response in self.responses for question in response.questions), *self.shared]

    @property
    def is_long(self) -> bool:
        """Return whether drafts are stored on the server and answers counted."""
        return len(self.responses) > 2

    @property
    def keeps_drafts(self) -> bool:
        """Return whether drafts are stored on the server."""
        return self.is_long or self.writing is not None


@dataclass(frozen=True)
class Keys:
    """What keys do on the screens of a campaign: only these are explained."""

    digits: bool  # choose a point
    numbers: bool  # are typed
    slider: bool
    points: bool  # are chosen with arrows
    equal: bool
    several: bool  # questions on a screen
    reasons: bool
    comment: bool


@dataclass(frozen=True)
class _Shown:
    """The texts of a screen, whatever its purpose."""

    item: models.Item | models.CheckUnit
    texts: Mapping[int, str]  # by canonical number
    order: Sequence[int]
    standard: str = ""


def form_field(name: str, token: UUID) -> str:
    """Return a field name of this unit alone: browsers fill fields of equal names with answers to other units."""
    return f"{name}.{token.hex[:8]}"


def criteria_of(campaign: models.Campaign) -> list[models.Criterion]:
    """Return the criteria in order, from memory after launch, when they cannot change."""
    if campaign.design_hash:
        return _launched_criteria(campaign.pk, campaign.design_hash)
    return list(models.Criterion.objects.filter(campaign=campaign).order_by("position", "id"))


@lru_cache(maxsize=64)
def _launched_criteria(campaign_id: int, _design_hash: str) -> list[models.Criterion]:
    return list(models.Criterion.objects.filter(campaign=campaign_id).order_by("position", "id"))


def keys_of(campaign: models.Campaign) -> Keys:
    criteria = criteria_of(campaign)
    scales = [criterion.scale for criterion in criteria]
    fewest = campaign.presentation_kind.texts[0]
    return Keys(
        digits=any(scale.has_digits for scale in scales),
        numbers=any(not scale.has_points for scale in scales),
        slider=any(scale.key == Slider.key for scale in scales),
        points=any(scale.has_points for scale in scales),
        equal=any(value == 0 for scale in scales if scale.mirrored for value, _ in scale.points),
        several=sum(1 if scale.whole else fewest for scale in scales) > 1,
        reasons=bool(campaign.cannot_judge_reasons),
        comment=campaign.comment != models.CommentField.OFF,
    )


def screen(
    presentation: models.Presentation,
    *,
    campaign: models.Campaign | None = None,
    sent: Texts | None = None,
    errors: Mapping[str, Sequence[str]] | None = None,
) -> Screen:
    """Return the texts in the order drawn for this presentation, with the stored answers or those just sent."""
    campaign = campaign or presentation.campaign
    criteria = criteria_of(campaign)
    shown = _shown(presentation, criteria)
    answered = presentation.outcome in ANSWERED
    values = sent if sent is not None else _stored(presentation, criteria, shown, campaign)
    return _screen(campaign, criteria, shown, values, errors or {}, token=presentation.token, answered=answered)


def preview_screen(
    campaign: models.Campaign, *, criteria: Sequence[models.Criterion] | None = None, item: models.Item | None = None
) -> Screen | None:
    """Return the screen that raters will see, with the first item that has texts; None if none has."""
    criteria = list(campaign.criteria.all()) if criteria is None else criteria
    sources = rated_sources(campaign)
    if item is None:
        first = sources.select_related("item").first()
        if first is None:
            return None
        item = first.item
    of_item = sources.filter(item=item).select_related("response")
    texts = list({source.response_id: source.response.text for source in of_item}.values())
    texts = texts[: campaign.presentation_kind.texts[1]]
    if not texts:
        return None
    relative = with_standard(criteria)
    standard = _example_standard(item, relative) if relative else ""
    shown = _Shown(item, dict(enumerate(texts)), range(len(texts)), standard)
    return _screen(campaign, criteria, shown, {}, {}, token=None, answered=False)


def training_position(presentation: models.Presentation) -> tuple[int, int] | None:
    """Return the position and the number of training or test items; None for other items."""
    if presentation.purpose not in BEFORE_WORK or presentation.check_unit is None:
        return None
    total = models.CheckUnit.objects.filter(campaign=presentation.campaign_id, kind=presentation.purpose).count()
    return presentation.check_unit.number + 1, total


# --- What is shown ----------------------------------------------------------------------------------------------------


def _shown(presentation: models.Presentation, criteria: Sequence[models.Criterion]) -> _Shown:
    check = presentation.check_unit
    if check is not None:
        texts = {number: str(text["text"]) for number, text in enumerate(check.texts)}
        has_content = check.context or check.message or check.meaning_representation
        item = check if has_content or check.item is None else check.item
        return _Shown(item, texts, presentation.order, check.standard)
    entries = list(models.UnitResponse.objects.filter(unit=presentation.unit_id).select_related("response__item"))
    texts = {entry.number: entry.response.text for entry in entries}
    return _Shown(entries[0].response.item, texts, presentation.order, _standard(entries[0].unit_id, criteria))


def _standard(unit_id: int, criteria: Sequence[models.Criterion]) -> str:
    if with_standard(criteria) is None:
        return ""
    return models.Unit.objects.filter(pk=unit_id).values_list("standard__text", flat=True).get() or ""


def _example_standard(item: models.Item, criterion: models.Criterion) -> str:
    name = criterion.standard_source
    sources = item.sources.filter(kind=name) | item.sources.filter(system__name=name)
    source = sources.select_related("response").order_by("pk").first()
    return source.response.text if source else ""


# --- The values of its fields -----------------------------------------------------------------------------------------


def _stored(
    presentation: models.Presentation, criteria: Sequence[models.Criterion], shown: _Shown, campaign: models.Campaign
) -> Mapping[str, str]:
    if presentation.outcome in ANSWERED:
        return _answers(presentation, criteria, shown, campaign)
    if (len(shown.order) > 2 or campaign.writing) and presentation.outcome == models.PresentationOutcome.SHOWN:
        draft = models.AnswerDraft.objects.filter(presentation=presentation).values_list("fields", flat=True).first()
        return {str(name): str(value) for name, value in (draft or {}).items()}
    return {}


def _answers(
    presentation: models.Presentation, criteria: Sequence[models.Criterion], shown: _Shown, campaign: models.Campaign
) -> dict[str, str]:
    by_pk = {criterion.pk: criterion for criterion in criteria}
    fields: dict[str, str] = {}
    whole: defaultdict[int, dict[int, Any]] = defaultdict(dict)  # criterion about all responses -> value by position
    only_shared = all(criterion.scale.whole for criterion in criteria)
    model: Any = models.Rating if presentation.purpose == models.Purpose.WORK else models.CheckAnswer
    answers = model.objects.filter(presentation=presentation).order_by("revision")
    for position, criterion_id, value, reason in answers.values_list("position", "criterion", "value", "cannot_judge"):
        criterion = by_pk[criterion_id]
        if criterion.scale.whole:
            whole[criterion_id][position] = value
        else:
            fields[f"r{position}-{criterion.name}"] = "" if value is None else f"{value:.15g}"
        if not criterion.scale.whole or (only_shared and position == 0):  # stored with each response, shown once
            fields[f"cannot-{position}"] = reason
    for criterion in criteria:
        values = whole[criterion.pk].values()
        if isinstance(criterion.scale, WholeScale) and values and None not in values:
            texts = criterion.scale.held([value for _, value in sorted(whole[criterion.pk].items())])
            fields |= {f"r{number}-{criterion.name}": text for number, text in enumerate(texts)}
    if campaign.writing:
        text = models.WrittenText.objects.filter(presentation=presentation).order_by("-revision").first()
        fields["written"] = text.text if text else ""
    if campaign.comment != models.CommentField.OFF:
        last = models.Comment.objects.filter(presentation=presentation).order_by("-revision").first()
        fields["comment"] = last.text if last else ""
    return fields


# --- The screen itself ------------------------------------------------------------------------------------------------


def _screen(
    campaign: models.Campaign,
    criteria: Sequence[models.Criterion],
    shown: _Shown,
    values: Texts,
    errors: Mapping[str, Sequence[str]],
    *,
    token: UUID | None,
    answered: bool,
) -> Screen:
    def field_of(name: str) -> str:
        return form_field(name, token) if token else name

    def question(criterion: models.Criterion, numbers: Iterable[int]) -> Question:
        names = [f"r{number}-{criterion.name}" for number in numbers]
        fields = [Field(name, field_of(name), values.get(name, "")) for name in names]
        wrong = next((field for field in fields if field.name in errors), None)
        if wrong is None:
            return Question(criterion, fields)
        return Question(criterion, fields, criterion.scale.message(wrong.text), focus=wrong.name == first_wrong)

    each = [criterion for criterion in criteria if not criterion.scale.whole]
    n = len(shown.order)
    whole = [
        (criterion, range(criterion.scale.n_fields(n)))
        for criterion in criteria
        if isinstance(criterion.scale, WholeScale)
    ]
    names = [f"r{position}-{criterion.name}" for position in range(n) for criterion in each]
    names += [f"r{number}-{criterion.name}" for criterion, numbers in whole for number in numbers]
    first_wrong = next((name for name in names if name in errors), None)
    reasons = campaign.cannot_judge_reasons
    responses = [
        ShownResponse(
            letter=ascii_uppercase[position] if n > 1 else "",
            text=shown.texts[number],
            questions=[question(criterion, [position]) for criterion in each],
            position=position,
            reason=values.get(f"cannot-{position}", ""),
            reason_field=field_of(f"cannot-{position}") if reasons else "",
            reason_error=gettext("Please choose one of the reasons.") if f"cannot-{position}" in errors else "",
        )
        for position, number in enumerate(shown.order)
    ]
    return Screen(
        item=shown.item,
        responses=responses,
        answered=answered,
        shared=[question(criterion, numbers) for criterion, numbers in whole],
        standard=shown.standard,
        reasons=reasons,
        takes_comment=campaign.comment != models.CommentField.OFF,
        comment=values.get("comment", ""),
        comment_field=field_of("comment"),
        comment_required=campaign.comment == models.CommentField.REQUIRED,
        comment_error=_comment_problem(values.get("comment", "")) if "comment" in errors else "",
        comment_focus="comment" in errors and first_wrong is None,
        n_errors=len(errors),
        writing=_writing(campaign, shown, values, errors, field_of) if campaign.writing else None,
    )


def _writing(
    campaign: models.Campaign,
    shown: _Shown,
    values: Texts,
    errors: Mapping[str, Sequence[str]],
    field_of: Callable[[str], str],
) -> ShownWriting:
    design = Writing.lenient(campaign.writing)
    given = "" if design.hides_text else shown.texts[shown.order[0]]
    return ShownWriting(
        design=design,
        field=field_of("written"),
        pasted_field=field_of("written-pasted"),
        sure_field=field_of("written-sure"),
        text=values.get("written", given),
        pasted=values.get("written-pasted", "0"),
        error=" ".join(errors.get("written", ())),
        warning=" ".join(errors.get("written-sure", ())),
        focus="written" in errors or "written-sure" in errors,
    )


def _comment_problem(text: str) -> str:
    if not text.strip():
        return gettext("Please write a few words.")
    return gettext("This is too long: up to 2,000 characters, please.")
