"""Imports as jobs: checked and queued for a user, done by a worker, whole or not at all."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.jobs import Claim, job_run
from annotation.core.names import slug_of
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.core.progress import Beat, Progress, noop
from annotation.core.races import refused_if_taken
from annotation.core.rows import ENDINGS, OTHER_ENDINGS, format_of
from annotation.datasets.services.content import DatasetContent
from annotation.datasets.services.datasets import DETAILS
from annotation.datasets.services.drafts import ALWAYS, ASK, AT_NEED, given_mapping, wait_for_mapping
from annotation.datasets.services.export import dataset_rehash
from annotation.datasets.services.files import TURN_SEPARATOR, read_dataset
from annotation.datasets.services.looking import has_own_names
from annotation.datasets.services.records import DATASET_ENDINGS
from annotation.datasets.services.store import store_dataset
from annotation.models import Dataset, DatasetImport, Project, User

STEPS = 2  # reading, storing
# Sources of content other than a file, by the name of the import's option; rooms above register theirs.
CONTENT_SOURCES: dict[str, Callable[[Mapping[str, Any], Beat], tuple[DatasetContent, dict[str, int]]]] = {}


def resolve_format(filename: str, file_format: str | None, *, endings: Mapping[str, str] = ENDINGS) -> str:
    """Return the given format, or else that of the file's name."""
    resolved = file_format or format_of(filename, endings)
    if resolved is None or resolved not in endings.values():
        given = file_format or filename
        *most, last = [ending for ending in endings if ending not in OTHER_ENDINGS]
        raise AnnotationError.at(
            "file_format",
            f"Format: found {given!r}; accepted: {', '.join(most)} or {last}. For another ending, choose the format.",
        )
    return resolved


def dataset_slug(project: Project, name: str) -> str:
    """Return the address of a new data set, unless another data set of the project has it."""
    slug = slug_of(name)
    if Dataset.objects.filter(project=project, slug=slug).exists():
        raise _taken(slug)
    return slug


def _taken(slug: str) -> AnnotationError:
    return AnnotationError.at("name", f"Name: this project has a data set {slug!r} already; choose another name.")


def dataset_import_create(
    *,
    project: Project,
    by: User | None,
    name: str,
    filename: str,
    content: bytes,
    file_format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    ask: bool = False,
    **options: str,
) -> DatasetImport:
    """Queue a file for ``dataset_import_execute``; ``options`` are the rule, the turn separator and ``DETAILS``.

    ``mapping`` says what its fields mean. With ``ask``, a file without Assay's names waits for one: see ``drafts``.
    """
    dataset_slug(project, name)
    normalisation = options.get("normalisation", DEFAULT_RULE)
    if normalisation not in RULES:
        raise AnnotationError.at("normalisation", f"Rule: found {normalisation!r}; accepted: {', '.join(RULES)}.")
    reading: dict[str, Any] = {
        "normalisation": normalisation,
        "turn_separator": options.get("turn_separator", TURN_SEPARATOR),
    }
    if mapping:
        reading["mapping"] = given_mapping(mapping)
    elif ask:
        reading[ASK] = AT_NEED
    return DatasetImport.objects.create(
        project=project,
        requested_by=by,
        name=name,
        filename=filename[:255],
        content=content,
        file_format=resolve_format(filename, file_format, endings=DATASET_ENDINGS),
        options=reading | {name: options[name] for name in DETAILS if options.get(name)},
    )


def dataset_import_execute(*, import_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(DatasetImport, import_id, _execute_dataset_import, progress=progress)


def reading_beat(claim: Claim, note: str) -> Beat:
    """Return the callback by which reading a file reports progress."""
    return lambda: claim.progress(0, STEPS, note)


def _execute_dataset_import(job: DatasetImport, claim: Claim) -> None:
    def work() -> None:
        note = f"Reading {job.filename}"
        claim.progress(0, STEPS, note)
        separator = job.options.get("turn_separator", TURN_SEPARATOR)
        beat = reading_beat(claim, note)
        if source := next((name for name in CONTENT_SOURCES if name in job.options), None):
            read, other_counts = CONTENT_SOURCES[source](job.options[source], beat)
        else:
            content = bytes(job.content)
            if _asks(job, content):
                wait_for_mapping(job, claim, content, beat)
                return
            file = {"filename": job.filename, "file_format": job.file_format, "turn_separator": separator}
            read, oddities = read_dataset(content, **file, mapping=job.options.get("mapping"), beat=beat)
            other_counts = oddities.counts()
        claim.progress(1, STEPS, f"Storing {len(read.items)} items")
        with transaction.atomic():
            claim.lock()
            dataset = dataset_create(
                project=job.project,
                name=job.name,
                content=read,
                normalisation=job.options.get("normalisation", DEFAULT_RULE),
                **{key: job.options[key] for key in DETAILS if key in job.options},
            )
            counts = read.counts(dataset.normalisation) | other_counts
            claim.finish(dataset=dataset, report={"counts": counts}, progress_total=STEPS)

    run_and_report_row_errors(claim, work)


def _asks(job: DatasetImport, content: bytes) -> bool:
    """Return whether a person must say what the fields mean before anything is imported."""
    ask = job.options.get(ASK)
    return ask == ALWAYS or (ask == AT_NEED and not has_own_names(content, job.file_format))


def run_and_report_row_errors(claim: Claim, work: Callable[[], None]) -> None:
    """Run ``work``; a refused file fails the job, with its row errors in the report for the page and the API."""
    try:
        work()
    except ImportRefused as refusal:
        claim.fail(refusal.message, report=refusal_report(refusal))


def refusal_report(refusal: ImportRefused) -> dict[str, Any]:
    return {"errors": refusal.rows, "total": refusal.total}


@transaction.atomic
def dataset_create(
    *,
    project: Project,
    name: str,
    content: DatasetContent,
    slug: str | None = None,
    normalisation: str = DEFAULT_RULE,
    **details: str,
) -> Dataset:
    """Create a data set with everything in ``content``."""
    slug = slug or dataset_slug(project, name)
    with refused_if_taken("dataset_slug_once_per_project", _taken(slug)):
        dataset = Dataset.objects.create(project=project, name=name, slug=slug, normalisation=normalisation, **details)
    store_dataset(content, dataset)
    dataset_rehash(dataset)
    return dataset
