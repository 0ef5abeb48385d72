"""Build an index on disk from a stream of triples; memory grows with the vocabulary only.

The first pass writes the triples and, chunk by chunk, sorted postings (word, text, count) to temporary files. Then the
number of texts, their mean length and each word's frequency are known, and the second pass writes the scores.
"""

import glob
import hashlib
import json
import shutil
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, BinaryIO

import bm25s
import numpy as np

from annotation.core.progress import noop
from annotation.mining.index.files import (
    DATA,
    FIELDS,
    INDICES,
    INDPTR,
    PARAMETERS,
    TRIPLES,
    WORD_ENDS,
    WORDS,
    describe_files,
    sync,
    sync_path,
    write_header,
)
from annotation.mining.index.parameters import TOKENIZERS, VARIANT, IndexParameters
from annotation.mining.triples import Triple, TripleWriter, triple_line

CHUNK_TRIPLES = 1 << 16
BEAT_TRIPLES = 1 << 12
LOCK = ".building"
TEXT_BITS = 2**31 - 1


@dataclass(frozen=True)
class IndexReport:
    """The size and hashes of an index; ``content_hash`` is SHA-256 over the triples' lines of canonical JSON."""

    n_triples: int
    content_hash: str
    bytes: int
    signature: str
    n_words: int


def build_index(
    triples: Iterable[Triple],
    folder: Path,
    *,
    parameters: IndexParameters | None = None,
    beat: Callable[[int], None] = noop,
) -> IndexReport:
    """Index ``triples`` in their order; the folder appears when all of it is on disk, or not at all.

    Parameters
    ----------
    triples : iterable of Triple
        Read once. Their numbers count from 0.
    folder : Path
        An existing index is replaced at the end.
    parameters : IndexParameters, optional
    beat : callable
        Called often, with the number of triples read so far; an exception stops the build.

    Raises
    ------
    ValueError
        A triple holds a text that is not Unicode. An index of no triples is allowed.
    """
    parameters = parameters or IndexParameters()
    with _whole_or_not_at_all(folder) as building:
        return _Builder(building, parameters, beat).build(triples)


