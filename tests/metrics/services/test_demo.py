"""The demo's models and runs, on a small data set with replies of people."""

import hashlib

import numpy as np
import pytest

from annotation.models import Response, ResponseSource, SourceKind
from metrics.scoring.registry import METRICS
from metrics.services import demo
from metrics.services.runs import score_run_execute
from metrics.services.training import model_execute
from tests.metrics.trained import models_dir  # noqa: F401
from tests.metrics.world import WORDS, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]


@pytest.fixture
def talk(world: World) -> World:
    """Besides outputs and references, people's replies: one of them is a reference, too."""
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(WORDS, size=8)) for _ in world.items[1:]]
    replies = Response.objects.bulk_create(
        Response(item=item, text=text, text_key=hashlib.sha256(text.encode()).hexdigest())
        for item, text in zip(world.items[1:], texts, strict=True)
    )
    rows = [(world.items[0], world.responses["Human", 0]), *zip(world.items[1:], replies, strict=True)]
    ResponseSource.objects.bulk_create(
        ResponseSource(response=reply, item=item, kind=SourceKind.HUMAN) for item, reply in rows
    )
    return world


def test_every_metric_of_the_demo_is_computed_with_models_that_saw_nothing_it_judges(talk: World, manager) -> None:
    for model in demo.demo_models(project=talk.project, dataset=talk.dataset, by=manager):
        model_execute(model_id=model.pk)
        model.refresh_from_db()
        assert model.state == "done", model.error
        assert model.report["kept_apart"] == 1

    runs = list(demo.demo_runs(project=talk.project, release=talk.release, systems=talk.hypotheses, by=manager))
    for run in runs:
        score_run_execute(run_id=run.pk)
        run.refresh_from_db()
        assert run.state == "done", run.error
        assert all(score.score is not None for score in run.scores.all()), run.metric

    assert [run.metric for run in runs] == list(demo.METRICS)
    assert all(not METRICS[run.metric].unavailable() for run in runs)


def test_existing_models_are_reused(talk: World, manager) -> None:
    models = [list(demo.demo_models(project=talk.project, dataset=talk.dataset, by=manager)) for _ in range(2)]

    assert models[0] == models[1]
    assert len(models[0]) == talk.project.trained_models.count() == 3
