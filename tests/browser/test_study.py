"""A manager starts a study, waits for a real worker, reads the report, downloads it and follows its links."""

import csv
import io
import json
import re
import zipfile

import pytest
from playwright.sync_api import expect

from annotation.models import Membership, Project, Release, Role, User
from annotation.references.releases.services.releases import stored_content_hash
from tests.browser.support import DESKTOP, TALLEST, assert_everyone_can_read, assert_no_barrier, sign_in
from tests.metrics.world import make_world

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(transactional_db):
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    world = make_world(project)
    Release.objects.filter(pk=world.release.pk).update(content_hash=stored_content_hash(world.release))
    return world


def test_a_study_from_the_form_to_the_files(live_server, worker, world, new_page):
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/studies/")
    start_by_the_form(page)

    expect(page.get_by_role("heading", name="Do cats agree?")).to_be_visible()
    expect(page.get_by_role("heading", name="Correlation with human ratings")).to_be_visible(timeout=60_000)
    expect(page.locator("[data-chart][aria-busy]")).to_have_count(0)
    expect(page.locator("#figure-forest svg").first).to_be_visible()
    assert_everyone_can_read(page, tallest=TALLEST)

    report, table = page.url, page.get_by_role("group", name="Correlation with human ratings")
    shown = table.get_by_role("row").nth(2).get_by_role("cell").nth(1).inner_text()
    assert_downloads_show(page, shown)
    read_the_further_pages(page, report)
    files = {name: report_of(page, name) for name in ("PDF", "HTML", "LaTeX", "JSON", "Specification")}
    assert files["PDF"].read_bytes().startswith(b"%PDF-")
    assert zipfile.is_zipfile(files["LaTeX"])
    assert json.loads(files["JSON"].read_text())["study"]["name"] == "Do cats agree?"
    assert_reads_alone(new_page, files["HTML"], shown)
    verify(page, f"{live_server.url}/p/chit-chat/studies/verifications/", files["JSON"])
    page.goto(f"{live_server.url}/p/chit-chat/studies/new/")
    page.get_by_role("heading", name="From a specification").click()
    assert_no_barrier(page)
    page.locator("#specification").get_by_label("File").set_input_files(files["Specification"])
    page.locator("#specification").get_by_role("button", name="Start the study").click()
    expect(page.get_by_text("Opened the existing study with these settings.")).to_be_visible()
    follow_a_score_to_its_ratings(page, table)


def start_by_the_form(page):
    """Start a small study from the list, with one correction."""
    page.get_by_role("link", name="New study").first.click()
    assert_no_barrier(page)

    page.get_by_label("Name").fill("Do cats agree?")
    page.get_by_label("References", exact=True).fill("original, w>7")
    page.get_by_role("button", name="Start the study").click()
    expect(page.get_by_text("accepted: a weight from -1 to 1")).to_be_visible()

    page.get_by_label("References", exact=True).fill("original, w>0, all")
    page.get_by_text("Design: units, assignments").click()
    page.get_by_label("Unit size M").fill("8")
    page.get_by_label("Assignments K").fill("200")
    page.get_by_label("Bootstrap replicates").fill("40")
    page.get_by_label("Also compute how many raters were needed").check()
    page.get_by_role("button", name="Start the study").click()


def assert_downloads_show(page, highest):
    """The table as CSV has the highest coefficient of the page; the chart comes as SVG."""
    page.get_by_label("Download the table of correlations").click()
    with page.expect_download() as file:
        page.get_by_role("link", name="CSV table").locator("visible=true").click()
    rows = list(csv.DictReader(io.StringIO(file.value.path().read_text("utf-8-sig"))))
    assert len(rows) == 9
    assert f"{max(float(row['rho']) for row in rows):.2f}" == highest, "the page begins with the highest"

    page.get_by_label("Download Correlation with the raters, by metric").click()
    with page.expect_download() as file:
        page.get_by_role("link", name="SVG picture").locator("visible=true").click()
    assert file.value.path().read_text().startswith("<svg")


def read_the_further_pages(page, report):
    """Read who can be told apart, how many raters were needed, and the levels; return to the report."""
    page.get_by_role("link", name="Which metrics can be told apart?").click()
    page.get_by_role("link", name="Outputs", exact=True).click()
    expect(page.locator("#figure-ranking svg").first).to_be_visible()
    page.get_by_role("heading", name="Every pair").click()
    expect(page.locator("#figure-matrix svg").first).to_be_visible()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.go_back()
    page.go_back()
    page.get_by_role("link", name="How many raters did we need?").click()
    expect(page.get_by_role("heading", name="How many raters did we need?")).to_be_visible()
    expect(page.locator("[data-chart][aria-busy]")).to_have_count(0)
    expect(page.get_by_role("heading", name="Under other weights")).to_be_visible()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.goto(report)
    page.get_by_role("link", name="How is it by system, and by output?").click()
    page.get_by_role("heading", name="How sure: what is drawn anew").click()
    page.get_by_role("navigation", name="Coefficient").get_by_role("link", name="Kendall’s τ").click()
    expect(page.locator("#ranges [aria-current]")).to_have_text("Kendall’s τ")
    assert_no_barrier(page)
    page.goto(report)


def verify(page, verifications, report):
    """Verify the study on its page, then the file of its report."""
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(page.get_by_text("every number is the same.")).to_be_visible(timeout=60_000)
    assert_everyone_can_read(page)
    page.goto(verifications)
    page.get_by_label("Report").set_input_files(report)
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Verify it").click()
    expect(page.get_by_text("The report that was sent")).to_be_visible(timeout=60_000)


def follow_a_score_to_its_ratings(page, table):
    table.get_by_role("link", name="ΔBLEU, all").click()
    assert_no_barrier(page)
    page.get_by_role("region", name="Systems, over the items that count").get_by_role("link", name="Echo").click()
    page.get_by_text("Show all 40 items").click()
    page.get_by_role("group", name="Items").get_by_role("link", name="item-3", exact=True).click()
    expect(page.get_by_role("heading", name="Where this score comes from")).to_be_visible()
    assert_no_barrier(page)
    page.get_by_role("link", name="its ratings").first.click()
    expect(page.get_by_text("rater-0").first).to_be_visible()


def report_of(page, name):
    """Download a file of the report's menu."""
    page.get_by_label("Download the report").click()
    with page.expect_download() as file:
        page.get_by_role("link", name=re.compile(f"^{name}")).click()
    page.keyboard.press("Escape")
    return file.value.path()


def assert_reads_alone(new_page, file, shown):
    """The HTML report shows its table and its charts without a network, and everyone can read it."""
    kept = file.with_name("kept.html")
    kept.write_bytes(file.read_bytes())
    page = new_page(**DESKTOP, offline=True)
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(kept.as_uri())
    expect(page.get_by_role("cell", name=shown).first).to_be_visible()
    expect(page.locator(".light svg").first).to_be_visible()
    assert_everyone_can_read(page)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".dark svg").first).to_be_visible()
    expect(page.locator(".light svg").first).to_be_hidden()
    assert requested == [kept.as_uri()]
