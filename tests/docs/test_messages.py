"""What the page for troubleshooting quotes is what Assay says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tests.docs.documents import tokens

PAGE = ROOT / "docs/guides/troubleshooting.md"
FOLDERS = ("annotation", "config", "metrics", "correlations")


def quoted() -> list[str]:
    """Return the messages in the first column of the tables: code of more than one word."""
    first_cells = (
        cell
        for row, opening, cell in zip(tokens(PAGE), tokens(PAGE)[1:], tokens(PAGE)[2:], strict=False)
        if (row.type, opening.type) == ("tr_open", "td_open")
    )
    codes = (part.content for cell in first_cells for part in cell.children or () if part.type == "code_inline")
    return [code for code in codes if " " in code]


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts in a file of Python, with … for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)


def parts(message: str) -> list[str]:
    """Return what stands between the dots of a message."""
    return [part.strip() for part in message.split("…") if part.strip(" .,:;")]


def everything_said(messages: list[str]) -> str:
    """Return the texts of all files of Python that may hold a message, and of all templates, apart by a NUL."""
    beginnings = [" ".join(part.split()[:2]) for message in messages for part in parts(message)]
    may_hold = re.compile("|".join(map(re.escape, beginnings)))
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    said = [text for path in files if may_hold.search(path.read_text(encoding="utf-8")) for text in texts_of(path)]
    said += [path.read_text(encoding="utf-8") for path in (ROOT / "templates").rglob("*.html")]
    return "\0".join([*said, (ROOT / "Makefile").read_text(encoding="utf-8")])


def is_said(message: str, said: str) -> bool:
    """Return whether one text holds all parts of the message between its dots, in their order."""
    return re.search(r"[^\0]*?".join(map(re.escape, parts(message))), said) is not None


def test_every_quoted_message_is_said() -> None:
    messages = quoted()
    said = everything_said(messages)
    assert len(messages) > 40
    assert [message for message in messages if not is_said(message, said)] == []


def test_a_message_that_is_not_said_is_found() -> None:
    said = "\0".join(["Found …; accepted: a name.", "Another text"])
    assert is_said("Found …; accepted: a name.", said)
    assert not is_said("Found …; accepted: a number.", said)
    assert not is_said("a name … Another", said), "parts of two texts are no message"
