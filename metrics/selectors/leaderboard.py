"""The leaderboard of a data set: systems by metrics, read from what runs and workers have stored.

Nothing is tested here. Each run stores which systems it cannot tell from its best one; what raters say is the
results of their campaigns.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max, QuerySet

from annotation.core.caching import cached
from annotation.core.judges import looks_like_judge
from annotation.datasets.selectors.datasets import other_names
from annotation.models import Dataset, JobState, Project, ResponseSource, System
from annotation.rating.selectors.duplicates import joined
from metrics.models import RunOrigin, ScoreRun, SystemScore
from metrics.scoring.colours import metric_colour
from metrics.scoring.comparisons import LEVEL
from metrics.scoring.external import External
from metrics.scoring.metric import GROUPS
from metrics.scoring.registry import METRICS
from metrics.scoring.settings import named_settings, settings_of
from metrics.selectors.discouraged import rewards_bad
from metrics.selectors.leaderboard_marks import note_agreement, note_marks
from metrics.selectors.leaderboard_raters import rater_cells, rater_columns
from metrics.selectors.leaderboard_table import Cell, Column, Leaderboard, Row
from metrics.selectors.models import model_names_of
from metrics.selectors.run_items import item_set, references_name, with_item_counts
from metrics.selectors.runs import metric_label, parameter_summary, reads_references, run_metric
from metrics.selectors.system_ratings import CampaignRatings
from metrics.selectors.usual import UsualSettings, settings_key, usual_settings_on
from metrics.subsets import Subset

Settings = tuple[tuple[str, str], ...]

MOST_RUNS = 500  # of a data set, newest first, from which the columns are chosen
MOST_COMPARED = 8
KEPT_SECONDS = 24 * 3600  # which systems are one, until outputs change


def scored_by(project: Project) -> list[Dataset]:
    """Return the data sets with finished runs, the one with the newest run first."""
    done = ScoreRun.objects.filter(project=project, state=JobState.DONE).order_by()
    newest = dict(done.values_list("dataset").annotate(n=Count("pk")))
    datasets = {dataset.pk: dataset for dataset in Dataset.objects.filter(pk__in=newest)}
    last = ScoreRun.objects.filter(project=project, state=JobState.DONE, dataset__in=newest)
    ordered = last.order_by("dataset", "-pk").distinct("dataset").values_list("pk", "dataset")
    return [datasets[pk] for _, pk in sorted(ordered, reverse=True)]


@dataclass(frozen=True)
class BoardRuns:
    """The columns of a leaderboard: ``shown`` has a metric once for its references, ``others`` its other settings."""

    shown: list[ScoreRun]
    others: list[ScoreRun]

    @property
    def every(self) -> list[ScoreRun]:
        return sorted([*self.shown, *self.others], key=_column_order)


def board_runs(dataset: Dataset) -> BoardRuns:
    """Return one finished run of each metric, kind of references (the data set's own, and each release's) and settings.

    Of several settings over as many systems the usual ones are shown, else the newest that someone requested. Of runs
    of the same settings one that someone requested counts before one of a study, then the one of more systems, then
    the newer one; a study's run that reads some of the references alone counts last. A metric that reads no references
    has the run of most items.
    """
    runs = _with_counts(ScoreRun.objects.filter(dataset=dataset, state=JobState.DONE).order_by("-number")[:MOST_RUNS])
    by_column: dict[tuple[str, bool, int | None], dict[Settings, ScoreRun]] = {}
    for run in runs:
        reads = reads_references(run)
        column = by_column.setdefault((metric_label(run), reads, run.release_id if reads else None), {})
        settings = settings_key(run.parameters)
        if settings not in column or _claim(run) > _claim(column[settings]):
            column[settings] = run
    shown, others = [], []
    usual: dict[bool, UsualSettings] = {}
    for column in by_column.values():
        best = next(iter(column.values()))
        if len(column) > 1:
            for weighted in {run.release_id is not None for run in column.values()} - usual.keys():
                usual[weighted] = usual_settings_on(dataset, weighted=weighted)
            best = max(column.values(), key=lambda run: _shown_claim(run, usual[run.release_id is not None]))
        shown.append(best)
        others += [run for run in column.values() if run is not best]
    return BoardRuns(sorted(shown, key=_column_order), sorted(others, key=_column_order))


def _with_counts(runs: QuerySet[ScoreRun]) -> list[ScoreRun]:
    described = runs.select_related("group", "dataset", "release__reference_set")
    counted = with_item_counts(described.annotate(n_systems=Count("scores")))
    return list(counted.defer("report", "release__report"))


def _claim(run: ScoreRun) -> tuple[bool, bool, int, int, int]:
    """Return what puts one run before another of the same settings."""
    return (not _is_of_study(run), *_scope(run), run.number)


def _shown_claim(run: ScoreRun, usual: UsualSettings) -> tuple[bool, int, int, bool, bool, int]:
    """Return what puts one run before another of other settings: what it stands for, then the usual settings."""
    return (*_scope(run), usual.are_those_of(run), not _is_of_study(run), run.number)


def _scope(run: ScoreRun) -> tuple[bool, int, int]:
    """Return whether the run stands for all that it could score, how many systems it has, and on how many items."""
    is_part = _is_of_study(run) and reads_references(run) and Subset.from_mapping(run.subset).kind != "all"
    items = 0 if reads_references(run) else item_set(run).scored
    return not is_part, run.n_systems, items  # type: ignore[attr-defined] # annotated


def _is_of_study(run: ScoreRun) -> bool:
    return run.group.origin == RunOrigin.STUDY


def _column_order(run: ScoreRun) -> tuple[bool, bool, bool, bool, int, int, int, int, str]:
    """Return the position of a column: judges, then metrics of quality by references and items, as in the registry.

    A judge is compared with the raters, whose columns are before it. The data set's own references come first, then the
    newest release; metrics without references last.
    """
    metric, groups, names = run_metric(run), list(GROUPS), list(METRICS)
    reads = reads_references(run)
    return (
        not (run.metric == External.name and looks_like_judge(metric_label(run))),
        metric is not None and not metric.judges_quality,
        not reads,
        reads and run.release_id is not None,
        -(run.release_id or 0) if reads else 0,
        -item_set(run).scored,
        groups.index(metric.group) if metric else len(groups),
        names.index(run.metric) if run.metric in METRICS else len(names),
        metric_label(run),
    )


def compared_runs(dataset: Dataset, numbers: Sequence[int]) -> list[ScoreRun]:
    """Return these finished runs of the data set, in this order."""
    by_number = {
        run.number: run
        for run in _with_counts(
            ScoreRun.objects.filter(dataset=dataset, state=JobState.DONE, number__in=numbers).order_by("number")
        )
    }
    return [by_number[number] for number in dict.fromkeys(numbers) if number in by_number]


def leaderboard(
    dataset: Dataset,
    runs: Sequence[ScoreRun],
    ratings: Sequence[CampaignRatings] = (),
    *,
    sort: str = "",
    reverse: bool = False,
) -> Leaderboard:
    """Return the table: by the first column, or by the one that ``sort`` names, best first.

    Its rows are the systems that have scores, and all that raters compared with these.
    """
    scores: dict[int, dict[int, SystemScore]] = {}
    for score in SystemScore.objects.filter(run__in=[run.pk for run in runs]).defer("details"):
        scores.setdefault(score.run_id, {})[score.system_id] = score
    scored = {system for of_run in scores.values() for system in of_run}
    every = list(System.objects.filter(dataset=dataset).order_by("name"))
    columns = rater_columns(ratings, {system.name for system in every if system.pk in scored})
    rated = {name for column in columns if column.verdict for each in column.verdict.systems for name in each.names}
    systems = [system for system in every if system.pk in scored or system.name in rated]
    one = {name: joined(same) for same in _same_outputs(dataset, systems) for name in same}
    names = model_names_of(runs)
    columns += [_run_column(run, names) for run in runs]
    _tell_apart(columns)
    cells: dict[str, dict[int, Cell]] = {}
    for column in columns:
        if column.is_human:
            cells[column.key] = _placed(column, rater_cells(column, systems), systems)
        else:
            cells[column.key] = _with_standing(column, _cells(column, scores), systems, one)
        note_marks(column, cells[column.key].values())
        known = ((system.name, cells[column.key].get(system.pk)) for system in systems)
        note_agreement(column, columns[0].verdict, {name: cell.score for name, cell in known if cell is not None})
    sorted_by = next((column for column in columns if column.key == sort), None)
    if sort != "system" and sorted_by is None:
        sorted_by = columns[0] if columns else None
    ordered = _ordered(systems, sorted_by, cells, reverse=reverse)
    for column in columns:
        _note_order(column, is_sorted=column is sorted_by, reverse=reverse)
    rows = [
        Row(
            system, [cells[column.key].get(system.pk, _absent(column)) for column in columns], columns, _of(system, one)
        )
        for system in ordered
    ]
    board = Leaderboard(dataset, columns, rows, sorted_by.key if sorted_by else "system", reverse)
    return board.with_phone_columns()


def _same_outputs(dataset: Dataset, systems: Sequence[System]) -> list[list[str]]:
    """Return which of these systems gave the same outputs throughout, those that did together."""
    sources = ResponseSource.objects.filter(system__dataset=dataset).order_by()
    ends = sources.aggregate(n=Count("pk"), last=Max("pk"))
    key = f"other-names-{dataset.pk}-{ends['n']}-{ends['last']}"
    shown, groups = {system.name for system in systems}, dict[str, list[str]]()
    for name, original in cached(key, lambda: other_names(dataset), KEPT_SECONDS).items():
        groups.setdefault(original, [original]).append(name)
    together = ([name for name in names if name in shown] for names in groups.values())
    return [names for names in together if len(names) > 1]


def _of(system: System, one: Mapping[str, str]) -> list[str]:
    """Return the other systems of the same outputs."""
    others = (name for name, joint in one.items() if joint == one.get(system.name))
    return [name for name in others if name != system.name]


def _absent(column: Column) -> Cell:
    return Cell(None, reason="not rated" if column.is_human else "not among the systems of this run")


def _run_column(run: ScoreRun, names: Mapping[str, str]) -> Column:
    metric, label = run_metric(run), metric_label(run)
    return Column(
        f"r{run.number}",
        label,
        metric is None or metric.higher_is_better,
        metric is None or metric.judges_quality,
        run=run,
        references=references_name(run) if reads_references(run) else "",
        rewards_bad=rewards_bad(run),
        items=item_set(run),
        parameters=parameter_summary(run, names),
        all_settings=", ".join(settings_of(run.signature)),
        date=run.finished_at,
        light=metric_colour(label, "light"),
        dark=metric_colour(label, "dark"),
    )


def _tell_apart(columns: Sequence[Column]) -> None:
    """Name columns by their `named_settings`; note where other references or items begin.

    Columns that still share a name over the same items are told apart by references, else by run.
    """
    runs = [column for column in columns if column.run is not None]
    named = named_settings([column.run.signature for column in runs if column.run])
    for column, settings in zip(runs, named, strict=True):
        column.settings = ", ".join(settings)
        column.name = f"{column.label} ({column.settings})" if column.settings else column.label
    same = Counter((column.name, column.items) for column in runs)
    alike = Counter((column.name, column.items, column.references) for column in runs)
    for before, column in zip([None, *columns], columns, strict=False):
        column.begins_block = before is not None and not column.is_beside(before)
    renamed = {}
    for column in runs:
        if column.run is not None and same[column.name, column.items] > 1:
            is_alike = alike[column.name, column.items, column.references] > 1
            told_by = f"run {column.run.number}" if is_alike else column.references or "no references"
            settings = [column.settings] if column.settings else []
            renamed[column.key] = f"{column.label} ({', '.join([*settings, told_by])})"
    for column in runs:
        column.name = renamed.get(column.key, column.name)


def _cells(column: Column, scores: Mapping[int, Mapping[int, SystemScore]]) -> dict[int, Cell]:
    """Return the cells of a run's column by system; ``scores`` are those of all runs."""
    of_run = scores.get(column.run.pk, {}) if column.run else {}
    return {
        pk: Cell(
            score.score,
            score.low,
            score.high,
            score.undefined_reason,
            score.p_best,
            items=score.n_segments or None,  # none of scores of systems alone
            first_place=score.first_place,
            unmatched=score.clamped_orders[0] if score.score and score.clamped_orders else None,
        )
        for pk, score in of_run.items()
    }


