"""Folders of word vectors: arrays that are mapped into memory, and a header."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Float32s, Floats, Ints
from metrics.scoring.models.word_vectors.words import Bytes, WordTable

KIND, FORMAT = "vectors", 1
HEADER, MATRIX, MEAN = "vectors.json", "matrix.npy", "mean.npy"
LETTERS, OFFSETS, HASHES, ROWS = "letters.npy", "offsets.npy", "hashes.npy", "rows.npy"
SLICE = 2**24  # numbers of a matrix in memory at a time


def read_header(path: Path) -> dict[str, Any]:
    try:
        header = json.loads((path / HEADER).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: found no word vectors ({error}); accepted: a folder with {HEADER}") from error
    if not isinstance(header, dict) or header.get("kind") != KIND or header.get("format") != FORMAT:
        raise ValueError(f"{path / HEADER}: found another format; accepted: {KIND}, format {FORMAT}")
    return header


def write_facts(path: Path, table: WordTable, mean: Floats, digest: str, about: dict[str, Any]) -> None:
    """Write everything but the matrix; the header last, so that a folder with a header is complete."""
    arrays: dict[str, NDArray[Any]] = {
        LETTERS: table.letters,
        OFFSETS: table.offsets,
        HASHES: table.hashes,
        ROWS: table.rows,
        MEAN: mean,
    }
    for name, array in arrays.items():
        np.save(path / name, array, allow_pickle=False)
    header = {
        "kind": KIND,
        "format": FORMAT,
        "words": len(table),
        "dimension": int(mean.size),
        "digest": digest,
        "about": about,
    }
    text = json.dumps(header, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
    (path / HEADER).write_text(text, encoding="utf-8")


def matrix_header(rows: int, columns: int) -> bytes:
    """Return the first bytes of an .npy file of float32, always of the same length: they can be written last."""
    header = BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (int(rows), int(columns))}
    )
    return header.getvalue()


def digest_and_mean(letters: Bytes, offsets: Ints, dimension: int, parts: Iterable[Float32s]) -> tuple[str, Floats]:
    """Return the SHA-256 of words and matrix, and the mean vector, from one pass over the matrix."""
    words = len(offsets) - 1
    digest = sha256(f"{KIND} {FORMAT} {words} {dimension}\n".encode())
    digest.update(offsets.astype("<i8").tobytes())
    digest.update(np.ascontiguousarray(letters).data)
    total = np.zeros(dimension)
    for part in parts:
        digest.update(part.data)
        total += part.sum(axis=0, dtype=np.float64)
    return digest.hexdigest(), total / max(words, 1)


def slices(matrix: Float32s) -> Iterable[Float32s]:
    step = max(1, SLICE // max(matrix.shape[1], 1))
    for start in range(0, len(matrix), step):
        yield np.ascontiguousarray(matrix[start : start + step])


def stored_slices(path: Path, dimension: int) -> Iterable[Float32s]:
    """Iterate as `slices` over a matrix on disk; a memory map would grow while it is read."""
    with path.open("rb") as file:
        file.seek(len(matrix_header(0, dimension)))
        while (part := np.fromfile(file, dtype="<f4", count=max(1, SLICE // dimension) * dimension)).size:
            yield part.reshape(-1, dimension)


def opened(path: Path) -> Any:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: found no array that can be read ({error}); the folder is damaged") from error
    # A plain view: slicing one is several times as fast as slicing a memmap.
    return array.view(np.ndarray)
