"""What the demo trains and scores beside its study: every metric that needs no download works at once."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from annotation.models import Dataset, Project, Release, SourceKind, System, User
from metrics.models import ScoreRun, TrainedModel
from metrics.services.runs import score_run_create
from metrics.services.training import model_train_on_dataset


class DemoModel(NamedTuple):
    name: str
    kind: str
    options: Mapping[str, Any]


MODELS = (
    DemoModel("DSTC7 space", "lsa", {"components": 50}),
    DemoModel("DSTC7 bigrams", "language_model", {"order": 2}),
    DemoModel("DSTC7 vectors", "vectors", {"dimension": 50, "min_count": 5}),
)
METRICS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("am", {}),
    ("fm", {}),
    ("am_fm", {}),
    ("embedding_average", {}),
    ("vector_extrema", {}),
    ("greedy_matching", {}),
    ("rouge_l", {}),
    ("cider", {}),
    ("ibleu", {}),
    ("ter", {}),
    ("chrf", {}),
    ("length", {}),
    ("self_bleu", {}),
    ("entropy", {}),
    ("distinct", {}),
)


def demo_models(*, project: Project, dataset: Dataset, by: User) -> Iterator[TrainedModel]:
    """The demo's models, those missing asked for: learnt from its passages and from the replies of people on the net.

    Replies that are outputs or references are kept apart, so that no metric has seen what it judges.
    """
    for wanted in MODELS:
        found = project.trained_models.defer("content").filter(name=wanted.name).first()
        yield found or model_train_on_dataset(
            project=project,
            by=by,
            name=wanted.name,
            kind=wanted.kind,
            dataset=dataset,
            options=wanted.options,
            texts=["messages"],
            source_kinds=[SourceKind.HUMAN],
        )


def demo_runs(*, project: Project, release: Release, systems: list[System], by: User) -> Iterator[ScoreRun]:
    """A score run of each of these metrics, over all references; one that is there is found again."""
    for metric, parameters in METRICS:
        run, _ = score_run_create(
            project=project, release=release, systems=systems, metric=metric, parameters=parameters, by=by
        )
        yield run
