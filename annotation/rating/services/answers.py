"""What an answer may hold: every value on its scale, every mistake at once. Nothing is written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CommentField, Criterion, Presentation

Place = tuple[int, str]  # position on screen from 0, name of the criterion

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
        given = self.values.get(place)
        value = criterion.scale.value(given)
        if value is None:
            self.refuse(field_name(place), criterion.scale.refusal(given))
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

    A question about all responses has fields of its own, numbered from 0; its scale turns them into
    a value of each response.
    """
    read = _Reading(campaign, presentation.order, values, cannot_judge, {}, {}, set())
    _read_reasons(read)
    for criterion in criteria:
        if criterion.scale.whole:
            _read_whole(read, criterion)
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


def _read_whole(read: _Reading, criterion: Criterion) -> None:
    """Read a question about all responses; it is set aside if one of them cannot be judged."""
    n = len(read.order)
    places = [(number, criterion.name) for number in range(criterion.scale.n_fields(n))]
    read.asked.update(places)
    reason = next((given for given in read.cannot_judge.values() if given), "")
    values: Sequence[float | None] = [None] * n
    problems: dict[int, str] = {}
    if not reason:
        values, problems = criterion.scale.read([read.values.get(at) for at in places], n)
    for number, message in problems.items():
        read.refuse(field_name(places[number]), message)
    if not problems:
        for position, number in enumerate(read.order):
            read.answer[number, criterion.pk] = Given(position, values[position], reason)


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
