"""What the page for troubleshooting quotes is what Assay says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tests.docs.documents import tokens

PAGE = ROOT / "docs/guides/troubleshooting.md"
FOLDERS = ("annotation", "config", "metrics", "correlations")
LETTERS = 12  # that a quoted message must have, without what is filled in
SHORT = {  # what could be of many places otherwise
    "not seen": "annotation/core/heartbeats.py",
    "End of …:": "config/embedded_postgres.py",
    "… said: …": "annotation/recruitment/providers/http.py",
}


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


def message_texts(messages: list[str]) -> list[str]:
    """Return the texts of all files of Python that may hold a message, and the lines of templates and the Makefile."""
    beginnings = [" ".join(max(parts(message), key=len).split()[:3]) for message in messages]
    may_hold = re.compile("|".join(map(re.escape, beginnings)))
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    texts = [text for path in files if may_hold.search(path.read_text(encoding="utf-8")) for text in texts_of(path)]
    others = [*(ROOT / "templates").rglob("*.html"), ROOT / "Makefile"]
    return [*texts, *(line for path in others for line in path.read_text(encoding="utf-8").splitlines())]


def is_shown(message: str, texts: list[str]) -> bool:
    """Return whether one text holds all parts of the message between its dots, in their order."""
    first, *rest = parts(message)
    in_order = re.compile(r".*?".join(map(re.escape, [first, *rest])), re.DOTALL)
    return any(first in text and in_order.search(text) for text in texts)


def test_every_quoted_message_is_shown() -> None:
    messages = quoted()
    texts = message_texts(messages)
    assert len(messages) > 40
    assert [message for message in messages if not is_shown(message, texts)] == []


def test_short_messages_are_those_of_one_file() -> None:
    assert {message for message in quoted() if sum(map(len, parts(message))) < LETTERS} == set(SHORT)
    assert [message for message, file in SHORT.items() if not is_shown(message, list(texts_of(ROOT / file)))] == []


def test_a_message_that_is_not_shown_is_noticed() -> None:
    texts = ["Found …; accepted: a name.", "Another text"]
    assert is_shown("Found …; accepted: a name.", texts)
    assert not is_shown("Found …; accepted: a number.", texts)
    assert not is_shown("a name … Another", texts), "parts of two texts are no message"
