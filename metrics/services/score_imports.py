"""Preview files of scores made elsewhere, and import them as score runs."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import transaction

from annotation.core.file_limits import SCORES_PAGE_BYTES
from annotation.core.jobs import job_claim
from annotation.core.judges import looks_like_judge, looks_like_metric
from annotation.core.numbers import finite_or_none
from annotation.core.problems import Problems, storable
from annotation.models import Dataset, Item, System, User
from annotation.projects.services.audit import audit_record
from metrics.errors import ScoreRunRefused
from metrics.models import RunGroup, RunOrigin, ScoreRun, SystemScore
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.external import NAME_CHARACTERS, NOT_IN_FILE, SEGMENT, External
from metrics.scoring.metric import mean_statistics
from metrics.selectors.corpus import texts_digests
from metrics.selectors.rated_columns import columns_of_ratings, raters_named
from metrics.selectors.runs import shown_digits
from metrics.selectors.score_scales import STATED, RunScale
from metrics.services.runs import ALL, GroupOf, RunTexts, get_or_create_run
from metrics.services.score_files import FileScores, Known, read_scores
from metrics.services.score_options import (
    ColumnScale,
    ImportOptions,
    column_scales,
    is_lower,
    options_by_column,
    outside_range,
    without_refused,
)
from metrics.services.scoring import array_fields, little_endian, partly_scored
from metrics.services.shards import run_finish, whole_run_store

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NOTE_CHARACTERS = 2000
NO_SYSTEM = "no system has a score"
NO_SEGMENTS = "scores of systems alone were imported, without items to resample"


@dataclass(frozen=True, eq=False)
class ScorePreview:
    """A future score run.

    Attributes
    ----------
    metric : External
    column : str
        What options call it: its column, or the file's name for it; the name of the metric if it is the only one.
    filename : str
    systems : sequence of T str
        By name.
    positions : (S,) int
        Positions in the data set of the items with at least one score; empty for scores of systems.
    scores : (T, S) float, or (T, 1)
        NaN for a missing score.
    n_items : int
        Of the data set.
    not_named : sequence of str
        Systems of the data set that have no score in the file.
    left_out : sequence of str
        Columns of the file that hold no scores.
    read_as : mapping
        Columns of other names that were taken as system or item, with that.
    scale : ColumnScale
        What was found, and the scale that the scores are taken to have.
    of_rater : str
        By what these are a rater's ratings and no metric's scores; empty if nothing says so.
    """

    metric: External
    column: str
    filename: str
    systems: Sequence[str]
    positions: Ints
    scores: Floats
    n_items: int
    not_named: Sequence[str]
    left_out: Sequence[str]
    read_as: Mapping[str, str]
    scale: ColumnScale
    of_rater: str = ""

    @property
    def of_segments(self) -> bool:
        return self.metric.level == SEGMENT

    @property
    def kind(self) -> str:
        """Return what the column seems to hold: ``a judge’s scores``."""
        if self.of_rater:
            return "a rater’s ratings"
        if looks_like_judge(self.column):
            return "a judge’s scores"
        return "a metric’s scores" if looks_like_metric(self.column) else "scores"

    @property
    def digits(self) -> int:
        """Return with how many decimals means are shown: points of a judge with two."""
        return shown_digits(np.nanmax(np.abs(self.scores), initial=0.0))

    @property
    def n_missing(self) -> int:
        """Return how many scores are missing among those of the run."""
        return int(np.isnan(self.scores).sum())

    def rows(self) -> list[dict[str, Any]]:
        """Return each system's name, number of scores, mean and extremes."""
        rows: list[dict[str, Any]] = []
        for name, scores in zip(self.systems, self.scores, strict=True):
            finite = scores[np.isfinite(scores)]
            row = {"system": name, "n": int(finite.size)}
            if finite.size:
                row |= {"mean": float(finite.mean()), "low": float(finite.min()), "high": float(finite.max())}
            rows.append(row)
        return rows

    def summary(self) -> dict[str, Any]:
        """Return what ``import_summary`` will return of the run."""
        return {
            "name": self.metric.label,
            "level": self.metric.level,
            "items": len(self.positions),
            "missing": self.n_missing,
            **self.scale.summary(),
            "systems": [{"system": row["system"], "score": row.get("mean")} for row in self.rows()],
        }


