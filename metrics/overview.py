"""Score runs and trained models on a project's front page."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.db.models import Max, Model, QuerySet
from django.urls import reverse

from annotation.campaigns.rated import has_rated_outputs
from annotation.core.numbers import counted
from annotation.models import Campaign, JobState, Project
from annotation.overview.registry import Finding, JobKind, NextStep, register
from annotation.projects.contents import Content
from annotation.projects.contents import register as register_contents
from metrics.models import RunOrigin, ScoreRun, TrainedModel
from metrics.scoring.registry import METRICS
from metrics.selectors.copies import copies_on, copies_sentence
from metrics.selectors.leaderboard import board_runs, leaderboard, scored_by
from metrics.selectors.leaderboard_table import Leaderboard
from metrics.selectors.leaderboard_words import headline
from metrics.selectors.models import folder_of, learnt_from, runs_using
from metrics.selectors.predictions import predictions_of
from metrics.selectors.runs import metric_label, run_metric
from metrics.selectors.system_ratings import stored_ratings

BOARDS = 2  # data sets whose leaderboards are read, the one scored last first


def leaderboard_findings(project: Project, most: int) -> Iterator[Finding]:
    """Yield what each leaderboard says of the best system."""
    for dataset in scored_by(project)[: min(BOARDS, most)]:
        board = leaderboard(dataset, board_runs(dataset).shown, stored_ratings(dataset))
        newest = ScoreRun.objects.filter(dataset=dataset, state=JobState.DONE).aggregate(at=Max("finished_at"))["at"]
        if sentence := headline(board):
            url = reverse("metrics:run-list", args=[project.slug]) + f"?dataset={dataset.slug}"
            circular = copies_sentence(copies_on(board))
            sure = " ".join(filter(None, [circular, _sure(board)]))
            yield Finding("Scores", newest, sentence, sure, url, about=dataset.name)


def _sure(board: Leaderboard) -> str:
    """Return whether the best systems were tested against the others."""
    if not board.is_tested:
        return "Not tested"
    shared = " that shares items with the best one is tested against it"
    tested = f"Each system{shared if board.has_apart else ' is tested against the best one'}"
    return f"{tested}, but not by {len(board.untested)} of {len(board.columns)}" if board.untested else tested


def uncompared_metrics(project: Project) -> NextStep | None:
    """Return the way to a study of metrics scored since the last one, if raters rated outputs of their data set."""
    studies: Any = project  # the app above holds studies
    last = studies.studies.filter(state=JobState.DONE).aggregate(at=Max("finished_at"))["at"]
    if last is None:
        return None
    since = ScoreRun.objects.filter(project=project, state=JobState.DONE, finished_at__gt=last)
    runs = since.exclude(group__origin=RunOrigin.STUDY).select_related("dataset").order_by("-finished_at")
    newest = runs.first()
    if newest is None or not has_rated_outputs(newest.dataset.campaigns.all()):
        return None
    of_dataset = runs.filter(dataset=newest.dataset).defer("report")
    names = {metric_label(run) for run in of_dataset if (metric := run_metric(run)) is None or metric.judges_quality}
    if not names:
        return None
    metrics = counted(len(names), "metric")
    query = urlencode({"dataset": newest.dataset_id})
    are = "is" if len(names) == 1 else "are"
    return NextStep(
        f"{metrics} scored since the last study {are} not compared with the raters.",
        f"Compare {'this metric' if len(names) == 1 else f'your {metrics}'} with the raters",
        f"{reverse('correlations:study-create', args=[project.slug])}?{query}",
        "Read the studies",
        reverse("correlations:study-list", args=[project.slug]),
    )


def models_at_work(project: Project) -> Iterator[str]:
    for model in project.trained_models.filter(state=JobState.RUNNING).only("name"):
        yield f"The model “{model.name}” is being trained: cancel that first."


def model_files(project: Project) -> Iterator[Path]:
    """Yield the folders of models that no other project has."""
    return _folders(project.trained_models.all())


def row_files(keys: Mapping[type[Model], Collection[int]]) -> Iterator[Path]:
    """Yield the folders of models that no model has but those with these keys."""
    return _folders(TrainedModel.objects.filter(pk__in=keys.get(TrainedModel, ())))


def _folders(models: QuerySet[TrainedModel]) -> Iterator[Path]:
    """Yield the folders of models that no other model has."""
    for model in models.exclude(digest="").only("kind", "digest"):
        same = TrainedModel.objects.filter(kind=model.kind, digest=model.digest)
        if not same.exclude(pk__in=models.values("pk")).exists():
            yield folder_of(model)


def campaign_uses(campaign: Campaign) -> Iterator[QuerySet[Any]]:
    """Yield the models that learn from a campaign's ratings, and the scores that they gave."""
    models = learnt_from(campaign)
    yield models
    for model in models:
        yield runs_using(model)
        yield predictions_of(model)


register_contents(
    contents=[Content(ScoreRun, "score run"), Content(TrainedModel, "model")],
    problems=[models_at_work],
    files=[model_files],
    uses=[campaign_uses],
    row_files=[row_files],
)


def _metric(name: str) -> str:
    """Return what pages call a metric; a metric that this version no longer has keeps its name."""
    return METRICS[name].label if name in METRICS else name


register(
    findings=[leaderboard_findings],
    setbacks=[uncompared_metrics],
    jobs=[
        JobKind(
            ScoreRun,
            "Score run {first}: {name}",
            "metric",
            "metrics:run-detail",
            ("number",),
            retry="metrics:run-retry",
            shown=_metric,
        ),
        JobKind(TrainedModel, "Model “{name}”", "name", "metrics:model-detail", retry="metrics:model-retry"),
    ],
)
