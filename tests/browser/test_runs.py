"""Score runs from the choice of a metric to their pages, with and without JavaScript."""

import re
from itertools import pairwise

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from metrics.models import ScoreRun
from metrics.services.runs import score_run_execute
from metrics.services.system_ratings import system_ratings_compute, system_ratings_request
from tests.browser.support import DESKTOP, PHONE, TALLEST, assert_everyone_can_read, cut_words, sign_in
from tests.metrics.runs import finished_run
from tests.metrics.world import World, make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(project) -> World:
    """Make the world with its human means, which a worker computes otherwise."""
    made = make_world(project)
    ratings = system_ratings_request(dataset=made.dataset)
    assert ratings is not None
    system_ratings_compute(ratings_id=ratings.pk)
    return made


@pytest.mark.parametrize("with_script", [True, False], ids=["script", "plain"])
def test_a_metric_is_chosen_and_its_form_sent(live_server, new_page, world, manager, with_script, monkeypatch):
    monkeypatch.setattr("metrics.tasks.execute.delay", lambda pk: score_run_execute(run_id=pk))
    page = new_page(java_script_enabled=with_script, **DESKTOP)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(live_server.url + reverse("metrics:run-create", args=[world.project.slug]))
    page.get_by_role("link", name="chrF with other parameters").click()
    page.get_by_label("Longest run of words").fill("2")
    expect(page).to_have_url(re.compile("metric=chrf"))
    assert page.get_by_label("Longest n-gram").count() == 0
    page.get_by_role("button", name="Compute scores").click()
    page.get_by_role("heading", name="chrF").wait_for()

    assert ScoreRun.objects.get().parameters["word_order"] == 2


def test_the_pages_are_accessible(live_server, new_page, world, manager):
    run, ter = finished_run(world, "rouge_l"), finished_run(world, "ter")
    run_args, echo = (world.project.slug, run.number), world.systems["Echo"].pk
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    for name, args, *query in (
        ("run-list", run_args[:1]),
        ("run-metrics", run_args[:1]),
        ("run-create", run_args[:1]),
        ("run-create", run_args[:1], "?metric=rouge_l"),
        ("run-compare", run_args[:1], f"?run={run.number}&run={ter.number}"),
        ("run-detail", run_args),
        ("run-comparisons", run_args),
        ("run-disagreements", run_args),
        ("run-system-detail", (*run_args, echo)),
        ("run-segment", (*run_args, echo, world.items[3].pk)),
    ):
        page.goto(live_server.url + reverse(f"metrics:{name}", args=args) + "".join(query))
        assert_everyone_can_read(page, tallest=TALLEST)
        assert cut_words(page) == [], name


ROW = """row => {
    const left = (name) => row.querySelector(name).getClientRects()[0].left;
    const lines = [...row.querySelector(".run-metric .run-name").getClientRects()];
    const state = row.querySelector(".run-state .badge-status").getBoundingClientRect();
    return {
        indented: left(".run-references") - left("th a"),
        covered: lines.some((one) => one.right > state.left && one.top < state.bottom),
    };
}"""
SHOWN = "rows => rows.innerText + [...rows.querySelectorAll('td')].map((td) => getComputedStyle(td, '::after').content)"
LABELS = """() => [...document.querySelectorAll(".chart-canvas svg")].map((one) =>
    [...one.querySelectorAll(".role-axis:has(.role-axis-title) .role-axis-label text")]
        .filter((text) => text.getAttribute("opacity") !== "0").map((text) => text.getBoundingClientRect())
        .map((box) => [box.left, box.right]).sort((a, b) => a[0] - b[0]))"""


def test_on_a_phone_names_fit_labels_do_not_overlap_and_the_matrix_scrolls(live_server, new_page, world, manager):
    run = finished_run(world, "rouge_l")
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")

    def visit(name, *args):
        page.goto(live_server.url + reverse(f"metrics:{name}", args=[world.project.slug, *args]))

    visit("run-list")
    for width in (360, 230):  # at 230 pixels the metric's name does not fit beside the state
        page.set_viewport_size({"width": width, "height": 740})
        assert page.locator(".run-rows tbody tr").evaluate(ROW) == {"indented": 0, "covered": False}
        assert "·" not in page.locator(".run-rows").evaluate(SHOWN)  # it would stand at the end of a line
    page.set_viewport_size(PHONE["viewport"])

    visit("run-detail", run.number)
    page.locator(".chart-canvas svg").nth(1).wait_for()
    for labels in page.evaluate(LABELS):
        assert len(labels) >= 2
        assert all(left - right >= 4 for (_, right), (left, _) in pairwise(labels))

    visit("run-comparisons", run.number)
    assert page.get_by_text("scroll the table sideways").is_visible()
    matrix = page.get_by_role("group", name="Differences of all pairs")
    matrix.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("one => one.scrollLeft > 0", arg=matrix.element_handle())
