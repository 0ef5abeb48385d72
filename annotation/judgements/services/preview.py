"""Previews of files of ratings, before anything is stored, and uploads that wait for confirmation."""

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.file_limits import PAGE, PAGE_BYTES
from annotation.core.jobs import job_requeue
from annotation.core.problems import Problems, storable_json
from annotation.datasets.services.imports import resolve_format
from annotation.judgements.services.content import Judgement, RatingContent
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.label_studio import first_tasks
from annotation.judgements.services.options import AGGREGATES, RATING_ENDINGS, SHAPES, RatingOptions
from annotation.judgements.services.recognition import known_columns, recognised
from annotation.judgements.services.store import Judged, dataset_index, join_shared, match, rating_counts, with_aliases
from annotation.models import Dataset, JobState, RatingImport

PREVIEW = "preview"  # the entry of the report of a file that awaits confirmation
SHOWN_JUDGEMENTS = 5
SHOWN_CHARACTERS = 80


@dataclass
class Preview:
    """``partial``: only the beginning was read; counts cover that part. ``judges``: columns not taken for raters."""

    options: RatingOptions
    sentence: str
    criteria: list[str] = field(default_factory=list)
    scales: list[dict[str, Any]] = field(default_factory=list)
    sample: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    partial: bool = False
    judges: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = storable_json(vars(self) | {"options": self.options.as_json()})
        return document


def rating_preview(
    *, dataset: Dataset, filename: str, content: bytes, file_format: str | None, options: RatingOptions
) -> Preview:
    """Read the file, or its beginning, and match it with the data set. Nothing is written."""
    file_format = resolve_format(filename, file_format, endings=RATING_ENDINGS)
    if not options.shape:
        known = known_columns(dataset)
        options = recognised(content, file_format=file_format, options=options, known=known)
    beginning = first_tasks(content) if file_format == "json" else _first_lines(content)
    partial = len(beginning) < len(content)
    problems = Problems(filename)
    try:
        read = read_ratings(
            beginning, filename=filename, file_format=file_format, options=options, collect=problems, accepted=PAGE
        )
    except ImportRefused:
        sentence = f"This was read as {SHAPES[options.shape].words}, but could not be understood."
        return _refused(Preview(options, sentence, partial=partial), problems)
    index = with_aliases(dataset_index(dataset, read), options.aliases)
    counts = _counts(read, join_shared(read, match(read.judgements, index, dataset, problems)))
    preview = Preview(
        options=read.options,
        sentence=_sentence(read, counts),
        criteria=read.criteria,
        scales=[_scale(read, index) for index in range(len(read.criteria))],
        sample=[_shown(judgement, read) for judgement in read.judgements[:SHOWN_JUDGEMENTS]],
        counts=counts,
        partial=partial,
        judges=read.judges,
    )
    return _refused(preview, problems)


def _first_lines(content: bytes) -> bytes:
    """Return the lines from the beginning that a page may read."""
    end = n_cells = 0
    for number, line in enumerate(io.BytesIO(content), start=1):
        n_cells += 1 + line.count(b",") + line.count(b"\t")
        if end + len(line) > PAGE_BYTES or number > PAGE.rows or n_cells > PAGE.cells:
            break
        end += len(line)
    return content[: end or PAGE_BYTES]


def _refused(preview: Preview, problems: Problems) -> Preview:
    preview.errors = sorted(problems.rows, key=lambda row: row["line"] or 0)
    preview.total = problems.total
    return preview


def _counts(read: RatingContent, matched: list[Judged | None]) -> dict[str, int]:
    """Count as the import would; what the data set does not contain counts only as a judgement."""
    known = [pair for pair in zip(read.judgements, matched, strict=True) if pair[1] is not None]
    storable = replace(read, judgements=[judgement for judgement, _ in known])
    counts = rating_counts(storable, [judged for _, judged in known if judged])
    counts |= {"judgements": len(read.judgements), "ratings": read.n_ratings}
    if not read.aggregate:
        counts["raters"] = len({judgement.rater for judgement in read.judgements})
    return counts | read.oddities.counts()


def _sentence(read: RatingContent, counts: Mapping[str, int]) -> str:
    """Return ``This looks like one rating a row: 3 raters, 2 criteria, 1,200 judgements of 400 responses …``"""
    parts = [
        "" if read.aggregate else _many(counts["raters"], "rater"),
        _many(len(read.criteria), "criterion", "criteria"),
        _many(counts["judgements"], read.aggregate or "judgement"),
    ]
    known = counts.get("rated_responses", 0)
    words = f"{AGGREGATES[read.aggregate].lower()} only" if read.aggregate else SHAPES[read.options.shape].words
    contents = ", ".join(part for part in parts if part)
    return f"This looks like {words}: {contents} of {_many(known, 'response')} of this data set."


