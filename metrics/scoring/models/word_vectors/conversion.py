"""Conversion of files of word vectors to folders that open fast, in limited memory."""

from __future__ import annotations

import json
import shutil
import tempfile
from array import array
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metrics.scoring.arrays import Ints
from metrics.scoring.models.files import model_name
from metrics.scoring.models.word_vectors.files import Progress, read_blocks
from metrics.scoring.models.word_vectors.folder import (
    KIND,
    MATRIX,
    SLICE,
    digest_and_mean,
    matrix_header,
    read_header,
    stored_slices,
    write_facts,
)
from metrics.scoring.models.word_vectors.words import WordTable, first_occurrences, offsets_of
from metrics.scoring.tallies import hash_words

BESIDE = ".word-vectors"  # the folder beside a file of vectors
NOTES = ".converted"  # in a folder of converted vectors: which file became which


def converted_beside(source: Path) -> Path:
    """Return the converted form of a file, in a hidden folder beside it; convert it if necessary."""
    try:
        return convert(source, source.parent / BESIDE)
    except PermissionError as error:
        raise ValueError(
            f"{source}: found no right to write beside it; accepted: a file in a folder that can be written, "
            "or vectors converted elsewhere (metrics.scoring.models.word_vectors.conversion.convert)"
        ) from error


def convert(source: Path, directory: Path, progress: Progress | None = None) -> Path:
    """Convert a file of vectors to a folder in `directory` with the name that a `ModelStore` expects.

    A word that comes again keeps its first vector; ``about["duplicates"]`` counts those left out.

    Parameters
    ----------
    source : Path
        word2vec text or binary, or GloVe text; also gzipped.
    directory : Path
        A file that has not changed since it was converted here (name, size, time) is not read again.
    progress : callable, optional
        Called as ``progress(done, total)`` with bytes of the file.

    Returns
    -------
    Path
        What `WordVectors.load` takes. Equal vectors of any format have the same folder.

    Raises
    ------
    ValueError
        A line that cannot be read; see `files.read_blocks`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    note = directory / NOTES / _name_of(source)
    known = _noted(note, directory)
    if known is not None:
        return known
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=directory))
    try:
        digest = _write(source, unfinished, progress)
        folder = directory / model_name(KIND, digest)
        if folder.exists():
            shutil.rmtree(unfinished)
        else:
            unfinished.chmod(0o755)
            unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    note.parent.mkdir(exist_ok=True)
    note.write_text(json.dumps({"source": str(source), "digest": digest}) + "\n", encoding="utf-8")
    return folder


def _name_of(source: Path) -> str:
    facts = source.stat()
    return sha256(f"{source.resolve()}\n{facts.st_size}\n{facts.st_mtime_ns}".encode()).hexdigest()[:32]


def _noted(note: Path, directory: Path) -> Path | None:
    try:
        digest = json.loads(note.read_text(encoding="utf-8"))["digest"]
        folder = directory / model_name(KIND, digest)
        return folder if read_header(folder)["digest"] == digest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class _Words(NamedTuple):
    """The words of a file, in a few bytes each."""

    letters: bytearray
    lengths: array[int]
    hashes: bytearray

    def add(self, words: list[bytes]) -> None:
        self.letters.extend(b"".join(words))
        self.lengths.extend(map(len, words))
        self.hashes.extend(hash_words(words).tobytes())


def _write(source: Path, folder: Path, progress: Progress | None) -> str:
    words = _Words(bytearray(), array("q"), bytearray())
    dimension = 0
    with (folder / MATRIX).open("wb") as file:
        file.write(matrix_header(0, 0))
        for block in read_blocks(source, progress):
            dimension = block.matrix.shape[1]
            words.add(block.words)
            block.matrix.astype("<f4", copy=False).tofile(file)
        n_words = len(words.lengths)
        if not n_words:
            raise ValueError(f"{source}: found no vector; accepted: a word and its numbers on each line")
        file.seek(0)
        file.write(matrix_header(n_words, dimension))
    letters = np.frombuffer(words.letters, dtype=np.uint8)
    offsets = offsets_of(words.lengths)
    hashes = np.frombuffer(words.hashes, dtype="<u8")
    first = first_occurrences(letters, offsets, hashes)
    if not first.all():
        letters = letters[np.repeat(first, np.diff(offsets))]
        offsets, hashes = offsets_of(np.diff(offsets)[first]), hashes[first]
        _keep_rows(folder / MATRIX, np.flatnonzero(first), dimension)
    order = np.argsort(hashes, kind="stable")
    digest, mean = digest_and_mean(letters, offsets, dimension, stored_slices(folder / MATRIX, dimension))
    about = {"duplicates": int(n_words - hashes.size)}
    write_facts(folder, WordTable(letters, offsets, hashes[order], order), mean, digest, about)
    return digest


def _keep_rows(path: Path, rows: Ints, dimension: int) -> None:
    """Move these rows to the front, in place: none is overwritten before it is read."""
    header = matrix_header(rows.size, dimension)
    step = max(1, SLICE // dimension)
    with path.open("r+b") as file:
        for start in range(0, rows.size, step):
            chosen = rows[start : start + step]
            file.seek(len(header) + 4 * dimension * int(chosen[0]))
            span = int(chosen[-1] - chosen[0]) + 1
            part = np.fromfile(file, dtype="<f4", count=span * dimension).reshape(span, dimension)
            file.seek(len(header) + 4 * dimension * start)
            part[chosen - chosen[0]].tofile(file)
        file.truncate(len(header) + 4 * dimension * rows.size)
        file.seek(0)
        file.write(header)
