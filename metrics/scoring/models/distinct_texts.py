"""Training texts: each once, and perhaps none that a metric will compare. Texts are read twice, not held in memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
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
    """Return a key that is the same for texts that differ only in case and spaces.

    Examples
    --------
    >>> text_key("So  what? ") == text_key("so what?")
    True
    """
    return _hash(" ".join(text.casefold().split()))


@dataclass(frozen=True, eq=False)
class Survey:
    """Which texts to train on.

    Attributes
    ----------
    kept : (n,) bool
        Of all texts read, those to train on.
    digest : str
        SHA-256 over these texts, in order.
    words : int
        In these texts, separated by spaces.
    empty, apart, repeated : int
        Texts left out: without words, in a group, repeated.
    shared : dict
        For each group, how many of its keys were read.
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
    """Read all texts once, and choose those to train on.

    Parameters
    ----------
    read : callable
        Returns the texts; `kept_texts` calls it again and needs the same texts.
    groups : mapping of name to `text_key`s, optional
        Texts that a metric will compare.
    keep_apart : bool
        Whether to leave out a text of any group.
    progress : callable, optional
        Called with the number of texts read so far.
    """
    groups = groups or {}
    shared: dict[Any, set[bytes]] = {name: set() for name in groups}
    hashes, lengths, usable = bytearray(), array("q"), bytearray()
    n_apart = 0
    for number, text in enumerate(read(), start=1):
        n_words, key = len(text.split()), text_key(text)
        names = [name for name, keys in groups.items() if key in keys]
        for name in names:
            shared[name].add(key)
        is_apart = keep_apart and bool(names) and n_words > 0
        hashes += _hash(text.strip())
        lengths.append(n_words)
        usable.append(n_words > 0 and not is_apart)
        n_apart += is_apart
        if progress is not None and number % BEAT == 0:
            progress(number)
    is_usable, sizes = np.frombuffer(bytes(usable), dtype=np.bool_), np.array(lengths, dtype=np.int64)
    keys = np.frombuffer(bytes(hashes), dtype="<u8").reshape(-1, 2)
    is_new = is_usable & _first_of_each(keys, is_usable)
    return Survey(
        kept=is_new,
        digest=sha256(keys[is_new].tobytes()).hexdigest(),
        words=int(sizes[is_new].sum()),
        empty=int((sizes == 0).sum()),
        apart=n_apart,
        repeated=int(is_usable.sum() - is_new.sum()),
        shared={name: len(keys) for name, keys in shared.items()},
    )


def kept_texts(read: Read, survey: Survey) -> Iterator[str]:
    """Iterate over the texts to train on, without the spaces around them.

    Raises
    ------
    ValueError
        The texts have changed since the survey.
    """
    changed = "texts: they changed after they were counted; accepted: texts that stay the same while they are read"
    total = sha256()
    number = 0
    for number, text in enumerate(read(), start=1):
        if number > survey.n_read:
            raise ValueError(changed)
        if survey.kept[number - 1]:
            stripped = text.strip()
            total.update(_hash(stripped))
            yield stripped
    if number != survey.n_read or total.hexdigest() != survey.digest:
        raise ValueError(changed)


def _first_of_each(keys: NDArray[np.uint64], usable: Bools) -> Bools:
    """Return whether each key (n,) is the first of its kind among the usable ones."""
    indices = np.flatnonzero(usable)
    chosen = keys[indices]
    order = np.lexsort((chosen[:, 1], chosen[:, 0]))  # stable: of equal keys the first comes first
    again = (chosen[order][1:] == chosen[order][:-1]).all(axis=1)
    first = np.ones(usable.size, dtype=np.bool_)
    first[indices[order[1:][again]]] = False
    return first


def _hash(text: str) -> bytes:
    return blake2b(encoded(text), digest_size=KEY_BYTES).digest()
