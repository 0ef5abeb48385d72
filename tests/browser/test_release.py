import pytest

from annotation.models import JobState, Release
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def reference_set(project):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for number in range(3):
        item = make_item(dataset, f"i{number}", context=["Hello there."])
        human = make_response(item, f"A fine answer {number}", "Human")
        robot = make_response(item, f"A bad answer {number}", "Robot")
        for rater, human_value, robot_value in (("ann", 4, 1), ("bob", 5, 2), ("cem", 5, 1)):
            rate(campaign, rater, human, human_value)
            rate(campaign, rater, robot, robot_value)
    return reference_set_create(dataset=dataset, name="Both", campaigns=[campaign], source_systems=["Human", "Robot"])


def test_a_release_is_built_browsed_and_traced_to_its_ratings(worker, live_server, new_page, reference_set, manager):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/references/both/")
    assert_everyone_can_read(page)

    page.get_by_text("What to leave out").click()
    page.get_by_label("Leave out raters", exact=False).first.fill("cem")
    page.get_by_role("button", name="Build release").click()

    # The progress panel polls by itself and gives way to the weights.
    page.get_by_role("navigation", name="Release").wait_for(timeout=60_000)
    release = Release.objects.get()
    assert (release.state, release.report["ratings"]["raters"]) == (JobState.DONE, 2)
    page.wait_for_selector("[data-chart] svg.marks")
    assert_everyone_can_read(page)

    pages = page.get_by_role("navigation", name="Release")
    pages.locator("summary").click()
    pages.get_by_role("link", name="Browse").click()
    page.get_by_text("6 references of 3 items").wait_for()
    assert page.get_by_text("+0.75").count() == 3
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Source").select_option("Robot")
    page.locator("#browse-total", has_text="3 references of 3 items").wait_for()
    page.get_by_role("link", name="A bad answer 0").click()

    page.get_by_text("mean 1.50 on 1–5 of 2 judgements → −0.75").wait_for()
    assert page.get_by_role("row", name="cem").count() == 1
    assert_everyone_can_read(page)
