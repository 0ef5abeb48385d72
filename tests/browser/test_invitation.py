"""An owner makes a link; a person signs in, reads who invites to what, and joins."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in


@pytest.fixture
def project(transactional_db: None) -> Project:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    owner = User.objects.create_user("olga-owner", password="password")
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    User.objects.create_user("ned-new", password="password")
    return project


def test_a_link_is_made_opened_and_used(live_server, new_page, project: Project) -> None:
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "olga-owner", "password")
    page.goto(live_server.url + reverse("annotation:project-members", args=[project.slug]))
    form = page.locator("form", has=page.get_by_role("button", name="Make a link"))
    form.get_by_label("Role").select_option("manager")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#invitation-link").inner_text()
    assert_everyone_can_read(page)

    guest = new_page(**PHONE)
    guest.goto(link)
    guest.get_by_label("Username").fill("ned-new")
    guest.get_by_label("Password").fill("password")
    guest.get_by_role("button", name="Sign in").click()
    expect(guest.get_by_role("heading", name="Join Chit-chat?")).to_be_visible()
    expect(guest.get_by_text("olga-owner")).to_be_visible()
    assert_everyone_can_read(guest)
    guest.get_by_role("button", name="Join as manager").click()
    guest.wait_for_url("**" + reverse("annotation:project-detail", args=[project.slug]))
    assert Membership.objects.get(user__username="ned-new").role == Role.MANAGER
