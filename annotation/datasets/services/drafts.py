"""Uploads that wait until a person has said what their fields mean."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_requeue
from annotation.datasets.mapping.rules import checked_mapping
from annotation.datasets.selectors.onward import NUMBERS
from annotation.datasets.services.looking import look_at, numbers_left_out
from annotation.models import DatasetImport, Job, JobState, Project

AnyImport = TypeVar("AnyImport", bound=Job)
LOOK = "look"  # the entry of the report of a file that awaits a mapping
ASK = "ask"  # the option of an upload whose mapping a person decides: AT_NEED or ALWAYS
AT_NEED, ALWAYS = "at need", "always"
UNCONFIRMED_DAYS = 14  # after which a file that awaits confirmation is deleted
REMEMBERED = 50  # imports whose mappings are proposed again


def is_draft(job: DatasetImport) -> bool:
    """Return whether the file awaits a mapping; its state is cancelled, so that no worker takes it."""
    return job.state == JobState.CANCELLED and LOOK in job.report


def awaiting(jobs: QuerySet[AnyImport], mark: str = LOOK) -> QuerySet[AnyImport]:
    """Return the imports whose files await confirmation: cancelled, with this entry in their report."""
    return jobs.filter(state=JobState.CANCELLED, report__has_key=mark)


def kept_until(job: Job) -> datetime | None:
    """Return when a file that awaits confirmation is deleted."""
    return job.finished_at and job.finished_at + timedelta(days=UNCONFIRMED_DAYS)


def unconfirmed_sweep(jobs: QuerySet[AnyImport], mark: str = LOOK) -> None:
    """Delete files that were not confirmed in time."""
    awaiting(jobs, mark).filter(finished_at__lt=Now() - timedelta(days=UNCONFIRMED_DAYS)).delete()


def wait_for_mapping(job: DatasetImport, claim: Claim, content: bytes, beat: Any) -> None:
    """Look at the file and let the job wait, with the fields and a proposal."""
    look = look_at(content, filename=job.filename, file_format=job.file_format, beat=beat).as_json()
    earlier = job.options.get("mapping") or _earlier_mapping(job.project, look["mapping"], look)
    claim.cancelled(report={LOOK: look | {"mapping": earlier or look["mapping"]}})


def _earlier_mapping(project: Project, proposed: Mapping[str, str], look: dict[str, Any]) -> dict[str, str] | None:
    """Return the mapping of the last import of the project with the same fields."""
    done = project.dataset_imports.filter(state=JobState.DONE, options__has_key="mapping").defer("content")
    for earlier in done.order_by("-pk")[:REMEMBERED]:
        mapping: dict[str, str] = earlier.options["mapping"]
        if set(mapping) == set(proposed):
            look["earlier"] = earlier.filename
            return mapping
    return None


def given_mapping(mapping: Mapping[str, str], likely_id: str = "") -> dict[str, str]:
    """Return a mapping that can be imported; raise the refusal of any other."""
    try:
        return checked_mapping(mapping, likely_id)
    except ValueError as error:
        raise AnnotationError.at("mapping", str(error)) from error


@transaction.atomic
def dataset_import_confirm(*, job: DatasetImport, mapping: Mapping[str, str]) -> bool:
    """Queue a waiting file with this mapping; return False if it is queued already."""
    fresh = _locked(job)
    if not is_draft(fresh):
        return False
    options = {name: value for name, value in fresh.options.items() if name not in (ASK, NUMBERS)}
    look = fresh.report[LOOK]
    options["mapping"] = given_mapping(mapping, look.get("likely_id", ""))
    if numbers := numbers_left_out(look["fields"], options["mapping"]):
        options[NUMBERS] = numbers
    DatasetImport.objects.filter(pk=job.pk).update(report={}, options=options)
    return job_requeue(fresh)


@transaction.atomic
def dataset_import_ask(*, job: DatasetImport) -> bool:
    """Queue a refused file again, to ask what its fields mean; return False if it was not refused."""
    fresh = _locked(job)
    if fresh.state != JobState.FAILED:
        return False
    DatasetImport.objects.filter(pk=job.pk).update(report={}, options=fresh.options | {ASK: ALWAYS})
    return job_requeue(fresh)


@transaction.atomic
def dataset_import_discard(*, job: DatasetImport) -> None:
    """Delete a file that was never imported."""
    fresh = _locked(job)
    if not is_draft(fresh):
        raise AnnotationError(f"The import of {job.filename} is {fresh.state}; accepted: a file that is not confirmed.")
    fresh.delete()


def _locked(job: DatasetImport) -> DatasetImport:
    return DatasetImport.objects.select_for_update(of=("self",)).defer("content").get(pk=job.pk)
