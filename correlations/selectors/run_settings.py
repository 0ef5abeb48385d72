"""The settings of score runs that a new study begins with, so that one metric has one number on both pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Dataset, JobState, Release
from correlations.specification import ORDER
from metrics.models import RunOrigin, ScoreRun
from metrics.scoring.registry import METRICS
from metrics.scoring.settings import settings_of
from metrics.selectors.models import model_parameters
from metrics.selectors.runs import metric_label, reads_references

LEADING = ("bleu", "sbleu", "delta_bleu")  # whose order, tokeniser and lowercasing the study takes, the first that ran
SHARED = {ORDER: "order", "tokenize": "tokenize", "lowercase": "lowercase"}  # parameters, and the study's fields
ORDERS = range(1, 5)


@dataclass(frozen=True)
class RunSettings:
    """``shared`` are fields of the study; ``own`` parameters by metric; ``differing`` the runs that had others."""

    run: ScoreRun
    shared: dict[str, Any]
    own: dict[str, dict[str, Any]] = field(default_factory=dict)
    differing: list[ScoreRun] = field(default_factory=list)

    @property
    def note(self) -> str:
        """Return where the settings come from, and which scores will be other numbers nevertheless."""
        words = ", ".join(settings_of(self.run.signature))
        note = (
            f"As in run {self.run.number}, so that {metric_label(self.run)} is the same metric as in Scores: {words}."
        )
        if not self.differing:
            return note
        others = ", ".join(f"{metric_label(run)} (run {run.number})" for run in self.differing)
        return (
            f"{note} A study splits texts alike for all metrics; these were scored with other tokens or case: {others}."
        )


def settings_of_runs(dataset: Dataset, release: Release | None) -> RunSettings | None:
    """Return the settings of the newest runs that people requested on these references; None without one of BLEU's."""
    runs = ScoreRun.objects.filter(dataset=dataset, release=release, state=JobState.DONE).exclude(
        group__origin=RunOrigin.STUDY
    )
    newest: dict[str, ScoreRun] = {}
    for run in runs.order_by("-number").defer("report"):
        if run.metric in METRICS and reads_references(run):
            newest.setdefault(run.metric, run)
    leading = next((newest[name] for name in LEADING if name in newest), None)
    if leading is None or leading.parameters.get(ORDER) not in ORDERS:
        return None
    shared = {name: leading.parameters[name] for name in SHARED}
    own = {name: found for name, run in newest.items() if (found := _own(run, shared))}
    differing = [run for run in newest.values() if _is_split_otherwise(run, shared)]
    return RunSettings(leading, {SHARED[name]: value for name, value in shared.items()}, own, differing)


def _own(run: ScoreRun, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a study has to give the metric itself; none of a trained model's."""
    metric = METRICS[run.metric]
    if model_parameters(metric.name):
        return {}
    expected = {each.name: shared.get(each.name, each.default) for each in metric.parameter_list()}
    return {
        name: value
        for name, value in run.parameters.items()
        if name in expected and value != expected[name] and name in {ORDER, *set(expected) - set(shared)}
    }


def _is_split_otherwise(run: ScoreRun, shared: Mapping[str, Any]) -> bool:
    return any(
        name != ORDER and name in run.parameters and run.parameters[name] != value for name, value in shared.items()
    )
