"""The demo's second project: a worker trains on its ratings and studies the predictions, one job after the other."""

from typing import Any

import pytest

from annotation.demo import restaurants
from annotation.models import Dataset, JobState, User
from correlations.models import Study
from correlations.selectors.trained import trained_sentence
from correlations.services.execution import study_execute
from correlations.services.restaurants import RIDGE_STUDY, restaurants_next
from metrics.models import ScoreRun, TrainedModel
from metrics.services import demo as demo_metrics
from metrics.services.training import model_execute
from tests.metrics.trained import models_dir  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]

ITEMS = [f"bagel-{number}" for number in range(1, 61)]  # of two systems


@pytest.fixture
def user(monkeypatch: Any) -> User:
    published = [output for output in restaurants.published_outputs() if output.item in ITEMS]
    monkeypatch.setattr(restaurants, "published_outputs", lambda: iter(published))
    monkeypatch.setattr(restaurants, "SYSTEMS", {"Dusek": "TGen", "LOLS": "LOLS"})
    monkeypatch.setattr(demo_metrics, "unavailable", lambda: "PyTorch is not installed.")
    user = User.objects.create_user("demo-importer")
    restaurants.restaurants_import(by=user)
    return user


def test_jobs_follow_each_other_until_nothing_can_be_done(user: User) -> None:
    dataset = Dataset.objects.get()
    table = restaurants.published_table(demo_metrics.PUBLISHED)
    runs = demo_metrics.published_scores(dataset=dataset, table=table, by=user)
    assert [run.parameters["scorer"] for run in runs] == ["BLEU", "ROUGE-L", "METEOR", "CIDEr"]
    assert {run.report["items_scored"] for run in runs} == {dataset.items.count()}

    model = restaurants_next(by=user)
    assert isinstance(model, TrainedModel)
    assert restaurants_next(by=user) == model
    model_execute(model_id=model.pk)
    study = restaurants_next(by=user)
    assert isinstance(study, Study)
    assert study.name == RIDGE_STUDY
    study_execute(study_id=study.pk)

    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    result = study.read_result()
    predictions = ScoreRun.objects.get(number=TrainedModel.objects.get().report["cross_validation"]["run"])
    assert [row.label for row in result.rows] == [
        "Ridge regression v1, cross-validated",
        "BLEU",
        "ROUGE-L",
        "METEOR",
        "CIDEr",
        "Length",
    ]
    assert result.rows[0].run == predictions.number
    assert result.counts.judgements == 2 * len(ITEMS)
    assert not any(trained_sentence(study, row) for row in result.rows)
    assert restaurants_next(by=user) is None


def test_nothing_is_done_without_the_data(db: None) -> None:
    assert restaurants_next(by=User.objects.create_user("demo-importer")) is None
