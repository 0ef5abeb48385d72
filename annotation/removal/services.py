"""Delete a data set or a campaign with everything that depends on it; the audit log stays."""

import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import structlog
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_run
from annotation.core.numbers import counted
from annotation.core.progress import Progress, noop
from annotation.core.purging import Keys, purge_again, rows_purge, with_dependents
from annotation.models import Campaign, CampaignState, DataDeletion, Dataset, Project, Recruitment, User
from annotation.models.jobs import FINISHED_STATES
from annotation.projects.contents import CONTENTS, ROW_FILES, USES
from annotation.projects.services.audit import audit_record
from annotation.recruitment.services.settling import unsettled

log = structlog.get_logger("assay.removal")
STEPS = 2  # finding, deleting
TRIES = 5  # while others still write to it
NAMED = 20
OPEN_STATES = (CampaignState.RUNNING, CampaignState.PAUSED)


class Removal(NamedTuple):
    """What is deleted with a data set or a campaign, in words, and what must be done before."""

    keys: Keys
    rows: list[str]  # such as “3 campaigns”
    names: list[str]  # of campaigns, releases and studies among them
    problems: list[str]

    @property
    def size(self) -> int:
        return sum(map(len, self.keys.values()))


def removal_of(row: Dataset | Campaign) -> Removal:
    """Return what is deleted with a data set, as its campaigns, or with a campaign, as what was made of its ratings."""
    roots: Keys = {type(row): {row.pk}}
    for campaign in _campaigns(row):
        for source in USES:
            for uses in source(campaign):
                roots.setdefault(uses.model, set()).update(uses.values_list("pk", flat=True))
    keys = with_dependents(roots)
    counts = ((content, len(keys.get(content.model, ()))) for content in CONTENTS)
    rows = [counted(n, content.noun, content.plural) for content, n in counts if n]
    return Removal(keys, rows, list(_names(keys, row)), list(_problems(keys)))


def _campaigns(row: Dataset | Campaign) -> list[Campaign]:
    return [row] if isinstance(row, Campaign) else list(row.campaigns.all())


def noun_of(row: Dataset | Campaign) -> str:
    """Return what people call such a row, as “data set”."""
    return next(content.noun for content in CONTENTS if content.model is type(row))


def _names(keys: Keys, row: Any) -> Iterator[str]:
    """Yield the names of what is deleted with the row and was named by a person."""
    for content in CONTENTS:
        if content.named:
            rows = content.model._default_manager.filter(pk__in=list(keys.get(content.model, ()))[:NAMED])
            yield from (f"{content.noun} “{each}”" for each in rows if each != row)


def _problems(keys: Keys) -> Iterator[str]:
    campaigns: Iterable[int] = keys.get(Campaign, ())
    for campaign in Campaign.objects.filter(pk__in=campaigns, state__in=OPEN_STATES).order_by("name"):
        yield f"The campaign “{campaign}” is {campaign.get_state_display().lower()}: close it first."
    yield from unsettled(Recruitment.objects.filter(campaign__in=campaigns))


@transaction.atomic
def deletion_request(*, row: Dataset | Campaign, confirmation: str, by: User | None = None) -> DataDeletion:
    """Queue the deletion of a data set or a campaign, whose name confirms it, for ``tasks.data_delete``.

    Return the deletion that is under way, if there is one.
    """
    row = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    if confirmation.strip() != row.name.strip():
        raise AnnotationError.at("confirmation", f"Found {confirmation!r}; accepted: {row.name}")
    if under_way := deletion_of(row):
        return under_way
    if problems := list(_problems({Campaign: {campaign.pk for campaign in _campaigns(row)}})):
        raise AnnotationError(" ".join(problems))
    return DataDeletion.objects.create(
        project=row.project,
        dataset=row if isinstance(row, Dataset) else None,
        campaign=row if isinstance(row, Campaign) else None,
        noun=noun_of(row),
        name=row.name,
        requested_by=by,
        progress_total=STEPS,
    )


def deletion_of(row: Dataset | Campaign) -> DataDeletion | None:
    """Return the deletion of a row that waits or runs."""
    return row.deletions.exclude(state__in=FINISHED_STATES).first()


def deletion_execute(*, deletion_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(DataDeletion, deletion_id, _execute, progress=progress)


def _execute(deletion: DataDeletion, claim: Claim) -> None:
    """Delete all rows in one transaction, with which the job ends; in another, if a row was added meanwhile."""
    row = deletion.dataset or deletion.campaign
    if row is None:
        raise AnnotationError(f"The {deletion.noun} was deleted meanwhile, with something that it depends on.")
    claim.progress(0, STEPS, "Finding what depends on it")

    def note(error: Exception) -> None:
        log.info("deletion repeated", deletion=deletion.pk, error=str(error))

    purge_again(lambda: _remove(row, deletion, claim), tries=TRIES, note=note)


def _remove(row: Dataset | Campaign, deletion: DataDeletion, claim: Claim) -> None:
    Project.objects.select_for_update(no_key=True).get(pk=row.project_id)
    locked = type(row)._default_manager.select_for_update(of=("self",)).filter(pk=row.pk).first()
    if locked is None:
        raise AnnotationError(f"The {deletion.noun} was deleted meanwhile.")
    removal = removal_of(locked)
    if removal.problems:
        raise AnnotationError(" ".join(removal.problems))
    claim.listener(1, STEPS, f"Deleting {removal.size:,} rows")
    claim.lock()
    unused = [path for source in ROW_FILES for path in source(removal.keys)]
    rows_purge(removal.keys)
    audit_record(
        verb=f"{deletion.noun.replace(' ', '')}.delete",
        summary=f"Deleted the {deletion.noun} “{row.name}” with {', '.join(removal.rows) or 'nothing else'}.",
        project=row.project,
        by=deletion.requested_by,
        data={"name": row.name, "rows": {model._meta.db_table: len(rows) for model, rows in removal.keys.items()}},
    )
    claim.finish(rows=removal.rows, progress_total=STEPS)
    for path in unused:
        transaction.on_commit(partial(shutil.rmtree, path, ignore_errors=True))
