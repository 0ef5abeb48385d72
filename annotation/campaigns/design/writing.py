"""What raters write in a campaign: a reference for an item, or a correction of the text that they are shown.

Written as JSON::

    writing = {
        "asks": "reference",                          or "correction"
        "question": "Write a reply of your own.",
        "least": 10, "most": 300,                     characters
        "language": "en",                             or "" for any
        "copies": "warn", "pastes": "note",           each "note", "warn" or "refuse"
    }
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotation.campaigns.design.reading import Reader, StoredDesign, short
from annotation.hygiene.written import Remark

NOTHING, REFERENCE, CORRECTION = "", "reference", "correction"
ASKS = {
    NOTHING: "Nothing: raters only answer the questions above",
    REFERENCE: "A reference: they see the item, and no response",
    CORRECTION: "A correction of the response that they see",
}
NOTE, WARN, REFUSE = "note", "warn", "refuse"
POLICIES = {NOTE: "Note it", WARN: "Warn the rater, who may send it all the same", REFUSE: "Refuse it"}
LONGEST_TEXT = 5_000
LONGEST_QUESTION = 300


@dataclass(frozen=True)
class Writing(StoredDesign):
    """What raters write, and which texts they are warned of or refused."""

    asks: str = NOTHING
    question: str = ""
    least: int = 1
    most: int = 1_000
    language: str = ""
    copies: str = WARN
    pastes: str = NOTE

    @property
    def hides_text(self) -> bool:
        """Whether raters do not see the response: what they write is their own."""
        return self.asks == REFERENCE

    def policy(self, remark: Remark) -> str:
        """Return what follows from a remark: note, warn or refuse."""
        if remark in (Remark.SHORT, Remark.LONG):
            return REFUSE
        if remark == Remark.LANGUAGE:
            return WARN
        return self.pastes if remark == Remark.PASTED else self.copies

    def to_dict(self) -> dict[str, Any]:
        """Return the design as it is stored."""
        if not self.asks:
            return {}
        names = ("asks", "question", "least", "most", "language", "copies", "pastes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def read(cls, reader: Reader, data: object) -> Self:
        given = reader.mapping(data, "", ("asks", "question", "least", "most", "language", "copies", "pastes"))
        asks = _one_of(reader, given, "asks", ASKS, NOTHING)
        question = reader.text(given.get("question", ""), "question").strip()
        if asks and not 1 <= len(question) <= LONGEST_QUESTION:
            reader.refuse("question", f"Found {short(question)}; accepted: 1 to {LONGEST_QUESTION} characters.")
        design = cls(
            asks=asks,
            question=question,
            least=reader.whole(given.get("least", 1), "least", 1, LONGEST_TEXT),
            most=reader.whole(given.get("most", 1_000), "most", 1, LONGEST_TEXT),
            language=reader.text(given.get("language", ""), "language").strip(),
            copies=_one_of(reader, given, "copies", POLICIES, WARN),
            pastes=_one_of(reader, given, "pastes", POLICIES, NOTE),
        )
        if design.most < design.least:
            reader.refuse("most", f"Found {design.most}; accepted: {design.least}, the least length, or more.")
        return design

    def facts(self) -> list[tuple[str, str]]:
        if not self.asks:
            return [("What raters write", "nothing")]
        return [
            ("What raters write", f"a {self.asks}: {self.question}"),
            ("Length", f"{self.least:,} to {self.most:,} characters"),
            ("Language", self.language or "any"),
            ("Copies", POLICIES[self.copies].lower()),
            ("Pasted texts", POLICIES[self.pastes].lower()),
        ]


def _one_of(reader: Reader, given: Mapping[str, Any], name: str, known: Mapping[str, str], default: str) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or value not in known:
        reader.refuse(name, f"Found {short(value)}; accepted: {', '.join(word or 'nothing' for word in known)}.")
        return default
    return value
