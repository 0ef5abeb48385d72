"""Imports of ratings as jobs: queued by a person, executed by a worker, all or nothing."""

import hashlib
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotation.core.jobs import Claim, job_run
from annotation.core.names import check_length
from annotation.core.problems import Problems
from annotation.core.progress import Progress, noop
from annotation.datasets.services.imports import STEPS, reading_beat, resolve_format, run_and_report_row_errors
from annotation.judgements.services.content import RatingContent
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.options import RATING_ENDINGS, RatingOptions
from annotation.judgements.services.preview import PREVIEW, rating_preview
from annotation.judgements.services.recognition import known_columns, recognised
from annotation.judgements.services.store import (
    campaign_name_taken,
    dataset_index,
    join_shared,
    match,
    store_aliases,
    store_campaign,
)
from annotation.models import Campaign, Dataset, JobState, Project, RatingImport, User


def check_campaign_name(project: Project, name: str) -> None:
    check_length(name)
    if Campaign.objects.filter(project=project, name=name).exists():
        raise campaign_name_taken(name)


def rating_import_create(
    *,
    dataset: Dataset,
    by: User | None,
    name: str,
    filename: str,
    content: bytes,
    file_format: str | None = None,
    options: RatingOptions | None = None,
    draft: bool = False,
) -> RatingImport:
    """Store a file of ratings. The caller enqueues ``judgements.tasks.rating_import_execute`` with its id.

    A draft is stored with its preview, and waits until ``rating_import_confirm`` queues it.
    """
    check_campaign_name(dataset.project, name)
    resolved = resolve_format(filename, file_format, endings=RATING_ENDINGS)
    options = options or RatingOptions()
    waiting: dict[str, Any] = {}
    if draft:
        preview = rating_preview(
            dataset=dataset, filename=filename, content=content, file_format=resolved, options=options
        )
        options = preview.options
        waiting = {"report": {PREVIEW: preview.as_json()}, "state": JobState.CANCELLED, "finished_at": Now()}
    elif not options.shape:
        options = recognised(content, file_format=resolved, options=options, known=known_columns(dataset))
    return RatingImport.objects.create(
        project=dataset.project,
        dataset=dataset,
        requested_by=by,
        name=name,
        filename=filename[:255],
        content=content,
        file_format=resolved,
        options=options.as_json(),
        **waiting,
    )


def rating_import_execute(*, import_id: int, progress: Progress = noop) -> None:
    """Execute the import; safe to run twice."""
    job_run(RatingImport, import_id, _execute_rating_import, progress=progress)


def _execute_rating_import(job: RatingImport, claim: Claim) -> None:
    def work() -> None:
        note = f"Reading {job.filename}"
        claim.progress(0, STEPS, note)
        problems = Problems(job.filename)
        content = read_ratings(
            bytes(job.content),
            filename=job.filename,
            file_format=job.file_format,
            options=RatingOptions(**job.options),
            beat=reading_beat(claim, note),
            collect=problems,
        )
        claim.progress(1, STEPS, f"Storing {len(content.judgements)} judgements")
        with transaction.atomic():
            claim.lock()
            campaign, counts = campaign_import(
                dataset=job.dataset,
                name=job.name,
                by=job.requested_by,
                content=content,
                filename=job.filename,
                problems=problems,
            )
            report: dict[str, Any] = {"counts": counts}
            if content.judges:
                report |= {"judges": content.judges, "sha256": hashlib.sha256(job.content).hexdigest()}
            claim.finish(campaign=campaign, report=report, progress_total=STEPS)

    run_and_report_row_errors(claim, work)


@transaction.atomic
def campaign_import(
    *,
    dataset: Dataset,
    name: str,
    by: User | None,
    content: RatingContent,
    filename: str,
    problems: Problems | None = None,
) -> tuple[Campaign, dict[str, int]]:
    """Create a closed campaign with everything in ``content``; return it with its counts.

    Refuse a file that names what the data set lacks, together with the ``problems`` from reading it.
    """
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)  # other names of systems: one import at a time
    check_campaign_name(dataset.project, name)
    problems = problems or Problems(filename)
    index = dataset_index(dataset, content)
    credited = store_aliases(dataset, index, content.options.aliases, problems)
    matched = join_shared(content, match(content.judgements, index, dataset, problems))
    problems.refuse()
    judged = [response for response in matched if response is not None]
    campaign, counts = store_campaign(
        dataset=dataset,
        name=name,
        content=content,
        judged=judged,
        source={"filename": filename, "imported_by": by.get_username() if by else ""},
    )
    return campaign, counts | {"alias_outputs": credited} | content.oddities.counts()
