import pytest

from tests.annotation.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.browser.support import axe, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_running_campaign_is_watched_live(live_server, page_desktop, project, viewer):
    campaign = make_campaign(make_dataset(project))
    first, second = (
        make_response(make_item(campaign.dataset, f"i{number}"), f"Answer {number}", "A") for number in range(2)
    )
    rate(campaign, "ann", first, 4)
    page = page_desktop
    sign_in(page, live_server.url, "vera-viewer", "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{campaign.pk}/monitor/")
    page.wait_for_selector("[data-chart] svg.marks")
    axe(page)
    assert page.get_by_text("1 of 1").is_visible()

    rate(campaign, "bob", second, 2)

    page.get_by_text("2 of 2").wait_for(timeout=15_000)
    page.get_by_text("no response has ratings of two raters").wait_for()
    axe(page)
