"""The pages, files, endpoint and command of results."""

import json
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Project
from annotation.overview.results import verdicts
from annotation.results.selectors.sentences import few_raters_sentence
from annotation.results.selectors.verdicts import compute_results
from tests.annotation.results.test_verdicts import preferences, rated_campaign
from tests.annotation.worlds import rated as world

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_viewer(as_user, viewer) -> Client:
    return as_user(viewer)


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return rated_campaign(project)[0]


def test_the_page_says_who_is_better_and_leads_to_items_files_and_charts(campaign, as_viewer: Client) -> None:
    project = campaign.project
    url = reverse("annotation:campaign-results", args=[project.slug, campaign.pk])
    page = as_viewer.get(url)
    text = page.content.decode()
    sentence = compute_results([campaign]).criteria[0].sentence

    assert sentence in text
    for part in (
        "The difference is certain:",
        "96 ratings",
        "4 raters",
        'name="split"',
        "For the paper",
    ):
        assert part in text
    query = f"?campaign={campaign.pk}"
    for name in ("systems.csv", "systems.parquet", "pairs.csv", "systems.tex", "paragraph.txt", "all.json"):
        answer = as_viewer.get(reverse("annotation:results", args=[project.slug]) + name + query)
        assert answer.status_code == 200, name
        assert b"".join(answer) if answer.streaming else answer.content
    for name in ("estimates.json", "estimates.svg", "distribution.json", "distribution.pdf"):
        assert (
            as_viewer.get(f"{reverse('annotation:results', args=[project.slug])}quality/{name}{query}").status_code
            == 200
        )
    both = f"{query}&criterion=quality&system=Ada&system=Bo"
    items = as_viewer.get(reverse("annotation:results-items", args=[project.slug]) + both)
    assert "Ada says" in items.content.decode()


def test_what_one_rater_alone_says_has_no_interval(project: Project, as_viewer: Client) -> None:
    dataset = world.make_dataset(project)
    campaign = world.make_campaign(dataset)
    for number in range(3):
        item = world.make_item(dataset, f"item-{number}")
        for system, value in (("Ada", 4), ("Bo", 2)):
            world.rate(campaign, "ann", world.make_response(item, f"{system} says {number}", system), value)
    page = as_viewer.get(reverse("annotation:campaign-results", args=[project.slug, campaign.pk])).content.decode()
    assert "no interval" in page
    assert "nan" not in page.split("Differences", 1)[1].split("</table>", 1)[0]


def test_the_front_page_leads_with_the_certain_verdict_of_most_ratings(campaign, as_viewer: Client) -> None:
    front = reverse("annotation:project-detail", args=[campaign.project.slug])
    other, _ = rated_campaign(campaign.project, slug="more", name="Second", items=3)
    Campaign.objects.filter(pk=other.pk).update(state="closed", closed_at=timezone.now() + timedelta(hours=1))
    for name, shown in (("Quality", campaign), ("Second", other)):
        (verdict,) = compute_results([shown]).criteria
        finding = next(each for each in verdicts(shown.project, 5) if each.about == name)
        assert finding.text == f"Quality: {verdict.sentence} {few_raters_sentence(verdict)}"
        assert finding.url == reverse("annotation:campaign-results", args=[shown.project.slug, shown.pk])

    page = as_viewer.get(front).content.decode()
    lead = page.partition('class="is-lead"')[2].partition("</li>")[0]
    assert "“Quality”" in lead, "the newer verdict is not certain"
    assert "96 ratings by 4 raters of 12 items" in lead
    assert "24 ratings by 4 raters of 3 items" in page.partition(lead)[2]

    rated_campaign(campaign.project, slug="fewer", name="Third", items=11)  # certain, too
    assert [(each.about == "Quality", each.leads) for each in verdicts(campaign.project, 5)] == [
        (True, True),
        (False, False),
        (False, False),
    ]


def test_the_page_is_sent_again_only_when_ratings_came(campaign, as_viewer: Client) -> None:
    url = reverse("annotation:campaign-results", args=[campaign.project.slug, campaign.pk])
    seen = as_viewer.get(url).context["seen"]

    assert as_viewer.get(url, {"seen": seen}, headers={"HX-Request": "true"}).status_code == 204
    part = as_viewer.get(url, {"seen": "before"}, headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "By the mean of 4 raters’ ratings, Ada is better than Bo" in part.content.decode()


@pytest.mark.parametrize(
    "name", ["nothing.csv", "systems.doc", "unknown/estimates.svg", "quality/unknown.svg", "quality/estimates.gif"]
)
def test_unknown_files_are_a_404(campaign, as_viewer: Client, name: str) -> None:
    base = reverse("annotation:results", args=[campaign.project.slug])
    assert as_viewer.get(f"{base}{name}?campaign={campaign.pk}").status_code == 404
    assert as_viewer.get(f"{base}systems.csv").status_code == 404  # of no campaign


def test_campaigns_of_a_project_are_chosen_on_one_page(campaign, as_viewer: Client) -> None:
    other = rated_campaign(campaign.project, slug="more", name="Second")[0]
    url = reverse("annotation:results", args=[campaign.project.slug])

    listed = as_viewer.get(url).content.decode()
    for each in (campaign, other):
        assert f"{each.name} · {each.dataset}" in listed
        assert compute_results([each]).criteria[0].sentence in listed
    page = as_viewer.get(url, {"campaign": [campaign.pk, other.pk]}).content.decode()
    assert "192 ratings" in page
    other.criteria.update(scale_max=7)
    cache.clear()
    assert "on different scales" in as_viewer.get(url, {"campaign": [campaign.pk, other.pk]}).content.decode()


def test_a_page_of_preferences_shows_strengths_and_shares(project, as_viewer: Client) -> None:
    campaign, _ = preferences(project, ("Ada", "Bo", "Cy"), [(0, 1), (0, 2), (1, 2)])
    text = as_viewer.get(reverse("annotation:campaign-results", args=[project.slug, campaign.pk])).content.decode()

    for part in ("quality/differences.svg", "Strength", "Share won", "Won, tied, lost", "favours the text shown first"):
        assert part in text


def test_the_command_prints_the_same_numbers(campaign, capsys) -> None:
    arguments = ("results", "--project", campaign.project.slug, "--campaign", campaign.name)
    results = compute_results([campaign])

    call_command(*arguments)
    printed = capsys.readouterr().out
    assert results.criteria[0].sentence in printed
    call_command(*arguments, "--format", "json")
    content = json.loads(capsys.readouterr().out)
    assert content["criteria"][0]["systems"][0]["estimate"] == results.criteria[0].systems[0].estimate
    assert content["criteria"][0]["sentence"].endswith(few_raters_sentence(results.criteria[0]))
    call_command(*arguments, "--format", "pairs")
    assert capsys.readouterr().out.startswith("criterion,first,second,difference")
    call_command(*arguments, "--format", "latex", "--split", "train")
    assert r"\begin{tabular}" in capsys.readouterr().out
    with pytest.raises(Exception, match="found Nobody; accepted: Quality"):
        call_command("results", "--project", campaign.project.slug, "--campaign", "Nobody")
