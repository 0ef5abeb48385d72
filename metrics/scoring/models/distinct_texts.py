"""Texts to train on, each once, without those that are to be kept apart; read twice, held in memory never."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Bools
from metrics.scoring.texts import encoded

KEY_BYTES = 16
BEAT = 5_000  # texts between two reports

Read = Callable[[], Iterable[str]]
Progress = Callable[[int], None]


def text_key(text: str) -> bytes:
    """The same for texts that differ only in case and in spaces.

    Examples
    --------
    >>> text_key("So  what? ") == text_key("so what?")
    True
    """
    return _hash(" ".join(text.casefold().split()))


@dataclass(frozen=True, eq=False)
class Survey:
    """What there is to train on.

    Attributes
    ----------
    kept : (n,) bool
        Of all texts read, those to train on.
    digest : str
        SHA-256 over the texts kept, in order.
    words : int
        In the texts kept, between spaces.
    empty, apart, repeated : int
        Texts left out: nothing in them, kept apart, there before.
    shared : dict
        Of each group of keys, how many were met.
    """

    kept: Bools
    digest: str
    words: int
    empty: int
    apart: int
    repeated: int
    shared: dict[Any, int]

    @property
    def n_read(self) -> int:
        return int(self.kept.size)

    @property
    def n_texts(self) -> int:
        return int(self.kept.sum())


def survey(
    read: Read,
    *,
    groups: Mapping[Any, Set[bytes]] | None = None,
    keep_apart: bool = False,
    progress: Progress | None = None,
) -> Survey:
    """Read all texts once, and settle which of them are to be trained on.

    Parameters
    ----------
    read : callable
        The texts; called again by `kept_texts`, it must give the same ones.
    groups : mapping of name to `text_key`s, optional
        Texts that a metric will compare: how many of them are met is counted.
    keep_apart : bool
        Whether a text of any group is left out.
    progress : callable, optional
        Told how many texts have been read.
    """
    groups = groups or {}
    seen = _Seen()
    met: dict[Any, set[bytes]] = {name: set() for name in groups}
    for number, text in enumerate(read(), start=1):
        words = text.split()
        key = text_key(text)
        mine = [name for name, keys in groups.items() if key in keys]
        for name in mine:
            met[name].add(key)
        seen.add(text.strip(), words=len(words), left_out=keep_apart and bool(mine))
        if progress is not None and number % BEAT == 0:
            progress(number)
    return seen.survey({name: len(keys) for name, keys in met.items()})


def kept_texts(read: Read, found: Survey) -> Iterator[str]:
    """The texts to train on, without the spaces around them.

    Raises
    ------
    ValueError
        The texts are not those that were surveyed.
    """
    changed = "texts: found others than when they were counted; accepted: texts that nobody changes meanwhile"
    total = sha256()
    number = 0
    for number, text in enumerate(read(), start=1):
        if number > found.n_read:
            raise ValueError(changed)
        if found.kept[number - 1]:
            stripped = text.strip()
            total.update(_hash(stripped))
            yield stripped
    if number != found.n_read or total.hexdigest() != found.digest:
        raise ValueError(changed)


@dataclass
class _Seen:
    """A few bytes for each text read."""

    keys: bytearray = field(default_factory=bytearray)
    lengths: list[int] = field(default_factory=list)
    usable: bytearray = field(default_factory=bytearray)
    empty: int = 0
    apart: int = 0

    def add(self, text: str, *, words: int, left_out: bool) -> None:
        self.keys += _hash(text)
        self.lengths.append(words)
        self.usable.append(bool(words) and not left_out)
        self.empty += not words
        self.apart += bool(words) and left_out

    def survey(self, shared: dict[Any, int]) -> Survey:
        usable = np.frombuffer(bytes(self.usable), dtype=np.bool_)
        keys = np.frombuffer(bytes(self.keys), dtype="<u8").reshape(-1, 2)
        kept = usable & _first_of_each(keys, usable)
        lengths = np.array(self.lengths, dtype=np.int64)
        return Survey(
            kept=kept,
            digest=sha256(keys[kept].tobytes()).hexdigest(),
            words=int(lengths[kept].sum()),
            empty=self.empty,
            apart=self.apart,
            repeated=int(usable.sum() - kept.sum()),
            shared=shared,
        )


def _first_of_each(keys: NDArray[np.uint64], usable: Bools) -> Bools:
    """(n,) whether a key stands here for the first time among the usable ones."""
    places = np.flatnonzero(usable)
    own = keys[places]
    order = np.lexsort((own[:, 1], own[:, 0]))  # stable: of equal keys the first comes first
    again = (own[order][1:] == own[order][:-1]).all(axis=1)
    first = np.ones(usable.size, dtype=np.bool_)
    first[places[order[1:][again]]] = False
    return first


def _hash(text: str) -> bytes:
    return blake2b(encoded(text), digest_size=KEY_BYTES).digest()
