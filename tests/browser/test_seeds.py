"""A manager previews thresholds, selects seeds and requests two more ratings of each."""

import pytest

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.models import Campaign, SeedSelecting, SeedSelection
from annotation.seeds import tasks
from annotation.seeds.services.selecting import seeds_select_execute
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in

pytestmark = pytest.mark.django_db(transaction=True)

RATINGS = [[5, 5, 5], [3, 4, 5], [3, 4, 4], [4, 5, 5], [1, 2, 1], [4, 4, 4], [2, 3, 3], [5, 4, 4], [4, 4, 3]]


@pytest.fixture
def campaign(project):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset, name="Conversations_of_the_newest_crawl_without_references")
    for number, values in enumerate(RATINGS):
        item = make_item(dataset, f"talk-{number}", context=["Did you see the game?", "I did!"])
        seed = make_response(item, f"It was the best one of the season, number {number}.", "seed")
        for rater, value in enumerate(values):
            rate(campaign, f"rater {rater}", seed, value)
    return campaign


def test_seeds_are_previewed_selected_and_sent_for_two_more_ratings(
    live_server, new_page, campaign, manager, monkeypatch
):
    monkeypatch.setattr(
        tasks.seeds_select_execute, "delay_on_commit", lambda pk: None
    )  # no worker: the test runs the job below
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/seeds/")
    page.get_by_role("link", name="Select seeds").click()

    # Of nine seeds five have a mean of 4 or more; at 4.5 two are left.
    page.get_by_role("button", name="Select these 5 seeds").wait_for()
    page.wait_for_selector("[data-chart] svg.marks")
    assert_everyone_can_read(page)
    page.get_by_label("Mean rating, at least").fill("4.5")
    page.get_by_label("Splits and their shares").fill("dev 0.5, test 0.4")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("The shares add up to 0.9").wait_for()
    assert page.get_by_role("button", name="Select these").count() == 0
    assert_everyone_can_read(page)
    page.get_by_label("Splits and their shares").fill("dev 0.5, test 0.5")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Select these 2 seeds").wait_for()
    assert not SeedSelection.objects.exists()
    page.get_by_label("Mean rating, at least").fill("4")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Select these 5 seeds").click()

    page.get_by_role("heading", name="Selecting seeds").wait_for()
    assert_everyone_can_read(page)
    seeds_select_execute(selecting_id=SeedSelecting.objects.get().pk)  # the page updates itself
    page.get_by_role("heading", name="How they were selected").wait_for()
    page.wait_for_selector("[data-chart] svg.marks")
    assert_everyone_can_read(page)
    selection = SeedSelection.objects.get()
    assert sorted(selection.members.values_list("split", flat=True)) == ["dev", "dev", "dev", "test", "test"]

    page.get_by_role("button", name="Two more ratings of each").click()
    page.get_by_text("This draft collects two more ratings of each seed").wait_for()
    draft = Campaign.objects.get(name="Seeds of Replies")
    assert (draft.ratings_per_unit, draft.response_list.responses.count()) == (2, 5)
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{draft.pk}/edit/what/")
    page.get_by_text("5 of the data set Replies").wait_for()
    assert_everyone_can_read(page)

    # New ratings move one seed below 4: it stays and is marked.
    campaign_launch(campaign=draft)
    seed = selection.members.get(item__external_id="talk-1").response
    for rater, value in (("x", 3), ("y", 4)):
        rate(draft, rater, seed, value)
    page.goto(f"{live_server.url}/p/chit-chat/datasets/replies/seeds/")
    page.get_by_label("Mean now").select_option("1")
    with page.expect_navigation():
        page.get_by_role("button", name="Filter").click()
    page.get_by_text("fell below", exact=True).wait_for()
    assert page.get_by_role("row", name="number 1.").get_by_text("3.80").count() == 1
    assert page.get_by_role("row", name="number 0.").count() == 0
    assert_everyone_can_read(page)
    page.goto(f"{live_server.url}/p/chit-chat/lists/")
    assert_everyone_can_read(page)
    page.get_by_role("link", name="Seeds of Replies").first.click()
    page.get_by_role("link", name="Rate them").click()
    page.get_by_role("button", name="Create the draft").wait_for()
    assert_everyone_can_read(page)