def import_summary(run: ScoreRun) -> dict[str, Any]:
    """Return an imported run's metric, level, counts and scores of systems."""
    scores, scale = run.scores.select_related("system").order_by("position"), RunScale.of(run)
    return {
        "name": run.parameters["scorer"],
        "level": run.parameters["level"],
        "items": run.report["items"],
        "missing": run.report["missing"],
        "scores": scale.scores,
        "lowest": scale.lowest,
        "highest": scale.highest,
        "range_from": scale.source,
        "systems": [{"system": score.system.name, "score": score.score} for score in scores],
    }


# --- Preview ----------------------------------------------------------------------------------------------------------


def score_file_preview(
    *,
    dataset: Dataset,
    filename: str,
    content: bytes,
    options: ImportOptions,
    max_bytes: int = SCORES_PAGE_BYTES,
    drop_refused: bool = False,
) -> list[ScorePreview]:
    """Read a file and match it with the data set. Write nothing; report all errors at once.

    The files of scores in an archive may have ``max_bytes`` in all. ``drop_refused`` is for a page that is shown again
    after a refusal: a shown scale that is refused gives way to the proposed one, and the others stay.
    """
    if len(options.note) > NOTE_CHARACTERS:
        message = f"note: found {len(options.note):,} characters; accepted: up to {NOTE_CHARACTERS:,}."
        raise ScoreRunRefused.at("note", message)
    systems = sorted(dataset.systems.values_list("name", flat=True))
    items = list(Item.objects.filter(dataset=dataset).order_by("position").values_list("external_id", flat=True))
    problems = Problems(filename)
    tables = read_scores(content, filename, Known(systems, items), problems, max_bytes=max_bytes)
    options = options_by_column(options, [table.name for table in tables])
    options = without_refused(dataset, tables, options, None if drop_refused else options.skip)
    scales = column_scales(dataset, tables, options)
    for table, scale in zip(tables, scales, strict=True):
        if (options.name or table.name) not in options.skip:
            _check_range(table, scale.lowest, scale.highest, problems)
    problems.refuse()
    previews = [_preview(table, scale, items, systems, options) for table, scale in zip(tables, scales, strict=True)]
    names = [preview.column for preview in previews]
    for field, given in (("lower", options.lower), ("skip", options.skip)):
        if unknown := sorted(set(given) - set(names)):
            raise ScoreRunRefused.at(field, f"{field}: found {unknown[0]!r}; accepted: {', '.join(names)}.")
    return previews


def raters_marked(dataset: Dataset, previews: Sequence[ScorePreview]) -> list[ScorePreview]:
    """Return the previews, each with the reason if it is a rater's ratings, which as a metric would meet themselves."""
    named = raters_named(dataset, [preview.column for preview in previews])
    alike: dict[tuple[Any, ...], dict[str, Floats]] = {}
    for preview in previews:
        if preview.of_segments:
            key = tuple(preview.systems), tuple(preview.positions.tolist())
            alike.setdefault(key, {})[preview.column] = preview.scores
    rated = {name for key, columns in alike.items() for name in columns_of_ratings(dataset, columns, *key)}
    marked = []
    for preview in previews:
        name = preview.column
        reason = "the name of a rater of this data set" if name in named else ""
        marked.append(
            replace(preview, of_rater="values that are ratings of this data set" if name in rated else reason)
        )
    return marked


def _preview(
    table: FileScores,
    scale: ColumnScale,
    items: Sequence[str],
    systems: Sequence[str],
    options: ImportOptions,
) -> ScorePreview:
    column = options.name or table.name
    name = options.shown_names.get(column) or column
    if not name:
        message = f"name: found nothing; accepted: what the metric is called, in up to {NAME_CHARACTERS} characters."
        raise ScoreRunRefused.at("name", message)
    positions, scores = np.zeros(0, dtype=np.int64), table.scores
    if table.level == SEGMENT:
        positions = np.flatnonzero(np.isfinite(scores).any(axis=0))
        scores = scores[:, positions]
    try:
        metric = External(
            scorer=name,
            lower_is_better=is_lower(options, table, column),
            lowest=scale.lowest,
            highest=scale.highest,
            level=table.level,
            content=scores_digest(table.systems, [items[position] for position in positions.tolist()], scores),
        )
    except ValueError as error:
        parameter = str(error).split(":", 1)[0]
        raise ScoreRunRefused.at("name" if parameter == "scorer" else parameter, f"{error}.") from error
    missing = [system for system in systems if system not in table.systems]
    return ScorePreview(
        metric=metric,
        column=column,
        filename=table.filename,
        systems=table.systems,
        positions=positions,
        scores=scores,
        n_items=len(items),
        not_named=missing,
        left_out=table.left_out,
        read_as=table.read_as,
        scale=scale,
    )


