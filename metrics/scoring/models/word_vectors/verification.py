"""Verification of folders of word vectors: each is read once, and again only if its files change.

A note beside the folder has size, time and inode of each file that was read.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np

from metrics.scoring.models.word_vectors.folder import (
    HASHES,
    HEADER,
    LETTERS,
    MATRIX,
    MEAN,
    OFFSETS,
    ROWS,
    digest_and_mean,
    stored_slices,
)
from metrics.scoring.models.word_vectors.words import WordTable
from metrics.scoring.tallies import hash_words

NOTES = ".verified"  # folder of notes beside folders of vectors
FILES = (HEADER, MATRIX, MEAN, LETTERS, OFFSETS, HASHES, ROWS)

_verified: set[str] = set()  # states read by this process, if no note can be written


def verify(path: Path, table: WordTable, dimension: int, digest: str) -> None:
    """Raise an error if the content of the folder does not have this digest.

    Raises
    ------
    ValueError
        What was found in the folder, and what its header says.
    """
    state = _state(path)
    note = path.parent / NOTES / f"{path.name}.json"
    if state in _verified or _noted(note) == state:
        return
    actual, mean = digest_and_mean(table.letters, table.offsets, dimension, stored_slices(path / MATRIX, dimension))
    if actual != digest:
        raise ValueError(f"{path}: found vectors of sha256:{actual}; its header says sha256:{digest}")
    if not np.allclose(np.load(path / MEAN, allow_pickle=False), mean, rtol=1e-9, atol=1e-12):
        raise ValueError(f"{path / MEAN}: found another vector than the mean of the matrix; the folder is damaged")
    if not _finds_its_words(table):
        raise ValueError(f"{path}: found {HASHES} or {ROWS} of other words; the folder is damaged")
    _verified.add(state)
    with suppress(OSError):
        note.parent.mkdir(exist_ok=True)
        note.write_text(state, encoding="utf-8")


def _state(path: Path) -> str:
    stats = [(name, (path / name).stat()) for name in FILES]
    return json.dumps(
        [str(path.resolve()), *((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in stats)]
    )


def _noted(note: Path) -> str:
    try:
        return note.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _finds_its_words(table: WordTable) -> bool:
    rows = np.asarray(table.rows)
    if not np.array_equal(np.sort(rows), np.arange(rows.size)) or (table.hashes[1:] < table.hashes[:-1]).any():
        return False
    bounds = zip(table.offsets[:-1].tolist(), table.offsets[1:].tolist(), strict=True)
    hashes = hash_words(table.letters[start:stop].tobytes() for start, stop in bounds)
    return np.array_equal(hashes[rows], table.hashes)
