"""Files of weights made elsewhere as jobs: checked and queued by a person, stored by a worker, whole or not at all."""

import hashlib
from typing import Any

from django.db import transaction

from annotation.core.errors import ImportRefused
from annotation.core.jobs import Claim, job_run
from annotation.core.problems import Problems, storable
from annotation.datasets.services.imports import refusal_report
from annotation.models import Dataset, ReferenceSet, SourceKind, User, WeightsImport
from annotation.references.releases.services.imports import import_check, read_weights, weights_store

STEPS = 2  # reading, storing


def weights_import_create(
    *,
    dataset: Dataset,
    filename: str,
    content: bytes,
    by: User | None,
    name: str = "",
    reference_set: ReferenceSet | None = None,
    file_format: str | None = None,
    add_texts: bool = False,
    kind: str = SourceKind.HUMAN,
    origin: str = "",
    licence: str = "",
) -> WeightsImport:
    """Queue a file; see ``release_import``. The caller enqueues ``references.tasks.weights_import_execute``."""
    told = {"name": name, "kind": str(kind), "origin": origin, "licence": licence}
    written = import_check(
        dataset=dataset, filename=filename, reference_set=reference_set, file_format=file_format, **told
    )
    return WeightsImport.objects.create(
        project=dataset.project,
        dataset=dataset,
        reference_set=reference_set,
        requested_by=by,
        filename=storable(filename)[:255],
        content=content,
        options={**told, "file_format": written, "add_texts": add_texts},
        progress_total=STEPS,
    )


def weights_import_execute(*, import_id: int) -> int | None:
    """Claims, works, finishes; safe to run twice. The id of the release that it made, if it did."""
    job_run(WeightsImport, import_id, _execute)
    return WeightsImport.objects.values_list("release_id", flat=True).get(pk=import_id)


def _execute(job: WeightsImport, claim: Claim) -> None:
    asked: dict[str, Any] = dict(job.options)
    problems, content = Problems(job.filename), bytes(job.content)
    try:
        claim.progress(0, STEPS, f"Reading {job.filename}")
        found = read_weights(content, asked.pop("file_format"), problems)
        claim.progress(1, STEPS, f"Storing {len(found.drafts):,} weights")
        with transaction.atomic():
            claim.lock()
            release = weights_store(
                dataset=job.dataset,
                filename=job.filename,
                sha256=hashlib.sha256(content).hexdigest(),
                found=found,
                problems=problems,
                by=job.requested_by,
                reference_set=job.reference_set,
                **asked,
            )
            claim.finish(release=release, report={}, progress_total=STEPS)
    except ImportRefused as refusal:
        claim.fail(refusal.message, report=refusal_report(refusal))
