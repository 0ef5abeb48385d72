"""What a rater's screen shows, as templates read it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from annotation import models
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.scales import Scale
from annotation.core.dialogues import SYSTEM

SHORT_TEXT = 150  # characters


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
    def is_blank(self) -> bool:
        """Return whether it looks alike on every screen, but for the names of its fields."""
        return not self.error and not self.scale.shows_texts and not any(each.text for each in self.fields)

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
class ShownTurn:
    """A turn of a dialogue, with the questions about it."""

    speaker: str
    text: str
    questions: list[Question]

    @property
    def is_by_system(self) -> bool:
        return self.speaker == SYSTEM


@dataclass(frozen=True)
class ShownResponse:
    letter: str  # empty if there is only one response
    text: str
    questions: list[Question]  # about the whole
    turns: list[ShownTurn] = field(default_factory=list)  # of a dialogue
    position: int = 0
    reason: str = ""  # why it cannot be judged
    reason_field: str = ""
    reason_error: str = ""

    @property
    def scrolls(self) -> bool:
        """Return whether it may be too long to stay in sight as a whole while its questions are answered."""
        return not self.turns and len(self.questions) > 1 and len(self.text) > SHORT_TEXT


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
        return comment_problem("")

    @property
    def questions(self) -> list[Question]:
        about_turns = [
            question for response in self.responses for turn in response.turns for question in turn.questions
        ]
        about_texts = [question for response in self.responses for question in response.questions]
        return [*about_turns, *about_texts, *self.shared]

    @property
    def is_long(self) -> bool:
        """Return whether the conversation stays in sight: there are many texts."""
        return len(self.responses) > 2

    @property
    def by_turn(self) -> bool:
        """Return whether turns are rated."""
        return any(turn.questions for response in self.responses for turn in response.turns)

    @property
    def counts_answers(self) -> bool:
        return self.is_long or self.by_turn

    @property
    def keeps_drafts(self) -> bool:
        """Return whether drafts are stored on the server."""
        return self.counts_answers or self.writing is not None


def comment_problem(text: str) -> str:
    """Return what is wrong with a comment, in the rater's language."""
    if not text.strip():
        return gettext("Please write a few words.")
    return gettext("This is too long: up to 2,000 characters, please.")
