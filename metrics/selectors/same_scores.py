"""Imports of the same scores under several names: to list each of them as a metric would say one thing twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.core.prose import enumerated
from annotation.models import JobState, Project
from metrics.models import ScoreRun
from metrics.scoring.external import External

Content = tuple[str, bool]


def content_of(metric: str, parameters: Mapping[str, Any]) -> Content | None:
    """Return what imports of the same scores share, whatever they are called; None of scores that are computed."""
    content = parameters.get("content") if metric == External.name else None
    return (content, bool(parameters.get("lower_is_better"))) if content else None


def content_of_run(project: Project, number: int | None) -> Content | None:
    """Return what the imported scores of a run are; None for other runs, and without a run."""
    run = None if number is None else ScoreRun.objects.filter(project=project, number=number).first()
    return content_of(run.metric, run.parameters) if run else None


def same_scores_note(project: Project, number: int | None) -> str:
    """Return which other imports have the scores of a run, in a sentence; empty if none has."""
    run = None if number is None else ScoreRun.objects.filter(project=project, number=number).first()
    content = content_of(run.metric, run.parameters) if run else None
    if run is None or content is None:
        return ""
    imported = ScoreRun.objects.filter(dataset=run.dataset_id, metric=run.metric, state=JobState.DONE).order_by(
        "number"
    )
    same = [
        other.parameters["scorer"]
        for other in imported.filter(parameters__content=content[0])
        if content_of(other.metric, other.parameters) == content
    ]
    return have_same_scores([name for name in dict.fromkeys(same) if name != run.parameters["scorer"]])


def have_same_scores(names: Sequence[str], as_what: str = "") -> str:
    """Return that these have the same scores, as another if that is not clear from what stands before.

    >>> have_same_scores(["GPT-4"]), have_same_scores(["GPT-4", "judge"], "gpt4_judge")
    ('GPT-4 has the same scores.', 'GPT-4 and judge have the same scores as gpt4_judge.')
    """
    if not names:
        return ""
    return (
        f"{enumerated(names)} {'has' if len(names) == 1 else 'have'} the same scores{f' as {as_what}' * bool(as_what)}."
    )
