"""Uploading a data set: a file with errors, their messages, then the correct file."""

import json
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Dataset, Membership, Project, Role, User
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in_by_form
from tests.conftest import ROOT

pytestmark = pytest.mark.worker
GOOD = ROOT / "demo" / "examples" / "dataset.jsonl"


@pytest.fixture
def manager(transactional_db: None) -> User:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    return user


@pytest.fixture
def bad_file(tmp_path: Path) -> Path:
    """Write the example with another item of the same id and an unknown field."""
    lines = GOOD.read_text().splitlines()
    lines.append(json.dumps({"id": "1", "mesage": "typo"}))
    path = tmp_path / "dataset.jsonl"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.usefixtures("worker", "manager")
def test_errors_are_named_and_the_corrected_file_becomes_a_data_set(live_server, new_page, bad_file: Path) -> None:
    page = new_page(**PHONE)
    sign_in_by_form(page, live_server.url, "max-manager", "password")
    page.get_by_role("link", name="Chit-chat").click()
    assert_everyone_can_read(page)
    page.get_by_role("link", name="Import a data set").first.click()
    assert_everyone_can_read(page)

    page.get_by_label("Name of the data set").fill("First words")
    page.get_by_label("File", exact=True).set_input_files(bad_file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="Nothing was imported")).to_be_visible()
    errors = page.get_by_role("region", name="Nothing was imported").get_by_role("row")
    expect(errors.nth(1)).to_contain_text("4")
    expect(errors.filter(has_text="mesage")).to_have_count(1)
    expect(errors.filter(has_text="this one is on line 1 already")).to_have_count(1)
    assert_everyone_can_read(page)
    assert not Dataset.objects.exists()

    page.get_by_role("link", name="Upload again").click()
    page.get_by_label("Name of the data set").fill("First words")
    page.get_by_label("File", exact=True).set_input_files(GOOD)
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**" + reverse("annotation:dataset-detail", args=["chit-chat", "first-words"]))
    expect(page.get_by_role("heading", name="First words")).to_be_visible()
    assert_everyone_can_read(page)

    page.get_by_label("Search ids, contexts and messages").fill("sourdough")
    expect(page.locator("#item-rows tbody tr")).to_have_count(1)
    page.get_by_role("link", name="3", exact=True).click()
    expect(page.get_by_role("heading", name="Item 3")).to_be_visible()
    expect(page.get_by_text("Feed the starter twice a day.")).to_be_visible()
    assert_everyone_can_read(page)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0

    page.goto(live_server.url + reverse("annotation:dataset-detail", args=["chit-chat", "first-words"]))
    page.get_by_role("link", name="Score it").click()
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Compute scores").click()
    page.get_by_role("heading", name="All runs").wait_for()
    expect(page.get_by_role("group", name="Leaderboard")).to_be_visible()
    expect(page.locator(".run-state").get_by_text("Done", exact=True)).to_be_visible()
    assert_everyone_can_read(page)
