"""Weights that were made elsewhere drive metrics like any others; what would need their judgements says so."""

import json

import pytest
from django.urls import reverse

from annotation.core.normalisation import text_key
from annotation.models import JobState, Release, Response
from annotation.references.releases.services.imports import ImportOptions, release_import
from correlations.models import Study
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported(world: World) -> Release:
    """The world's own weights, as somebody else might have sent them: without anything about judgements."""
    for response in Response.objects.filter(item__dataset=world.dataset):
        Response.objects.filter(pk=response.pk).update(text_key=text_key(response.text))
    rows = world.release.weights.values_list("item__external_id", "response__text", "weight", "is_original")
    lines = [
        json.dumps({"item": item, "text": text, "weight": weight, "original": original})
        for item, text, weight, original in rows
    ]
    content = "\n".join(lines).encode()
    return release_import(
        dataset=world.dataset, filename="w.jsonl", content=content, options=ImportOptions(name="Theirs"), by=None
    )


def computed(world: World, release: str) -> Study:
    specification = world.specification(release=release)
    study, _ = study_create(project=world.project, name="Cats", specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def test_a_study_finds_the_same_with_the_same_weights_made_elsewhere(world: World, imported: Release) -> None:
    own, theirs = computed(world, world.release.reference_set.slug + "/v1"), computed(world, "theirs/v1")
    assert _coefficients(theirs) == _coefficients(own)
    # Raters of outputs are known, so intervals over items and over them are the same, too.
    assert theirs.result["counts"] == own.result["counts"]
    assert own.result["circularity"]["reference_raters_known"] is True
    unknown = theirs.result["circularity"]
    assert (unknown["reference_raters_known"], unknown["reference_raters"], unknown["raters_on_both_sides"]) == (
        False,
        0,
        0,
    )
    assert unknown["same_text_items"] == own.result["circularity"]["same_text_items"] > 0


def _coefficients(study: Study) -> list[object]:
    """Of every row, without the run it was stored as and its signature, which name the release."""
    return [
        {name: value for name, value in row.items() if name not in ("run", "signature")} for row in study.result["rows"]
    ]


def test_the_pages_of_a_study_and_its_runs_say_whose_judges_are_not_known(
    world: World, imported: Release, viewer, as_user
) -> None:
    study = computed(world, "theirs/v1")
    client = as_user(viewer)
    page = client.get(reverse("correlations:study-detail", args=[world.project.slug, study.pk])).content.decode()
    assert "were imported: the raters of the references are not known" in page
    run = study.score_runs.first()
    page = client.get(reverse("metrics:run-detail", args=[world.project.slug, run.pk])).content.decode()
    assert "were imported: the raters of the references are not known" in page
