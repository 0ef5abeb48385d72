"""Imported medians without raters: they give weights, but no intervals or agreement."""

import numpy as np
import pytest
from django.urls import reverse

from annotation.judgements.stand_ins import REASON
from annotation.models import Dataset, Project
from annotation.quality.selectors.monitoring.live import campaign_monitor
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.methods import methods_sentences
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.results.selectors.leading import leading_sentence
from annotation.results.selectors.tables import SYSTEM_COLUMNS, system_rows
from annotation.results.selectors.verdicts import compute_results
from tests.annotation.judgements.services.shapes import MEDIANS as SYSTEM_MEDIANS
from tests.annotation.judgements.services.shapes import stored
from tests.annotation.worlds.datasets import example_dataset

MEDIANS = "item,text,median\n1,I did. What a strike.,5\n1,Then you saw the goal!,1.5\n"
ROWS = "rater,item,text,rating\nann,1,I did. What a strike.,4\nbob,1,I did. What a strike.,5\n" + "".join(
    f'{rater},1,"Yes, from thirty metres!",{value}\n' for rater, value in (("ann", 3), ("bob", 5))
)


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return example_dataset(project)


def weights_of(dataset: Dataset, *campaigns):
    reference_set = reference_set_create(
        dataset=dataset,
        name="R",
        campaigns=list(campaigns),
        source_kinds=["human", "mined", "parrot"],
        original_kinds=["human"],
    )
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release, {weight.response.text: weight for weight in release.weights.select_related("response")}


def test_medians_give_weights_without_error_and_interval(dataset: Dataset) -> None:
    """By hand: on 1 to 5, w = 2 (m - 1) / 4 - 1; a median of 1.5 becomes -0.75."""
    release, weights = weights_of(dataset, stored(dataset, MEDIANS)[0])
    assert release.error == ""
    assert {text: weight.weight for text, weight in weights.items()} == {
        "I did. What a strike.": 1.0,
        "Then you saw the goal!": -0.75,
    }
    assert all((weight.low, weight.high, weight.standard_error) == (None, None, None) for weight in weights.values())
    assert release.report["references"]["without_interval"] == 2


def test_a_response_with_a_median_and_ratings_has_no_interval(dataset: Dataset) -> None:
    campaigns = stored(dataset, MEDIANS)[0], stored(dataset, ROWS, name="Rows", criterion="rating")[0]
    _, weights = weights_of(dataset, *campaigns)
    mixed, known = weights["I did. What a strike."], weights["Yes, from thirty metres!"]
    assert (mixed.n_ratings, mixed.rating_mean, mixed.low) == (3, pytest.approx(14 / 3), None)
    assert None not in (known.low, known.high, known.standard_error)


def test_campaign_pages_say_that_only_medians_were_imported(dataset: Dataset, viewer, as_user) -> None:
    campaign, _ = stored(dataset, MEDIANS.replace("median", "median,n").replace("5\n", "5,4\n"))
    figures = campaign_monitor(campaign).figures.criteria[0]
    assert np.isnan(figures.alpha.alpha)
    assert figures.alpha.reason
    assert figures.icc.reason
    client = as_user(viewer)
    for name in ("campaign-monitor-fragment", "campaign-raters"):
        page = client.get(reverse(f"annotation:{name}", args=[dataset.project.slug, campaign.pk])).content.decode()
        assert "Only medians were imported." in page, name
    assert "4 to 4 per response, 8 ratings in all" in " ".join(page.split())
    rated_campaign, _ = stored(dataset, ROWS, name="Rows")
    page = client.get(
        reverse("annotation:campaign-raters", args=[dataset.project.slug, rated_campaign.pk])
    ).content.decode()
    assert "were imported" not in page


def test_the_reason_names_the_raters() -> None:
    assert "raters are not known" in REASON


def test_the_number_of_raters_behind_medians_is_nowhere_said_to_be_one(dataset: Dataset, manager, as_user) -> None:
    """Results, lists, the monitor, the records and a release say that it is not known."""
    campaign, _ = stored(dataset, SYSTEM_MEDIANS, name="Medians")
    unknown = "unknown (the file gives medians)"
    assert campaign.unknown_raters == unknown

    results = compute_results([campaign])

    (verdict,) = results.criteria
    assert (results.raters, verdict.raters, {each.raters for each in verdict.systems}) == (0, 0, {0})
    rows = [dict(zip(SYSTEM_COLUMNS, row, strict=True)) for row in system_rows(results)]
    shown = [(row["system"], row["estimate"], row["raters"]) for row in rows]
    assert shown == [("SystemA", 4.75, None), ("SystemB", 2, None)]
    assert leading_sentence(verdict).startswith("Raters ")
    facts = campaign_facts(campaign)
    assert f"The number of raters is {unknown}." in [each.text for each in methods_sentences(facts)]
    client = as_user(manager)
    for name, args, said in (
        ("campaign-results", (campaign.pk,), 'data-label="Raters">unknown</td>'),
        ("campaign-list", (), f'title="{unknown}">unknown'),
        ("campaign-design", (campaign.pk,), f"raters whose number is {unknown}"),
        ("campaign-monitor-fragment", (campaign.pk,), unknown),
    ):
        page = client.get(reverse(f"annotation:{name}", args=[dataset.project.slug, *args])).content.decode()
        assert said in page, name
