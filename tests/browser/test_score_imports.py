"""Importing scores: a file with an error, the preview, the run."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Membership, Project, Role, User
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, sign_in
from tests.metrics.world import make_world


@pytest.fixture
def manager(transactional_db: None) -> User:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    make_world(project)
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    return user


def table(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["system,item,score", *rows]))
    return path


def state_range(page: Page) -> None:
    page.get_by_label("Another range").check()
    page.get_by_label("from", exact=True).fill("0")
    page.get_by_label("to", exact=True).fill("1")


@pytest.mark.parametrize("script", [True, False], ids=["phone", "without script"])
@pytest.mark.usefixtures("manager")
def test_a_file_is_previewed_corrected_and_imported(live_server, new_page, tmp_path: Path, script: bool) -> None:
    rows = [
        f"{system},item-{position},{(position * step) % 41 / 41!r}"
        for step, system in ((3, "Echo"), (7, "Parrot"), (11, "Quill"))
        for position in range(40)
    ]
    page = new_page(**PHONE) if script else new_page(**DESKTOP, java_script_enabled=False)
    check = assert_everyone_can_read if script else lambda page: None
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/runs/")
    page.get_by_role("link", name="Import scores").click()
    check(page)

    page.get_by_label("Name of the metric").fill("COMET-22")
    page.get_by_label("Where the scores come from").fill("wmt22-comet-da, https://huggingface.co/Unbabel")
    page.locator("input[type=file]").set_input_files(table(tmp_path / "comet.csv", [*rows, "Nobody,item-1,0.5"]))
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("heading", name="Nothing was imported")).to_be_visible()
    expect(page.get_by_role("cell", name="Nobody")).to_be_visible()
    check(page)

    page.locator("input[type=file]").set_input_files(table(tmp_path / "comet.csv", rows[:-1]))
    page.get_by_role("button", name="Preview again").click()
    expect(page.get_by_role("heading", name="comet.csv holds 1 column of scores")).to_be_visible()
    expect(page.get_by_text("3 systems matched, 40 of 40 items with a score")).to_be_visible()
    expect(page.get_by_label("No fixed range")).to_be_checked()
    state_range(page)
    check(page)

    page.locator("input[type=file]").set_input_files(table(tmp_path / "comet.csv", rows[:-2]))
    page.get_by_role("button", name="Import COMET-22’s scores").click()
    expect(page.get_by_text("The file or the settings have changed: check the scales again.")).to_be_visible()
    expect(page.get_by_label("No fixed range")).to_be_checked()
    check(page)
    state_range(page)

    page.get_by_role("button", name="Import COMET-22’s scores").click()
    expect(page.get_by_role("heading", name="Made elsewhere")).to_be_visible()
    expect(page.get_by_role("heading", name="COMET-22")).to_be_visible()
    expect(page.get_by_text("0 to 1, stated at the import; the scores are 0 to 0.9756.")).to_be_visible()
    page.get_by_role("link", name="Change the scale").click()
    expect(page.get_by_role("heading", name="Which scale do these scores have?")).to_be_visible()
    check(page)


@pytest.mark.usefixtures("manager")
def test_the_button_names_the_ticked_columns_of_a_file(live_server, new_page, tmp_path: Path) -> None:
    rows = [f"Echo,item-{position},{position % 3},{position % 5},0.{position}" for position in range(10)]
    file = tmp_path / "all.csv"
    file.write_text("\n".join(["system,item,rater-1,gpt_judge,BLEU", *rows]))
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/runs/import/")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_text("1 column looks like a rater’s ratings")).to_be_visible()
    expect(page.get_by_role("button", name="Import 2 columns of scores")).to_be_visible()
    assert_everyone_can_read(page)

    page.get_by_role("checkbox", name="BLEU: a metric’s scores").uncheck()
    expect(page.get_by_role("button", name="Import gpt_judge’s scores")).to_be_enabled()
    judge = page.get_by_role("checkbox", name="gpt_judge: a judge’s scores")
    judge.uncheck()
    expect(page.get_by_role("button", name="Tick a column to import")).to_be_disabled()
    judge.check()
    page.get_by_label("Name of the metric").first.fill("GPT-4")
    page.get_by_role("button", name="Import gpt_judge’s scores").click()
    expect(page.get_by_role("heading", name="GPT-4")).to_be_visible()
