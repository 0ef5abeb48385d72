"""Best-worst scaling: what is stored, the scores, and what is refused."""

from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.fields.table import CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.readiness import launch_report
from annotation.core.errors import AnnotationError
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.dry_runs.simulation.screens import ShownText
from annotation.models import Campaign, Project, Rating
from annotation.rating.selectors.ratings import judgement_table
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset

BEST_WORST = CriterionDraft("quality", "Which reply is the best, and which the worst?", kind="best_worst")
SYSTEMS = ("Ada", "Bo", "Cy", "Di")
# Best and worst of four raters of one item, and by hand: (times best - times worst) / times shown, as in Kiritchenko
# and Mohammad 2017, section 3: Ada (2 - 0) / 4, Bo (1 - 1) / 4, Cy (1 - 1) / 4, Di (0 - 2) / 4.
CHOICES = [("Ada", "Di"), ("Ada", "Cy"), ("Bo", "Di"), ("Cy", "Bo")]
SCORES = {"Ada": 0.5, "Bo": 0.0, "Cy": 0.0, "Di": -0.5}


def lists(project: Project, **options: object) -> Campaign:
    dataset = make_dataset(project, items=1, systems=options.pop("systems", SYSTEMS))  # type: ignore[arg-type]
    options = {"criteria": [BEST_WORST], "presentation": "list", "ratings_per_unit": 4, "target": "outputs", **options}
    return make_campaign(dataset, **options)  # type: ignore[arg-type]


def choose(campaign: Campaign, best: str, worst: str) -> None:
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    entries = presentation.unit.unit_responses.select_related("response").prefetch_related("response__sources__system")
    names = {entry.number: entry.response.sources.get().system.name for entry in entries}
    order = [names[number] for number in presentation.order]
    values = {(0, "quality"): order.index(best), (1, "quality"): order.index(worst)}
    ratings_submit(token=presentation.token, rater=rater, values=values)


def test_the_mean_of_the_ratings_is_the_share_of_best_minus_the_share_of_worst(project: Project) -> None:
    campaign = lists(project)
    for best, worst in CHOICES:
        choose(campaign, best, worst)
    names = {rating.response_id: rating.response.sources.get().system.name for rating in Rating.objects.all()}
    table = judgement_table([campaign])
    total: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for response, value in zip(table.response_id.tolist(), table.value.tolist(), strict=True):
        total[names[response]] += value
        shown[names[response]] += 1
    assert (table.low, table.high) == (-1, 1)  # so a linear weight is the mean itself
    assert set(shown.values()) == {4}
    assert {name: total[name] / shown[name] for name in SYSTEMS} == SCORES
    counted = {}
    for name in SYSTEMS:
        best = sum(name == choice for choice, _ in CHOICES)
        worst = sum(name == choice for _, choice in CHOICES)
        counted[name] = (best - worst) / len(CHOICES)
    assert counted == SCORES


@pytest.mark.parametrize(
    ("answers", "field", "message"),
    [
        ({0: "1"}, "r1-quality", "Not rated yet; accepted: the position of a response, 0 to 3."),
        ({0: "1", 1: "1"}, "r1-quality", "which is the best, too; accepted: the position of another response."),
        ({0: "4", 1: "1"}, "r0-quality", "Found '4'; accepted: the position of a response, 0 to 3."),
        ({0: "0.5", 1: "1"}, "r0-quality", "Found '0.5'"),
        ({0: "nan", 1: "1"}, "r0-quality", "Found 'nan'"),
    ],
)
def test_best_and_worst_must_be_two_different_responses(
    project: Project, answers: dict[int, str], field: str, message: str
) -> None:
    campaign = lists(project)
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    with pytest.raises(AnnotationError) as refused:
        ratings_submit(
            token=presentation.token, rater=rater, values={(n, "quality"): text for n, text in answers.items()}
        )
    assert list(refused.value.fields) == [field]
    assert message in refused.value.fields[field][0]
    assert Rating.objects.count() == 0


def test_the_same_response_as_best_and_worst_is_refused_with_a_message(project: Project, client: Client) -> None:
    campaign = lists(project)
    client.post(reverse("annotation:rater-consent", args=[campaign.link_token]), {"agree": "1"})
    shown = client.get(reverse("annotation:rater-work", args=[campaign.link_token])).context["presentation"]
    data = {"token": str(shown.token), "r0-quality": "2", "r1-quality": "2"}
    page = client.post(reverse("annotation:rater-submit", args=[campaign.link_token]), data)
    assert page.status_code == 400
    assert "Please choose the best and the worst response, two different ones." in page.text
    assert page.text.count(" checked") == 2


def test_a_correction_adds_only_the_changed_ratings(project: Project) -> None:
    campaign = lists(project)
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    ratings_submit(token=presentation.token, rater=rater, values={(0, "quality"): 0, (1, "quality"): 1})
    ratings_submit(token=presentation.token, rater=rater, values={(0, "quality"): 0, (1, "quality"): 3})
    rows = Rating.objects.order_by("position", "revision").values_list("position", "revision", "value")
    assert list(rows) == [(0, 0, 1), (1, 0, -1), (1, 1, 0), (2, 0, 0), (3, 0, 0), (3, 1, -1)]


def test_the_scale_needs_lists_of_three_different_responses(project: Project) -> None:
    draft = lists(project, systems=SYSTEMS[:2], launch=False)
    message = "The scale needs 3 different responses for each item; fewer are there for item-0."
    assert message in [problem.text for problem in launch_report(draft).problems]
    with pytest.raises(AnnotationError, match="needs 3 different responses"):
        campaign_launch(campaign=draft)


def test_the_scale_fits_only_lists(project: Project) -> None:
    with pytest.raises(AnnotationError, match="which only lists show"):
        make_campaign(make_dataset(project), criteria=[BEST_WORST], presentation="pair")


def test_an_exact_simulated_rater_finds_best_and_worst_and_follows_commands() -> None:
    exact = SimulatedRater(seed=1, noise=0.0, lapse=0.0)
    scale = BEST_WORST.stored().scale
    assert scale.simulate(exact, [ShownText(0.4), ShownText(0.9), ShownText(0.1)]) == {0: 1, 1: 2}
    worst = ShownText(expected={"quality": (-1, -1)}, commands=True)
    assert scale.simulate(exact, [worst, ShownText(0.9), ShownText(0.1)]) == {0: 1, 1: 0}
