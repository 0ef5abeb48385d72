"""Every page of a project says in the header's help what it is for, and where more is written."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import get_resolver

from annotation.models import Project, User
from config.help.documents import document, names
from config.help.glossary import FIVE, TERMS
from config.help.pages import BY_VIEW, PAGES, page_of
from tests.test_access import ROLES, pages

SOURCES = sorted(
    {*(s for page in PAGES for s in (page.source, page.methods) if s), *(t.source for t in TERMS.values())}
)


def test_every_page_of_a_project_has_its_help() -> None:
    assert [name for name, (reads, _) in ROLES.items() if reads is not None and page_of(name) is None] == []


def test_every_entry_is_the_help_of_some_page() -> None:
    views = {name for name, _ in pages(get_resolver())}
    assert [beginning for beginning in BY_VIEW if not any(view.startswith(beginning) for view in views)] == []
    used = {id(page_of(view)) for view in views}
    assert [page.views for page in PAGES if id(page) not in used] == []
    assert len(BY_VIEW) == sum(len(page.views) for page in PAGES)


def test_every_source_names_a_heading_of_a_document() -> None:
    for source in SOURCES:
        name, _, anchor = source.partition("#")
        target = document(name)
        assert target is not None, source
        assert not anchor or anchor in target.anchors, source


def test_the_five_words_of_every_page_are_first_in_the_glossary() -> None:
    assert [term.name for term in FIVE] == ["Item", "Response", "Rating", "Slot", "Rater"]
    assert all(page.terms is not None for page in PAGES)  # each names terms that exist


def test_guides_come_first_and_stand_once(client: Client, db: None) -> None:
    content = client.get("/help/").content.decode()
    guides = [document(name) for name in names() if name.startswith("guides/")]
    assert len(guides) > 5
    for guide in guides:
        assert guide is not None
        assert content.count(f'href="{guide.url}"') == 1
        assert content.index(guide.url) < content.index("Five words")


@pytest.mark.parametrize("address", ["/help/", "/help/glossary/", "/help/docs/methods/", "/help/?q=weight"])
def test_help_needs_no_account(address: str, client: Client, db: None) -> None:
    assert client.get(address).status_code == 200


def test_the_header_says_what_the_page_is_for(
    project: Project, viewer: User, as_user: Callable[[User], Client]
) -> None:
    page = as_user(viewer).get(f"/p/{project.slug}/campaigns/").text
    assert "A campaign is designed in steps" in page
    assert 'href="/help/docs/campaigns/designing/#the-steps"' in page
    assert 'href="/help/glossary/#criterion"' in page
