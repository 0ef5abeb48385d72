"""Pages that check a release's weights: accessible, usable by keyboard, with charts."""

import pytest

from annotation.models import Campaign
from tests.annotation.worlds.rated import make_campaign, rate
from tests.annotation.worlds.weighed import make_release
from tests.browser.support import TALLEST, assert_everyone_can_read, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def base(project, manager, live_server):
    release = make_release(project)
    outputs = make_campaign(release.reference_set.dataset, "Outputs")
    rate(outputs, "ann", release.reference_set.dataset.systems.get(name="Bo").outputs.first().response, 3)
    return f"{live_server.url}/p/{project.slug}/references/{release.reference_set.slug}/v1/"


def test_the_pages_are_accessible_and_draw_their_charts(base, live_server, page_desktop):
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    for path, n_charts in (("attention/", 0), ("sensitivity/", 4), ("raters/", 1), ("circularity/", 0)):
        page.goto(base + path)
        for folded in page.locator("details.fold > summary").all():
            folded.click()
        for chart in page.locator("[data-chart]").all():
            chart.locator("svg").first.wait_for()
        assert page.locator("[data-chart] svg.marks").count() == n_charts, path
        assert_everyone_can_read(page, tallest=TALLEST)


def test_ticked_references_can_be_rated_again_by_keyboard(base, live_server, page_desktop, project):
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{base}attention/?list=tie")
    page.get_by_role("checkbox", name="Rate “Well.” again").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Rate ticked references again").focus()
    page.keyboard.press("Enter")
    page.get_by_label("More ratings of each").fill("4")
    assert_no_barrier(page)
    page.get_by_role("button", name="Draft the campaign").click()
    page.get_by_text("1 reference, 4 more ratings of each").wait_for()
    campaign = Campaign.objects.get(project=project, target="listed")
    assert list(campaign.response_list.responses.values_list("text", flat=True)) == ["Well."]
