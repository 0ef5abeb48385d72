"""Scores made elsewhere become score runs: looked at first, then stored, whole or not at all."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db import transaction

from annotation.core.jobs import job_claim
from annotation.core.numbers import finite_or_none
from annotation.core.problems import Problems, storable
from annotation.models import Dataset, Item, System, User
from annotation.projects.services.audit import audit_record
from metrics.errors import ScoreRunRefused
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.external import NAME_CHARACTERS, NOT_IN_FILE, SEGMENT, External
from metrics.scoring.metric import mean_statistics
from metrics.selectors.corpus import texts_digests
from metrics.services.runs import ALL, run_signature
from metrics.services.score_files import FileScores, Known, read_scores
from metrics.services.scoring import little_endian, partly_scored
from metrics.services.shards import run_finish, whole_run_store

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NOTE_CHARACTERS = 2000
ROUNDING = 1e-9  # of a bound: sums of floats may lie above 1 by a last bit
NO_SYSTEM = "no system has a score"
NO_SEGMENTS = "scores of systems alone were imported, without segments to resample"


@dataclass(frozen=True)
class ImportOptions:
    """What a file of scores does not say of itself.

    Attributes
    ----------
    name : str
        Of the metric; of an archive, whose files are named, it must be empty.
    lower : collection of str
        Names of metrics of which lower scores are better.
    lower_is_better : bool
        Of all metrics in the file.
    lowest, highest : float, optional
        What a score may be; a file with another one is refused.
    note : str
        Version of the scorer, settings, licence, a link: whatever a reader should know.
    """

    name: str = ""
    lower_is_better: bool = False
    lower: Collection[str] = ()
    lowest: float | None = None
    highest: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Understood:
    """One run to be, for somebody to look at.

    Attributes
    ----------
    metric : External
    filename : str
    systems : sequence of T str
        By name.
    places : (S,) int
        Places in the data set of the items with at least one score; empty for scores of systems.
    scores : (T, S) float, or (T, 1)
        NaN where there is none.
    n_items : int
        Of the data set.
    not_named : sequence of str
        Systems of the data set that have no score in the file.
    """

    metric: External
    filename: str
    systems: Sequence[str]
    places: Ints
    scores: Floats
    n_items: int
    not_named: Sequence[str] = field(default=())

    @property
    def of_segments(self) -> bool:
        return self.metric.level == SEGMENT

    @property
    def n_missing(self) -> int:
        """Scores that are missing among those of the run."""
        return int(np.isnan(self.scores).sum())

    def rows(self) -> list[dict[str, Any]]:
        """Name, number of scores, mean and extremes of each system, for a page."""
        found = []
        for name, own in zip(self.systems, self.scores, strict=True):
            there = own[np.isfinite(own)]
            numbers = {"mean": there.mean(), "low": there.min(), "high": there.max()} if there.size else {}
            found.append({"system": name, "n": int(there.size), **{key: float(one) for key, one in numbers.items()}})
        return found


# --- Looking ----------------------------------------------------------------------------------------------------------


def score_file_look(*, dataset: Dataset, filename: str, content: bytes, options: ImportOptions) -> list[Understood]:
    """What a file holds, matched with the data set. Nothing is written; whatever is wrong is told at once."""
    _check_note(options)
    systems = sorted(dataset.systems.values_list("name", flat=True))
    items = list(Item.objects.filter(dataset=dataset).order_by("position").values_list("external_id", flat=True))
    problems = Problems(filename)
    read = read_scores(content, filename, Known(systems, items), problems, max_bytes=settings.UPLOAD_MAX_BYTES)
    for one in read:
        _check_range(one, *_range(options, one), problems)
    problems.refuse()
    found = [_understood(one, items, systems, options, several=len(read) > 1) for one in read]
    unknown = sorted(set(options.lower) - {one.metric.scorer for one in found})
    if unknown:
        there = ", ".join(one.metric.scorer for one in found)
        raise ScoreRunRefused.at("lower", f"lower: found {unknown[0]!r}; accepted: {there}.")
    return found


def _check_note(options: ImportOptions) -> None:
    if len(options.note) > NOTE_CHARACTERS:
        message = f"note: found {len(options.note):,} characters; accepted: up to {NOTE_CHARACTERS:,}."
        raise ScoreRunRefused.at("note", message)


def _understood(
    read: FileScores, items: Sequence[str], systems: Sequence[str], options: ImportOptions, *, several: bool
) -> Understood:
    if several and options.name:
        message = "name: found a name; accepted for an archive of several metrics: none, its files name them."
        raise ScoreRunRefused.at("name", message)
    name = options.name or read.name
    if not name:
        message = f"name: found nothing; accepted: what the metric is called, in up to {NAME_CHARACTERS} characters."
        raise ScoreRunRefused.at("name", message)
    of_segments = read.level == SEGMENT
    places = np.flatnonzero(np.isfinite(read.scores).any(axis=0)) if of_segments else np.zeros(0, dtype=np.int64)
    scores = read.scores[:, places] if of_segments else read.scores
    told = read.described
    lowest, highest = _range(options, read)
    lower = options.lower_is_better or name in options.lower or told.get("lower_is_better") is True
    try:
        metric = External(
            scorer=name,
            lower_is_better=lower,
            lowest=lowest,
            highest=highest,
            level=read.level,
            content=_digest(read.systems, [items[place] for place in places.tolist()], scores),
        )
    except ValueError as error:
        parameter = str(error).split(":", 1)[0]
        raise ScoreRunRefused.at("name" if parameter == "scorer" else parameter, f"{error}.") from error
    missing = [one for one in systems if one not in read.systems]
    return Understood(metric, read.filename, read.systems, places, scores, len(items), missing)


def _range(options: ImportOptions, read: FileScores) -> tuple[float | None, float | None]:
    told = read.described
    return _bound(options.lowest, told.get("lowest")), _bound(options.highest, told.get("highest"))


def _bound(given: float | None, told: object) -> float | None:
    """The person's word first, then the archive's."""
    if given is not None:
        return float(given)
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None


def _digest(systems: Sequence[str], items: Sequence[str], scores: Floats) -> str:
    """Of the scores with what they are of, however the file was laid out."""
    digest = hashlib.sha256()
    for names in (systems, items):
        digest.update("\x1f".join(names).encode() + b"\x1e")
    digest.update(little_endian(scores, "<f8"))
    return f"sha256:{digest.hexdigest()}"


def _check_range(read: FileScores, lowest: float | None, highest: float | None, problems: Problems) -> None:
    low, high = -np.inf if lowest is None else lowest, np.inf if highest is None else highest
    if not low < high:
        return  # no range: the metric will refuse it
    slack = ROUNDING * max([1.0, *(abs(end) for end in (low, high) if np.isfinite(end))])
    outside = (read.scores < low - slack) | (read.scores > high + slack)
    accepted = f"a score from {low:g} to {high:g}, as the range was given"
    own = Problems(read.filename)
    for row, column in np.argwhere(outside).tolist():
        own.add(int(read.lines[row, column]), "score", repr(float(read.scores[row, column])), accepted)
    problems.include(own)


# --- Storing ----------------------------------------------------------------------------------------------------------


def score_file_import(
    *, dataset: Dataset, by: User | None, filename: str, content: bytes, options: ImportOptions
) -> list[tuple[ScoreRun, bool]]:
    """A run for each metric and level in the file, and whether it is new: the same scores again are looked up."""
    found = score_file_look(dataset=dataset, filename=filename, content=content, options=options)
    provenance = {
        "file": storable(filename)[:255],
        "sha256": hashlib.sha256(content).hexdigest(),
        "by": by.get_username() if by else "",
        "note": storable(options.note.strip()),
    }
    with transaction.atomic():
        runs = [_store(dataset, by, one, provenance | {"member": storable(one.filename)}) for one in found]
        created = [run for run, is_new in runs if is_new]
        if created:
            names = ", ".join(dict.fromkeys(one.metric.scorer for one in found))
            audit_record(
                verb="score_run.import",
                summary=f"Imported scores of {names} from {provenance['file']}.",
                project=dataset.project,
                by=by,
                data={"runs": [run.pk for run in created], "dataset": dataset.slug, **provenance},
            )
    return runs


def _store(dataset: Dataset, by: User | None, one: Understood, provenance: dict[str, Any]) -> tuple[ScoreRun, bool]:
    systems = list(System.objects.filter(dataset=dataset, name__in=one.systems))
    systems.sort(key=lambda system: system.name)
    signature, signature_hash = run_signature(
        one.metric, ALL, dataset, None, systems, texts_digests(systems, sources=False)
    )
    run, created = ScoreRun.objects.get_or_create(
        project=dataset.project,
        signature_hash=signature_hash,
        defaults={
            "dataset": dataset,
            "metric": one.metric.name,
            "parameters": one.metric.parameters(),
            "subset": ALL.as_dict(),
            "signature": signature,
            "requested_by": by,
        },
    )
    if not created:
        return run, False
    run.systems.set(systems)
    claim = job_claim(ScoreRun, run.pk)
    if claim is None:  # nobody else can see a row of this transaction
        raise ScoreRunRefused(f"Run {run.pk} is being worked on; try again.")
    report = _store_segments(run, one) if one.of_segments else _store_systems(run, one, systems)
    own = {"missing": one.n_missing, "imported": provenance}
    claim.finish(report=report | own, progress_total=1)
    run.refresh_from_db()
    return run, True


def _store_segments(run: ScoreRun, one: Understood) -> dict[str, Any]:
    """One shard with all segments; scores of systems follow from it as those of any run do."""
    ids = list(Item.objects.filter(dataset=run.dataset_id).order_by("position").values_list("id", "external_id"))
    statistics = mean_statistics(one.scores)
    any_system = statistics.valid.any(axis=0)
    kept = set(one.places.tolist())
    dropped = {
        NOT_IN_FILE: [name for place, (_, name) in enumerate(ids) if place not in kept],
        NO_SYSTEM: [ids[place][1] for place in one.places[~any_system].tolist()],
    }
    item_ids = np.array([ids[place][0] for place in one.places.tolist()], dtype=np.int64)
    fields = {
        "n": item_ids.size,
        "item_ids": little_endian(item_ids, "<i8"),
        "segment_scores": little_endian(one.scores, "<f8"),
        "valid": little_endian(statistics.valid, "?"),
        "statistics": little_endian(statistics.packed, "<f8"),
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


def _store_systems(run: ScoreRun, one: Understood, systems: Sequence[System]) -> dict[str, Any]:
    """Scores of systems, and no shard: there are no segments."""
    values = one.scores[:, 0].tolist()
    SystemScore.objects.bulk_create(
        SystemScore(
            run=run,
            system=system,
            position=place,
            score=finite_or_none(value),
            undefined_reason=NOT_IN_FILE if np.isnan(value) else "",
        )
        for place, (system, value) in enumerate(zip(systems, values, strict=True))
    )
    counts = dict.fromkeys(("items", "items_scored", "references", "references_in_release"), 0)
    ScoreRun.objects.filter(pk=run.pk).update(bootstrap={"reason": NO_SEGMENTS})
    return counts | {"dropped": [], "pooled": False, "aggregate": MeanAggregate().parameters()}
