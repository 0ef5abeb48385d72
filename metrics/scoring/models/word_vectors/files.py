"""Files of word vectors: word2vec text, word2vec binary, GloVe text; each also gzipped. They are read in blocks.

GloVe text has no header; word2vec's first line has the number of words and the dimension. In GloVe files a word may
contain spaces: the numbers are counted from the end of the line.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

import numpy as np

from annotation.core.file_limits import DIMENSIONS, MODEL_LINE_BYTES, UNPACKED_BYTES, Allowance, TooLarge, check
from annotation.mining.opening import DAMAGED, decompressed
from metrics.scoring.arrays import Float32s

Progress = Callable[[int, int], None]

GZIP = b"\x1f\x8b"
BLOCK = 2**23  # bytes read at a time
DIGITS = 18  # of a count; longer ones are no counts
LONGEST_WORD = 2**16  # bytes; a longer one means that the file has another format
SHOWN = 60  # characters of the file in a message


class Block(NamedTuple):
    """Some words in the order of the file, and their vectors (n, d)."""

    words: list[bytes]
    matrix: Float32s


class _Layout(NamedTuple):
    kind: str  # "binary" or "text"
    dimension: int
    n_words: int | None  # according to the header
    header: bytes


def read_blocks(path: Path, progress: Progress | None = None) -> Iterator[Block]:
    """Iterate over the words and vectors of a file, a few megabytes at a time.

    Parameters
    ----------
    path : Path
        Of any of the formats.
    progress : callable, optional
        Called as ``progress(done, total)`` with bytes of the file after each block. Its exceptions end the reading.

    Raises
    ------
    ValueError
        A line (or word) that cannot be read: which file, which line, what was found, what is accepted.
    """
    total = path.stat().st_size
    try:
        with path.open("rb") as raw, _unpacked(raw) as stream:
            layout = _layout(path, stream)
            blocks = _binary(path, stream, layout) if layout.kind == "binary" else _text(path, stream, layout)
            for block in blocks:
                yield block
                if progress is not None:
                    progress(min(raw.tell(), total), total)
    except TooLarge as limit:
        raise ValueError(f"{path}, {limit}") from limit
    except DAMAGED as error:
        raise ValueError(f"{path}: found a damaged gzip file ({error}); accepted: a whole one") from error


@contextmanager
def _unpacked(raw: IO[bytes]) -> Iterator[io.BufferedReader]:
    packed = raw.read(2) == GZIP
    raw.seek(0)
    if packed:
        yield decompressed(cast(BinaryIO, raw), "gz", Allowance(UNPACKED_BYTES))
    else:
        yield io.BufferedReader(raw, BLOCK)  # type: ignore[arg-type] # it fills a buffer


def _layout(path: Path, stream: io.BufferedReader) -> _Layout:
    first = stream.readline(MODEL_LINE_BYTES + 1)
    _check_line(1, first)
    fields = first.split()
    if not fields:
        raise ValueError(f"{path}: found an empty file; accepted: word vectors, a word and its numbers on each line")
    if len(fields) == 2 and all(field.isdigit() and len(field) <= DIGITS for field in fields):
        count, dimension = map(int, fields)
        _check_dimension(path, dimension)
        kind = "binary" if _looks_binary(stream.peek(4096)[:4096], dimension) else "text"
        return _Layout(kind, dimension, count, first)
    if len(fields) < 2 or _numbers(b" ".join(fields[1:])) is None:
        accepted = "accepted: a word and its numbers, or how many words of which dimension follow"
        raise ValueError(f"{path}, line 1: found {_shown(first)}; {accepted}")
    _check_dimension(path, len(fields) - 1)
    return _Layout("text", len(fields) - 1, None, first)


def _check_dimension(path: Path, dimension: int) -> None:
    if dimension < 1:
        raise ValueError(f"{path}, line 1: found dimension {dimension}; accepted: 1 or more")
    if dimension > DIMENSIONS:
        raise ValueError(f"{path}, line 1: found dimension {dimension:,}; accepted: at most {DIMENSIONS:,}")


def _check_line(number: int, line: bytes) -> None:
    check(f"line {number}", len(line), MODEL_LINE_BYTES, " bytes")


def _lines(stream: io.BufferedReader) -> list[bytes]:
    """Return the lines of about a block; the last may be too long, but no longer than a block and a line."""
    content = stream.read(BLOCK)
    return io.BytesIO(content + stream.readline(MODEL_LINE_BYTES + 1)).readlines()


def _looks_binary(sample: bytes, dimension: int) -> bool:
    """Return whether there are control characters, and the first line is no vector."""
    line = sample.partition(b"\n")[0]
    values = _numbers(b" ".join(line.split()[-dimension:]))
    if values is not None and values.size == dimension:
        return False
    control = bytes(range(9)) + bytes(range(14, 32))
    return len(sample.translate(None, control)) < len(sample)


def _text(path: Path, stream: io.BufferedReader, layout: _Layout) -> Iterator[Block]:
    has_header = layout.n_words is not None
    number, n_words = int(has_header), 0
    first_lines = [] if has_header else [layout.header]
    while lines := first_lines + _lines(stream):
        first_lines = []
        for position, line in enumerate(lines, start=number + 1):
            _check_line(position, line)
        block = _parsed(path, lines, number + 1, layout.dimension)
        number += len(lines)
        n_words += len(block.words)
        if block.words:
            yield block
    if has_header and n_words != layout.n_words:
        raise ValueError(f"{path}: found {n_words} words; accepted: {layout.n_words}, as its first line says")


def _parsed(path: Path, lines: list[bytes], first_number: int, dimension: int) -> Block:
    words, numbers, line_numbers = [], [], []
    for number, line in enumerate(lines, first_number):
        stripped = line.strip(b"\r\n \t")
        if not stripped:
            continue
        word, _, rest = line.rstrip().partition(b" ")
        if rest.count(b" ") != dimension - 1:
            *before, rest = _from_the_end(stripped, dimension)
            word = before[0] if before else b""
        if not word:
            raise _refused(path, number, line, dimension)
        words.append(word)
        numbers.append(rest)
        line_numbers.append(number)
    values = _numbers(b" ".join(numbers))
    if values is None or values.size != len(words) * dimension or not np.isfinite(values).all():
        for number, rest in zip(line_numbers, numbers, strict=True):
            vector = _numbers(rest)
            if vector is None or vector.size != dimension or not np.isfinite(vector).all():
                raise _refused(path, number, lines[number - first_number], dimension)
    return Block(words, np.empty((0, dimension), np.float32) if values is None else values.reshape(-1, dimension))


def _from_the_end(line: bytes, dimension: int) -> list[bytes]:
    """Return a word, which may contain spaces, and the text of its numbers; only the latter if there is no word."""
    *word, first = line.rsplit(None, dimension)[:2]
    if not word:
        return [line]
    return [word[0], line[line.index(first, len(word[0])) :]]


def _refused(path: Path, number: int, line: bytes, dimension: int) -> ValueError:
    fields = len(line.split())
    return ValueError(
        f"{path}, line {number}: found {fields} {'field' if fields == 1 else 'fields'}: {_shown(line)}; "
        f"accepted: a word and {dimension} finite numbers"
    )


def _numbers(text: bytes) -> Float32s | None:
    """Return the numbers in a text; None if there is anything else."""
    try:
        return np.fromstring(text, dtype=np.float32, sep=" ")  # accepts bytes
    except (ValueError, DeprecationWarning):
        return None


def _binary(path: Path, stream: io.BufferedReader, layout: _Layout) -> Iterator[Block]:
    size = 4 * layout.dimension
    remaining = layout.n_words or 0
    at_a_time = max(1, BLOCK // size)
    done = 0
    while remaining:
        words, vectors = [], []
        for _ in range(min(remaining, at_a_time)):
            word, vector = _word(stream), stream.read(size)
            done += 1
            if not word or len(vector) != size:
                problem = f"{len(vector)} bytes of its vector" if word else "no word"
                location = f"{path}, word {done} of {layout.n_words}"
                raise ValueError(f"{location}: found {problem}; accepted: a word, a space and {size} bytes")
            words.append(word)
            vectors.append(vector)
        remaining -= len(words)
        matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, layout.dimension)
        wrong = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if wrong.size:
            position = done - len(words) + int(wrong[0]) + 1
            raise ValueError(
                f"{path}, word {position} of {layout.n_words} ({_shown(words[wrong[0]])}): found a number that is not "
                "finite; accepted: finite numbers"
            )
        yield Block(words, matrix)


def _word(stream: io.BufferedReader) -> bytes:
    """Read up to the next space; return nothing if there is none. Some files end each vector with a line break."""
    letters = bytearray()
    while (letter := stream.read(1)) not in (b" ", b""):
        if letter != b"\n" or letters:
            letters += letter
        if len(letters) > LONGEST_WORD:
            return b""
    return bytes(letters) if letter else b""


def _shown(content: bytes) -> str:
    text = content[: 2 * SHOWN].decode("utf-8", errors="replace").strip()
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
