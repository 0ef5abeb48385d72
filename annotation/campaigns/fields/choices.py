"""Fields of a campaign that hold one of a few words. Each word has its two labels beside it."""

from enum import StrEnum
from typing import Self


class Words(StrEnum):
    """Base of the choices. ``label`` is for pages and tables, ``offer`` for the form in which it is chosen."""

    label: str
    offer: str
    in_records: str  # within a sentence of the campaign's record

    def __new__(cls, value: str, label: str = "", offer: str = "", in_records: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label
        member.offer = offer or label
        member.in_records = in_records
        return member

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        return [(word.value, word.label) for word in cls]

    @classmethod
    def offers(cls) -> dict[str, str]:
        return {word.value: word.offer for word in cls}


class Target(Words):
    """What is rated."""

    REFERENCES = "references", "References", "References: whatever is not a system's output", "references"
    OUTPUTS = "outputs", "System outputs", "The outputs of all systems", "outputs of all systems"
    CHOSEN = "chosen", "Outputs of chosen systems", "The outputs of chosen systems", "outputs of the chosen systems"
    LISTED = "listed", "A list of responses", "The responses of a list"


class Scope(Words):
    """What of a response a criterion is about."""

    WHOLE = "whole", "The whole response", "The whole response; a dialogue is rated at its end"
    TURN = "turn", "Each turn of the system", "Each turn of the system in a dialogue, below the turn"


class CommentField(Words):
    """Whether a rater may, or must, comment."""

    OFF = "off", "None"
    OPTIONAL = "optional", "Offered", "Offered with every item"
    REQUIRED = "required", "Required", "Required with every item"


class Admission(Words):
    """Who may take part by the campaign's link."""

    OPEN = (
        "open",
        "Anybody with the link; a name if they like",
        "Anybody; a name if they like",
        "by an open direct link",
    )
    NAMED = (
        "named",
        "Anybody with the link who gives a name",
        "Anybody who gives a name",
        "by a direct link, giving a name",
    )
    ACCOUNT = "account", "Only people who sign in with an account", "", "by a direct link, signing in with an account"
    PROVIDER = (
        "provider",
        "Only people whom a provider sends",
        "Only people whom a provider of raters sends; the direct link admits no one",
        "through a provider alone",
    )
