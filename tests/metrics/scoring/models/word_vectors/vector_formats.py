"""Vectors written as other programs write them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS = ["the", "naïve", "猫", "🙂", "</s>", "e\u0301", "שלום"]


def matrix(rows: int = len(WORDS), dimension: int = 3, seed: int = 1) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)


def lines(words: Sequence[str], vectors: NDArray[np.float32]) -> str:
    return "".join(f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in zip(words, vectors, strict=True))


def glove(path: Path, words: Sequence[str], vectors: NDArray[np.float32]) -> Path:
    path.write_text(lines(words, vectors), encoding="utf-8")
    return path


def word2vec_text(path: Path, words: Sequence[str], vectors: NDArray[np.float32]) -> Path:
    path.write_text(f"{len(words)} {vectors.shape[1]}\n{lines(words, vectors)}", encoding="utf-8")
    return path


def word2vec_binary(path: Path, words: Sequence[str], vectors: NDArray[np.float32], end: bytes = b"\n") -> Path:
    body = b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + end for word, row in zip(words, vectors, strict=True)
    )
    path.write_bytes(f"{len(words)} {vectors.shape[1]}\n".encode() + body)
    return path


def zipped(path: Path) -> Path:
    target = path.with_name(path.name + ".gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target