def scores_digest(systems: Sequence[str], items: Sequence[str], scores: Floats) -> str:
    """Return the hash of the scores with their systems and items, whatever the layout of the file."""
    digest = hashlib.sha256()
    for names in (systems, items):
        digest.update("\x1f".join(names).encode() + b"\x1e")
    digest.update(little_endian(scores, "<f8"))
    return f"sha256:{digest.hexdigest()}"


def _check_range(table: FileScores, lowest: float | None, highest: float | None, problems: Problems) -> None:
    low, high = -np.inf if lowest is None else lowest, np.inf if highest is None else highest
    if not low < high:
        return  # no range: the metric will refuse it
    outside = outside_range(table.scores, low, high)
    accepted = f"a score from {low:g} to {high:g}, the given range"
    of_file = Problems(table.filename)
    for row, column in np.argwhere(outside).tolist():
        of_file.add(int(table.lines[row, column]), "score", repr(float(table.scores[row, column])), accepted)
    problems.include(of_file)


def previews_taken(previews: Sequence[ScorePreview], options: ImportOptions) -> list[ScorePreview]:
    """Return the previews of what is imported; refuse to import nothing."""
    taken = [preview for preview in previews if preview.column not in options.skip]
    if not taken:
        raise ScoreRunRefused("Found no column to import; accepted: at least one.")
    return taken


# --- Import -----------------------------------------------------------------------------------------------------------


def score_file_import(
    *,
    dataset: Dataset,
    by: User | None,
    filename: str,
    content: bytes,
    options: ImportOptions,
    max_bytes: int = SCORES_PAGE_BYTES,
) -> list[tuple[ScoreRun, bool]]:
    """Return a run for each metric and level in the file, and whether it is new. The same scores are imported once."""
    previews = score_file_preview(
        dataset=dataset, filename=filename, content=content, options=options, max_bytes=max_bytes
    )
    previews = previews_taken(previews, options)
    provenance = {
        "file": storable(filename)[:255],
        "sha256": hashlib.sha256(content).hexdigest(),
        "by": by.get_username() if by else "",
        "note": storable(options.note.strip()),
    }
    with transaction.atomic():
        runs: list[tuple[ScoreRun, bool]] = []
        group: RunGroup | GroupOf = GroupOf(RunOrigin.IMPORT, title=provenance["file"])
        for preview in previews:
            of_file = {"member": storable(preview.filename), "column": storable(preview.column)}
            member = {**provenance, **of_file, **preview.scale.provenance()}
            systems = list(System.objects.filter(dataset=dataset, name__in=preview.systems))
            texts = RunTexts(dataset, None, sorted(systems, key=lambda system: system.name))
            made = RunProvenance(member, by, group)
            run, is_new = imported_run_store(texts, preview.metric, preview.positions, preview.scores, made)
            group = run.group if is_new else group
            runs.append((run, is_new))
        created = [run for run, is_new in runs if is_new]
        if created:
            names = ", ".join(dict.fromkeys(preview.metric.scorer for preview in previews))
            audit_record(
                verb="score_run.import",
                summary=f"Imported scores of {names} from {provenance['file']}.",
                project=dataset.project,
                by=by,
                data={"runs": [run.pk for run in created], "dataset": dataset.slug, **provenance},
            )
    return runs


@dataclass(frozen=True)
class RunProvenance:
    """Where the scores of a run come from, who stores them, and in which group of runs."""

    imported: dict[str, Any]  # as the run's report keeps it
    by: User | None
    group: RunGroup | GroupOf