def _with_standing(
    column: Column, cells: Mapping[int, Cell], systems: Sequence[System], one: Mapping[str, str]
) -> dict[int, Cell]:
    """Return a run's cells with their standing and places; note the best of the column. ``one``: names to say."""
    defined = {pk: cell.score for pk, cell in cells.items() if cell.score is not None}
    if not defined:
        return dict(cells)
    best = max(defined.values()) if column.higher_is_better else min(defined.values())
    firsts = [cell for cell in cells.values() if cell.score == best and cell.p_best is None]
    column.is_tested = any(
        cell.p_best is not None or (cell.first_place is not None and len(defined) > 1) for cell in cells.values()
    )
    column.is_beaten = column.is_tested and all((cell.first_place or 1) > 1 for cell in firsts)
    named = {
        system.pk: replace(
            cells[system.pk],
            standing=_standing(
                column, one.get(system.name, system.name), cells[system.pk], is_best=defined[system.pk] == best
            ),
        )
        for system in systems
        if system.pk in defined
    }
    return _placed(column, dict(cells) | named, systems)


def _placed(column: Column, cells: Mapping[int, Cell], systems: Sequence[System]) -> dict[int, Cell]:
    """Return the cells with their places on the column's scale."""
    ends = [end for cell in cells.values() for end in (cell.low, cell.score, cell.high) if end is not None]
    if not ends:
        return dict(cells)
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    column.digits = column.digits if column.is_human else _digits(max(map(abs, ends)), max(ends) - min(ends))
    most = column.items.scored or max(cell.items or 0 for cell in cells.values())
    placed = {}
    for system in systems:
        cell = cells.get(system.pk)
        if cell is None or cell.score is None:
            continue
        start, end = (cell.score if bound is None else bound for bound in (cell.low, cell.high))
        placed[system.pk] = replace(
            cell,
            is_partial=cell.items is not None and cell.items < most,
            start=round(100 * (start - low) / span, 2),
            width=round(100 * (end - start) / span, 2),
            at=round(100 * (cell.score - low) / span, 2),
        )
    column.has_gaps = any(cell.is_partial for cell in placed.values())
    return dict(cells) | placed