def _scale(read: RatingContent, index: int) -> dict[str, Any]:
    """Return a criterion's scale, where it comes from, and the values in the file."""
    name = read.criteria[index]
    values = [value for judgement in read.judgements if (value := judgement.values[index]) is not None]
    numbers = [value for value in values if not math.isnan(value)]
    low, high = read.options.scale_of(name)
    return {
        "criterion": name,
        "low": low,
        "high": high,
        "inferred": name in read.inferred,
        "least": min(numbers, default=None),
        "most": max(numbers, default=None),
    }


def scale_lines(preview: "Preview") -> list[str]:
    """Return each criterion's scale in words, with the values in the file."""
    return [
        f"{scale['criterion']}: {scale['low']} to {scale['high']}"
        + (", taken from its values" if scale["inferred"] else "")
        + ("" if scale["least"] is None else f"; values {scale['least']:g} to {scale['most']:g}")
        for scale in preview.scales
    ]


def judges_line(judges: Sequence[str]) -> str:
    """Return which columns were not taken for raters, and why.

    >>> judges_line(["gpt_judge"])
    'Left out: gpt_judge, which looks like a judge’s scores'
    """
    if not judges:
        return ""
    return f"Left out: {', '.join(judges)}, which {'looks' if len(judges) == 1 else 'look'} like a judge’s scores"


def import_label(preview: Mapping[str, Any]) -> str:
    """Return what a stored preview's button imports.

    >>> import_label({"options": {"aggregate": ""}, "counts": {"raters": 3}})
    'Import 3 raters’ ratings'
    >>> import_label({"options": {"aggregate": ""}, "counts": {"raters": 3}, "partial": True})  # some more may follow
    'Import the ratings'
    """
    if aggregate := preview["options"].get("aggregate"):
        return f"Import the {AGGREGATES[aggregate].lower()}"
    if preview.get("partial"):
        return "Import the ratings"
    n = preview["counts"].get("raters", 0)
    return "Import 1 rater’s ratings" if n == 1 else f"Import {n:,} raters’ ratings"


def _many(count: int, singular: str, plural: str = "") -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def _shown(judgement: Judgement, read: RatingContent) -> dict[str, Any]:
    text = judgement.text if len(judgement.text) <= SHOWN_CHARACTERS else judgement.text[:SHOWN_CHARACTERS] + "…"
    return {
        "place": judgement.path or f"line {judgement.line}",
        "rater": "" if read.aggregate else judgement.rater,
        "item": judgement.item,
        "system": judgement.system,
        "text": text,
        "values": ["no number" if value is not None and math.isnan(value) else value for value in judgement.values],
        "sent": judgement.time.isoformat() if judgement.time else "",
    }


# --- An upload that waits ---------------------------------------------------------------------------------------------


def is_draft(job: RatingImport) -> bool:
    """Return whether the file awaits confirmation; its state is cancelled, so that no worker takes it."""
    return job.state == JobState.CANCELLED and PREVIEW in job.report


def rating_import_read_again(*, job: RatingImport, options: RatingOptions) -> None:
    """Preview a waiting file with other options."""
    _check_draft(job)
    preview = rating_preview(
        dataset=job.dataset,
        filename=job.filename,
        content=bytes(job.content),
        file_format=job.file_format,
        options=options,
    )
    with transaction.atomic():
        _check_draft(_locked(job))
        RatingImport.objects.filter(pk=job.pk).update(
            options=preview.options.as_json(), report={PREVIEW: preview.as_json()}, finished_at=Now()
        )


@transaction.atomic
def rating_import_confirm(*, job: RatingImport) -> bool:
    """Queue a waiting file as previewed; return False if it is queued already."""
    fresh = _locked(job)
    if not is_draft(fresh):
        return False
    RatingImport.objects.filter(pk=job.pk).update(report={})
    return job_requeue(fresh)


@transaction.atomic
def rating_import_discard(*, job: RatingImport) -> None:
    """Delete a file that was never confirmed."""
    fresh = _locked(job)
    _check_draft(fresh)
    fresh.delete()


def _locked(job: RatingImport) -> RatingImport:
    return RatingImport.objects.select_for_update(of=("self",)).defer("content").get(pk=job.pk)


def _check_draft(job: RatingImport) -> None:
    if not is_draft(job):
        raise AnnotationError(f"The import of {job.filename} is {job.state}; accepted: a file that is not confirmed.")
