"""Studies with imported weights, whose judgements are not known."""

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
    """Import the world's weights without their judgements."""
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


def run_study(world: World, release: str) -> Study:
    specification = world.specification(release=release)
    study, _ = study_create(project=world.project, name="Cats", specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def test_imported_weights_give_the_same_coefficients(world: World, imported: Release) -> None:
    original, with_imported = run_study(world, world.release.reference_set.slug + "/v1"), run_study(world, "theirs/v1")
    assert _coefficients(with_imported) == _coefficients(original)
    # Raters of outputs are known, so intervals are the same, too.
    assert with_imported.result["counts"] == original.result["counts"]
    assert original.result["circularity"]["reference_raters_known"] is True
    unknown = with_imported.result["circularity"]
    assert (unknown["reference_raters_known"], unknown["reference_raters"], unknown["raters_on_both_sides"]) == (
        False,
        0,
        0,
    )
    assert unknown["same_text_items"] == original.result["circularity"]["same_text_items"] > 0


def _coefficients(study: Study) -> list[object]:
    """Return every row without its run and signature, which depend on the release."""
    return [
        {name: value for name, value in row.items() if name not in ("run", "signature")} for row in study.result["rows"]
    ]


def test_pages_of_studies_and_runs_say_that_reference_raters_are_not_known(
    world: World, imported: Release, viewer, as_user
) -> None:
    study = run_study(world, "theirs/v1")
    client = as_user(viewer)
    page = client.get(reverse("correlations:study-detail", args=[world.project.slug, study.pk])).content.decode()
    assert "were imported: the raters of the references are not known" in page
    run = study.score_runs.first()
    page = client.get(reverse("metrics:run-detail", args=[world.project.slug, run.number])).content.decode()
    assert "were imported: the raters of the references are not known" in page
