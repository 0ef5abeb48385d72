"""What is learnt from: outputs with their sources and ratings."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.texts import encoded


@dataclass(frozen=True)
class Instance:
    """An output, what it was made from, and how it was rated.

    Attributes
    ----------
    source : str
        A meaning representation, such as ``inform(name='X',food=Thai)``, or text: context and message.
    output : str
    rating : float
        In points of the scale; NaN if it is unknown.
    references : tuple of str
        Outputs that people wrote for this source; plans S3 to S6 learn from them.
    domain, system : str
        Of the output; plans C1 to C3 divide by them.
    """

    source: str
    output: str
    rating: float = math.nan
    references: tuple[str, ...] = ()
    domain: str = ""
    system: str = ""


def ratings_of(instances: Sequence[Instance]) -> Floats:
    """Return the ratings (n,).

    Raises
    ------
    ValueError
        An instance without a finite rating.
    """
    ratings = np.array([each.rating for each in instances], dtype=np.float64)
    missing = np.flatnonzero(~np.isfinite(ratings))
    if missing.size:
        raise ValueError(f"instances[{missing[0]}]: found rating {ratings[missing[0]]}; accepted: a finite number")
    return ratings


def group_indices(pairs: Iterable[Hashable]) -> Ints:
    """Return a number (n,) for each distinct pair, from 0 in the order of their appearance.

    Examples
    --------
    >>> group_indices([("a", "x"), ("a", "y"), ("a", "x")]).tolist()
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], dtype=np.int64)


def pair_key(source: str, output: str) -> bytes:
    """Return a key of a source and an output that is the same for texts that differ only in case and spaces."""
    total = sha256()
    for text in (source, output):
        utf8 = encoded(" ".join(text.casefold().split()))
        total.update(len(utf8).to_bytes(8, "little") + utf8)
    return total.digest()[:8]


def input_key(*parts: Sequence[str]) -> bytes:
    """Return a key of what a model reads: the tokens of a source, or of a source and an output."""
    return sha256(json.dumps(parts).encode()).digest()[:8]


def instances_digest(instances: Sequence[Instance]) -> str:
    """Return the SHA-256 of everything in the instances, in their order."""
    total = sha256()
    for each in instances:
        texts = (each.source, each.output, each.domain, each.system, *each.references)
        total.update(f"{len(texts)} {each.rating!r}\n".encode())
        for text in texts:
            utf8 = encoded(text)
            total.update(len(utf8).to_bytes(8, "little") + utf8)
    return total.hexdigest()
