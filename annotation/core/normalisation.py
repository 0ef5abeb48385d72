"""Named rules under which two texts of one item count as the same response."""

import re
import unicodedata
from collections.abc import Callable
from hashlib import sha256


def _nfc_space(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _nfkc_casefold(text: str) -> str:
    # Case folding may undo a composition: normalise on both sides of it (Unicode Standard, 3.13, D145).
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


RULES: dict[str, Callable[[str], str]] = {
    "exact": str,
    "nfc-space": _nfc_space,
    "nfkc-casefold": _nfkc_casefold,
}
DEFAULT_RULE = "nfc-space"
RULE_CHOICES = [
    ("nfc-space", "Same but for spacing: Unicode NFC, white space collapsed (nfc-space)"),
    ("nfkc-casefold", "Same but for spacing, case and compatible characters (nfkc-casefold)"),
    ("exact", "Character for character (exact)"),
]


def normalise(text: str, rule: str = DEFAULT_RULE) -> str:
    """Return the form of ``text`` that is compared.

    Parameters
    ----------
    text : str
    rule : str
        ``exact``: as it is. ``nfc-space``: Unicode NFC, runs of white space collapsed to one space, ends stripped.
        ``nfkc-casefold``: NFKC and case folding, then white space as above.

    Raises
    ------
    ValueError
        If the rule is unknown.

    Examples
    --------
    >>> normalise("  to  be ")
    'to be'
    >>> normalise("Straße", "nfkc-casefold")
    'strasse'
    """
    if rule not in RULES:
        raise ValueError(f"rule: found {rule!r}; accepted: {', '.join(RULES)}.")
    return RULES[rule](text)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text without case: metrics that tokenise and lowercase see no more of it.

    A text without any is returned with white space collapsed.

    >>> letters_of("His real name was Dick Whitman .") == letters_of("his real name was dick whitman.")
    True
    >>> letters_of(":-  )")
    ':- )'
    """
    folded = normalise(text, "nfkc-casefold")
    return re.sub(r"[\W_]+", "", folded) or folded


def text_key(text: str, rule: str = DEFAULT_RULE) -> str:
    """Return the hexadecimal SHA-256 of the normalised text, which identifies a response within its item.

    >>> text_key("to be") == text_key(" to  be")
    True
    """
    return sha256(normalise(text, rule).encode()).hexdigest()
