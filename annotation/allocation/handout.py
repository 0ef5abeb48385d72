"""The rule for the next unit of a rater, in Python and for the database.

A rater gets, of the units that still need ratings and that the rater has not seen,

1. one of those with the fewest filled slots, so that ratings spread evenly;
2. among them one that shows none of the systems to avoid (:func:`systems_to_avoid`), so that no system's outputs come
   in a run while there is any choice;
3. among those the first in the rater's order, a hash of the rater's seed and the unit's position in the campaign:
   the same design and seeds give the same order in any database.

The same rule as an ``ORDER BY`` of PostgreSQL, with ``unit.systems`` and ``avoid`` arrays of one type (``avoid`` is
empty at first; ``false`` sorts before ``true``)::

    ORDER BY filled, unit.systems && avoid, hashint8extended(unit.position, rater_seed), unit.position

``hashint8extended`` is the hash PostgreSQL partitions bigint columns by (version 11 and later), so its values are part
of what is stored on disk and stay the same; :func:`order_keys` computes them outside the database.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.allocation.units import System

UInt32Array = npt.NDArray[np.uint32]

_START = np.uint32((0x9E3779B9 + 4 + 3923095) % 2**32)  # golden ratio + key length in bytes + PostgreSQL's salt
_MIX = (4, 6, 8, 16, 19, 4)
_FINAL = (14, 11, 25, 16, 4, 14, 24)


class Candidate(NamedTuple):
    """A unit that could be handed out: its position, how many of its slots are filled or held, the systems it shows."""

    unit: int
    filled: int
    systems: Collection[System]


def next_unit(candidates: Iterable[Candidate], *, rater_seed: int, avoid: Collection[System] = ()) -> Candidate | None:
    """Return the candidate that the rule gives this rater; None without candidates.

    Examples
    --------
    >>> waiting = [Candidate(1, 0, ["A"]), Candidate(2, 0, ["B"]), Candidate(3, 1, ["C"])]
    >>> next_unit(waiting, rater_seed=5, avoid=["A"]).unit
    2
    """
    pool = list(candidates)
    if not pool:
        return None
    keys = order_keys(rater_seed, [candidate.unit for candidate in pool])
    unwanted = set(avoid)
    ranked = (
        (candidate.filled, not unwanted.isdisjoint(candidate.systems), key, candidate.unit)
        for candidate, key in zip(pool, keys.tolist(), strict=True)
    )
    best = min(enumerate(ranked), key=lambda entry: entry[1])[0]
    return pool[best]


def systems_to_avoid(shown: Sequence[Collection[System]], *, n_responses: int, n_systems: int) -> frozenset[System]:
    """Return the systems whose outputs the next unit should not show, given those of the rater's last units.

    These are the systems of the last unit. If units of several responses would then leave no real choice (with four
    systems, only one pair avoids both systems of the last pair, and two pairs would alternate for ever), they are the
    systems shown in both of the last two units.

    Parameters
    ----------
    shown : sequence of the systems of each unit, the latest first; only the first two matter.
    n_responses : int
        Responses a unit shows.
    n_systems : int
        Systems in the campaign.

    Examples
    --------
    >>> sorted(systems_to_avoid([["A", "B"], ["B", "C"]], n_responses=2, n_systems=10))
    ['A', 'B']
    >>> sorted(systems_to_avoid([["A", "B"], ["B", "C"]], n_responses=2, n_systems=4))
    ['B']
    """
    last = frozenset(shown[0]) if shown else frozenset()
    if n_responses == 1 or n_systems > 2 * n_responses or len(shown) < 2:
        return last
    return last & frozenset(shown[1])


def order_keys(rater_seed: int, units: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return sort keys of units in a rater's order: ``hashint8extended(unit, rater_seed)`` of PostgreSQL.

    Parameters
    ----------
    rater_seed : int
        A bigint: -2**63 to 2**63 - 1.
    units : int array, shape (U,)
        Positions of units, or any ids to be put in order.

    Returns
    -------
    int64 array, shape (U,)

    Raises
    ------
    ValueError
        A seed outside bigint, or unit ids that are no integers.

    References
    ----------
    Jenkins, Hash Functions for Hash Table Lookup, 1997 to 2006 (lookup3), as seeded by PostgreSQL.

    Examples
    --------
    >>> order_keys(1, [1]).tolist()
    [-7620678293940249823]
    """
    if not -(2**63) <= rater_seed < 2**63:
        raise ValueError(f"rater_seed is {rater_seed}; accepted: -2**63 to 2**63 - 1")
    ids = np.asarray(units)
    if ids.size and ids.dtype.kind not in "iu":
        raise ValueError(f"units holds {ids.dtype} values; accepted: integers")
    ids = ids.astype(np.int64)
    folded = _low_half(ids) ^ np.where(ids >= 0, _low_half(ids >> 32), ~_low_half(ids >> 32))
    seed = np.asarray([rater_seed], dtype=np.int64)
    a, b, c = (np.full(1, _START) for _ in range(3))
    if rater_seed != 0:
        a, b, c = _mix(a + _low_half(seed >> 32), b + _low_half(seed), c)
    a, b, c = _final(a + folded, b, c)
    return ((b.astype(np.uint64) << np.uint64(32)) | c.astype(np.uint64)).view(np.int64)


def _low_half(values: npt.NDArray[np.int64]) -> UInt32Array:
    return (values & 0xFFFFFFFF).astype(np.uint32)


def _rotate(values: UInt32Array, bits: int) -> UInt32Array:
    rotated: UInt32Array = (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))
    return rotated


def _mix(a: UInt32Array, b: UInt32Array, c: UInt32Array) -> tuple[UInt32Array, UInt32Array, UInt32Array]:
    for bits in _MIX:  # the three words rotate after each step
        a = (a - c) ^ _rotate(c, bits)
        c = c + b
        a, b, c = b, c, a
    return a, b, c


def _final(a: UInt32Array, b: UInt32Array, c: UInt32Array) -> tuple[UInt32Array, UInt32Array, UInt32Array]:
    for bits in _FINAL:
        c = (c ^ b) - _rotate(b, bits)
        a, b, c = b, c, a
    # Seven steps rotate the words by one; rotate them back.
    return c, a, b
