"""Read a draft from the tables, and write it to them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from annotation.campaigns.fields.table import CAMPAIGN, CRITERION, CampaignDraft, CriterionDraft
from annotation.models import Campaign, Criterion

ROWS = ("criteria", "systems")  # in tables of their own; everything else is a column


def draft_of(campaign: Campaign) -> CampaignDraft:
    """Return the draft with the campaign's present values."""
    values = {name: getattr(campaign, name) for name in CAMPAIGN if name not in ROWS}
    criteria = [
        CriterionDraft(**{name: getattr(criterion, name) for name in CRITERION})
        for criterion in campaign.criteria.all()
    ]
    return CampaignDraft(**values, criteria=criteria, systems=list(campaign.systems.all()))


def write_columns(campaign: Campaign, draft: CampaignDraft) -> None:
    """Set the columns of the instance; nothing is saved."""
    for name, field in CAMPAIGN.items():
        if name not in ROWS:
            value = getattr(draft, name)
            setattr(campaign, name, value if field.related else field.stored(value))


def criteria_rows(campaign: Campaign, criteria: Sequence[CriterionDraft]) -> list[Criterion]:
    return [
        Criterion(campaign=campaign, position=position, **asdict(criterion.stored()))
        for position, criterion in enumerate(criteria)
    ]


def changed_fields(before: CampaignDraft, after: CampaignDraft) -> list[str]:
    """Return the names of the fields that differ."""
    return [name for name in CAMPAIGN if _compared(name, before) != _compared(name, after)]


def _compared(name: str, draft: CampaignDraft) -> object:
    """Return a field's value in the form that is compared."""
    if name == "criteria":
        return [criterion.stored() for criterion in draft.criteria]
    if name == "systems":
        return {system.pk for system in draft.systems}
    return _plain(getattr(draft, name))


def _plain(value: object) -> object:
    """Return the value with tuples as lists, so that equal content compares equal."""
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return dict(value) if isinstance(value, Mapping) else value
