"""Uses of a response: score runs and studies with releases that weigh it."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from correlations.models import ParameterStudy, Study
from metrics.models import ScoreRun
from metrics.services.runs import score_run_create
from metrics.subsets import Subset
from tests.metrics.world import World, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(project) -> World:
    return make_world(project, n_items=3, n_raters=2)


def url(world: World, response, query: str = "") -> str:
    return reverse("correlations:response-uses", args=[world.project.slug, response.pk]) + query


def make_uses(world: World) -> tuple[int, int]:
    run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric="delta_bleu",
        parameters={},
        subset=Subset.parse("w>0"),
        by=None,
    )
    study = Study.objects.create(
        project=world.project,
        dataset=world.dataset,
        release=world.release,
        name="First look",
        specification={},
        signature="1" * 64,
    )
    ScoreRun.objects.filter(pk=run.pk).update(number=run.pk + 7)  # no number that could pass for the primary key
    return run.pk + 7, study.pk


def test_runs_and_studies_are_listed_with_their_release(world, viewer, as_user):
    run, study = make_uses(world)
    response = world.responses["Human", 1]
    page = as_user(viewer).get(url(world, response)).content.decode()
    assert f'<a href="{reverse("metrics:run-detail", args=[world.project.slug, run])}">Run {run}</a>' in page
    assert "ΔBLEU (order 2), w &gt; 0" in page
    assert f"Study {study}</a>" in page
    assert "Parameter study" not in page
    rows = json.loads(b"".join(as_user(viewer).get(url(world, response, "?format=json")).streaming_content))
    assert [(row["release"], row["kind"], row["id"]) for row in rows] == [
        ("cat-references/v1", "score run", run),
        ("cat-references/v1", "study", study),
    ]


def test_parameter_studies_are_listed_too(world, viewer, as_user):
    study = ParameterStudy.objects.create(
        project=world.project,
        dataset=world.dataset,
        release=world.release,
        name="Orders",
        specification={},
        signature="2" * 64,
    )
    page = as_user(viewer).get(url(world, world.responses["Human", 1])).content.decode()
    link = reverse("correlations:parameter-study-detail", args=[world.project.slug, study.pk])
    assert f'<a href="{link}">Parameter study {study.pk}</a>' in page


def test_a_deprecated_release_is_marked(world, viewer, as_user):
    make_uses(world)
    world.release.deprecated_at, world.release.deprecation_reason = timezone.now(), "a wrong scale"
    world.release.save()
    assert (
        'title="a wrong scale">deprecated'
        in as_user(viewer).get(url(world, world.responses["Human", 1])).content.decode()
    )


def test_an_unweighted_response_has_no_uses(world, viewer, as_user):
    make_uses(world)
    page = as_user(viewer).get(url(world, world.responses["Quill", 1]), headers={"HX-Request": "true"}).content.decode()
    assert "No score run and no study" in page
    assert "<html" not in page


def test_an_outsider_gets_404_and_post_is_rejected(world, viewer, outsider, as_user):
    response = world.responses["Human", 1]
    assert as_user(outsider).get(url(world, response)).status_code == 404
    assert as_user(viewer).post(url(world, response)).status_code == 405
    assert as_user(outsider).get(f"/p/elsewhere/responses/{response.pk}/uses/").status_code == 404
