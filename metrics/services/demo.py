"""The demo's trained models and score runs: every metric that needs no download works at once."""

from collections.abc import Iterator

from annotation.models import Dataset, Project, Release, SourceKind, System, User
from metrics.models import ScoreRun, TrainedModel
from metrics.services.model_rows import ModelRequest
from metrics.services.runs import score_run_create
from metrics.services.training import model_train_on_dataset

MODELS = (
    ("DSTC7 space", "lsa", {"components": 50}),
    ("DSTC7 bigrams", "language_model", {"order": 2}),
    ("DSTC7 vectors", "vectors", {"dimension": 50, "min_count": 5}),
)
METRICS = (
    *("am", "fm", "am_fm", "embedding_average", "vector_extrema", "greedy_matching", "rouge_l", "cider"),
    *("ibleu", "ter", "chrf", "length", "self_bleu", "entropy", "distinct"),
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
    """Yield a score run of each metric over all references; create those that do not exist yet."""
    for metric in METRICS:
        run, _ = score_run_create(
            project=project, release=release, systems=systems, metric=metric, parameters={}, by=by
        )
        yield run
