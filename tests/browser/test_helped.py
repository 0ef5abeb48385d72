"""A viewer goes from a campaign's results to the means with the help of a metric."""

import pytest
from django.db import transaction
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from tests.browser.support import DESKTOP, TALLEST, assert_everyone_can_read, sign_in
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.services.test_worth import keep_ratings_of
from tests.metrics.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db):
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    user = User.objects.create_user("vera-viewer", password="password")
    Membership.objects.create(project=project, user=user, role=Role.VIEWER)
    return make_world(project)


def test_a_metric_narrows_the_means_of_a_campaign(live_server, world, new_page):
    with transaction.atomic():
        make_imported_run(world)
        keep_ratings_of(world, 20)
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, "vera-viewer", "password")
    page.goto(live_server.url + reverse("annotation:campaign-results", args=["chit-chat", world.output_campaign.pk]))
    page.get_by_role("link", name="See whether a metric helps").click()

    expect(page.get_by_text("the means are as sure as with")).to_be_visible()
    systems = page.get_by_role("group", name="Systems").first
    expect(systems.get_by_role("row").filter(has_text="Echo")).to_contain_text("19 of 39")
    expect(page.get_by_role("group", name="Differences").first).to_contain_text("Echo – Quill")
    assert_everyone_can_read(page, tallest=TALLEST)
