"""ARPA files: the text form of back-off models that SRILM, KenLM and others read and write."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from annotation.core.file_limits import MODEL_LINE_BYTES, UNPACKED_BYTES, Allowance, TooLarge, check
from annotation.mining.opening import DAMAGED, decompressed
from metrics.scoring.arrays import Floats, Ids, Ints
from metrics.scoring.models.ngrams.backoff import Backoff
from metrics.scoring.models.ngrams.counts import SPECIAL, START_ID, UNKNOWN, UNKNOWN_ID

# The logarithm of zero in these files.
ZERO = -99.0

_COUNT = re.compile(r"ngram\s+(\d{1,18})\s*=\s*(\d{1,18})$")
_SECTION = re.compile(r"\\(\d{1,18})-grams:$")


def write_arpa(model: Backoff, words: list[str], path: Path | str) -> None:
    """Write a model with all digits of its numbers; compressed if the name ends in .gz."""
    with _written(Path(path)) as file:
        file.write("\n\\data\\\n")
        file.writelines(f"ngram {n}={log.size}\n" for n, log in enumerate(model.logs, start=1))
        for n in range(1, model.order + 1):
            file.write(f"\n\\{n}-grams:\n")
            weights = model.weights[n - 1] if n < model.order else np.zeros(model.logs[n - 1].size)
            for row, log, weight in zip(
                model.rows(n).tolist(), _finite(model.logs[n - 1]), _finite(weights), strict=True
            ):
                text = " ".join([words[word] for word in row])
                file.write(f"{log!r}\t{text}\t{weight!r}\n" if weight else f"{log!r}\t{text}\n")
        file.write("\n\\end\\\n")


def _finite(logs: Floats) -> list[float]:
    return [float(log) for log in np.maximum(logs, ZERO)]


def read_arpa(path: Path | str) -> tuple[Backoff, list[str]]:
    """Read a model and its words.

    Without <unk> in the file (SRILM's default), an unknown word has the probability 1 / (number of words), as in the
    scripts of D'Haro et al.

    Raises
    ------
    ValueError
        The file violates the format: in which line, what was found and what is accepted.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            content = decompressed(raw, "gz" if path.suffix == ".gz" else "", Allowance(UNPACKED_BYTES))
            return _read(_lines(content, path.name), path.name)
    except TooLarge as limit:
        raise ValueError(f"{path.name}, {limit}") from limit
    except DAMAGED as error:
        raise ValueError(f"{path.name}: found a damaged gzip file ({error}); accepted: a whole one") from error


def _lines(content: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(iter(partial(content.readline, MODEL_LINE_BYTES + 1), b""), start=1):
        check(f"line {number}", len(line), MODEL_LINE_BYTES, " bytes")
        try:
            yield number, line.decode().strip(" \t\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, line {number}: found bytes that are not UTF-8; accepted: UTF-8") from error


def _written(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", newline="\n")
    return path.open("w", encoding="utf-8", newline="\n")


def _read(lines: Iterator[tuple[int, str]], name: str) -> tuple[Backoff, list[str]]:
    counts = _header(lines, name)
    index: dict[str, int] = {}
    keys, logs, weights = [], [], []
    model: Backoff | None = None
    for n, count in enumerate(counts, start=1):
        rows, log, weight, line_numbers = _section(lines, name, n, count, index)
        if model is None:
            words, log, weight = _with_special(index, log, weight)
            index = {word: number for number, word in enumerate(words)}
        else:
            parent = model.find(rows[:, :-1])
            if (parent < 0).any():
                line = int(line_numbers[int(np.argmin(parent))])
                raise ValueError(f"{name}, line {line}: found no {n - 1}-gram that it begins with; accepted: one")
            key = parent * len(words) + rows[:, -1]
            order = np.argsort(key, kind="stable")
            key, log, weight = key[order], log[order], weight[order]
            if (key[1:] == key[:-1]).any():
                line = int(line_numbers[order][1:][key[1:] == key[:-1]][0])
                raise ValueError(f"{name}, line {line}: found an {n}-gram twice; accepted: once")
            keys.append(key)
        logs.append(log)
        weights.append(weight)
        model = Backoff(len(words), tuple(keys), tuple(logs), tuple(weights[: n - 1] if n == len(counts) else weights))
    if model is None:
        raise ValueError(f"{name}: found no n-gram; accepted: at least 1-grams")
    return model, words


def _header(lines: Iterator[tuple[int, str]], name: str) -> list[int]:
    if not any(line == "\\data\\" for _, line in lines):
        raise ValueError(f"{name}: found no line \\data\\; accepted: an ARPA file")
    counts: list[int] = []
    for number, line in lines:
        match = _COUNT.match(line)
        if match and int(match[1]) == len(counts) + 1:
            counts.append(int(match[2]))
        elif _SECTION.match(line):
            return counts
        elif line:
            raise ValueError(f"{name}, line {number}: found {line[:60]!r}; accepted: ngram {len(counts) + 1}=<count>")
    return counts


def _section(
    lines: Iterator[tuple[int, str]], name: str, n: int, count: int, index: dict[str, int]
) -> tuple[Ids, Floats, Floats, Ints]:
    """Read n-grams up to the next section's title; words of 1-grams are numbered in their order."""
    rows: list[list[int]] = []
    logs: list[float] = []
    weights: list[float] = []
    line_numbers: list[int] = []
    for number, line in lines:
        if not line:
            continue
        if line.startswith("\\"):
            break
        # Only ASCII's space separates words.
        fields = [field for field in line.replace("\t", " ").split(" ") if field]
        try:
            if len(fields) not in (n + 1, n + 2):
                raise ValueError
            words = [UNKNOWN if word == "<UNK>" else word for word in fields[1 : n + 1]]
            if n == 1:
                index.setdefault(words[0], len(index))
            rows.append([index[word] for word in words])
            log, weight = float(fields[0]), float(fields[n + 1]) if len(fields) == n + 2 else 0.0
            if not (log < math.inf and weight < math.inf):  # neither infinite nor undefined
                raise ValueError
            logs.append(log)
            weights.append(weight)
        except (ValueError, KeyError):
            accepted = f"a logarithm, {n} words that are 1-grams, and perhaps a weight"
            raise ValueError(f"{name}, line {number}: found {line[:60]!r}; accepted: {accepted}") from None
        line_numbers.append(number)
    if len(rows) != count or (n == 1 and len(index) != count):
        raise ValueError(f"{name}: found {len(rows)} {n}-grams; accepted: {count} different ones, as its head says")
    shaped = np.array(rows, dtype=np.int32).reshape(-1, n)
    return shaped, _logs(logs), _logs(weights), np.array(line_numbers, dtype=np.int64)


def _logs(values: list[float]) -> Floats:
    logs = np.array(values, dtype=np.float64)
    return np.where(logs <= ZERO, -np.inf, logs)


def _with_special(index: dict[str, int], logs: Floats, weights: Floats) -> tuple[list[str], Floats, Floats]:
    """Return the words in this package's order, <unk>, <s> and </s> first, with their numbers."""
    words = [*SPECIAL, *sorted(word for word in index if word not in SPECIAL)]
    row = np.array([index.get(word, len(index)) for word in words])
    logs, weights = np.append(logs, -np.inf)[row], np.append(weights, 0.0)[row]
    if UNKNOWN not in index:
        logs[UNKNOWN_ID] = -np.log10(len(index))
    logs[START_ID] = -np.inf
    return words, logs, weights
