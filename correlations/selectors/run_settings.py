"""Score runs whose settings are not the usual ones, with which a new study begins only if a person asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core.prose import enumerated
from annotation.models import Dataset, Release
from correlations.specification import ORDER
from metrics.models import RunOrigin, ScoreRun
from metrics.scoring.registry import METRICS
from metrics.scoring.settings import SHARED, special_parameters, with_settings
from metrics.selectors.leaderboard import board_runs
from metrics.selectors.models import model_parameters
from metrics.selectors.runs import metric_label, reads_references
from metrics.selectors.usual import UsualSettings

FOLLOWED = ("bleu", "sbleu", "delta_bleu")  # whose order, tokeniser and case the study takes: of the first that ran
ORDERS = range(1, 5)


@dataclass(frozen=True)
class RunSettings:
    """``shared`` are fields of the study; ``special`` are parameters by metric, as `special_parameters` has them."""

    shared: dict[str, Any]
    special: dict[str, dict[str, Any]] = field(default_factory=dict)


def unusual_runs(dataset: Dataset, release: Release | None, usual: UsualSettings) -> list[ScoreRun]:
    """Return the runs that *Scores* shows on these references, if people requested them with other settings."""
    return [run for run in _shown(dataset, release) if not usual.are_those_of(run)]


def unusual_in_words(runs: Sequence[ScoreRun]) -> str:
    """Return which numbers of *Scores* differ from those of a new study; empty if none does."""
    names = [f"{with_settings(metric_label(run), run.signature)} of run {run.number}" for run in runs]
    if not names:
        return ""
    have = "has" if len(names) == 1 else "have"
    return f"In Scores {enumerated(names)} {have} other settings: other numbers than this study’s."


def settings_of_runs(dataset: Dataset, release: Release | None) -> RunSettings | None:
    """Return the settings of the runs that *Scores* shows on these references; None without one of BLEU's."""
    runs = {run.metric: run for run in _shown(dataset, release)}
    leading = next((runs[name] for name in FOLLOWED if name in runs), None)
    if leading is None or leading.parameters.get(ORDER) not in ORDERS:
        return None
    shared = {name: leading.parameters[name] for name in SHARED}
    special = {name: _special(run, shared) for name, run in runs.items()}
    return RunSettings({SHARED[name]: value for name, value in shared.items()}, special)


def _shown(dataset: Dataset, release: Release | None) -> list[ScoreRun]:
    release_pk = release.pk if release else None
    return [
        run
        for run in board_runs(dataset).shown
        if run.metric in METRICS
        and run.group.origin != RunOrigin.STUDY
        and reads_references(run)
        and run.release_id == release_pk
    ]


def _special(run: ScoreRun, shared: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that a study has to give the metric itself, but for trained models: it takes the newest."""
    models = {each.name for each in model_parameters(run.metric)}
    given = {name: value for name, value in run.parameters.items() if name not in models}
    return special_parameters(run.metric, given, shared)