def _standing(column: Column, name: str, cell: Cell, *, is_best: bool) -> str:
    """Return how a system stands to the best of the column, and name it there.

    One that cannot be told from the best, but is worse than another for certain, is not among those that may be best.
    """
    if not column.judges_quality:
        return ""
    standing, named = "", None
    if is_best:
        standing, named = "best", column.best
    elif column.is_tested and cell.p_best is None:
        standing, named = "apart", column.apart
    elif column.is_tested and cell.p_best is not None and cell.p_best > LEVEL:
        standing, named = "tied" if (cell.first_place or 1) == 1 else "", column.tied
    if named is not None and name not in [*column.best, *named]:  # systems of the same outputs have one name
        named.append(name)
    return standing


def _digits(largest: float, span: float) -> int:
    """Return how many decimals tell scores apart: as many as shown for a metric from 0 to 1, fewer for large scores.

    Examples
    --------
    >>> _digits(0.41, 0.12), _digits(0.03, 0.004), _digits(14.2, 3.0), _digits(3.1, 0.6)
    (3, 4, 1, 2)
    """
    if largest >= 2:
        return 1 if span >= 0.5 and largest >= 10 else 2
    return 4 if span < 0.02 else 3


def _note_order(column: Column, *, is_sorted: bool, reverse: bool) -> None:
    column.is_sorted = is_sorted
    column.sort_query = f"sort={column.key}" + ("&order=worst" if is_sorted and not reverse else "")
    if is_sorted:
        column.aria_sort = "descending" if column.higher_is_better != reverse else "ascending"


