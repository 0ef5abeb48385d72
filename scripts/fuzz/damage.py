"""Damage done to small valid files; a seed and a number repeat it."""

import gzip
import random
import re
from collections.abc import Callable
from typing import NamedTuple


class Sample(NamedTuple):
    """A small valid file and what reads it; ``inner`` is its content before it was packed by ``pack``."""

    name: str
    content: bytes
    read: Callable[[bytes], object]
    inner: bytes | None = None
    pack: Callable[[bytes], bytes] = bytes


NUMBERS = (
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "9" * 400,
    "9" * 5000,
    "-0",
    str(2**63),
    "0x1F",
    "1_0",
    "１",
    "1e-400",
    "",
)
ODD = (
    b"\x00",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "\u2028\x85".encode(),
    b"\r",
    b'"',
    b"\t" * 99,
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
WORD = re.compile(rb"[A-Za-z_]{2,}")


def flipped(content: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8, 64)) if damaged else 0):
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def truncated(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def duplicated(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    most = max(1, 2_000_000 // max(1, end - start))
    return content[:end] + content[start:end] * min(draw.choice((1, 2, 1000, 100_000)), most) + content[end:]


def cut_out(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[end:]


def repacked(content: bytes, draw: random.Random) -> bytes:
    import bz2

    import zstandard

    return draw.choice((gzip.compress, zstandard.compress, bz2.compress))(content)


def extreme(content: bytes, draw: random.Random) -> bytes:
    return _replaced(content, NUMBER, draw.choice(NUMBERS).encode(), draw)


def nested(content: bytes, draw: random.Random) -> bytes:
    depth = draw.choice((50, 500, 990, 100_000))
    deep = draw.choice((b"[" * depth, b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth))
    return _replaced(content, draw.choice((NUMBER, re.compile(rb'"[^"]*"'))), deep, draw)


def long_named(content: bytes, draw: random.Random) -> bytes:
    return _replaced(content, WORD, b"n" * draw.choice((300, 5000, 1_000_000, 5_000_000)), draw)


def many_named(content: bytes, draw: random.Random) -> bytes:
    between = draw.choice((b",", b"\t", b'": 1, "', b" "))
    return _replaced(content, WORD, between.join(b"n%d" % n for n in range(draw.choice((100, 6000, 40_000)))), draw)


def odd(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.choice(ODD) + content[at:]


def shuffled(content: bytes, draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


def _replaced(content: bytes, pattern: "re.Pattern[bytes]", by: bytes, draw: random.Random) -> bytes:
    matches = list(pattern.finditer(content))
    if not matches:
        return content
    match = draw.choice(matches)
    return content[: match.start()] + by + content[match.end() :]


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(flipped, truncated, duplicated, cut_out, repacked, extreme, nested, long_named, many_named, odd, shuffled),
)


def damaged(sample: Sample, draw: random.Random) -> tuple[bytes, str]:
    """Return a damaged file, and how it was damaged."""
    within = sample.inner is not None and draw.random() < 0.6
    content = sample.inner if within and sample.inner is not None else sample.content
    damages = [draw.choice(DAMAGES) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
    for damage in damages:
        content = damage(content, draw)[:20_000_000]
    names = " ".join(damage.__name__ for damage in damages)
    return (sample.pack(content), f"within: {names}") if within else (content, names)
