"""The demo's trained models and score runs: every metric that needs no download works at once."""

from collections.abc import Iterator
from typing import Any

from annotation.models import Campaign, Dataset, Project, Release, SourceKind, System, User
from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.external import External
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.network import unavailable
from metrics.selectors.usual import usual_settings_on
from metrics.services.model_rows import ModelRequest
from metrics.services.quality_training import ChosenRatings, model_train_on_ratings
from metrics.services.runs import score_run_create
from metrics.services.score_imports import score_file_import
from metrics.services.score_options import ImportOptions
from metrics.services.training import model_train_on_dataset

MODELS = (
    ("DSTC7 space", "lsa", {"components": 50}),
    ("DSTC7 bigrams", "language_model", {"order": 2}),
    ("DSTC7 vectors", "vectors", {"dimension": 50, "min_count": 5}),
)
METRICS = (
    *("am", "fm", "am_fm", "embedding_average", "vector_extrema", "greedy_matching", "rouge_l", "cider"),
    *("ibleu", "ter", "chrf", "length", "self_bleu", "entropy", "distinct"),
    *("bleu", "sbleu", "delta_bleu"),
)


def demo_models(*, project: Project, dataset: Dataset, by: User) -> Iterator[TrainedModel]:
    """Yield the demo's models, trained on its passages and on people's replies; queue those that do not exist yet.

    Replies that are outputs or references are left out, so that no metric has seen what it judges.
    """
    for name, kind, options in MODELS:
        model = project.trained_models.defer("content").filter(name=name).first()
        yield model or model_train_on_dataset(
            request=ModelRequest(project, by, name, kind, options),
            dataset=dataset,
            texts=["messages"],
            source_kinds=[SourceKind.HUMAN],
        )


def demo_runs(*, project: Project, release: Release, systems: list[System], by: User) -> Iterator[ScoreRun]:
    """Yield a score run of each metric over all references, as one click makes them; create those that do not exist."""
    usual = usual_settings_on(release.reference_set.dataset, weighted=True)
    for metric in METRICS:
        run, _ = score_run_create(
            project=project,
            release=release,
            systems=systems,
            metric=metric,
            parameters=usual.parameters(metric),
            by=by,
        )
        yield run


# --- The second project -----------------------------------------------------------------------------------------------

# Scores published with the outputs: what the file calls each metric, and its name.
PUBLISHED = {"Bleu_4": "BLEU", "ROUGE_L": "ROUGE-L", "METEOR": "METEOR", "CIDEr": "CIDEr"}
PUBLISHED_NOTE = (
    "As published with the outputs (jeknov/EMNLP_17_submission, MIT licence), computed by their authors against "
    "references that the file does not hold."
)
RIDGE, NETWORK = "Ridge regression", "Network"
ESTIMATORS: dict[str, dict[str, Any]] = {
    RIDGE: {"estimator": "ridge"},
    # A quick one: the paper's has 300 dimensions, 500 passes and a tenth of the learning rate.
    NETWORK: {"estimator": "network", "embedding": 64, "passes": 20, "learning_rate": 0.001},
}


def published_scores(*, dataset: Dataset, table: bytes, by: User) -> list[ScoreRun]:
    """Import the scores that were published with the outputs, if they are not there; return their runs."""
    imported = ScoreRun.objects.filter(dataset=dataset, metric=External.name, parameters__scorer__in=PUBLISHED.values())
    if not imported.exists():
        options = ImportOptions(note=PUBLISHED_NOTE)
        score_file_import(dataset=dataset, by=by, filename="published-scores.csv", content=table, options=options)
    return list(imported.order_by("number"))


def estimator(*, name: str, campaign: Campaign, by: User) -> TrainedModel | None:
    """Return the demo's quality estimator of this name; queue its training if it does not exist.

    None for a network where none can be trained.
    """
    project = campaign.project
    model = project.trained_models.defer("content").filter(name=name).first()
    if model is not None:
        return model
    if name == NETWORK and unavailable():
        return None
    request = ModelRequest(project, by, name, QualityEstimator.kind, ESTIMATORS[name])
    ratings = ChosenRatings([campaign], ["quality"])
    return model_train_on_ratings(request=request, ratings=ratings, cross_validate=True)


def predictions_of(model: TrainedModel) -> int | None:
    """Return the number of the run that holds a model's cross-validated predictions; None if there is none."""
    number: int | None = model.report.get("cross_validation", {}).get("run")
    return number