@contextmanager
def _whole_or_not_at_all(folder: Path) -> Iterator[Path]:
    """Yield a sibling folder to build in, which takes the folder's name at the end.

    A build holds a lock, which the kernel releases if the process is killed: the next build removes what it left.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    marker = f".{folder.name}.building-"
    siblings = f"{glob.escape(marker)}*"
    for left in folder.parent.glob(siblings):
        with suppress(OSError), (left / LOCK).open("wb") as lock:
            flock(lock, LOCK_EX | LOCK_NB)
            shutil.rmtree(left)
    building = Path(tempfile.mkdtemp(prefix=marker, dir=folder.parent))
    try:
        with (building / LOCK).open("wb") as lock:
            flock(lock, LOCK_EX)
            yield building
            (building / LOCK).unlink()
            building.chmod(0o755)
            sync(building)
            if folder.exists():
                # Removing it under its name would show readers a part of it.
                folder.rename(Path(tempfile.mkdtemp(prefix=marker, dir=folder.parent)) / "replaced")
            building.rename(folder)
            sync_path(folder.parent)
    finally:
        shutil.rmtree(building, ignore_errors=True)
        for left in folder.parent.glob(f"{siblings}/replaced"):
            shutil.rmtree(left.parent, ignore_errors=True)


class _Field:
    """The postings of messages or of responses, while they are collected."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spill: BinaryIO = path.open("w+b")
        self.chunks: list[int] = []
        self.words = array("i")
        self.lengths: list[np.ndarray] = []
        self.chunk_lengths = array("i")
        self.frequencies = np.zeros(0, dtype=np.int64)

    def add(self, words: Sequence[int]) -> None:
        self.words.extend(words)
        self.chunk_lengths.append(len(words))

    def flush(self, first: int, vocabulary: int) -> None:
        """Write the chunk's postings, sorted by word and then by text, to the temporary file."""
        lengths = np.frombuffer(self.chunk_lengths, dtype=np.int32).copy()
        texts = np.repeat(np.arange(first, first + lengths.size, dtype=np.int64), lengths)
        keys = np.frombuffer(self.words, dtype=np.int32).astype(np.int64) << 32 | texts
        keys, counts = np.unique(keys, return_counts=True)
        words = (keys >> 32).astype(np.int32)
        self.spill.write(words.tobytes())
        self.spill.write((keys & TEXT_BITS).astype(np.int32).tobytes())
        self.spill.write(counts.astype(np.int32).tobytes())
        self.chunks.append(keys.size)
        self.lengths.append(lengths)
        frequencies = np.bincount(words, minlength=vocabulary)
        frequencies[: self.frequencies.size] += self.frequencies
        self.frequencies = frequencies
        self.words, self.chunk_lengths = array("i"), array("i")

    def postings(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        self.spill.seek(0)
        for size in self.chunks:
            words, texts, counts = np.fromfile(self.spill, dtype=np.int32, count=3 * size).reshape(3, size)
            yield words, texts, counts

    def close(self) -> None:
        self.spill.close()
        self.path.unlink(missing_ok=True)


class _Builder:
    def __init__(self, folder: Path, parameters: IndexParameters, beat: Callable[[int], None]) -> None:
        self.folder = folder
        self.parameters = parameters
        self.beat = beat
        self.n = 0
        self.digest = hashlib.sha256()
        self.vocabulary: defaultdict[str, int] = defaultdict()
        self.vocabulary.default_factory = self.vocabulary.__len__  # a new word gets the next number
        self.fields = [_Field(folder / f"{name}.spill") for name in FIELDS]

    def build(self, triples: Iterable[Triple]) -> IndexReport:
        try:
            self._read(triples)
            columns = self._write_words()
            for name, field in zip(FIELDS, self.fields, strict=True):
                self._write_field(self.folder / name, field, columns)
        finally:
            for field in self.fields:
                field.close()
        files = describe_files(self.folder, beat=lambda: self.beat(self.n))
        report = IndexReport(
            n_triples=self.n,
            content_hash=self.digest.hexdigest(),
            bytes=sum(file["bytes"] for file in files.values()),
            signature=self.parameters.signature(),
            n_words=len(self.vocabulary),
        )
        write_header(self.folder, {**asdict(report), "parameters": self.parameters.to_dict(), "files": files})
        return report

    def _read(self, triples: Iterable[Triple]) -> None:
        """Make the first pass."""
        cut, number_of = TOKENIZERS[self.parameters.tokenizer], self.vocabulary.__getitem__
        message, response = self.fields
        writer = TripleWriter(self.folder / TRIPLES)
        flushed = 0
        try:
            for triple in triples:
                try:
                    self.digest.update(triple_line(triple))
                except UnicodeEncodeError as error:
                    raise ValueError(f"triple {self.n}: found a text that is not Unicode ({error.reason})") from error
                writer.write(triple)
                message.add([number_of(word) for word in cut(triple.message)])
                response.add([number_of(word) for word in cut(triple.response)])
                self.n += 1
                if self.n % BEAT_TRIPLES == 0:
                    self.beat(self.n)
                if self.n - flushed == CHUNK_TRIPLES:
                    self._flush(flushed)
                    flushed = self.n
        finally:
            writer.close()
        if self.n > flushed or self.n == 0:
            self._flush(flushed)
        self.beat(self.n)

    def _flush(self, first: int) -> None:
        for field in self.fields:
            field.flush(first, len(self.vocabulary))

    def _write_words(self) -> np.ndarray:
        """Write the vocabulary in the order of its UTF-8, for binary search; return each word number's column."""
        ordered = sorted(self.vocabulary)
        encoded = [word.encode() for word in ordered]
        np.save(self.folder / WORD_ENDS, np.cumsum([len(word) for word in encoded], dtype=np.int64))
        np.save(self.folder / WORDS, np.frombuffer(b"".join(encoded), dtype=np.uint8))
        columns = np.empty(len(ordered), dtype=np.int32)
        columns[[self.vocabulary[word] for word in ordered]] = np.arange(len(ordered), dtype=np.int32)
        return columns

    def _write_field(self, folder: Path, field: _Field, column_of: np.ndarray) -> None:
        """Make the second pass: write scores. Chunks are in the order of texts, so each column is sorted by text."""
        folder.mkdir()
        frequencies = np.zeros(column_of.size, dtype=np.int64)
        frequencies[column_of[: field.frequencies.size]] = field.frequencies
        ends = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
        np.save(folder / INDPTR, ends)
        total = int(ends[-1])
        data = np.lib.format.open_memmap(folder / DATA, mode="w+", dtype=np.float32, shape=(total,))
        indices = np.lib.format.open_memmap(folder / INDICES, mode="w+", dtype=np.int32, shape=(total,))
        lengths = np.concatenate(field.lengths)
        idf = _inverse_frequencies(frequencies, self.n)
        mean_length = lengths.sum(dtype=np.int64) / max(self.n, 1)
        heads = ends[:-1].copy()
        for words, texts, counts in field.postings():
            columns = column_of[words]
            starts = np.flatnonzero(np.concatenate([[True], words[1:] != words[:-1]])) if words.size else words
            sizes = np.diff(np.append(starts, words.size))
            at = np.repeat(heads[columns[starts]] - starts, sizes) + np.arange(words.size)
            data[at] = idf[columns] * _saturation(counts, lengths[texts] / mean_length, self.parameters)
            indices[at] = texts
            heads[columns[starts]] += sizes
            self.beat(self.n)
        data.flush()
        indices.flush()
        (folder / PARAMETERS).write_text(json.dumps(self._library_parameters()), encoding="utf-8")

    def _library_parameters(self) -> dict[str, Any]:
        return {
            "k1": self.parameters.k1,
            "b": self.parameters.b,
            "delta": 0.5,
            "method": VARIANT,
            "idf_method": VARIANT,
            "dtype": "float32",
            "int_dtype": "int32",
            "num_docs": self.n,
            "version": bm25s.__version__,
            "backend": "numpy",
        }


def _inverse_frequencies(frequencies: np.ndarray, n: int) -> np.ndarray:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), which unlike Robertson's form is above 0 for frequent words.

    The result has 24 bits, because processors differ in the last of a logarithm's 53 bits.
    """
    return np.log1p((n - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)


def _saturation(counts: np.ndarray, relative_lengths: np.ndarray, parameters: IndexParameters) -> np.ndarray:
    """Return tf / (tf + k1 (1 - b + b dl / avdl)): Robertson and Zaragoza (2009), eq. 3.15, with this denominator."""
    return counts / (counts + parameters.k1 * (1 - parameters.b + parameters.b * relative_lengths))
