"""Values by 64-bit key, sorted: counts of n-grams of a corpus, divided into ranges of keys, merged, looked up."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Ints
from metrics.scoring.texts import encoded

Keys = NDArray[np.uint64]


def hash_words(words: Iterable[bytes]) -> Keys:
    """Return 64 bits (V,) of BLAKE2b of each word: the same on every machine, in every part of a corpus."""
    return np.frombuffer(b"".join(blake2b(word, digest_size=8).digest() for word in words), dtype="<u8")


def token_hashes(vocabulary: Iterable[str]) -> Keys:
    """Return `hash_words` (V,) of each token."""
    return hash_words(map(encoded, vocabulary)).astype(np.uint64)


def extended_hashes(key: Keys, token: Keys) -> Keys:
    """Hash n-grams from the hashes of their first n - 1 tokens and of the last (constants of splitmix64's finaliser).

    With K distinct n-grams, the probability that any two share their 64 bits is about K^2 / 2^65: 3e-8 for a million,
    3e-4 for a hundred million.
    """
    mixed = key * np.uint64(0x9E3779B97F4A7C15) + token
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def key_range(keys: Keys, index: int, of: int) -> slice:
    """Return the slice of ascending keys that is in the ``index``-th of ``of`` equal ranges of all 64-bit keys.

    Examples
    --------
    >>> keys = np.array([3, 2**62, 2**63, 2**64 - 1], dtype=np.uint64)
    >>> key_range(keys, 0, 2), key_range(keys, 1, 2)
    (slice(0, 2, None), slice(2, 4, None))
    """
    bounds = np.array([(bound << 64) // of for bound in range(1, of)], dtype=np.uint64)
    cuts = [0, *np.searchsorted(keys, bounds).tolist(), keys.size]
    return slice(cuts[index], cuts[index + 1])


def grouped(keys: Keys) -> tuple[Keys, Ints, Ints]:
    """Return the distinct keys, ascending, the order that sorts ``keys``, and the start of each distinct key in it."""
    order = np.argsort(keys, kind="stable")  # in linear time if keys are ascending runs
    ordered = keys[order]
    begins = np.ones(keys.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    starts = np.flatnonzero(begins)
    return ordered[starts], order, starts


def summed(keys: Keys, counts: NDArray[Any]) -> tuple[Keys, NDArray[Any]]:
    """Return the distinct keys, ascending, with the sums of their counts.

    Examples
    --------
    >>> keys, counts = summed(np.array([8, 3, 8], dtype=np.uint64), np.array([1, 2, 4]))
    >>> keys.tolist(), counts.tolist()
    ([3, 8], [2, 5])
    """
    if not keys.size:
        return keys, counts
    distinct, order, starts = grouped(keys)
    return distinct, narrow(np.add.reduceat(counts[order], starts, dtype=np.int64))


def narrow(counts: NDArray[Any]) -> NDArray[Any]:
    """Return counts >= 0 in the smallest type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def looked_up(keys: Keys, values: NDArray[Any], requested: Keys) -> Ints:
    """Return the value of each requested key; 0 for one that is not among ``keys``, which ascend.

    Examples
    --------
    >>> looked_up(np.array([3, 8], dtype=np.uint64), np.array([1, 5]), np.array([2, 8, 9], dtype=np.uint64)).tolist()
    [0, 5, 0]
    """
    results = np.zeros(requested.size, dtype=np.int64)
    index = np.searchsorted(keys, requested)
    known = np.flatnonzero(index < keys.size)
    known = known[keys[index[known]] == requested[known]]
    results[known] = values[index[known]]
    return results
