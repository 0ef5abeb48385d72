"""Delete a data set or a campaign with everything that depends on it; the audit log stays."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.core.purging import Keys, rows_purge, with_dependents
from annotation.models import Campaign, CampaignState, Dataset, Project, Recruitment, User
from annotation.projects.contents import CONTENTS, USES
from annotation.projects.services.audit import audit_record
from annotation.recruitment.services.settling import unsettled

PAGE_ROWS = 200_000  # a request deletes so many at most; a command has time
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
    campaigns = [row] if isinstance(row, Campaign) else list(row.campaigns.all())
    roots: Keys = {type(row): {row.pk}}
    for campaign in campaigns:
        for source in USES:
            for uses in source(campaign):
                roots.setdefault(uses.model, set()).update(uses.values_list("pk", flat=True))
    keys = with_dependents(roots)
    counts = ((content, len(keys.get(content.model, ()))) for content in CONTENTS)
    rows = [counted(n, content.noun, content.plural) for content, n in counts if n]
    return Removal(keys, rows, list(_names(keys, row)), list(_problems(keys)))


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
def row_remove(
    *, row: Dataset | Campaign, confirmation: str, by: User | None = None, most: int | None = None
) -> Removal:
    """Delete a data set or a campaign, whose name confirms it, with what ``removal_of`` names: all, or nothing.

    With ``most``, more rows than that are refused.
    """
    Project.objects.select_for_update(no_key=True).get(pk=row.project_id)
    row = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    if confirmation.strip() != row.name.strip():
        raise AnnotationError.at("confirmation", f"Found {confirmation!r}; accepted: {row.name}")
    removal = removal_of(row)
    if removal.problems:
        raise AnnotationError(" ".join(removal.problems))
    if most is not None and removal.size > most:
        raise AnnotationError(
            f"{removal.size:,} rows go with it, more than the {most:,} that a page deletes: use manage.py delete_data."
        )
    noun = noun_of(row)
    rows_purge(removal.keys)
    audit_record(
        verb=f"{noun.replace(' ', '')}.delete",
        summary=f"Deleted the {noun} “{row.name}” with {', '.join(removal.rows) or 'nothing else'}.",
        project=row.project,
        by=by,
        data={"name": row.name, "rows": {model._meta.db_table: len(rows) for model, rows in removal.keys.items()}},
    )
    return removal
