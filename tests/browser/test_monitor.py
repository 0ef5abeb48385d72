import pytest

from annotation.models import RaterDecision
from annotation.rating.services.handout import unit_request
from tests.annotation.worlds.campaigns import answer, join
from tests.annotation.worlds.campaigns import make_dataset as make_live_dataset
from tests.annotation.worlds.close import make_rated
from tests.annotation.worlds.designed import QUALITY, make_designed
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.browser.support import TALLEST, assert_everyone_can_read, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_running_campaign_is_watched_live(live_server, page_desktop, project, viewer):
    campaign = make_campaign(make_dataset(project))
    first, second = (
        make_response(make_item(campaign.dataset, f"i{number}"), f"Answer {number}", "human") for number in range(2)
    )
    rate(campaign, "ann", first, 4)
    page = page_desktop
    sign_in(page, live_server.url, "vera-viewer", "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{campaign.pk}/monitor/")
    page.wait_for_selector("[data-chart] svg.marks")
    assert_no_barrier(page)
    assert page.get_by_text("1 of 1").is_visible()

    rate(campaign, "bob", second, 2)

    page.get_by_text("2 of 2").wait_for(timeout=15_000)
    page.get_by_text("no response has ratings of two raters").first.wait_for()
    for name in ("cid", "dan"):
        rate(campaign, name, first, 5)
        rate(campaign, name, second, 1)
    page.get_by_role("link", name="±0.5").click()
    page.locator('#campaign-live nav a[aria-current="true"]', has_text="±0.5").wait_for()
    assert_no_barrier(page)


@pytest.fixture
def checked(project):
    """Create a campaign with golds (4 or 5) and two raters: one always answers 4, one 1."""
    quality = QUALITY | {"every": 3, "mix": {"gold": 1}}
    campaign = make_designed(make_live_dataset(project, items=2), quality=quality, ratings_per_unit=3)
    for name, value in (("ann", 4), ("bob", 1)):
        rater = join(campaign, name)
        while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
            answer(shown, value)
    return campaign


def test_a_manager_writes_rules_sees_what_they_change_and_applies_them(
    live_server, page_phone, project, manager, checked
):
    page = page_phone
    home = f"{live_server.url}/p/chit-chat/campaigns/{checked.pk}"
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{home}/quality/")
    assert_everyone_can_read(page, tallest=TALLEST)
    page.get_by_role("link", name="Add rules").click()
    page.get_by_label("Another rule").select_option(label="Gold answered wrongly too often")
    page.get_by_role("button", name="Add").click()
    page.get_by_label("After so many answers").fill("1")
    page.get_by_role("button", name="Preview the effects").last.click()
    page.get_by_role("heading", name="Effects if applied now").wait_for()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.get_by_role("button", name="Register version 1").click()
    page.get_by_text("Version 1 of the rules is registered.").wait_for()
    page.get_by_role("link", name="Preview the effects").click()
    page.get_by_label("of excluded raters for others").check()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.get_by_role("button", name="Exclude 1 rater").click()
    page.get_by_text("1 excluded, 0 flagged.").wait_for()
    decision = RaterDecision.objects.get()
    assert decision.rater.pseudonym.startswith("bob")
    page.get_by_role("link", name="Check again").click()
    page.get_by_text("Same result.").wait_for()
    assert_everyone_can_read(page, tallest=TALLEST)


def test_raters_are_compared_opened_and_decided_about(live_server, page_desktop, project, manager, checked):
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{checked.pk}/raters/")
    page.get_by_role("link", name="Gold", exact=True).click()
    page.locator("tbody tr").first.get_by_role("link", name="bob").wait_for()
    assert_no_barrier(page)
    page.locator("tbody tr").first.get_by_role("link", name="bob").click()
    page.get_by_role("heading", name="Answers in order").wait_for()
    assert_no_barrier(page)
    page.locator("#flag-reason").fill("Looks like clicking.")
    page.get_by_role("button", name="Flag", exact=True).click()
    page.get_by_text("bob is flagged.").wait_for()
    assert page.get_by_text("Looks like clicking.").count() == 1


def test_a_manager_reads_the_forecast_tops_up_where_it_decides_and_a_rater_is_handed_just_that(
    live_server, page_phone, project, manager
):
    campaign = make_rated(project)
    page = page_phone
    home = f"{live_server.url}/p/chit-chat/campaigns/{campaign.pk}"
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{home}/monitor/")
    page.get_by_role("heading", name="Enough ratings?").wait_for()
    page.locator("#enough").get_by_role("rowheader", name="Cy and Bo").wait_for()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.goto(f"{home}/change/top-up/")
    assert_everyone_can_read(page, tallest=TALLEST)
    page.get_by_label("More answers, in total").fill("8")
    page.get_by_label("Where they narrow most").select_option("relevance: Cy and Bo")
    page.get_by_role("button", name="See what will happen").click()
    page.get_by_text("8 items get 8 more slots: 1 more each.").wait_for()
    page.get_by_text("Cy and Bo: once all is rated, the interval that decides").wait_for()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.get_by_role("button", name="Add slots").click()
    page.get_by_text("The slots are added and are being handed out.").wait_for()
    rater, labels = join(campaign), []
    while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
        labels.append(shown.unit.label)
        answer(shown, 3)
    assert len(labels) == 8
    assert set(labels) <= {"Bo", "Cy"}
    page.goto(f"{home}/records/amendments/")
    page.get_by_text("More ratings where they decide").wait_for()
