"""Texts from files, line by line; errors name the file and the line."""

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
from typing import IO, TypeVar

import numpy as np
import zstandard

from annotation.core.one_line import unescaped
from annotation.mining.opening import compression_of, decompressed
from metrics.cli.errors import CommandError
from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.texts import encoded

Row = TypeVar("Row")

STANDARD_INPUT = "-"
SHOWN = 60
HEAD = 16  # bytes that identify a compression


@dataclass(frozen=True)
class Inputs:
    """Texts to score: T systems, S segments, R references in total.

    ``originals`` (S,) is True for segments whose first reference is the original response: not if the first file of
    references has an empty line. ``weights`` (R,) is None if the references have no weights.
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
        """Return whether each reference (R,) is the original response."""
        counts = np.array(list(map(len, self.references)))
        is_original = np.zeros(int(counts.sum()), dtype=np.bool_)
        is_original[(np.cumsum(counts) - counts)[self.originals]] = True
        return is_original

    def digest(self) -> str:
        """Return a digest of all texts, weights and their roles."""
        total = hashlib.sha256()
        # Numbers of texts first, so that no text can be taken for one of another role.
        total.update(f"{len(self.systems)} {self.n_segments} {self.sources is not None}\n".encode())
        total.update(np.array(list(map(len, self.references)), dtype="<i8").tobytes())
        total.update(self.originals.tobytes())
        for text in chain(*self.systems, *self.references, self.sources or ()):
            utf8 = encoded(text)
            total.update(len(utf8).to_bytes(8, "little"))
            total.update(utf8)
        total.update(b"" if self.weights is None else self.weights.astype("<f8").tobytes())
        return total.hexdigest()


def read_inputs(systems: Sequence[str], references: Sequence[str], weighted: str | None, sources: str | None) -> Inputs:
    """Read the files of one call; all must have as many lines as the first system's."""
    if weighted and references:
        raise CommandError("--references: found beside --weighted; accepted: one of the two")
    paths = [_named(written)[1] for written in systems]
    if [*paths, *references, weighted, sources].count(STANDARD_INPUT) > 1:
        raise CommandError(f"{STANDARD_INPUT}: found twice; accepted: standard input once, for one file")
    names: list[str] = []
    for name, _ in map(_named, systems):
        if name in names:
            raise CommandError(f"--systems: found the name {name!r} twice; accepted: each once, as name=file")
        names.append(name)
    n_lines: int | None = None

    def checked(path: str, lines: list[Row]) -> list[Row]:
        nonlocal n_lines
        n_lines = len(lines) if n_lines is None else n_lines
        if len(lines) != n_lines:
            shorter, first = (path, len(lines) + 1) if len(lines) < n_lines else (paths[0], n_lines + 1)
            raise CommandError(
                f"{path}: found {len(lines):,} lines; accepted: {n_lines:,}, as many as {paths[0]} has "
                f"({shorter} has no line {first:,})"
            )
        return lines

    outputs = tuple(checked(path, read_lines(path)) for path in paths)
    if not n_lines:
        raise CommandError(f"{paths[0]}: found no line; accepted: one hypothesis a line")
    weights = None
    if weighted:
        lines = checked(weighted, read_weighted(weighted))
        rows = [texts for texts, _ in lines]
        weights = np.array(list(chain.from_iterable(values for _, values in lines)), dtype=np.float64)
        originals = list(map(bool, rows))
    else:
        columns = [checked(path, read_lines(path)) for path in references]
        # As for sacrebleu, an empty line in a file of references means no reference.
        rows = [[text for text in row if text] for row in zip(*columns, strict=True)] or [[] for _ in range(n_lines)]
        originals = list(map(bool, columns[0])) if columns else [False] * n_lines
    texts = checked(sources, read_lines(sources)) if sources else None
    return Inputs(tuple(names), outputs, rows, np.array(originals, dtype=np.bool_), weights, texts)


def _named(written: str) -> tuple[str, str]:
    """Return name and file of ``name=file``; a file alone is named by its file name."""
    name, equals, path = written.partition("=")
    if equals and not Path(written).exists():
        return name, path
    return (Path(written).name.split(".")[0] or written), written


def read_lines(path: str) -> list[str]:
    """Return all lines of a text file, plain, gzip or zstd; an empty line is an empty text."""
    return [line for _, line in numbered_lines(path)]


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """Iterate over line numbers from 1, and lines without their ends (only line feeds end a line)."""
    try:
        with _opened(path) as stream:
            for number, raw in enumerate(stream, start=1):
                # Some editors write a byte order mark.
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                try:
                    yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError as error:
                    byte = f"{line[error.start]:#04x}"
                    raise CommandError(
                        f"{path}, line {number:,}: found a byte {byte} that is no UTF-8; accepted: UTF-8"
                    ) from error
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise CommandError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_bytes(path: str) -> bytes:
    """Return the content of a file, unpacked if it is gzip or zstd."""
    try:
        with _opened(path) as stream:
            return stream.read()
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise CommandError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file, decompressed if its first bytes say that it is compressed."""
    with ExitStack() as stack:
        stream = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(Path(path).open("rb"))
        head = stream.peek(HEAD)[:HEAD]  # type: ignore[union-attr] # both are buffered readers
        compression = compression_of(head)
        yield decompressed(stream, compression) if compression else stream


def read_weighted(path: str) -> list[tuple[list[str], list[float]]]:
    """Read references and weights per segment, from a release's ``weighted.tsv`` or its ``items.jsonl``."""
    read = _json_row if ".json" in Path(path).name else _tab_row
    return [read(f"{path}, line {number:,}", line) for number, line in numbered_lines(path)]


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
        texts = [reference["text"] for reference in references]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
        return texts, [_weight(where, reference["weight"]) for reference in references]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise CommandError(
            f'{where}: found {line[:SHOWN]!r}; accepted: an object with "references", each with "text" and "weight"'
        ) from error


def _weight(where: str, written: object) -> float:
    try:
        if isinstance(written, bool):
            raise TypeError
        value = float(written)  # type: ignore[arg-type] # checked below
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not -1 <= value <= 1:
        raise CommandError(f"{where}: found weight {written!r}; accepted: a number from -1 to 1")
    return value
