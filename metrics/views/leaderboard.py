"""The leaderboard of a data set, and runs side by side."""

from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, project_view
from annotation.models import Dataset, Role
from metrics import tasks
from metrics.models import ScoreRun
from metrics.selectors import leaderboard as selectors
from metrics.selectors.copies import RULE, copies_on, copies_sentence
from metrics.selectors.leaderboard_glance import glance
from metrics.selectors.leaderboard_marks import bad_note, crossed_note, open_note, smoothed_note
from metrics.selectors.leaderboard_table import Leaderboard
from metrics.selectors.leaderboard_words import beside_raters, headline, lead, summary
from metrics.selectors.scripts import board_warning
from metrics.selectors.side_by_side import agreements, settings_of
from metrics.selectors.system_ratings import is_rating, stored_ratings
from metrics.services.system_ratings import system_ratings_request

LONGEST_NUMBER = 9  # digits of a run's number in an address


def board_context(request: MemberRequest) -> dict[str, Any]:
    """Return what the leaderboard of the requested data set needs; of the one scored last by default."""
    datasets = selectors.scored_by(request.project)
    dataset = _chosen_dataset(request, datasets)
    if dataset is None:
        return {"board": None}
    runs = selectors.board_runs(dataset)
    all_settings = bool(runs.others) and request.GET.get("settings") == "all"
    board = _board(request, dataset, runs.every if all_settings else runs.shown)
    once = board.without(runs.others)  # sentences count each metric once
    of_dataset = {"dataset": dataset.slug} if len(datasets) > 1 else {}
    kept = of_dataset | ({"settings": "all"} if all_settings else {})
    is_whole = request.GET.get("columns") == "all"
    whole = {"columns": "all"} if is_whole else {}
    return {
        "board": board,
        "glance": glance(board),
        "table": board if is_whole or all_settings else board.narrowed(lead(once)),
        "is_whole": is_whole,
        "fewer_query": urlencode(kept),
        "all_query": urlencode({**kept, "columns": "all"}),
        "other_settings": len(runs.others),
        "all_settings": all_settings,
        "settings_query": urlencode(of_dataset | whole | ({} if all_settings else {"settings": "all"})),
        "lead": lead(once),
        "bad_note": bad_note(once),
        "headline": headline(once),
        "beside_raters": beside_raters(once),
        "sentences": summary(once),
        "open_note": open_note(board),
        "crossed_note": crossed_note(board),
        "smoothed_note": smoothed_note(board),
        "tokens": board_warning(board),
        "circular": copies_sentence(copies_on(board)),
        "circular_rule": RULE,
        "datasets": datasets,
        "is_rating": not board.ratings and is_rating(dataset),
        "kept_pairs": list((kept | whole).items()),
        "kept_query": urlencode(kept | whole),
        "download_query": urlencode({"dataset": dataset.slug} | kept),
    }


def _chosen_dataset(request: MemberRequest, datasets: list[Dataset]) -> Dataset | None:
    """Return the data set in the address if it has scores, else the first."""
    slug = request.GET.get("dataset", "")
    return next((dataset for dataset in datasets if dataset.slug == slug), datasets[0] if datasets else None)


def _enqueue_later(system_ratings_pk: int) -> None:
    """Enqueue after the commit; a queue that cannot be reached keeps no page back, since the sweep comes later."""

    def enqueue() -> None:  # Django names it in the log of a failure, which a partial would not survive
        tasks.rate_systems.delay(system_ratings_pk)

    transaction.on_commit(enqueue, robust=True)


def _board(request: HttpRequest, dataset: Dataset, runs: list[ScoreRun]) -> Leaderboard:
    row = system_ratings_request(dataset=dataset)
    if row is not None:
        _enqueue_later(row.pk)
    return selectors.leaderboard(
        dataset,
        runs,
        stored_ratings(dataset),
        sort=request.GET.get("sort", ""),
        reverse=request.GET.get("order") == "worst",
    )


@require_GET
@project_view(Role.VIEWER)
def leaderboard_download(request: MemberRequest, file_format: str) -> HttpResponseBase:
    board = board_context(request)["board"]
    if board is None:
        raise Http404("This project has no finished run.")
    return _as_table(board, f"{request.project.slug}-{board.dataset.slug}-leaderboard", file_format)


@require_GET
@project_view(Role.VIEWER)
def run_compare(request: MemberRequest) -> HttpResponseBase:
    """Show the runs that the address names side by side: scores, settings, and how far they order systems alike."""
    numbers = [int(text) for text in request.GET.getlist("run") if text.isdecimal() and len(text) <= LONGEST_NUMBER]
    dataset = Dataset.objects.filter(project=request.project, score_runs__number__in=numbers[:1]).first()
    if dataset is None:
        return _nothing_chosen(request)
    runs = selectors.compared_runs(dataset, numbers[: selectors.MOST_COMPARED])
    board = _board(request, dataset, runs)
    if file_format := request.GET.get("format"):
        names = "-".join(str(run.number) for run in runs)
        return _as_table(board, f"{request.project.slug}-runs-{names}", file_format)
    columns = [column for column in board.columns if column.run]
    query = [("run", run.number) for run in runs]
    context = {
        "project": request.project,
        "board": board,
        "glance": glance(board),
        "columns": columns,
        "settings": settings_of(columns),
        "agreements": agreements(columns, board),
        "open_note": open_note(board),
        "crossed_note": crossed_note(board),
        "smoothed_note": smoothed_note(board),
        "lead": " ".join(summary(board)),
        "bad_note": bad_note(board),
        "kept_query": urlencode(query),
        "kept_pairs": query,
        "csv_url": f"?{urlencode([*query, ('format', 'csv')])}",
        "json_url": f"?{urlencode([*query, ('format', 'json')])}",
        "missing": [number for number in numbers if number not in {run.number for run in runs}],
    }
    return render(request, "metrics/run_compare.html", context)


def _nothing_chosen(request: MemberRequest) -> HttpResponse:
    return render(request, "metrics/run_compare.html", {"project": request.project, "board": None})


def _as_table(board: Leaderboard, name: str, file_format: str) -> HttpResponseBase:
    rows, columns = selectors.board_rows(board), selectors.BOARD_COLUMNS
    return table_response(format=file_format, filename=name, columns=columns, rows=rows, types=selectors.BOARD_TYPES)
