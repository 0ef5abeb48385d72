"""What an answer may hold: every value on its scale, every mistake at once. Nothing is written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.errors import AnnotationError
from annotation.models import Campaign, CommentField, Criterion, Presentation, ScaleKind

Place = tuple[int, str]  # position on screen from 0, name of the criterion

LEAST, MOST = 1e-6, 1e6  # of a magnitude: on the logarithmic scale one answer could else outweigh all others
LONGEST_COMMENT = 2000


class Given(NamedTuple):
    """One value, or the reason why there is none."""

    position: int
    value: float | None
    cannot_judge: str = ""


Answer = dict[tuple[int, int], Given]  # (canonical number of the text, criterion's id)


def field_name(place: Place) -> str:
    """Name of one response and criterion in messages and forms."""
    return f"r{place[0]}-{place[1]}"


@dataclass
class _Reading:
    campaign: Campaign
    order: Sequence[int]
    values: Mapping[Place, object]
    cannot_judge: Mapping[int, str]
    problems: dict[str, list[str]]
    answer: Answer
    asked: set[Place]

    def refuse(self, field: str, message: str) -> None:
        self.problems.setdefault(field, []).append(message)

    def value(self, place: Place, criterion: Criterion) -> float | None:
        self.asked.add(place)
        found = self.values.get(place)
        value = scale_value(found, criterion)
        if value is None:
            self.refuse(field_name(place), _off_scale(found, criterion))
        return value


def answer_read(
    *,
    campaign: Campaign,
    presentation: Presentation,
    criteria: Sequence[Criterion],
    values: Mapping[Place, object],
    cannot_judge: Mapping[int, str],
    comment: str,
) -> Answer:
    """An answer on the scales of its criteria; ``AnnotationError`` ties every mistake to its field.

    A preference is asked once, at position 0: above 0 it prefers the text at position 0, below 0 the one at position 1.
    It becomes a value of each text, the chosen one's positive.
    """
    read = _Reading(campaign, presentation.order, values, cannot_judge, {}, {}, set())
    _read_reasons(read)
    for criterion in criteria:
        if criterion.kind == ScaleKind.PREFERENCE:
            _read_preference(read, criterion)
        else:
            _read_each(read, criterion)
    for place in values.keys() - read.asked:
        read.refuse(field_name(place), "Not asked here: no such response or criterion on this screen.")
    _read_comment(read, comment)
    if read.problems:
        message = " ".join(f"{name}: {found[0]}" for name, found in read.problems.items())
        raise AnnotationError(message, fields=read.problems)
    return read.answer


def _read_reasons(read: _Reading) -> None:
    offered = read.campaign.cannot_judge_reasons
    for position, reason in read.cannot_judge.items():
        if reason not in offered or not 0 <= position < len(read.order):
            accepted = f"one of: {', '.join(offered)}" if offered else "none; every response is to be judged"
            read.refuse(f"cannot-{position}", f"Found the reason {reason[:40]!r}; accepted: {accepted}.")


def _read_each(read: _Reading, criterion: Criterion) -> None:
    for position, number in enumerate(read.order):
        if reason := read.cannot_judge.get(position):
            read.asked.add((position, criterion.name))
            read.answer[number, criterion.pk] = Given(position, None, reason)
        elif (value := read.value((position, criterion.name), criterion)) is not None:
            read.answer[number, criterion.pk] = Given(position, value)


def _read_preference(read: _Reading, criterion: Criterion) -> None:
    place = (0, criterion.name)
    reason = next((found for found in read.cannot_judge.values() if found), "")
    if reason:
        read.asked.add(place)
        for position, number in enumerate(read.order):
            read.answer[number, criterion.pk] = Given(position, None, reason)
    elif (value := read.value(place, criterion)) is not None:
        for position, number in enumerate(read.order):
            read.answer[number, criterion.pk] = Given(position, value if position == 0 else -value or 0.0)


def _read_comment(read: _Reading, comment: str) -> None:
    wanted = read.campaign.comment
    if wanted == CommentField.OFF and comment:
        read.refuse("comment", "This campaign takes no comments.")
    elif wanted == CommentField.REQUIRED and not comment.strip():
        read.refuse("comment", "Nothing was written; this campaign asks for a comment on every screen.")
    if len(comment) > LONGEST_COMMENT or "\x00" in comment:
        read.refuse(
            "comment", f"Found {len(comment):,} characters; accepted: up to {LONGEST_COMMENT:,}, none of them NUL."
        )


def scale_value(found: object, criterion: Criterion) -> float | None:
    """A value on a criterion's scale, given as a number or as the text of one; None where it is off it."""
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return None
    return number if _is_on(number, criterion) else None


def _is_on(number: float, criterion: Criterion) -> bool:
    if criterion.kind == ScaleKind.MAGNITUDE:
        return LEAST <= number <= MOST
    if not criterion.scale_min <= number <= criterion.scale_max:
        return False
    if criterion.kind == ScaleKind.SLIDER:
        steps = (number - criterion.scale_min) / criterion.step if criterion.step else 0.0
        return abs(steps - round(steps)) < 1e-6
    if criterion.kind == ScaleKind.PREFERENCE and number == 0:
        return criterion.ties
    return number.is_integer()


def accepted_values(criterion: Criterion) -> str:
    """What a criterion takes, in words."""
    low, high = criterion.scale_min, criterion.scale_max
    if criterion.kind == ScaleKind.MAGNITUDE:
        return f"a number above 0, from {LEAST:f} to {MOST:,.0f}"
    if criterion.kind == ScaleKind.SLIDER:
        steps = f" in steps of {criterion.step:g}" if criterion.step else ""
        return f"a number from {low} to {high}{steps}"
    if criterion.kind == ScaleKind.PREFERENCE:
        return f"a whole number from {low} to {high}{'' if criterion.ties else ', not 0'}"
    return f"a whole number from {low} to {high}"


def _off_scale(found: object, criterion: Criterion) -> str:
    accepted = accepted_values(criterion)
    if found is None or found == "":
        return f"Not rated yet; accepted: {accepted}."
    return f"Found {str(found)[:40]!r}; accepted: {accepted}."
