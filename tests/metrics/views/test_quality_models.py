"""Pages of quality estimators: the form, what a model predicts and has seen, the runs that come of it."""

import json

import pytest
from django.urls import reverse

from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.qe.model import QualityEstimator
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.training import model_execute
from tests.metrics.quality import trained_estimator
from tests.metrics.trained import models_dir  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]


def page_of(client, name: str, world: World, *parts: object) -> str:
    response = client.get(reverse(f"metrics:{name}", args=[world.project.slug, *parts]))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_a_manager_trains_one_on_a_campaigns_ratings(world: World, manager, as_user, monkeypatch) -> None:
    client = as_user(manager)
    address = (
        reverse("metrics:model-create", args=[world.project.slug]) + f"?kind={QualityEstimator.kind}&from=ratings:cats"
    )
    monkeypatch.setattr("metrics.forms.quality.unavailable", lambda: "PyTorch is not installed; python -m pip install")
    response = client.get(address)
    assert "No network can be trained here: PyTorch is not installed; python -m pip" in response.content.decode()
    form = response.context["form"]
    assert form["option_estimator"].initial == "ridge"
    assert form["option_source"].initial == "text"
    values = {
        bound.html_name: bound.initial for bound in form if bound.initial is not None and bound.initial is not False
    }
    values |= {"name": "Relevance", "campaigns": [world.output_campaign.pk], "criteria": ["relevance"]}

    refused = client.post(address, values | {"criteria": ["colour"]})
    response = client.post(address, values)

    assert "criteria" in refused.context["form"].errors
    assert response.status_code == 302, response.context["form"].errors
    model = TrainedModel.objects.get()
    model = TrainedModel.objects.get()
    assert response.url == reverse("metrics:model-detail", args=[world.project.slug, model.pk])
    assert model.source == {
        "dataset": "cats",
        "campaigns": ["Output ratings"],
        "criteria": ["relevance"],
        "statistic": "median",
        "cross_validate": True,
    }
    model_execute(model_id=model.pk)
    page = page_of(client, "model-detail", world, model.pk)
    assert "On outputs that it has not seen, its ratings" in page
    assert "Trained on outputs that it can be asked to score." in page
    assert "median of relevance in Output ratings" in page
    assert "No output was predicted by a model that had learnt from one that it reads alike." in page
    assert "Replace values by slots" in page
    assert "Dropout" not in page  # which ridge regression does not read
    validated = page_of(client, "run-detail", world, ScoreRun.objects.get().number)
    assert "5 models, each trained without a part of the rated outputs" in validated
    assert "Made elsewhere" not in validated


def test_a_run_over_outputs_that_its_model_has_seen_warns(world: World, viewer, as_user) -> None:
    trained_estimator(world)
    run, _ = score_run_create(
        project=world.project,
        dataset=world.dataset,
        systems=world.hypotheses,
        metric="quality_estimate",
        parameters={},
        by=None,
    )
    score_run_execute(run_id=run.pk)

    client = as_user(viewer)
    assert "Trained on these outputs." in page_of(client, "run-detail", world, run.number)
    run.refresh_from_db()
    new = {"outputs": 0, "of": 9, "same_source": 2, "same_system": 1}
    ScoreRun.objects.filter(pk=run.pk).update(report=run.report | {"seen": new})
    page = page_of(client, "run-detail", world, run.number)
    assert "The model has seen none of the 9 outputs." in page
    assert "2 new outputs answer items whose other outputs it learnt from, or ones that it reads alike." in page
    assert "1 new output comes from a system that it learnt from (Echo, Parrot, Quill): those" in page
    # A model and predictions of before there was a choice of folds.
    model = TrainedModel.objects.get()
    earlier = {name: value for name, value in model.options.items() if name != "folds"}
    TrainedModel.objects.filter(pk=model.pk).update(
        options=earlier, report=model.report | {"cross_validation": {"outputs": 9, "mae": 1.0, "constant_mae": 1.0}}
    )
    assert "As in the paper, only equal texts stayed together" in page_of(client, "model-detail", world, model.pk)
    page_of(client, "run-system-detail", world, run.number, world.systems["Echo"].pk)
    page_of(client, "run-segment", world, run.number, world.systems["Echo"].pk, world.items[3].pk)


def test_the_learning_curve_is_there_while_a_network_learns(world: World, viewer, as_user) -> None:
    model = trained_estimator(world)
    client, parts = as_user(viewer), [world.project.slug, model.pk]
    assert client.get(reverse("metrics:model-learning", args=parts)).status_code == 404
    point = {"stage": "rated", "loss": 0.5, "spearman": None}
    curve = [{"number": n, "pearson": n / 10, **point} for n in (1, 2, 3)]
    TrainedModel.objects.filter(pk=model.pk).update(report=model.report | {"curves": {"whole": curve, "fold 1": curve}})

    response = client.get(reverse("metrics:model-learning-download", args=[*parts, "json"]))
    rows = json.loads(b"".join(response.streaming_content))

    assert rows[0] == {"training": "whole", "pass": 1, "coefficient": "Pearson’s r", "value": 0.1}
    assert len(rows) == 6
    assert "<svg" in client.get(reverse("metrics:model-learning-download", args=[*parts, "svg"])).content.decode()
    assert "Of 3 passes over the data, number 3 is kept" in page_of(client, "model-detail", world, model.pk)
