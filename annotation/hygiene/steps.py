"""Steps that clean the texts of a corpus, each with a name and a version; nothing is dropped without a reason.

A step returns the cleaned text, whether it is dropped, and why. Steps run in the order of ``STEPS``, not in the order
given: addresses are masked before words are counted or looked up.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections import defaultdict
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

MOST_PHRASES = 10_000
REASON_CHARACTERS = 80


class Cleaned(NamedTuple):
    """A cleaned text; ``reasons`` say why it was dropped, what was masked, and what could not be decided."""

    text: str
    dropped: bool
    reasons: tuple[str, ...]


class Step(ABC):
    """Base of the steps, which are dataclasses of their parameters."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def apply(self, text: str) -> Cleaned: ...

    @property
    def parameters(self) -> str:
        """Return the parameters as the signature names them."""
        return ""

    def signature(self) -> str:
        return f"{self.name}.v{self.version}" + (f"({self.parameters})" if self.parameters else "")

    def reason(self, detail: str) -> str:
        reason = f"{self.name}: {detail}"
        return reason if len(reason) <= REASON_CHARACTERS else reason[: REASON_CHARACTERS - 1] + "…"


# --- Addresses --------------------------------------------------------------------------------------------------------

# Lengths are those of RFC 1035 and RFC 5321; without bounds a long text could take forever.
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
# Host names without a scheme need a well-known ending: "end.Start" is a forgotten space.
_SURE_ENDINGS = (
    "com|org|net|edu|gov|mil|info|biz|io|co\\.uk|ac\\.uk|org\\.uk|gov\\.uk|com\\.au|co\\.jp|de|fr|ru|nl|pl|cz|jp|eu"
)
_NO_URL = '\\s<>"“”，。！？、；：（）【】「」'
# Not inside a word; in scripts without spaces, words do not end at spaces.
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
# Not a time (@5pm), not digits alone; user@host of the fediverse is one handle; /u/name is Reddit's. A handle
# that follows another without a space is masked with it.
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


def _end_of_url(match: str) -> int:
    """Return where an address ends: later punctuation and brackets that it did not open belong to the sentence."""
    surplus = {closing: match.count(closing) - match.count(opening) for closing, opening in _CLOSING.items()}
    end = len(match)
    while end:
        last = match[end - 1]
        if last not in _TRAILING and surplus.get(last, 0) <= 0:
            break
        if last in surplus:
            surplus[last] -= 1
        end -= 1
    return end


class Mask(Step):
    pattern: ClassVar[re.Pattern[str]]
    token: ClassVar[str]

    def replacement(self, match: re.Match[str]) -> str:
        return self.token

    def apply(self, text: str) -> Cleaned:
        masked, count = self.pattern.subn(self.replacement, text)
        return Cleaned(masked, False, (self.reason(f"{count} masked"),) if count else ())


@dataclass(frozen=True)
class MaskUrls(Mask):
    """Addresses of pages become ``<url>``: with a scheme, with www., with a path, or with a well-known ending."""

    name = "mask_urls"
    pattern, token = _URL, "<url>"

    def replacement(self, match: re.Match[str]) -> str:
        return self.token + match[0][_end_of_url(match[0]) :]


@dataclass(frozen=True)
class MaskEmails(Mask):
    """E-mail addresses become ``<email>``."""

    name = "mask_emails"
    pattern, token = _EMAIL, "<email>"


@dataclass(frozen=True)
class MaskHandles(Mask):
    """Names of accounts become ``<user>``: @anna, @anna@example.social, u/anna."""

    name = "mask_handles"
    pattern, token = _HANDLE, "<user>"


MASKS = (MaskUrls(), MaskEmails(), MaskHandles())


# --- Language ---------------------------------------------------------------------------------------------------------

NO_LANGUAGE = "zxx"  # the library's label for texts in no language, such as addresses and rows of letters
# Labels of the library that are part of a macrolanguage of ISO 639-3, and other tags of the same languages.
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
    """Return the languages that can be recognised, as ISO 639 codes in order."""
    return tuple(sorted({primary_language(label) for label in _identifier().labels if label != NO_LANGUAGE}))


def primary_language(tag: str) -> str:
    """Return the language of a BCP 47 tag, as far as languages are distinguished.

    >>> primary_language("pt-BR"), primary_language("nb"), primary_language("yue")
    ('pt', 'no', 'zh')
    """
    code = tag.replace("_", "-").split("-")[0].lower()
    return PARTS.get(code, code)


def likeliest_language(text: str) -> tuple[str, float]:
    """Return the likeliest language, ``zxx`` for none, and its probability, summed over the parts of a language."""
    probabilities: defaultdict[str, float] = defaultdict(float)
    for label, probability in _identifier().rank(text):
        probabilities[PARTS.get(label, label)] += probability
    language = max(probabilities, key=probabilities.__getitem__)
    return language, probabilities[language]


