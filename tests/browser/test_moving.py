"""A project is exported from its page and imported into an empty list of projects; the hashes are equal."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from tests.annotation.worlds.datasets import example_dataset, example_ratings
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in_by_form

pytestmark = pytest.mark.worker


@pytest.fixture
def project(transactional_db: None) -> Project:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    owner = User.objects.create_user("olga-owner", password="password")
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    User.objects.create_user("ned-new", password="password")
    example_ratings(example_dataset(project))
    return project


@pytest.mark.usefixtures("worker")
def test_a_project_is_exported_and_imported_by_somebody_without_projects(
    live_server, new_page, project: Project, tmp_path: Path
) -> None:
    page = new_page(**PHONE)
    sign_in_by_form(page, live_server.url, "olga-owner", "password")
    page.goto(live_server.url + reverse("annotation:project-edit", args=[project.slug]))
    page.get_by_role("link", name="Export", exact=True).click()
    expect(page.get_by_role("heading", name="What stays")).to_be_visible()
    assert_everyone_can_read(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=True).click()
    archive = tmp_path / download.value.suggested_filename
    download.value.save_as(archive)

    other = new_page(**PHONE)
    sign_in_by_form(other, live_server.url, "ned-new", "password")
    expect(other.get_by_text("No project yet")).to_be_visible()
    other.get_by_role("link", name="Import", exact=True).click()
    assert_everyone_can_read(other)
    other.get_by_label("File", exact=True).set_input_files(archive)
    other.get_by_role("button", name="Upload and import").click()
    expect(other.get_by_text("2 of 2 hashes equal.")).to_be_visible()
    assert_everyone_can_read(other)
    other.get_by_role("link", name="Open the project").click()
    expect(other.get_by_role("heading", name="Chit-chat").first).to_be_visible()
    assert Project.objects.get(memberships__user__username="ned-new").slug == "chit-chat-2"