def imported_run_store(
    texts: RunTexts, metric: External, positions: Ints, scores: Floats, made: RunProvenance
) -> tuple[ScoreRun, bool]:
    """Return the run with these scores (T, S), or (T, 1) of systems, and whether it is new.

    Call it in a transaction. An existing run whose scale was assumed and is stated now says so from now on.
    """
    digests = texts_digests(list(texts.systems), sources=False)
    run, created = get_or_create_run(texts, metric, ALL, digests, made.by, made.group)
    if not created:
        if made.imported.get("range_from") == STATED:
            _scale_confirm(run, made.by)
        _note_file(run, made.imported)
        return run, False
    claim = job_claim(ScoreRun, run.pk)
    if claim is None:  # no other process can see a row of this transaction
        raise ScoreRunRefused(f"Run {run.number} is being worked on; try again.")
    if metric.level == SEGMENT:
        report = segments_store(run, positions, scores)
    else:
        report = _store_systems(run, scores[:, 0], texts.systems)
    report |= {"missing": int(np.isnan(scores).sum()), "imported": made.imported}
    claim.finish(report=report, progress_total=1)
    run.refresh_from_db()
    return run, True


def _note_file(run: ScoreRun, imported: Mapping[str, Any]) -> None:
    """Note on a run with these scores that they were imported from another file, too."""
    locked = ScoreRun.objects.select_for_update(no_key=True).get(pk=run.pk)
    origin = locked.report.get("imported", {})
    entry = {name: imported[name] for name in ("file", "sha256", "column") if name in imported}
    also = origin.get("also", [])
    if entry and not any(entry.items() <= known.items() for known in [origin, *also]):
        run.report = locked.report | {"imported": origin | {"also": [*also, entry]}}
        run.save(update_fields=["report"])


def _scale_confirm(run: ScoreRun, by: User | None) -> None:
    """Note that the scale of a run was stated, if it was assumed so far or not known."""
    locked = ScoreRun.objects.select_for_update(no_key=True).get(pk=run.pk)
    scale = RunScale.of(locked)
    if scale.source == STATED:
        return
    run.report = locked.report | {"imported": locked.report.get("imported", {}) | {"range_from": STATED}}
    run.save(update_fields=["report"])
    audit_record(
        verb="score_run.rescale",
        summary=f"Stated the scale of {run.parameters['scorer']}: {RunScale.of(run).words}.",
        project=run.project,
        by=by,
        data={"run": run.pk, "before": scale.source},
    )


def segments_store(run: ScoreRun, positions: Ints, scores: Floats, *, unscored: str = NOT_IN_FILE) -> dict[str, Any]:
    """Store one shard with the segments (S,) at these positions; the scores of systems are computed from it.

    ``unscored`` is why items have none of the scores (T, S). Call it in the transaction that ends the run.
    """
    ids = list(Item.objects.filter(dataset=run.dataset_id).order_by("position").values_list("id", "external_id"))
    statistics = mean_statistics(scores)
    any_system = statistics.valid.any(axis=0)
    scored = set(positions.tolist())
    dropped = {
        unscored: [name for position, (_, name) in enumerate(ids) if position not in scored],
        NO_SYSTEM: [ids[position][1] for position in positions[~any_system].tolist()],
    }
    item_ids = np.array([ids[position][0] for position in positions.tolist()], dtype=np.int64)
    fields = {
        **array_fields(item_ids, statistics, scores),
        "report": {
            "items": int(item_ids.size),
            "items_scored": int(any_system.sum()),
            "items_partly": partly_scored(statistics),
            "dropped": {reason: names for reason, names in dropped.items() if names},
            "references": 0,
            "references_in_release": 0,
            "aggregate": statistics.aggregate.parameters(),
            "counted": int(any_system.sum()),
            "counted_by_system": statistics.valid.sum(axis=1).tolist(),
        },
    }
    whole_run_store(run, fields)
    return run_finish(run)


def _store_systems(run: ScoreRun, scores: Floats, systems: Sequence[System]) -> dict[str, Any]:
    """Store scores of systems, and no shard: there are no segments."""
    SystemScore.objects.bulk_create(
        SystemScore(
            run=run,
            system=system,
            position=position,
            score=finite_or_none(value),
            undefined_reason=NOT_IN_FILE if np.isnan(value) else "",
        )
        for position, (system, value) in enumerate(zip(systems, scores.tolist(), strict=True))
    )
    counts = dict.fromkeys(("items", "items_scored", "references", "references_in_release"), 0)
    ScoreRun.objects.filter(pk=run.pk).update(bootstrap={"reason": NO_SEGMENTS})
    return counts | {"dropped": [], "pooled": False, "aggregate": MeanAggregate().parameters()}
