"""Keep what a training frees for its next batch.

A batch takes hundreds of arrays of a few hundred kilobytes. glibc gives such blocks back to the system when they are
freed, and the system clears every page again for the next batch: an eighth of a pass.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_MIB = 2**20
# The parameters' numbers in glibc's <malloc.h>.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_KEEPING = {_TRIM_THRESHOLD: 512 * _MIB, _TOP_PAD: 64 * _MIB, _MMAP_THRESHOLD: 32 * _MIB}
# Where glibc arrives by itself, once a block of 32 MiB, the largest it learns from, has been freed.
_USUAL = {_TRIM_THRESHOLD: 64 * _MIB, _TOP_PAD: 0, _MMAP_THRESHOLD: 32 * _MIB}


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep freed memory until the end, where glibc is what allocates it; elsewhere nothing is changed."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "mallopt"):
        yield
        return
    _set(libc, _KEEPING)
    try:
        yield
    finally:
        _set(libc, _USUAL)
        libc.malloc_trim(0)


def _set(libc: ctypes.CDLL, values: dict[int, int]) -> None:
    for parameter, value in values.items():
        libc.mallopt(parameter, value)
