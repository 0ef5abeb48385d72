"""Texts from files, line by line; every error says which file and which line."""

from __future__ import annotations

import codecs
import hashlib
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
import zstandard

from annotation.core.one_line import unescaped
from annotation.mining.opening import compression_of, decompressed
from metrics.cli.errors import CommandError
from metrics.scoring.arrays import Bools, Floats

STANDARD_INPUT = "-"
SHOWN = 60
HEAD = 16  # bytes that tell a compression


@dataclass(frozen=True)
class Given:
    """All that is scored: T systems, S segments, R references in all.

    ``originals`` (S,) says of which segments the first reference is the original response: it is missing where the
    first file of references has an empty line. ``weights`` (R,) is there where the references came with weights.
    """

    names: tuple[str, ...]
    systems: tuple[list[str], ...]
    references: list[list[str]]
    originals: Bools
    weights: Floats | None
    sources: list[str] | None

    @property
    def n_segments(self) -> int:
        return len(self.systems[0])

    @property
    def is_original(self) -> Bools:
        """(R,), of each reference whether it is the original response."""
        counts = np.array(list(map(len, self.references)))
        found = np.zeros(int(counts.sum()), dtype=np.bool_)
        found[(np.cumsum(counts) - counts)[self.originals]] = True
        return found

    def digest(self) -> str:
        """Of every text and weight, and of whose they are: anything else anywhere gives another digest."""
        whole = hashlib.sha256()
        # How many of each come first, so that no text can pass for another kind of text.
        whole.update(f"{len(self.systems)} {self.n_segments} {self.sources is not None}\n".encode())
        whole.update(np.array(list(map(len, self.references)), dtype="<i8").tobytes())
        whole.update(self.originals.tobytes())
        for text in chain(*self.systems, *self.references, self.sources or ()):
            encoded = text.encode("utf-8", "surrogatepass")
            whole.update(len(encoded).to_bytes(8, "little"))
            whole.update(encoded)
        whole.update(b"" if self.weights is None else self.weights.astype("<f8").tobytes())
        return whole.hexdigest()


def read_given(systems: Sequence[str], references: Sequence[str], weighted: str | None, sources: str | None) -> Given:
    """Read the files of one call; all must have as many lines as the first system's."""
    if weighted and references:
        raise CommandError("--references: found beside --weighted; accepted: one of the two")
    _check_standard_input([*(_named(written)[1] for written in systems), *references, weighted, sources])
    names, outputs = [], []
    for written in systems:
        name, path = _named(written)
        if name in names:
            raise CommandError(f"--systems: found the name {name!r} twice; accepted: each once, as name=file")
        names.append(name)
        outputs.append(read_lines(path))
        _same_length(path, outputs[-1], _named(systems[0])[1], outputs[0])
    first, path = outputs[0], _named(systems[0])[1]
    if not first:
        raise CommandError(f"{path}: found no line; accepted: one hypothesis a line")
    columns = []
    for one in references:
        columns.append(read_lines(one))
        _same_length(one, columns[-1], path, first)
    # As for sacrebleu, an empty line in a file of references is a reference that is not there.
    rows = [[text for text in row if text] for row in zip(*columns, strict=True)] if columns else [[] for _ in first]
    originals = np.array(list(map(bool, columns[0])) if columns else [False] * len(first), dtype=np.bool_)
    weights = None
    if weighted:
        rows, own = read_weighted(weighted)
        _same_length(weighted, rows, path, first)
        weights = np.array(list(chain.from_iterable(own)), dtype=np.float64)
        originals = np.array(list(map(bool, rows)), dtype=np.bool_)
    said = None
    if sources:
        said = read_lines(sources)
        _same_length(sources, said, path, first)
    return Given(tuple(names), tuple(outputs), rows, originals, weights, said)


def _check_standard_input(paths: Sequence[str | None]) -> None:
    if paths.count(STANDARD_INPUT) > 1:
        raise CommandError(f"{STANDARD_INPUT}: found twice; accepted: standard input once, for one file")


def _named(written: str) -> tuple[str, str]:
    """``name=file``, or a file named for what it holds."""
    name, equals, path = written.partition("=")
    if equals and not Path(written).exists():
        return name, path
    return (Path(written).name.split(".")[0] or written), written


def _same_length(path: str, lines: Sequence[object], first: str, wanted: Sequence[object]) -> None:
    if len(lines) != len(wanted):
        raise CommandError(f"{path}: found {len(lines):,} lines; accepted: {len(wanted):,}, as many as {first} has")


def read_lines(path: str) -> list[str]:
    """The lines of a text file, plain, gzip or zstd; no line is dropped, an empty one is an empty text."""
    return [line for _, line in numbered_lines(path)]


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """Line numbers from 1, and lines without their ends (line feeds alone end a line)."""
    try:
        with _opened(path) as stream:
            for number, raw in enumerate(stream, start=1):
                # What some editors put before the first line is no part of the text.
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                try:
                    yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError as error:
                    found = f"{path}, line {number:,}: found a byte {line[error.start]:#04x}"
                    raise CommandError(f"{found} that is no UTF-8; accepted: UTF-8") from error
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise CommandError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """What is inside, where a file is compressed (its first bytes say so)."""
    with ExitStack() as stack:
        stream = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(Path(path).open("rb"))
        head = stream.peek(HEAD)[:HEAD]  # type: ignore[union-attr] # both are buffered readers
        compression = compression_of(head)
        yield decompressed(stream, compression) if compression else stream


def read_weighted(path: str) -> tuple[list[list[str]], list[list[float]]]:
    """References and weights per segment, from a release's ``weighted.tsv`` or its ``items.jsonl``."""
    read = _json_row if ".json" in Path(path).name else _tab_row
    texts: list[list[str]] = []
    weights: list[list[float]] = []
    for number, line in numbered_lines(path):
        own_texts, own_weights = read(f"{path}, line {number:,}", line)
        texts.append(own_texts)
        weights.append(own_weights)
    return texts, weights


def _tab_row(where: str, line: str) -> tuple[list[str], list[float]]:
    _, *cells = line.split("\t")
    if len(cells) % 2:
        raise CommandError(f"{where}: found {len(cells)} cells after the id; accepted: pairs of weight and text")
    try:
        return [unescaped(cell) for cell in cells[1::2]], [_weight(where, cell) for cell in cells[::2]]
    except CommandError:
        raise
    except ValueError as error:
        raise CommandError(f"{where}: found {error}; accepted: \\\\, \\t, \\n, \\r, \\u and four digits") from error


def _json_row(where: str, line: str) -> tuple[list[str], list[float]]:
    try:
        row = json.loads(line)
        references = row["references"]
        if not all(isinstance(one["text"], str) for one in references):
            raise TypeError
        return [one["text"] for one in references], [_weight(where, one["weight"]) for one in references]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise CommandError(
            f'{where}: found {line[:SHOWN]!r}; accepted: an object with "references", each with "text" and "weight"'
        ) from error


def _weight(where: str, written: object) -> float:
    try:
        if isinstance(written, bool):
            raise TypeError
        value = float(written)  # type: ignore[arg-type] # what is no number is told below
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not -1 <= value <= 1:
        raise CommandError(f"{where}: found weight {written!r}; accepted: a number from -1 to 1")
    return value
