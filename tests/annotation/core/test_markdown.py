"""Texts that people typed, in Markdown files. Oracle: markdown-it, with HTML, tables and strike-through."""

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotation.core.markdown import plain

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PIECES = ("<b>", "<!--", "</p>", "&lt;", "[a](b)", "![a](b)", "[a]: b", "[a][a]", "https://", "```", "~~~", "~~", "**")
PIECES += ("_", "# ", "- ", "+ ", "1. ", "2) ", "> ", "|", "---", "===", "\\", "$x$", "    ", "\t", "\n", "a", " ", "!")


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@example("<script>alert(1)</script>")
@example("[a](javascript:alert(1))\n\n[b]: c\n- [b]")
@example("a\n===\n\n    code\n1. one\n| a |\n| - |")
def test_a_readers_page_shows_the_text_and_nothing_else(text: str) -> None:
    page = READER.render(plain(text))
    assert set(re.findall(r"<[^>]*>", page)) <= {"<p>", "</p>"}
    shown = html.unescape(re.sub(r"</?p>", "", page))
    assert shown.split() == text.split()


def test_a_sentence_stays_as_it_is() -> None:
    sentence = "Krippendorff's α (ordinal) is 0.52 [0.10, 0.93]; ICC(1) & ICC(k): 5% of “a-b” #1 + 2 = 3!"
    assert plain(sentence) == sentence
