"""Quality control and qualification as a manager designs them; every refusal names its field.

Written as JSON::

    quality = {
        "every": 10,                                  one check in every 10 screens; 0 is none
        "mix": {"gold": 1, "repeat": 1, ...},         in these proportions
        "repeat_gap": 5,                              screens between a unit and its repeat
        "gold": [screen, ...], "attention": [screen, ...],
        "degraded": {"count": 20, "operations": ["drop", "swap", "foreign"]},
        "anchors": {"count": 20, "low": {"relevance": 4}},
    }
    qualification = {"training": [screen, ...], "test": [screen, ...], "pass_mark": 0.8, "attempts": 2}
    screen = {"item": "external id" or "", "context": [...], "message": "...", "feedback": "...",
              "texts": [{"text": "...", "expected": {"relevance": [4, 5]}}, ...]}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from annotation.campaigns.design.reading import Reader, StoredDesign, short
from annotation.core.numbers import counted


class CheckKind(NamedTuple):
    """A kind of check that is mixed into the work, as forms and as records name it."""

    label: str
    in_records: str


CHECKS = {
    "gold": CheckKind("Gold: the answer is known", "texts with a known answer"),
    "attention": CheckKind("Attention checks", "attention checks"),
    "repeat": CheckKind("Repeats of a rater's own items", "repeats of the rater's own earlier items"),
    "degraded": CheckKind("Texts made worse on purpose", "degraded texts"),
    "anchor": CheckKind("Texts by people, as high anchors", "human references as high anchors"),
}
DEGRADATIONS = {"drop": "Words left out", "swap": "Words in another order", "foreign": "The text of another item"}
MOST_SCREENS = 1000

Range = tuple[float, float]


@dataclass(frozen=True)
class PreparedKind:
    """A kind of screen that managers write. The campaign's ``field``, quality or qualification, holds the screens."""

    key: str
    title: str
    field: str
    has_answers: bool = True  # at least one text of each screen has expected values
    has_feedback: bool = False

    def screens(self, campaign: Any) -> list[dict[str, Any]]:
        """Return the screens of this kind as they are stored."""
        return list(getattr(campaign, self.field).get(self.key, []))


PREPARED = {
    kind.key: kind
    for kind in (
        PreparedKind("gold", "Gold", "quality"),
        PreparedKind("attention", "Attention checks", "quality"),
        PreparedKind("training", "Training", "qualification", has_answers=False, has_feedback=True),
        PreparedKind("test", "Qualification test", "qualification"),
    )
}


@dataclass(frozen=True)
class PreparedText:
    """A text to rate, and per criterion the inclusive range of accepted values."""

    text: str
    expected: Mapping[str, Range] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "expected": {name: list(ends) for name, ends in self.expected.items()}}


@dataclass(frozen=True)
class PreparedScreen:
    """A screen that a manager wrote: one text, two, or several, as the campaign presents them."""

    texts: tuple[PreparedText, ...]
    item: str = ""
    context: tuple[str, ...] = ()
    message: str = ""
    feedback: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "item": self.item,
            "context": list(self.context),
            "message": self.message,
            "feedback": self.feedback,
            "texts": [text.to_dict() for text in self.texts],
        }


