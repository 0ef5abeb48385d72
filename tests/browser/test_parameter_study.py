"""A manager starts a parameter study, waits for a real worker and reads the report."""

import pytest
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from tests.browser.support import DESKTOP, assert_everyone_can_read, assert_no_barrier, sign_in
from tests.metrics.world import make_world

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(transactional_db):
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    return make_world(project)


def test_a_parameter_study_from_the_form_to_the_figures(live_server, worker, world, new_page):
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/studies/")
    page.get_by_role("link", name="Parameter studies").click()
    page.get_by_role("link", name="New parameter study").first.click()
    page.get_by_label("Metric", exact=True).select_option("chrf")
    page.get_by_role("button", name="Show its parameters").click()
    assert_no_barrier(page)

    page.get_by_label("Name").fill("Does recall matter?")
    weighing = "Reference ratings (its ratings weigh these references)"
    for name in ("Output ratings", weighing, "Human (gave references)", "Random (gave references)"):
        page.get_by_label(name, exact=True).check()
    beta = page.locator("#id_sweep_beta")
    beta.fill("0..11")
    page.get_by_role("button", name="Start the study").click()
    expect(page.get_by_text("found 11.0; accepted: a number from 0 to 10")).to_be_visible()
    beta.fill("0.5, 1, 2, 3")
    page.locator("#id_sweep_char_order").fill("")
    page.get_by_role("button", name="Start the study").click()

    expect(page.get_by_role("heading", name="Does recall matter?")).to_be_visible()
    expect(page.get_by_role("heading", name="All values of")).to_be_visible(timeout=60_000)
    page.get_by_role("heading", name="All values of").click()
    expect(page.get_by_role("heading", name="Without one system")).to_be_visible()
    expect(page.locator("[data-chart][aria-busy]")).to_have_count(0)
    expect(page.locator("[data-chart] svg").first).to_be_visible()
    assert_everyone_can_read(page)

    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("every number is the same")).to_be_visible(timeout=60_000)
    assert_everyone_can_read(page)
