"""A manager uploads conversations, mines them, and adds references to a data set."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.mining.services.runs import mining_run_execute
from annotation.models import Campaign, MiningRun, ResponseSource
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset, triples_file
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, sign_in

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.mark.usefixtures("worker", "manager")
def test_a_corpus_is_uploaded_searched_mined_and_its_texts_are_added(live_server, new_page, project, tmp_path) -> None:
    seeds_dataset(project)
    pool = tmp_path / "pool.jsonl"
    pool.write_bytes(triples_file())
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(live_server.url + reverse("annotation:corpus-list", args=["chit-chat"]))
    assert_everyone_can_read(page)
    page.get_by_role("link", name="Upload a corpus").first.click()
    assert_everyone_can_read(page)
    page.get_by_label("Name of the corpus").fill("Pool")
    page.get_by_label("File", exact=True).set_input_files(pool)
    page.get_by_role("button", name="Upload and index").click()

    # The page shows the progress and then becomes the page of the corpus.
    page.get_by_role("heading", name="What would be found?").wait_for(timeout=60_000)
    page.get_by_label("Message", exact=True).fill("Would you like some tea?")
    page.get_by_label("Response", exact=True).fill("Tea would be lovely")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".found-list li").first).to_contain_text("tea would be lovely.")
    assert_everyone_can_read(page)

    page.get_by_role("link", name="Mine a data set").click()
    assert_everyone_can_read(page)
    page.get_by_label("Mined responses per seed").fill("3")
    page.get_by_text("Text hygiene").click()
    page.get_by_label("Mask account names").check()
    page.get_by_role("button", name="Mine", exact=True).click()
    page.get_by_role("heading", name="Add to the data set").wait_for(timeout=60_000)
    assert_everyone_can_read(page)

    page.get_by_role("link", name="See the candidates").click()
    expect(page.locator(".item-card")).to_have_count(3)
    assert_everyone_can_read(page)
    page.get_by_label("Fate").select_option("duplicate")
    expect(page.locator(".candidates .is-kept")).to_have_count(0)
    expect(page.locator(".candidates .is-duplicate").first).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".candidates .is-kept").first).to_be_visible()

    page.go_back()
    page.get_by_role("heading", name="Candidates", exact=True).wait_for()  # the full page, not a fragment
    page.goto(page.url.split("candidates/")[0])
    page.get_by_role("button", name="Add to the data set").click()
    page.get_by_role("button", name="Add them", exact=True).click()
    page.get_by_role("heading", name="In the data set").wait_for()
    assert_everyone_can_read(page)
    sources = ResponseSource.objects.filter(kind="mined")
    assert sources.exists()
    assert all(source.source_message for source in sources)

    page.get_by_role("button", name="Rate them").click()
    page.wait_for_url("**/edit/what/")
    assert set(Campaign.objects.get().reference_kinds) == {"mined", "parrot"}


@pytest.fixture
def near_run(project, settings, tmp_path) -> MiningRun:
    settings.DATA_DIR = tmp_path
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), near_duplicate=0.3)
    mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    return run


@pytest.mark.usefixtures("manager")
def test_near_duplicates_can_be_left_out_one_by_one_by_keyboard(live_server, new_page, near_run) -> None:
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    run_url = live_server.url + reverse("annotation:mining-run-detail", args=["chit-chat", near_run.pk])
    page.goto(run_url)
    assert_everyone_can_read(page)
    page.get_by_role("link", name="Choose one by one").click()
    boxes = page.get_by_role("checkbox", name="Add it to the data set")
    expect(boxes.first).to_be_checked()
    assert_everyone_can_read(page)
    boxes.first.focus()
    page.keyboard.press("Space")
    expect(page.locator("#near-choice")).to_contain_text("1 left out")
    expect(boxes.first).to_be_focused()
    page.goto(run_url)
    expect(page.locator("#near-choice")).to_contain_text("1 left out")
    page.get_by_role("button", name="Leave all out").click()
    expect(page.locator("#near-choice")).to_contain_text("all will be left out")
    page.get_by_role("button", name="Add all").click()
    expect(page.locator("#near-choice")).to_contain_text("all will be added")


@pytest.mark.usefixtures("manager")
def test_near_duplicates_are_left_out_without_script(live_server, new_page, near_run) -> None:
    page = new_page(**DESKTOP, java_script_enabled=False)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(live_server.url + reverse("annotation:mining-run-candidates", args=["chit-chat", near_run.pk]))
    page.get_by_role("checkbox", name="Add it to the data set").first.uncheck()
    page.get_by_role("button", name="Save these choices").click()
    expect(page.locator("#near-choice")).to_contain_text("1 left out")
    expect(page.get_by_role("checkbox", name="Add it to the data set").first).not_to_be_checked()
