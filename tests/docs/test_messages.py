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


def everything_said(messages: list[str]) -> list[str]:
    """Return the texts of all files of Python that may hold a message, of all templates, and of the Makefile."""
    beginnings = [" ".join(max(parts(message), key=len).split()[:3]) for message in messages]
    may_hold = re.compile("|".join(map(re.escape, beginnings)))
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    said = [text for path in files if may_hold.search(path.read_text(encoding="utf-8")) for text in texts_of(path)]
    others = [*(ROOT / "templates").rglob("*.html"), ROOT / "Makefile"]
    return [*said, *(path.read_text(encoding="utf-8") for path in others)]


def is_said(message: str, said: list[str]) -> bool:
    """Return whether one text holds all parts of the message between its dots, in their order."""
    first, *rest = parts(message)
    in_order = re.compile(r".*?".join(map(re.escape, [first, *rest])), re.DOTALL)
    return any(first in text and in_order.search(text) for text in said)


def test_every_quoted_message_is_said() -> None:
    messages = quoted()
    said = everything_said(messages)
    assert len(messages) > 40
    assert [message for message in messages if not is_said(message, said)] == []


def test_a_message_that_is_not_said_is_found() -> None:
    said = ["Found …; accepted: a name.", "Another text"]
    assert is_said("Found …; accepted: a name.", said)
    assert not is_said("Found …; accepted: a number.", said)
    assert not is_said("a name … Another", said), "parts of two texts are no message"
