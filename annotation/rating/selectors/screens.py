"""A rater's screen: the item, the texts in the order drawn, the questions and the current answers.

Work, repeats and checks look alike: nothing here tells a template which it shows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from string import ascii_uppercase
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from annotation import models
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.scales import Slider, WholeScale, with_standard
from annotation.campaigns.selectors import rated_sources, shown_items
from annotation.core import sql
from annotation.core.dialogues import Turns, rated_turns
from annotation.rating.selectors.handout import ANSWERED, BEFORE_WORK
from annotation.rating.selectors.shown import (
    Field,
    Question,
    Screen,
    ShownResponse,
    ShownTurn,
    ShownWriting,
    comment_problem,
)

Texts = Mapping[str, str]  # field name without the token -> value


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
    turns: Mapping[int, Turns | None] = field(default_factory=dict)  # of dialogues, by canonical number


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
        several=sum(1 if scale.whole else fewest for scale in scales) > 1 or any(each.by_turn for each in criteria),
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
    """Return the screen that raters will see, with the first item by default; None if there is none."""
    criteria = list(campaign.criteria.all()) if criteria is None else criteria
    item = item or shown_items(campaign).first()
    if item is None:
        return None
    if Writing.lenient(campaign.writing).hides_text:
        return _screen(campaign, criteria, _Shown(item, {}, ()), {}, {}, token=None, answered=False)
    of_item = rated_sources(campaign).filter(item=item).select_related("response")
    responses = list({source.response_id: source.response for source in of_item}.values())
    responses = responses[: campaign.presentation_kind.texts[1]]
    if not responses:
        return None
    texts = {number: response.text for number, response in enumerate(responses)}
    turns = {number: response.turns for number, response in enumerate(responses)}
    relative = with_standard(criteria)
    standard = _example_standard(item, relative) if relative else ""
    shown = _Shown(item, texts, range(len(texts)), standard, turns)
    return _screen(campaign, criteria, shown, {}, {}, token=None, answered=False)


def training_position(presentation: models.Presentation) -> tuple[int, int] | None:
    """Return the position and the number of training or test items; None for other items."""
    if presentation.purpose not in BEFORE_WORK or presentation.check_unit is None:
        return None
    total = models.CheckUnit.objects.filter(campaign=presentation.campaign_id, kind=presentation.purpose).count()
    return presentation.check_unit.number + 1, total


_RESPONSE, _ITEM = sql.Columns(models.Response, "r"), sql.Columns(models.Item, "i")
_TEXTS = f"""
    SELECT n.number, {_RESPONSE}, {_ITEM}
    FROM annotation_unitresponse n
    JOIN annotation_response r ON r.id = n.response_id
    JOIN annotation_item i ON i.id = r.item_id
    WHERE n.unit_id = %s ORDER BY n.number
