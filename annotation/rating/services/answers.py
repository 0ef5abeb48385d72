"""Check an answer against the scales of its criteria, and report every mistake at once. Nothing is stored."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.campaigns.scales import WholeScale
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CommentField, Criterion, Presentation

# Position on screen from 0, name of the criterion; of a question about a turn also its place in the dialogue, from 0.
Field = tuple[int, str] | tuple[int, str, int]

LONGEST_COMMENT = 2000


class Given(NamedTuple):
    """One value, or the reason why there is none."""

    position: int
    value: float | None
    cannot_judge: str = ""


class Written(NamedTuple):
    """A text that the rater wrote. ``sure``: the rater was warned of what stands out, and sent it all the same."""

    text: str = ""
    pasted: int = 0
    sure: bool = False


Answer = dict[tuple[int, int, int | None], Given]  # (canonical number of the text, criterion's id, turn)


def field_name(field: Field) -> str:
    """Return the name of a field in messages and forms."""
    turn = f"t{field[2]}" if len(field) == 3 else ""
    return f"r{field[0]}{turn}-{field[1]}"


@dataclass
class _Reading:
    campaign: Campaign
    order: Sequence[int]
    turns: Mapping[int, Sequence[int]]  # that are rated, by canonical number of the text
    values: Mapping[Field, object]
    cannot_judge: Mapping[int, str]
    problems: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    answer: Answer = field(default_factory=dict)
    known: set[Field] = field(default_factory=set)  # fields of this screen

    def value(self, name: Field, criterion: Criterion) -> float | None:
        self.known.add(name)
        given = self.values.get(name)
        value = criterion.scale.value(given)
        if value is None:
            self.problems[field_name(name)].append(criterion.scale.refusal(given))
        return value


def answer_read(
    *,
    campaign: Campaign,
    presentation: Presentation,
    criteria: Sequence[Criterion],
    values: Mapping[Field, object],
    cannot_judge: Mapping[int, str],
    comment: str,
    turns: Mapping[int, Sequence[int]] | None = None,
) -> Answer:
    """Return the values of an answer; raise ``AnnotationError`` with every mistake by its field.

    A question about all responses has fields numbered from 0; its scale turns them into a value of each response.
    ``turns`` gives the turns of each text that are asked about, by its canonical number.
    """
    read = _Reading(campaign, presentation.order, turns or {}, values, cannot_judge)
    _read_reasons(read)
    for criterion in criteria:
        if isinstance(criterion.scale, WholeScale):
            _read_whole(read, criterion, criterion.scale)
        elif criterion.by_turn:
            _read_turns(read, criterion)
        else:
            _read_each(read, criterion)
    for name in values.keys() - read.known:
        read.problems[field_name(name)].append("No such response or criterion for this item.")
    _read_comment(read, comment)
    if read.problems:
        message = " ".join(f"{name}: {messages[0]}" for name, messages in read.problems.items())
        raise AnnotationError(message, fields=read.problems)
    return read.answer


def _read_reasons(read: _Reading) -> None:
    offered = read.campaign.cannot_judge_reasons
    for position, reason in read.cannot_judge.items():
        if reason not in offered or not 0 <= position < len(read.order):
            accepted = f"one of: {', '.join(offered)}" if offered else "none; every response is to be judged"
            message = f"Found the reason {reason[:40]!r}; accepted: {accepted}."
            read.problems[f"cannot-{position}"].append(message)


def _read_each(read: _Reading, criterion: Criterion) -> None:
    for position, number in enumerate(read.order):
        if reason := read.cannot_judge.get(position):
            read.known.add((position, criterion.name))
            read.answer[number, criterion.pk, None] = Given(position, None, reason)
        elif (value := read.value((position, criterion.name), criterion)) is not None:
            read.answer[number, criterion.pk, None] = Given(position, value)


def _read_turns(read: _Reading, criterion: Criterion) -> None:
    """Read a question about each turn; a dialogue that cannot be judged is set aside with all its turns."""
    for position, number in enumerate(read.order):
        for turn in read.turns.get(number, ()):
            name = (position, criterion.name, turn)
            if reason := read.cannot_judge.get(position):
                read.known.add(name)
                read.answer[number, criterion.pk, turn] = Given(position, None, reason)
            elif (value := read.value(name, criterion)) is not None:
                read.answer[number, criterion.pk, turn] = Given(position, value)


def _read_whole(read: _Reading, criterion: Criterion, scale: WholeScale) -> None:
    """Read a question about all responses; it is set aside if one of them cannot be judged."""
    n = len(read.order)
    names = [(number, criterion.name) for number in range(scale.n_fields(n))]
    read.known.update(names)
    reason = next(filter(None, read.cannot_judge.values()), "")
    values: Sequence[float | None] = [None] * n
    problems: dict[int, str] = {}
    if not reason:
        values, problems = scale.read([read.values.get(name) for name in names], n)
    for number, message in problems.items():
        read.problems[field_name(names[number])].append(message)
    if not problems:
        for position, number in enumerate(read.order):
            read.answer[number, criterion.pk, None] = Given(position, values[position], reason)


def _read_comment(read: _Reading, comment: str) -> None:
    rule = read.campaign.comment
    if rule == CommentField.OFF and comment:
        read.problems["comment"].append("This campaign takes no comments.")
    elif rule == CommentField.REQUIRED and not comment.strip():
        read.problems["comment"].append("Nothing was written; this campaign asks for a comment on every item.")
    if len(comment) > LONGEST_COMMENT or "\x00" in comment:
        message = f"Found {len(comment):,} characters; accepted: up to {LONGEST_COMMENT:,}, none of them NUL."
        read.problems["comment"].append(message)
