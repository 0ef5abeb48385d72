"""The demo's second project: can ratings of outputs be predicted without references?

A worker does one job after the other, so that the first page of the demo need not wait for any of them.
"""

from collections.abc import Sequence
from typing import Any

from annotation.demo import restaurants
from annotation.models import Campaign, JobState, Project, User
from correlations.models import Study
from correlations.services.studies import study_create
from metrics.models import ScoreRun, TrainedModel
from metrics.services import demo as demo_metrics

RIDGE_STUDY = "Can ratings be predicted without references?"
NETWORK_STUDY = "What does a network add to ridge regression?"


def restaurants_next(*, by: User) -> TrainedModel | Study | None:
    """Return the next job of the project, which it creates if it does not exist; None if all are done, or one failed.

    The order: ridge regression, a study of its predictions beside the published scores, a network, a study of both.
    """
    campaign = Campaign.objects.filter(project__slug=restaurants.PROJECT_SLUG, name=restaurants.CAMPAIGN).first()
    if campaign is None:
        return None
    predictions: list[int] = []
    for name, title in ((demo_metrics.RIDGE, RIDGE_STUDY), (demo_metrics.NETWORK, NETWORK_STUDY)):
        model = demo_metrics.estimator(name=name, campaign=campaign, by=by)
        if model is None or model.state != JobState.DONE:
            return model if model is not None and model.state == JobState.QUEUED else None
        run = demo_metrics.predictions_of(model)
        if run is None:
            return None
        predictions.append(run)
        study = _study(campaign.project, title, predictions, by)
        if study.state != JobState.DONE:
            return study if study.state == JobState.QUEUED else None
    return None


def _study(project: Project, title: str, predictions: Sequence[int], by: User) -> Study:
    study = project.studies.filter(name=title).first()
    if study is not None:
        return study
    published = ScoreRun.objects.filter(
        project=project, parameters__scorer__in=demo_metrics.PUBLISHED.values()
    ).order_by("number")
    runs = [*predictions, *published.values_list("number", flat=True)]
    specification = restaurants_study_specification(runs)
    study, _ = study_create(project=project, name=title, specification=specification, by=by)
    return study


def restaurants_study_specification(runs: Sequence[int]) -> dict[str, Any]:
    """Predictions and published scores over all rated outputs, against the median rating of quality."""
    return {
        "campaigns": [restaurants.CAMPAIGN],
        "criteria": ["quality"],
        "systems": sorted(restaurants.SYSTEMS.values()),
        "metrics": [*({"run": number} for number in runs), "length"],
        "unit_size": 1,
        "assignments": 100,
        "bootstrap": 200,
        "sweeps": False,
    }