@dataclass(frozen=True)
class Language(Step):
    """Texts that are surely in another language are dropped; short and unsure texts stay, with a reason.

    A text is judged from ``min_letters`` on, counted as bytes of letters in UTF-8 (20 of Latin, 10 of Cyrillic, 7 of
    Chinese) without addresses and masks. It is dropped if another language is likeliest, with a probability of
    ``min_confidence`` or more.
    """

    language: str = "en"
    min_letters: int = 20
    min_confidence: float = 0.8
    name = "language"

    def __post_init__(self) -> None:
        tag = self.language.replace("-", "").replace("_", "") if isinstance(self.language, str) else ""
        if not tag.isalnum() or primary_language(self.language) not in languages():
            refuse("language", self.language, f"a tag such as en or pt-BR, of one of {len(languages())} languages")
        check_whole("min_letters", self.min_letters, 1, 1000)
        check_number("min_confidence", self.min_confidence, 0.5, 1)

    def apply(self, text: str) -> Cleaned:
        bare = _without_addresses(text)
        if sum(len(sign.encode()) for sign in bare if sign.isalpha()) < self.min_letters:
            return Cleaned(text, False, (self.reason("too short to tell"),))
        likeliest, confidence = likeliest_language(bare)
        if likeliest == primary_language(self.language):
            return Cleaned(text, False, ())
        if confidence < self.min_confidence:
            return Cleaned(text, False, (self.reason("not sure"),))
        return Cleaned(text, True, (self.reason("no language" if likeliest == NO_LANGUAGE else likeliest),))

    @property
    def parameters(self) -> str:
        return f"{self.language},{self.min_letters},{self.min_confidence:g},py3langid-{version('py3langid')}"


def _without_addresses(text: str) -> str:
    return _without_masks(mask(text, MASKS), " ").strip()


def _without_masks(text: str, replacement: str) -> str:
    for step in MASKS:
        text = text.replace(step.token, replacement)
    return text


# --- Length and words -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Length(Step):
    """Texts with fewer or more words are dropped. Punctuation is no word; a mask is a word."""

    min_tokens: int = 1
    max_tokens: int = 50
    name = "length"

    def __post_init__(self) -> None:
        check_whole("min_tokens", self.min_tokens, 0, 10_000)
        check_whole("max_tokens", self.max_tokens, max(1, self.min_tokens), 10_000)

    def apply(self, text: str) -> Cleaned:
        count = count_words(text)
        if self.min_tokens <= count <= self.max_tokens:
            return Cleaned(text, False, ())
        limit = f"fewer than {self.min_tokens}" if count < self.min_tokens else f"more than {self.max_tokens}"
        return Cleaned(text, True, (self.reason(f"{limit} words"),))

    @property
    def parameters(self) -> str:
        return f"{self.min_tokens}-{self.max_tokens}"


def _tokens(text: str) -> tuple[str, ...]:
    """Return words and signs for look-up, regardless of case and of the shape of apostrophes."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return tuple(TOKEN.findall(folded.replace("’", "'")))


@dataclass(frozen=True)
class Blocklist(Step):
    """Texts with one of these words or phrases are dropped. Whole words in any case: “ass” is not in “class”."""

    phrases: tuple[str, ...] = ()
    name = "blocklist"

    def __post_init__(self) -> None:
        if isinstance(self.phrases, str) or not isinstance(self.phrases, Sequence):
            refuse("phrases", self.phrases, "a list of words and phrases")
        if not 1 <= len(self.phrases) <= MOST_PHRASES:
            refuse("phrases", f"{len(self.phrases):,} phrases", f"from 1 to {MOST_PHRASES:,}")
        for index, phrase in enumerate(self.phrases):
            if not isinstance(phrase, str) or not _tokens(phrase) or storable(phrase) != phrase:
                refuse(f"phrases[{index}]", phrase, "a word or phrase")
        object.__setattr__(self, "phrases", tuple(sorted(set(self.phrases))))

    @cached_property
    def _by_first(self) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        by_first: defaultdict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for phrase in self.phrases:
            tokens = _tokens(phrase)
            by_first[tokens[0]].append((tokens, phrase))
        return by_first

    def apply(self, text: str) -> Cleaned:
        tokens = _tokens(_without_masks(text, " \x00 "))  # no phrase has a NUL
        matches = dict.fromkeys(
            phrase
            for index, first in enumerate(tokens)
            for sought, phrase in self._by_first.get(first, ())
            if tokens[index : index + len(sought)] == sought
        )
        return Cleaned(text, bool(matches), tuple(self.reason(phrase) for phrase in matches))

    @property
    def parameters(self) -> str:
        digest = sha256("\n".join(self.phrases).encode()).hexdigest()[:12]
        return f"{len(self.phrases)},{digest}"


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
    """Return the step that ``step_to_dict`` wrote; ParameterRefused, a ValueError, names what is not accepted."""
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
    """Return the steps in the order in which they run; refuse a step given twice."""
    steps = list(steps)
    names = [step.name for step in steps]
    for name in names:
        if names.count(name) > 1:
            raise ParameterRefused("hygiene", f"found {name} {names.count(name)} times; accepted: each step once.")
    return tuple(sorted(steps, key=lambda step: list(STEPS).index(step.name)))


def clean(text: str, steps: Sequence[AnyStep]) -> Cleaned:
    """Apply all steps to a text. After a step drops it, the others still add their reasons.

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
    """Mask a text shown with a candidate, its context or message, as candidates are masked; never drop it."""
    for step in in_order(steps):
        if isinstance(step, Mask):
            text = step.apply(text).text
    return text
