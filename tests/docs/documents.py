"""The Markdown files that people read, as their tokens."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it.token import Token

from config.help.documents import PARSER, with_anchors
from tests.conftest import ROOT

FILES = (
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("client", "docker", "demo/aims", "demo/dstc7", "demo/emnlp17")),
)


class Block(NamedTuple):
    """A block of code: where it begins, the language that it names, and its lines."""

    path: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(ROOT)}, line {self.line}"


@cache
def tokens(path: Path) -> tuple[Token, ...]:
    return tuple(PARSER.parse(path.read_text(encoding="utf-8")))


@cache
def anchors(path: Path) -> frozenset[str]:
    return frozenset(heading.anchor for heading in with_anchors(tokens(path)))


def inner(path: Path) -> Iterator[Token]:
    """Yield all tokens of a file, also those within lines."""
    for token in tokens(path):
        yield token
        yield from token.children or ()


def blocks(*languages: str) -> Iterator[Block]:
    """Yield the blocks of code of all files; those of some languages if any are named."""
    for path in FILES:
        for token in tokens(path):
            if token.type in ("fence", "code_block") and (not languages or token.info.strip() in languages):
                yield Block(path, (token.map or [0])[0] + 1, token.info.strip(), token.content)