def _ordered(
    systems: Sequence[System], column: Column | None, cells: Mapping[str, Mapping[int, Cell]], *, reverse: bool
) -> list[System]:
    if column is None:
        return sorted(systems, key=lambda system: system.name.casefold(), reverse=reverse)

    def key(system: System) -> tuple[bool, float]:
        cell = cells[column.key].get(system.pk)
        if cell is None or cell.score is None:
            return True, 0.0  # last, whichever end is first
        sign = -1.0 if column.higher_is_better else 1.0
        return False, sign * cell.score * (-1.0 if reverse else 1.0)

    return sorted(systems, key=key)


# --- Download ---------------------------------------------------------------------------------------------------------

BOARD_COLUMNS = (
    *("system", "column", "run", "references", "items_scored", "items"),
    *("score", "low", "high", "standing", "p_best_corrected", "undefined_reason", "items_of_system"),
)
BOARD_TYPES = dict.fromkeys(("score", "low", "high", "p_best_corrected"), "number")


def board_rows(board: Leaderboard) -> Iterable[tuple[Any, ...]]:
    for row in board.rows:
        for column, cell in zip(board.columns, row.cells, strict=True):
            number = column.run.number if column.run else None
            yield (
                row.system.name,
                column.name,
                number,
                column.references,
                column.items.scored or None,
                column.items.total or None,
                cell.score,
                cell.low,
                cell.high,
                cell.standing,
                cell.p_best,
                cell.reason,
                cell.items,
            )
