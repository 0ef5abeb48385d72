"""Score runs and trained models on a project's front page."""

from collections.abc import Iterator

from django.db.models import Max
from django.urls import reverse

from annotation.models import JobState, Project
from annotation.overview.registry import Finding, JobKind, register
from metrics.models import ScoreRun, TrainedModel
from metrics.selectors.leaderboard import Leaderboard, board_runs, leaderboard, scored_by
from metrics.selectors.leaderboard_words import headline
from metrics.selectors.system_ratings import stored_ratings

BOARDS = 2  # data sets whose leaderboards are read, the one scored last first


def leaderboard_findings(project: Project, most: int) -> Iterator[Finding]:
    """Yield what each leaderboard says of the best system."""
    for dataset in scored_by(project)[: min(BOARDS, most)]:
        board = leaderboard(dataset, board_runs(dataset), stored_ratings(dataset))
        newest = ScoreRun.objects.filter(dataset=dataset, state=JobState.DONE).aggregate(at=Max("finished_at"))["at"]
        if sentence := headline(board):
            url = reverse("metrics:run-list", args=[project.slug]) + f"?dataset={dataset.slug}"
            yield Finding("Scores", newest, sentence, _sure(board), url)


def _sure(board: Leaderboard) -> str:
    """Return whether the best systems were tested against the others."""
    if not board.is_tested:
        return "Not tested"
    tested = "Each system is tested against the best one"
    return f"{tested}, but not by {len(board.untested)} of {len(board.columns)}" if board.untested else tested


register(
    findings=[leaderboard_findings],
    jobs=[
        JobKind(ScoreRun, "Score run {first}: {name}", "metric", "metrics:run-detail", ("number",)),
        JobKind(TrainedModel, "Model “{name}”", "name", "metrics:model-detail"),
    ],
)
