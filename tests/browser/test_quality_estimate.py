"""Predicting ratings without references: train on a campaign's ratings, see the curve, score, study the predictions."""

import pytest
from playwright.sync_api import expect

from annotation.models import Membership, Project, Role, User
from metrics.scoring.qe.model import QualityEstimator
from tests.browser.support import DESKTOP, TALLEST, assert_everyone_can_read, sign_in
from tests.metrics.world import make_world

pytestmark = pytest.mark.worker
NEEDED = 120_000  # milliseconds for a training of a few passes, PyTorch's import included


@pytest.fixture
def manager(transactional_db: None) -> User:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    make_world(project)
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    return user


@pytest.mark.usefixtures("worker", "manager")
def test_from_a_campaigns_ratings_to_a_study_of_predictions(live_server, new_page) -> None:
    pytest.importorskip("torch")
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/models/new/?kind={QualityEstimator.kind}")
    assert_everyone_can_read(page)
    page.get_by_label("Name", exact=True).fill("Cats rated")
    page.get_by_label("relevance").check()
    page.get_by_label("Estimator").select_option("Recurrent network")
    page.get_by_text("More options").click()
    for label, value in (("Passes over rated outputs", "3"), ("Size of embeddings and states", "8")):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Train it").click()

    expect(page.get_by_role("heading", name="Cats rated v1")).to_be_visible()
    expect(page.get_by_text("On outputs that it has not seen, its ratings")).to_be_visible(timeout=NEEDED)
    expect(page.get_by_text("Of 3 passes over the data, number")).to_be_visible()
    expect(page.locator("#learning svg.marks")).to_be_visible()
    expect(page.get_by_text("Trained on outputs that it can be asked to score.")).to_be_visible()
    assert_everyone_can_read(page, tallest=TALLEST)
    model = page.url

    page.get_by_role("link", name="Score other outputs").click()
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Compute scores").click()
    expect(page.get_by_text("Trained on these outputs.")).to_be_visible(timeout=NEEDED)
    assert_everyone_can_read(page, tallest=TALLEST)

    page.goto(model)
    page.get_by_role("link", name="predictions, run 1").click()
    expect(page.get_by_role("heading", name="Cross-validated predictions")).to_be_visible()
    assert_everyone_can_read(page, tallest=TALLEST)
    page.get_by_role("link", name="Use it in a study").click()
    page.get_by_label("Name (optional)", exact=True).fill("Can ratings be predicted?")
    for metric in ("Cats rated v1, cross-validated", "Quality estimate"):
        page.get_by_role("checkbox", name=metric).check()
    for unrated in ("Reference ratings", "Human", "Random"):
        page.get_by_role("checkbox", name=unrated).uncheck()
    page.get_by_text("Design: units, assignments").click()
    for label, value in (("Unit size M", "1"), ("Assignments K", "20"), ("Bootstrap replicates", "20")):
        page.get_by_label(label).fill(value)
    page.get_by_role("button", name="Start the study").click()
    expect(page.get_by_role("heading", name="Correlation with human ratings")).to_be_visible(timeout=NEEDED)
    expect(page.get_by_role("button", name="trained on these items")).to_have_count(1)
    assert_everyone_can_read(page, tallest=TALLEST)
