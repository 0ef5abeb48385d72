"""Notifications of score runs."""

from typing import Any

from django.urls import reverse

from annotation.notifications.kinds import kind_register
from annotation.notifications.kinds.base import Kind, outcome_of
from metrics.models import RunOrigin, ScoreRun


def _run_facts(run: ScoreRun) -> dict[str, Any] | None:
    """Return facts of a run that a member requested; a study's runs end with the study."""
    if run.group.origin == RunOrigin.STUDY:
        return None
    return {"number": run.number, "metric": run.metric}


kind_register(
    Kind(
        key="run_ended",
        label="A score run ended",
        when="A run is done or has failed: read the scores, or what went wrong.",
        title=lambda facts: f"Run {facts['number']} ({facts['metric']}) {'failed' if facts['error'] else 'is done'}",
        text=lambda facts: f"Score run {facts['number']} with the metric {facts['metric']} {outcome_of(facts)}.",
        link=lambda facts: reverse("metrics:run-detail", args=[facts["project"], facts["number"]]),
        jobs={"metrics.scorerun": _run_facts},
    )
)