"""  # noqa: S608 - columns of our tables


# --- What is shown ----------------------------------------------------------------------------------------------------


def _shown(presentation: models.Presentation, criteria: Sequence[models.Criterion]) -> _Shown:
    check = presentation.check_unit
    if check is not None:
        texts = {number: str(text["text"]) for number, text in enumerate(check.texts)}
        has_content = check.context or check.message or check.meaning_representation
        item = check if has_content or check.item is None else check.item
        turns = {number: text.get("turns") for number, text in enumerate(check.texts)}
        return _Shown(item, texts, presentation.order, check.standard, turns)
    entries = sql.rows(_TEXTS, [presentation.unit_id], prepared=True)
    if not entries:  # a reference is written
        return _Shown(models.Item.objects.get(units=presentation.unit_id), {}, presentation.order)
    responses = {number: _RESPONSE.instance(row[: len(_RESPONSE)]) for number, *row in entries}
    texts = {number: response.text for number, response in responses.items()}
    turns = {number: response.turns for number, response in responses.items()}
    item = _ITEM.instance(entries[0][1 + len(_RESPONSE) :])
    return _Shown(item, texts, presentation.order, _standard(presentation, criteria), turns)


def turns_shown(presentation: models.Presentation) -> dict[int, list[int]]:
    """Return the turns that are rated of each text on screen, by its canonical number."""
    if presentation.check_unit is not None:
        return {number: rated_turns(text.get("turns")) for number, text in enumerate(presentation.check_unit.texts)}
    shown = models.UnitResponse.objects.filter(unit=presentation.unit_id).order_by()
    return {number: rated_turns(turns) for number, turns in shown.values_list("number", "response__turns")}


def _standard(presentation: models.Presentation, criteria: Sequence[models.Criterion]) -> str:
    if with_standard(criteria) is None:
        return ""
    return models.Unit.objects.filter(presentations=presentation).values_list("standard__text", flat=True).get() or ""


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
    keeps_drafts = len(shown.order) > 2 or campaign.writing or any(criterion.by_turn for criterion in criteria)
    if keeps_drafts and presentation.outcome == models.PresentationOutcome.SHOWN:
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
    columns = ("position", "criterion", "turn", "value", "cannot_judge")
    for position, criterion_id, turn, value, reason in answers.values_list(*columns):
        criterion = by_pk[criterion_id]
        if criterion.scale.whole:
            whole[criterion_id][position] = value
        else:
            fields[_name(position, criterion, turn)] = "" if value is None else f"{value:.15g}"
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
    build = _Build(criteria, shown, values, errors, token)
    n, reasons = len(shown.order), campaign.cannot_judge_reasons
    responses = [
        ShownResponse(
            letter=ascii_uppercase[position] if n > 1 else "",
            text=shown.texts[number],
            questions=[build.question(criterion, [position]) for criterion in build.of_texts],
            turns=build.turns(position, number),
            position=position,
            reason=values.get(f"cannot-{position}", ""),
            reason_field=build.field_of(f"cannot-{position}") if reasons else "",
            reason_error=gettext("Please choose one of the reasons.") if f"cannot-{position}" in errors else "",
        )
        for position, number in enumerate(shown.order)
    ]
    return Screen(
        item=shown.item,
        responses=responses,
        answered=answered,
        shared=[build.question(criterion, numbers) for criterion, numbers in build.of_all],
        standard=shown.standard,
        reasons=reasons,
        takes_comment=campaign.comment != models.CommentField.OFF,
        comment=values.get("comment", ""),
        comment_field=build.field_of("comment"),
        comment_required=campaign.comment == models.CommentField.REQUIRED,
        comment_error=comment_problem(values.get("comment", "")) if "comment" in errors else "",
        comment_focus="comment" in errors and build.first_wrong is None,
        n_errors=len(errors),
        writing=_writing(campaign, shown, values, errors, build.field_of) if campaign.writing else None,
    )


@dataclass(frozen=True)
class _Build:
    """Makes the questions of a screen."""

    criteria: Sequence[models.Criterion]
    shown: _Shown
    values: Texts
    errors: Mapping[str, Sequence[str]]
    token: UUID | None

    @cached_property
    def of_turns(self) -> list[models.Criterion]:
        return [criterion for criterion in self.criteria if criterion.by_turn]

    @cached_property
    def of_texts(self) -> list[models.Criterion]:
        return [criterion for criterion in self.criteria if not criterion.by_turn and not criterion.scale.whole]

    @cached_property
    def of_all(self) -> list[tuple[models.Criterion, range]]:
        n, whole = len(self.shown.order), [(each, each.scale) for each in self.criteria]
        return [(each, range(scale.n_fields(n))) for each, scale in whole if isinstance(scale, WholeScale)]

    @cached_property
    def first_wrong(self) -> str | None:
        """The name of the first field on the screen with an error, if any."""
        if not self.errors:
            return None
        names: list[str] = []
        for position, number in enumerate(self.shown.order):
            places = rated_turns(self.shown.turns.get(number))
            names += [_name(position, criterion, place) for place in places for criterion in self.of_turns]
            names += [_name(position, criterion) for criterion in self.of_texts]
        names += [_name(number, criterion) for criterion, numbers in self.of_all for number in numbers]
        return next((name for name in names if name in self.errors), None)

    def field_of(self, name: str) -> str:
        return form_field(name, self.token) if self.token else name

    def question(self, criterion: models.Criterion, numbers: Iterable[int], turn: int | None = None) -> Question:
        names = [_name(number, criterion, turn) for number in numbers]
        fields = [Field(name, self.field_of(name), self.values.get(name, "")) for name in names]
        wrong = next((field for field in fields if field.name in self.errors), None)
        if wrong is None:
            return Question(criterion, fields)
        return Question(criterion, fields, criterion.scale.message(wrong.text), focus=wrong.name == self.first_wrong)

    def turns(self, position: int, number: int) -> list[ShownTurn]:
        dialogue = self.shown.turns.get(number) or ()
        rated = rated_turns(dialogue) if self.of_turns else ()
        return [
            ShownTurn(
                speaker=turn["speaker"],
                text=turn["text"],
                questions=[self.question(each, [position], place) for each in self.of_turns] if place in rated else [],
            )
            for place, turn in enumerate(dialogue)
        ]


def _name(position: int, criterion: models.Criterion, turn: int | None = None) -> str:
    return f"r{position}-{criterion.name}" if turn is None else f"r{position}t{turn}-{criterion.name}"


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
