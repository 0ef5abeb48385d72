"""A manager adds a new system's outputs to a data set of references, without script; the pages look right."""

import pytest
from playwright.sync_api import expect

from annotation.models import ResponseSource
from tests.annotation.worlds.rated import make_dataset, make_item, make_response
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset(project):
    dataset = make_dataset(project)
    for number in range(3):
        make_response(make_item(dataset, f"i{number}"), "Fine, thanks.", "human")
    return dataset


def file_of(text: str) -> dict:
    return {"name": "newest.csv", "mimeType": "text/csv", "buffer": text.encode()}


def test_outputs_are_added_without_script(live_server, new_page, dataset, manager):
    page = new_page(java_script_enabled=False, **PHONE)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/datasets/{dataset.slug}/")
    page.get_by_role("link", name="Add outputs").click()

    page.locator("input[type=file]").set_input_files(file_of("item_id,text\ni0,Fine, thanks.\ni7,Well.\n"))
    page.get_by_label("Name of the system").fill("Newest")
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("alert")).to_contain_text("newest.csv, line 2, field number of cells")

    page.locator("input[type=file]").set_input_files(file_of('item_id,text\ni0,"Fine, thanks."\ni2,Well.\n'))
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("status").first).to_contain_text("newest.csv has 2 outputs for 2 of 3 items")
    page.get_by_role("button", name="Add them").click()
    expect(page.get_by_role("row").filter(has_text="Newest")).to_contain_text("2")
    assert ResponseSource.objects.filter(system__name="Newest").count() == 2
    expect(page.get_by_text("2 outputs of Newest added.")).to_be_visible()

    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Add outputs").click()
    expect(page.get_by_role("heading", name="Add outputs", exact=True)).to_be_visible()


def test_its_pages_can_be_read(live_server, new_page, dataset, manager):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/datasets/{dataset.slug}/outputs/add/")
    assert_everyone_can_read(page)
    page.locator("input[type=file]").set_input_files(file_of("item_id,Newest,Older\ni0,Well.,Hm.\ni2,Well.,Oh.\n"))
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("button", name="Add them")).to_be_visible()
    assert_everyone_can_read(page)
