"""The documents as pages: every link and picture leads somewhere, and nothing but documents is served."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from django.test import Client
from django.urls import resolve

from config.help.documents import Document, document, index, link_target, names, picture
from config.help.folding import LONG, folded
from config.help.searching import search

INSIDE = "/help/"


def test_the_index_names_each_document_once() -> None:
    listed = [each.name for _, documents in index() for each in documents]
    assert sorted(listed) == names()
    assert all(each.title and each.summary for _, documents in index() for each in documents)


def test_every_link_and_picture_of_a_document_leads_somewhere() -> None:
    for name in names():
        shown = document(name)
        assert shown is not None
        assert_links_lead_somewhere(shown)


def assert_links_lead_somewhere(shown: Document) -> None:
    for address in re.findall(r'<(?:a|img)[^>]* (?:href|src)="([^"]*)"', shown.html):
        parts = urlsplit(address)
        if parts.scheme:
            continue
        if not parts.path:
            assert unquote(parts.fragment) in shown.anchors, address
            continue
        match = resolve(unquote(parts.path))
        if match.url_name == "help-picture":
            assert picture(match.kwargs["name"]), address
        else:
            target = document(match.kwargs["name"])
            assert target is not None, address
            assert not parts.fragment or unquote(parts.fragment) in target.anchors, address


def test_only_what_lies_in_the_documents_is_served(client: Client) -> None:
    outside = [
        "../pyproject.toml",
        "../README.md",
        "..%2FREADME.md",
        "api.md",
        "/etc/passwd",
        "screens/../../README.md",
    ]
    assert [client.get(f"{INSIDE}pictures/{name}").status_code for name in outside] == [404] * len(outside)
    assert [client.get(f"{INSIDE}docs/{name}/").status_code for name in ["../README", "nothing", "screens/README"]] == [
        404
    ] * 3
    assert link_target("../../config/settings.py", "metrics") is None
    assert link_target("../methods.md#bleu", "metrics") == "/help/docs/methods/#bleu"
    answer = client.get(f"{INSIDE}pictures/images/report.png")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert b"".join(answer.streaming_content)[:4] == b"\x89PNG"


def test_html_in_a_document_is_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = '<script>alert(1)</script><img src="x" onerror="alert(1)"> <a href="javascript:alert(1)">a</a>'
    text = f'# T\n\n{bad} <b style="x">b</b>\n\n| a |\n| - |\n| 1 |'
    (tmp_path / "bad.md").write_text(text)
    monkeypatch.setattr("config.help.documents.ROOT", tmp_path)
    shown = document("bad")
    assert shown is not None
    for forbidden in ("<script", "onerror", "javascript:", "style=", "alert(1)</"):
        assert forbidden not in shown.html
    assert 'aria-label="Table 1"><table class="table">' in shown.html


def test_the_sections_of_a_long_document_are_folded_below_what_they_are_about() -> None:
    methods, formats, short = [each for name in ("methods", "data-formats", "results") if (each := document(name))]
    html = folded(methods.html)
    assert html
    assert (
        html.count('<details class="fold"><summary><h2 id="') == html.count("<h2 ") == methods.html.count("<h2 ") > 10
    )
    assert re.sub(r"<details[^>]*><summary>|<span>.*?</span></summary>|</details>", "", html) == methods.html
    assert "</h2><span>JSON Lines: an item on each line, Dialogues, CSV and TSV: a response on each row, " in str(
        folded(formats.html)
    )
    assert not re.search(r"<span>[\w.]*</span></summary>", html), "no sentence is but the name of a module"
    assert len(short.html) < LONG
    assert folded(short.html) is None


def test_search_finds_sections_and_terms_by_all_their_words() -> None:
    found = search("slot")
    assert found[0].title == "Slot (glossary)"
    assert any(each.url == "/help/docs/methods/#ratings-to-weights" for each in search("zscore clipped standardised"))
    assert search("zebra quagga") == []


def test_a_query_of_thousands_of_words_costs_no_more_than_one_of_a_few() -> None:
    few = list("abcdefghiklmnoprstuy")
    assert search(" ".join(few * 200)) == search(" ".join(few))
    assert search(" ".join([*few, "quagga"])) == search(" ".join(few)), "only the first words count"
