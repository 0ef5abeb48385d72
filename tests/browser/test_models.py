"""Training a model: the form, the progress, the warning; and a file with an error."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in
from tests.metrics.world import make_world

pytestmark = pytest.mark.worker


@pytest.fixture
def manager(transactional_db: None) -> User:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    make_world(project)
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    return user


@pytest.mark.usefixtures("worker", "manager")
def test_a_model_is_trained_watched_and_warned_of(live_server, new_page, tmp_path: Path) -> None:
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/models/")
    assert_everyone_can_read(page)
    page.get_by_role("link", name="New model").first.click()
    assert_everyone_can_read(page)

    page.get_by_label("Outputs of Human (40)").check()
    page.get_by_label("Leave out texts that are outputs or references here").uncheck()
    page.get_by_label("Dimensions").fill("0")
    page.get_by_role("button", name="Train it").click()
    expect(page.get_by_text("Accepted: an integer from 1 to 2500.")).to_be_visible()
    assert_everyone_can_read(page)
    page.get_by_label("Dimensions").fill("5")
    page.get_by_role("button", name="Train it").click()

    expect(page.get_by_text("Trained on texts that it will help to judge.")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("heading", name="Cats LSA space v1")).to_be_visible()
    page.wait_for_selector("[data-chart] svg.marks")
    assert_everyone_can_read(page)

    wrong = tmp_path / "glove.txt"
    wrong.write_text("cat 1 0\ndog 0.5\n")
    page.goto(f"{live_server.url}/p/chit-chat/models/new/?kind=vectors&from=model")
    page.get_by_label("Name").fill("GloVe")
    page.get_by_label("File", exact=True).set_input_files(wrong)
    page.get_by_role("button", name="Register it").click()
    expect(page.get_by_text("glove.txt, line 2: found 2 fields")).to_be_visible(timeout=60_000)
    assert_everyone_can_read(page)
