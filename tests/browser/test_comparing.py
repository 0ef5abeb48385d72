"""A viewer ticks two studies of different data sets, reads them side by side, and downloads the table."""

import csv
import io

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.browser.support import DESKTOP, TALLEST, assert_everyone_can_read, sign_in
from tests.correlations.views.test_comparisons import made_like
from tests.metrics.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def studies(transactional_db):
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    user = User.objects.create_user("vera-viewer", password="password")
    Membership.objects.create(project=project, user=user, role=Role.VIEWER)
    world = make_world(project)
    changes = {"metrics": ["bleu", "sbleu", "delta_bleu", "length"], "subsets": ["all"], "unit_size": 2}
    study, _ = study_create(project=project, name="On cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study, made_like(study, "On dogs", of="Dogs", values=(0.52, 0.58, 0.61), seed=8)


def test_two_studies_side_by_side(live_server, studies, new_page):
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, "vera-viewer", "password")
    page.goto(live_server.url + reverse("correlations:study-list", args=["chit-chat"]))
    page.get_by_label("Compare On cats").check()
    page.get_by_label("Compare On dogs").check()
    page.get_by_role("button", name="Compare the ticked studies").click()

    expect(page.get_by_role("heading", name="Compare studies")).to_be_visible()
    expect(page.get_by_text("ranks first on average")).to_be_visible()
    expect(page.locator("[data-chart] svg").first).to_be_visible()
    page.locator("#settings summary").click()
    expect(page.locator("#settings tr.differs").filter(has_text="Seed of the random numbers")).to_be_visible()
    assert_everyone_can_read(page, tallest=TALLEST)

    page.get_by_label("Coefficient", exact=True).select_option("kendall")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("heading", name="Kendall’s τ by study")).to_be_visible()
    page.get_by_label("Download the comparison").click()
    with page.expect_download() as file:
        page.get_by_role("link", name="CSV table").locator("visible=true").click()
    rows = list(csv.DictReader(io.StringIO(file.value.path().read_text("utf-8-sig"))))
    assert {row["study_name"] for row in rows} == {"On cats", "On dogs"}