@dataclass(frozen=True)
class QualityDesign(StoredDesign):
    """Which checks are mixed into a rater's screens."""

    every: int = 0
    mix: Mapping[str, int] = field(default_factory=dict)
    repeat_gap: int = 5
    gold: tuple[PreparedScreen, ...] = ()
    attention: tuple[PreparedScreen, ...] = ()
    degraded_count: int = 0
    degradations: tuple[str, ...] = tuple(DEGRADATIONS)
    anchor_count: int = 0
    anchor_low: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the design as it is stored."""
        if self == QualityDesign():
            return {}
        return {
            "every": self.every,
            "mix": dict(self.mix),
            "repeat_gap": self.repeat_gap,
            "gold": [screen.to_dict() for screen in self.gold],
            "attention": [screen.to_dict() for screen in self.attention],
            "degraded": {"count": self.degraded_count, "operations": list(self.degradations)},
            "anchors": {"count": self.anchor_count, "low": dict(self.anchor_low)},
        }

    @classmethod
    def read(cls, reader: Reader, data: object) -> Self:
        given = reader.mapping(data, "", ("every", "mix", "repeat_gap", "gold", "attention", "degraded", "anchors"))
        degraded = reader.mapping(given.get("degraded", {}), "degraded", ("count", "operations"))
        anchors = reader.mapping(given.get("anchors", {}), "anchors", ("count", "low"))
        every = reader.whole(given.get("every", 0), "every", 0, 1000)
        if every == 1:
            reader.refuse("every", "Found 1; accepted: 0 for no checks, or 2 to 1000 (one check in so many items).")
        mix = reader.mapping(given.get("mix", {}), "mix", CHECKS)
        operations = reader.texts(degraded.get("operations", list(DEGRADATIONS)), "degraded.operations")
        unknown = [name for name in operations if name not in DEGRADATIONS]
        if unknown or not operations:
            names = ", ".join(unknown) or "none"
            reader.refuse("degraded.operations", f"Found {names}; accepted: {', '.join(DEGRADATIONS)}.")
        low = reader.mapping(anchors.get("low", {}), "anchors.low", None)
        design = cls(
            every=every,
            mix={kind: reader.whole(n, f"mix.{kind}", 1, 100) for kind, n in mix.items() if n != 0},
            repeat_gap=reader.whole(given.get("repeat_gap", 5), "repeat_gap", 1, 1000),
            gold=_screens(reader, given, "gold"),
            attention=_screens(reader, given, "attention"),
            degraded_count=reader.whole(degraded.get("count", 0), "degraded.count", 0, 10_000),
            degradations=tuple(operations),
            anchor_count=reader.whole(anchors.get("count", 0), "anchors.count", 0, 10_000),
            anchor_low={name: reader.number(value, f"anchors.low.{name}") for name, value in low.items()},
        )
        design._check_mix(reader)
        return design

    def _check_mix(self, reader: Reader) -> None:
        if bool(self.every) != bool(self.mix):
            reader.refuse("mix", "Checks need both: how often, and at least one kind; or neither.")
        there = {
            "gold": len(self.gold),
            "attention": len(self.attention),
            "degraded": self.degraded_count,
            "anchor": self.anchor_count,
        }
        for kind, n in there.items():
            if kind in self.mix and n == 0:
                reader.refuse(f"mix.{kind}", f"Found {self.mix[kind]}, but no {kind} items; accepted: 0 without any.")

    def facts(self) -> list[tuple[str, str]]:
        mix = ", ".join(f"{CHECKS[kind].label.lower()} ({n})" for kind, n in self.mix.items())
        facts = [("Checks", f"one in every {self.every} items: {mix}" if mix else "none")]
        if "repeat" in self.mix:
            facts.append(("Repeats", f"after {self.repeat_gap} items"))
        if self.degraded_count:
            facts.append(("Degraded texts", f"{self.degraded_count}: {', '.join(self.degradations)}"))
        if self.anchor_count:
            low = "".join(f"; {name} at least {value:g}" for name, value in self.anchor_low.items())
            facts.append(("High anchors", f"{self.anchor_count} texts by people{low}"))
        return facts


@dataclass(frozen=True)
class QualificationDesign(StoredDesign):
    """What a rater goes through before the work: training with feedback, and a test with a pass mark."""

    training: tuple[PreparedScreen, ...] = ()
    test: tuple[PreparedScreen, ...] = ()
    pass_mark: float = 0.8
    attempts: int = 2

    def to_dict(self) -> dict[str, Any]:
        """Return the design as it is stored."""
        if self == QualificationDesign():
            return {}
        return {
            "training": [screen.to_dict() for screen in self.training],
            "test": [screen.to_dict() for screen in self.test],
            "pass_mark": self.pass_mark,
            "attempts": self.attempts,
        }

    @classmethod
    def read(cls, reader: Reader, data: object) -> Self:
        given = reader.mapping(data, "", ("training", "test", "pass_mark", "attempts"))
        design = cls(
            training=_screens(reader, given, "training"),
            test=_screens(reader, given, "test"),
            pass_mark=reader.number(given.get("pass_mark", 0.8), "pass_mark"),
            attempts=reader.whole(given.get("attempts", 2), "attempts", 1, 10),
        )
        if not 0 < design.pass_mark <= 1:
            reader.refuse("pass_mark", f"Found {design.pass_mark}; accepted: above 0, up to 1.")
        return design

    def facts(self) -> list[tuple[str, str]]:
        attempts = counted(self.attempts, "attempt")
        test = f"{counted(len(self.test), 'item')}, pass mark {100 * self.pass_mark:.0f}%, {attempts}"
        return [
            ("Training", counted(len(self.training), "item")),
            ("Qualification test", test if self.test else "none: all raters qualify"),
        ]


def _screens(reader: Reader, given: Mapping[str, Any], kind: str) -> tuple[PreparedScreen, ...]:
    value = given.get(kind, [])
    if not isinstance(value, list) or len(value) > MOST_SCREENS:
        reader.refuse(kind, f"Found {short(value)}; accepted: a list of up to {MOST_SCREENS:,} items.")
        return ()
    answers = PREPARED[kind].has_answers
    return tuple(_screen(reader, entry, f"{kind}.{number}", answers) for number, entry in enumerate(value, start=1))


def _screen(reader: Reader, value: object, path: str, answers: bool) -> PreparedScreen:
    given = reader.mapping(value, path, ("item", "context", "message", "feedback", "texts"))
    entries = given.get("texts")
    if not isinstance(entries, list) or not 1 <= len(entries) <= 25:
        reader.refuse(f"{path}.texts", f"Found {short(entries)}; accepted: a list of 1 to 25 texts to rate.")
        entries = []
    texts = tuple(_text(reader, entry, f"{path}.texts.{number}") for number, entry in enumerate(entries, start=1))
    if answers and texts and not any(text.expected for text in texts):
        reader.refuse(f"{path}.texts", "No text has an expected value; accepted: at least one known answer.")
    return PreparedScreen(
        texts=texts,
        context=tuple(reader.texts(given.get("context", []), f"{path}.context")),
        **{name: reader.text(given.get(name, ""), f"{path}.{name}") for name in ("item", "message", "feedback")},
    )


def _text(reader: Reader, value: object, path: str) -> PreparedText:
    given = reader.mapping(value, path, ("text", "expected"))
    expected = reader.mapping(given.get("expected", {}), f"{path}.expected", None)
    text = reader.text(given.get("text", ""), f"{path}.text")
    if not text.strip():
        reader.refuse(f"{path}.text", "Found nothing; accepted: the text to rate.")
    ranges = {name: _range(reader, ends, f"{path}.expected.{name}") for name, ends in expected.items()}
    return PreparedText(text, ranges)


def _range(reader: Reader, value: object, path: str) -> Range:
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = (reader.number(end, path) for end in value)
        if low <= high:
            return low, high
    reader.refuse(path, f"Found {short(value)}; accepted: a lower and an upper end, such as [4, 5].")
    return 0.0, 0.0
