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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CHECK_KINDS = ("gold", "attention", "repeat", "degraded", "anchor")
DEGRADATIONS = ("drop", "swap", "foreign")
MOST_SCREENS = 1000
LONGEST = 20_000

Range = tuple[float, float]


class DesignError(ValueError):
    """A design that cannot be; ``problems`` maps the path of each field to what is wrong with it."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{path}: {problem}" for path, problem in problems.items()))
        self.problems = dict(problems)


@dataclass(frozen=True)
class PreparedText:
    """A text to rate, and per criterion the inclusive range of accepted values."""

    text: str
    expected: Mapping[str, Range] = field(default_factory=dict)


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
            "texts": [
                {"text": one.text, "expected": {name: list(ends) for name, ends in one.expected.items()}}
                for one in self.texts
            ],
        }


@dataclass(frozen=True)
class QualityDesign:
    """Which checks are mixed into a rater's screens."""

    every: int = 0
    mix: Mapping[str, int] = field(default_factory=dict)
    repeat_gap: int = 5
    gold: tuple[PreparedScreen, ...] = ()
    attention: tuple[PreparedScreen, ...] = ()
    degraded_count: int = 0
    degradations: tuple[str, ...] = DEGRADATIONS
    anchor_count: int = 0
    anchor_low: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As it is stored; ``from_dict`` is the way back. No checks at all is an empty object."""
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
    def from_dict(cls, data: object) -> "QualityDesign":
        """Raises ``DesignError`` with every mistake at once."""
        read = _Reader()
        found = read.mapping(data, "", ("every", "mix", "repeat_gap", "gold", "attention", "degraded", "anchors"))
        degraded = read.mapping(found.get("degraded", {}), "degraded", ("count", "operations"))
        anchors = read.mapping(found.get("anchors", {}), "anchors", ("count", "low"))
        every = read.whole(found.get("every", 0), "every", 0, 1000)
        if every == 1:
            read.refuse("every", "Found 1; accepted: 0 for no checks, or 2 to 1000 (one check in so many screens).")
        mix = read.mapping(found.get("mix", {}), "mix", CHECK_KINDS)
        operations = read.texts(degraded.get("operations", list(DEGRADATIONS)), "degraded.operations")
        unknown = [name for name in operations if name not in DEGRADATIONS]
        if unknown or not operations:
            found_names = ", ".join(unknown) or "none"
            read.refuse("degraded.operations", f"Found {found_names}; accepted: {', '.join(DEGRADATIONS)}.")
        low = read.mapping(anchors.get("low", {}), "anchors.low", None)
        design = cls(
            every=every,
            mix={kind: read.whole(n, f"mix.{kind}", 1, 100) for kind, n in mix.items() if n != 0},
            repeat_gap=read.whole(found.get("repeat_gap", 5), "repeat_gap", 1, 1000),
            gold=read.screens(found.get("gold", []), "gold", answers=True),
            attention=read.screens(found.get("attention", []), "attention", answers=True),
            degraded_count=read.whole(degraded.get("count", 0), "degraded.count", 0, 10_000),
            degradations=tuple(operations),
            anchor_count=read.whole(anchors.get("count", 0), "anchors.count", 0, 10_000),
            anchor_low={name: read.number(value, f"anchors.low.{name}") for name, value in low.items()},
        )
        design._check_mix(read)
        read.finish()
        return design

    def _check_mix(self, read: "_Reader") -> None:
        if bool(self.every) != bool(self.mix):
            read.refuse("mix", "Checks need both: how often, and at least one kind; or neither.")
        there = {
            "gold": len(self.gold),
            "attention": len(self.attention),
            "degraded": self.degraded_count,
            "anchor": self.anchor_count,
        }
        for kind, n in there.items():
            if kind in self.mix and n == 0:
                read.refuse(f"mix.{kind}", f"Found {self.mix[kind]}, but no {kind} screens; accepted: 0 without any.")


@dataclass(frozen=True)
class QualificationDesign:
    """What a rater goes through before the work: training with feedback, and a test with a pass mark."""

    training: tuple[PreparedScreen, ...] = ()
    test: tuple[PreparedScreen, ...] = ()
    pass_mark: float = 0.8
    attempts: int = 2

    def to_dict(self) -> dict[str, Any]:
        if self == QualificationDesign():
            return {}
        return {
            "training": [screen.to_dict() for screen in self.training],
            "test": [screen.to_dict() for screen in self.test],
            "pass_mark": self.pass_mark,
            "attempts": self.attempts,
        }

    @classmethod
    def from_dict(cls, data: object) -> "QualificationDesign":
        """Raises ``DesignError`` with every mistake at once."""
        read = _Reader()
        found = read.mapping(data, "", ("training", "test", "pass_mark", "attempts"))
        design = cls(
            training=read.screens(found.get("training", []), "training", answers=False),
            test=read.screens(found.get("test", []), "test", answers=True),
            pass_mark=read.number(found.get("pass_mark", 0.8), "pass_mark"),
            attempts=read.whole(found.get("attempts", 2), "attempts", 1, 10),
        )
        if not 0 < design.pass_mark <= 1:
            read.refuse("pass_mark", f"Found {design.pass_mark}; accepted: above 0, up to 1.")
        read.finish()
        return design


class _Reader:
    """Reads JSON field by field and gathers what is wrong."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}

    def refuse(self, path: str, problem: str) -> None:
        self.problems.setdefault(path or "it", problem)

    def finish(self) -> None:
        if self.problems:
            raise DesignError(self.problems)

    def mapping(self, value: object, path: str, known: Sequence[str] | None) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            self.refuse(path, f"Found {_short(value)}; accepted: an object.")
            return {}
        for name in value:
            if known is not None and name not in known:
                self.refuse(_join(path, str(name)), f"An unknown field; accepted: {', '.join(known)}.")
        return {str(name): entry for name, entry in value.items() if known is None or name in known}

    def whole(self, value: object, path: str, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.refuse(path, f"Found {_short(value)}; accepted: a whole number from {low} to {high}.")
            return low
        return value

    def number(self, value: object, path: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
            self.refuse(path, f"Found {_short(value)}; accepted: a number.")
            return 0.0
        return float(value)

    def text(self, value: object, path: str) -> str:
        if not isinstance(value, str) or len(value) > LONGEST or "\x00" in value:
            self.refuse(path, f"Found {_short(value)}; accepted: text of up to {LONGEST:,} characters.")
            return ""
        return value

    def texts(self, value: object, path: str) -> list[str]:
        if not isinstance(value, list):
            self.refuse(path, f"Found {_short(value)}; accepted: a list of texts.")
            return []
        return [self.text(entry, f"{path}.{place}") for place, entry in enumerate(value, start=1)]

    def screens(self, value: object, path: str, *, answers: bool) -> tuple[PreparedScreen, ...]:
        """``answers``: at least one text of each has an expected value."""
        if not isinstance(value, list) or len(value) > MOST_SCREENS:
            self.refuse(path, f"Found {_short(value)}; accepted: a list of up to {MOST_SCREENS:,} screens.")
            return ()
        return tuple(self._screen(entry, f"{path}.{place}", answers) for place, entry in enumerate(value, start=1))

    def _screen(self, value: object, path: str, answers: bool) -> PreparedScreen:
        found = self.mapping(value, path, ("item", "context", "message", "feedback", "texts"))
        texts = found.get("texts")
        if not isinstance(texts, list) or not 1 <= len(texts) <= 25:
            self.refuse(f"{path}.texts", f"Found {_short(texts)}; accepted: a list of 1 to 25 texts to rate.")
            texts = []
        read = tuple(self._text(entry, f"{path}.texts.{place}") for place, entry in enumerate(texts, start=1))
        if answers and read and not any(one.expected for one in read):
            self.refuse(f"{path}.texts", "No text has an expected value; accepted: at least one known answer.")
        return PreparedScreen(
            texts=read,
            item=self.text(found.get("item", ""), f"{path}.item"),
            context=tuple(self.texts(found.get("context", []), f"{path}.context")),
            message=self.text(found.get("message", ""), f"{path}.message"),
            feedback=self.text(found.get("feedback", ""), f"{path}.feedback"),
        )

    def _text(self, value: object, path: str) -> PreparedText:
        found = self.mapping(value, path, ("text", "expected"))
        expected = self.mapping(found.get("expected", {}), f"{path}.expected", None)
        text = self.text(found.get("text", ""), f"{path}.text")
        if not text.strip():
            self.refuse(f"{path}.text", "Found nothing; accepted: the text to rate.")
        return PreparedText(
            text, {name: self._range(ends, f"{path}.expected.{name}") for name, ends in expected.items()}
        )

    def _range(self, value: object, path: str) -> Range:
        if isinstance(value, list | tuple) and len(value) == 2:
            low, high = (self.number(end, path) for end in value)
            if low <= high:
                return low, high
        self.refuse(path, f"Found {_short(value)}; accepted: a lower and an upper end, such as [4, 5].")
        return 0.0, 0.0


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _short(value: object) -> str:
    return "nothing" if value is None or value == "" else repr(value)[:60]
