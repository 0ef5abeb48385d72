"""Sequences of different lengths without padding: token by token, of the longer sequences more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.scoring.arrays import Ints


@dataclass(frozen=True, eq=False)
class Packed:
    """Token ids of S sequences: all first tokens, then all second ones, the sequences by falling length.

    Attributes
    ----------
    ids : (N,) int
    counts : list of int
        How many sequences have a first, second, ... token; they are the first of the order.
    slots : (S,) int
        Where in that order each sequence is.
    """

    ids: Ints
    counts: list[int]
    slots: Ints

    @classmethod
    def of(cls, sequences: Sequence[Ints]) -> Packed:
        """Pack sequences, each of one or more ids.

        Examples
        --------
        >>> packed = Packed.of([np.array([7]), np.array([1, 2, 3]), np.array([4, 5])])
        >>> packed.ids.tolist(), packed.counts, packed.slots.tolist()
        ([1, 4, 7, 2, 5, 3], [3, 2, 1], [2, 0, 1])
        """
        lengths = np.array([len(each) for each in sequences])
        order = np.argsort(-lengths, kind="stable")
        slots = np.empty_like(order)
        slots[order] = np.arange(len(order))
        counts = (lengths[None] > np.arange(lengths.max())[:, None]).sum(axis=1)
        table = np.zeros((len(order), lengths.max()), dtype=np.int64)
        mask = np.arange(lengths.max())[None] < lengths[order][:, None]
        table[mask] = np.concatenate([sequences[at] for at in order])
        return cls(table.T[mask.T], counts.tolist(), slots)
