"""Cleaning texts of a corpus on request: each step named, versioned and told, nothing dropped in silence.

A step takes a text and says what it makes of it, whether the text stays, and why. Steps run in the order of ``STEPS``,
whatever order they were asked for in: addresses are masked before words are counted or looked up.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from annotation.core.problems import storable
from annotation.hygiene.refusal import ParameterRefused, check_number, check_whole, refuse
from annotation.hygiene.words import TOKEN, UNSPACED, count_words

URL_MASK, EMAIL_MASK, HANDLE_MASK = "<url>", "<email>", "<user>"
MASKS = (URL_MASK, EMAIL_MASK, HANDLE_MASK)
MOST_PHRASES = 10_000
REASON_CHARACTERS = 80


class Cleaned(NamedTuple):
    """What became of a text: ``reasons`` say why it was dropped, what was masked, and what could not be told."""

    text: str
    dropped: bool
    reasons: tuple[str, ...]


def _reason(name: str, detail: str) -> str:
    reason = f"{name}: {detail}"
    return reason if len(reason) <= REASON_CHARACTERS else reason[: REASON_CHARACTERS - 1] + "…"


# --- Addresses --------------------------------------------------------------------------------------------------------

# Lengths are those of RFC 1035 and RFC 5321; without bounds a long text could take forever.
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
# Host names without a scheme that are no address unless something says so: "end.Start" is a forgotten space.
_SURE_ENDINGS = (
    "com|org|net|edu|gov|mil|info|biz|io|co\\.uk|ac\\.uk|org\\.uk|gov\\.uk|com\\.au|co\\.jp|de|fr|ru|nl|pl|cz|jp|eu"
)
_NO_URL = '\\s<>"“”，。！？、；：（）【】「」'
# Not inside a word; scripts without spaces between words end none.
_NOT_INSIDE = rf"(?<!(?![{UNSPACED}])\w)"
_URL = re.compile(
    rf"""
    {_NOT_INSIDE}(?<!@)(?:
        (?:https?|ftp)://[^{_NO_URL}]+                                          # with a scheme
      | www\.{_LABEL}(?:\.{_LABEL}){{0,8}}(?::\d+)?(?:[/?\#][^{_NO_URL}]*)?           # www.
      | (?<![.-])(?:{_LABEL}\.){{1,9}}[^\W\d_]{{2,24}}(?::\d+)?/[^{_NO_URL}]+         # host and path
      | (?<![.-])(?:{_LABEL}\.){{1,9}}(?:{_SURE_ENDINGS})(?![\w@-]|\.\w)(?::\d+)?(?:[/?\#][^{_NO_URL}]*)?  # ... ending
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EMAIL = re.compile(
    rf"(?<![\w.+@＠-])(?:mailto:)?[^\W_](?:[\w.+%'’&=-]{{0,62}}[\w+])?@{_LABEL}(?:\.{_LABEL}){{0,8}}\.[^\W\d_]{{2,24}}(?![\w@])",
    re.IGNORECASE,
)
# Not a time (@5pm), not digits alone; user@host of the fediverse is one handle; /u/name is Reddit's. What follows a
# handle without a space would be one itself behind the mask, so it goes with it.
_NO_TIME = r"(?!\d+(?:am|pm|h)?(?!\w))"
_NAME = r"\w+(?:[.-]\w+)*"
_REDDIT = r"/?u/[A-Za-z0-9_-]{3,20}(?![\w-])"
_HANDLE = re.compile(
    rf"(?:{_NOT_INSIDE}(?<![@＠./])[@＠]{_NO_TIME}{_NAME}(?:@{_LABEL}(?:\.{_LABEL}){{1,8}})?|(?<![\w/]){_REDDIT})"
    rf"(?:[@＠]{_NAME}|{_REDDIT})*",
    re.IGNORECASE,
)
_CLOSING = {")": "(", "]": "[", "}": "{", "）": "（", "】": "【", "」": "「"}
_TRAILING = ".,;:!?'\"’”»…*_~。，、！？；："


def _end_of_url(found: str) -> int:
    """Where an address ends: punctuation behind it is the sentence's, and so is a bracket that it did not open."""
    surplus = {closing: found.count(closing) - found.count(opening) for closing, opening in _CLOSING.items()}
    end = len(found)
    while end:
        last = found[end - 1]
        if last not in _TRAILING and surplus.get(last, 0) <= 0:
            break
        if last in surplus:
            surplus[last] -= 1
        end -= 1
    return end


def _mask_urls(text: str) -> tuple[str, int]:
    masked = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal masked
        found = match[0]
        end = _end_of_url(found)
        masked += 1
        return URL_MASK + found[end:]

    return _URL.sub(replaced, text), masked


class _Mask(ABC):
    name: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def masked(self, text: str) -> tuple[str, int]:
        """The text with its masks, and how many there are."""

    def apply(self, text: str) -> Cleaned:
        masked, count = self.masked(text)
        return Cleaned(masked, False, (_reason(self.name, f"{count} masked"),) if count else ())

    def signature(self) -> str:
        return f"{self.name}.v{self.version}"


@dataclass(frozen=True)
class MaskUrls(_Mask):
    """Addresses of pages become ``<url>``: with a scheme, with www., with a path, or with a well-known ending."""

    name: ClassVar[str] = "mask_urls"

    def masked(self, text: str) -> tuple[str, int]:
        return _mask_urls(text)


@dataclass(frozen=True)
class MaskEmails(_Mask):
    """E-mail addresses become ``<email>``."""

    name: ClassVar[str] = "mask_emails"

    def masked(self, text: str) -> tuple[str, int]:
        return _EMAIL.subn(EMAIL_MASK, text)


@dataclass(frozen=True)
class MaskHandles(_Mask):
    """Names of accounts become ``<user>``: @anna, @anna@example.social, u/anna."""

    name: ClassVar[str] = "mask_handles"

    def masked(self, text: str) -> tuple[str, int]:
        return _HANDLE.subn(HANDLE_MASK, text)


# --- Language ---------------------------------------------------------------------------------------------------------

NO_LANGUAGE = "zxx"  # the library's label for what is no language: addresses, rows of letters
# Labels of the library that are part of another, a macrolanguage of ISO 639-3; and other tags of the same languages.
PARTS = {
    "arz": "ar",
    "ary": "ar",
    "gug": "gn",
    "ltg": "lv",
    "nn": "no",
    "sdh": "ku",
    "uzs": "uz",
    "wuu": "zh",
    "yue": "zh",
    "nb": "no",
    "cmn": "zh",
    "fil": "tl",
    "iw": "he",
    "in": "id",
}


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)  # 0.7 s, once a process


@cache
def languages() -> tuple[str, ...]:
    """The languages that can be told apart, as ISO 639 codes in order."""
    return tuple(sorted({primary_language(label) for label in _identifier().labels if label != NO_LANGUAGE}))


def primary_language(tag: str) -> str:
    """The language of a BCP 47 tag, as far as languages are told apart.

    >>> primary_language("pt-BR"), primary_language("nb"), primary_language("yue")
    ('pt', 'no', 'zh')
    """
    code = tag.replace("_", "-").split("-")[0].lower()
    return PARTS.get(code, code)


def likeliest_language(text: str) -> tuple[str, float]:
    """The language a text is most likely in, ``zxx`` for none, and its probability; parts of one are added up."""
    probabilities: dict[str, float] = {}
    for label, probability in _identifier().rank(text):
        language = PARTS.get(label, label)
        probabilities[language] = probabilities.get(language, 0.0) + probability
    language = max(probabilities, key=probabilities.__getitem__)
    return language, probabilities[language]


@dataclass(frozen=True)
class Language:
    """Texts that are surely in another language are dropped; those too short to tell, and the unsure, stay and say so.

    Short texts are hard. What can be told is told from ``min_letters`` on, counted as bytes of letters in UTF-8 (20 of
    Latin, 10 of Cyrillic, 7 of Chinese), addresses and masks aside; a text is dropped where another language than
    the wanted one is likeliest, with a probability of ``min_confidence`` or more.
    """

    language: str = "en"
    min_letters: int = 20
    min_confidence: float = 0.8
    name: ClassVar[str] = "language"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        tag = self.language.replace("-", "").replace("_", "") if isinstance(self.language, str) else ""
        if not tag.isalnum() or primary_language(self.language) not in languages():
            refuse("language", self.language, f"a tag such as en or pt-BR, of one of {len(languages())} languages")
        check_whole("min_letters", self.min_letters, 1, 1000)
        check_number("min_confidence", self.min_confidence, 0.5, 1)

    def apply(self, text: str) -> Cleaned:
        bare = _without_addresses(text)
        if sum(len(sign.encode()) for sign in bare if sign.isalpha()) < self.min_letters:
            return Cleaned(text, False, ("language: too short to tell",))
        likeliest, confidence = likeliest_language(bare)
        if likeliest == primary_language(self.language):
            return Cleaned(text, False, ())
        if confidence < self.min_confidence:
            return Cleaned(text, False, ("language: not sure",))
        found = "no language" if likeliest == NO_LANGUAGE else likeliest
        return Cleaned(text, True, (_reason(self.name, found),))

    def signature(self) -> str:
        library = f"py3langid-{version('py3langid')}"
        return f"{self.name}.v{self.version}({self.language},{self.min_letters},{self.min_confidence:g},{library})"


def _without_addresses(text: str) -> str:
    text = mask(text, [MaskUrls(), MaskEmails(), MaskHandles()])
    for token in MASKS:
        text = text.replace(token, " ")
    return text.strip()


# --- Length and words -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Length:
    """Texts with fewer or more words are dropped. Punctuation is no word; a mask is one."""

    min_tokens: int = 1
    max_tokens: int = 50
    name: ClassVar[str] = "length"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_whole("min_tokens", self.min_tokens, 0, 10_000)
        check_whole("max_tokens", self.max_tokens, max(1, self.min_tokens), 10_000)

    def apply(self, text: str) -> Cleaned:
        count = count_words(text)
        if count < self.min_tokens:
            return Cleaned(text, True, (f"length: fewer than {self.min_tokens} words",))
        if count > self.max_tokens:
            return Cleaned(text, True, (f"length: more than {self.max_tokens} words",))
        return Cleaned(text, False, ())

    def signature(self) -> str:
        return f"{self.name}.v{self.version}({self.min_tokens}-{self.max_tokens})"


def _tokens(text: str) -> tuple[str, ...]:
    """Words and signs as they are looked up: neither case counts nor the shape of an apostrophe."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return tuple(TOKEN.findall(folded.replace("’", "'")))


@dataclass(frozen=True)
class Blocklist:
    """Texts with one of these words or phrases are dropped. Whole words in any case: “ass” is not in “class”."""

    phrases: tuple[str, ...] = ()
    name: ClassVar[str] = "blocklist"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if isinstance(self.phrases, str) or not isinstance(self.phrases, Sequence):
            refuse("phrases", self.phrases, "a list of words and phrases")
        if not 1 <= len(self.phrases) <= MOST_PHRASES:
            refuse("phrases", f"{len(self.phrases):,} phrases", f"from 1 to {MOST_PHRASES:,}")
        for place, phrase in enumerate(self.phrases):
            if not isinstance(phrase, str) or not _tokens(phrase) or storable(phrase) != phrase:
                refuse(f"phrases[{place}]", phrase, "a word or phrase")
        object.__setattr__(self, "phrases", tuple(sorted(set(self.phrases))))

    @cached_property
    def _by_first(self) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase in self.phrases:
            tokens = _tokens(phrase)
            by_first.setdefault(tokens[0], []).append((tokens, phrase))
        return by_first

    def apply(self, text: str) -> Cleaned:
        searched = text
        for token in MASKS:  # the words of a mask are nobody's: no phrase holds a NUL
            searched = searched.replace(token, " \x00 ")
        tokens = _tokens(searched)
        found = {
            phrase: None
            for place, first in enumerate(tokens)
            for sought, phrase in self._by_first.get(first, ())
            if tokens[place : place + len(sought)] == sought
        }
        return Cleaned(text, bool(found), tuple(_reason(self.name, phrase) for phrase in found))

    def signature(self) -> str:
        digest = sha256("\n".join(self.phrases).encode()).hexdigest()[:12]
        return f"{self.name}.v{self.version}({len(self.phrases)},{digest})"


# --- All of them ------------------------------------------------------------------------------------------------------

AnyStep = MaskUrls | MaskEmails | MaskHandles | Language | Length | Blocklist
# In the order in which they run.
STEPS: dict[str, type[AnyStep]] = {
    kind.name: kind for kind in (MaskUrls, MaskEmails, MaskHandles, Language, Length, Blocklist)
}


def step_to_dict(step: AnyStep) -> dict[str, Any]:
    values = {each.name: getattr(step, each.name) for each in fields(step)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {"step": step.name, "version": step.version, **plain}


def step_from_dict(data: object) -> AnyStep:
    """The step that ``step_to_dict`` wrote; ParameterRefused, a ValueError, names what is not accepted."""
    if not isinstance(data, Mapping):
        refuse("", data, 'an object such as {"step": "length", "min_tokens": 3}')
    kind = STEPS.get(data["step"]) if isinstance(data.get("step"), str) else None
    if kind is None:
        refuse("step", data.get("step"), f"one of {', '.join(STEPS)}")
    known = [each.name for each in fields(kind)]
    for name in data:
        if name not in ("step", "version", *known):
            refuse(str(name), "an unknown parameter", f"one of {', '.join(['step', 'version', *known])}")
    if data.get("version", kind.version) != kind.version:
        refuse("version", data["version"], f"{kind.version}, the version of this step that Assay has")
    values: dict[str, Any] = {
        name: tuple(data[name]) if isinstance(data[name], list) else data[name] for name in known if name in data
    }
    return kind(**values)


def in_order(steps: Iterable[AnyStep]) -> tuple[AnyStep, ...]:
    """The steps in the order in which they run; each at most once."""
    given = list(steps)
    names = [step.name for step in given]
    for name in names:
        if names.count(name) > 1:
            raise ParameterRefused("hygiene", f"found {name} {names.count(name)} times; accepted: each step once.")
    return tuple(sorted(given, key=lambda step: list(STEPS).index(step.name)))


def clean(text: str, steps: Sequence[AnyStep]) -> Cleaned:
    """What all steps make of a text; also where one drops it the others say what they find.

    >>> clean("ask @anna", [MaskHandles(), Length(min_tokens=3)])
    Cleaned(text='ask <user>', dropped=True, reasons=('mask_handles: 1 masked', 'length: fewer than 3 words'))
    """
    dropped = False
    reasons: list[str] = []
    for step in in_order(steps):
        cleaned = step.apply(text)
        text = cleaned.text
        dropped |= cleaned.dropped
        reasons += cleaned.reasons
    return Cleaned(text, dropped, tuple(reasons))


def mask(text: str, steps: Sequence[AnyStep]) -> str:
    """A text that is shown beside a candidate, its context or message: masked as candidates are, and never dropped."""
    for step in in_order(steps):
        if isinstance(step, _Mask):
            text = step.apply(text).text
    return text
