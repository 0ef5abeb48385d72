"""What providers call a rater, and what is stored of it: encrypted, with a keyed digest by which rows are found.

Keys are derived from ``SECRET_KEY``; those of ``SECRET_KEY_FALLBACKS`` open and find what they encrypted. Rows are
looked up by their digests under all keys, and encrypted again when one was found under a former key.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import Any

from django.conf import settings
from django.db.models import Q

from annotation.core.errors import AnnotationError
from annotation.core.vault import BlindIndex, SealBrokenError, Vault

SEALING, INDEXING = b"assay rater identities 1", b"assay rater identities index 1"
DIGEST = BlindIndex.LENGTH
HYPHENATED = re.compile(r"[\w-]{6,}")
SHORTEST, MOST_PARTS = 6, 8  # characters of an id within a text, and its parts between hyphens
UNREADABLE = "cannot be read: it was encrypted with a SECRET_KEY that is not known here"


class IdentityUnreadable(AnnotationError):
    """No key of this installation opens what a provider calls a rater."""

    def __init__(self) -> None:
        super().__init__(
            f"The provider's id of a rater {UNREADABLE}. "
            "Ask the administrator to add the former key to SECRET_KEY_FALLBACKS."
        )


def seal(**values: str) -> str:
    return _vault(_secrets()).seal(values)


def opened(sealed: str) -> dict[str, str]:
    try:
        return _vault(_secrets()).open(sealed)
    except SealBrokenError as error:
        raise IdentityUnreadable from error


def resealed(sealed: str) -> str:
    """Return the same values under the present key; what is empty stays so."""
    try:
        return _vault(_secrets()).reseal(sealed) if sealed else ""
    except SealBrokenError as error:
        raise IdentityUnreadable from error


def is_lost(sealed: str) -> bool:
    """Return whether no key of this installation opens it."""
    try:
        return bool(sealed) and not opened(sealed)
    except IdentityUnreadable:
        return True


def shown(sealed: str, name: str = "external_id") -> str:
    """Return a sealed value for a page or a file, or the reason why it cannot be read."""
    try:
        return opened(sealed)[name] if sealed else ""
    except IdentityUnreadable:
        return f"({UNREADABLE})"


def digest_of(text: str) -> str:
    """Return the digest that new rows have."""
    return digests_of(text)[0]


def digests_of(text: str) -> list[str]:
    """Return the digests that a row with this text may have: the first is that of new rows."""
    return _index(_secrets()).digests(text)


def texts_by_digest(texts: Iterable[str]) -> dict[str, str]:
    """Return the text of each digest that a row with one of these texts may have."""
    return {digest: text for text in texts for digest in digests_of(text)}


def is_current(digest: str) -> bool:
    return digest.startswith(present_key())


def present_key() -> str:
    """Return how the digests of the present key begin."""
    return _index(_secrets()).beginnings[0]


def is_of_unknown_key(digest: str) -> bool:
    return "." in digest and not digest.startswith(_index(_secrets()).beginnings)


def of_unknown_key(column: str = "digest") -> Q:
    """Select rows whose digest in this column is of a key that this installation does not have."""
    known = Q()
    for beginning in _index(_secrets()).beginnings:
        known |= Q(**{f"{column}__startswith": beginning})
    return ~known & Q(**{f"{column}__contains": "."})


def digests_within(data: Any) -> list[str]:
    """Return digests of texts and numbers in JSON, and of longer words in them, so that a message is found by an id."""
    words = {word for text in _texts(data) if text for word in (text, *_words(text))}
    return sorted(map(digest_of, words))


def messages_within(options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a recruitment's options whose ``sealed`` holds words of the provider: errors, bonuses."""
    troubles = [options["trouble"]] if options.get("trouble") else []
    return [*troubles, *options.get("bonuses", [])]


def seal_json(data: Any) -> str:
    return seal(json=json.dumps(data))


def json_opened(sealed: str) -> Any:
    return json.loads(opened(sealed)["json"]) if sealed else {}


def _texts(data: Any) -> Iterable[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, int | float):
        yield str(data)
    elif isinstance(data, dict | list):
        for each in (*data, *data.values()) if isinstance(data, dict) else data:
            yield from _texts(each)


def _words(text: str) -> Iterable[str]:
    """Return the longer words of a text: of one with hyphens also its parts, each and with those that follow."""
    for word in HYPHENATED.findall(text):
        yield word
        parts = word.split("-")
        for first, n in product(range(len(parts)), range(1, MOST_PARTS + 1)):
            if len(part := "-".join(parts[first : first + n])) >= SHORTEST:
                yield part


def _secrets() -> tuple[str, ...]:
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@lru_cache(maxsize=4)
def _vault(secrets: tuple[str, ...]) -> Vault:
    return Vault(secrets, purpose=SEALING)


@lru_cache(maxsize=4)
def _index(secrets: tuple[str, ...]) -> BlindIndex:
    return BlindIndex(secrets, purpose=INDEXING)
