"""A draft with changes that are not saved, for the preview beside the form."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.db import transaction

from annotation.campaigns.services.criteria import validate_criteria
from annotation.campaigns.services.drafts import criteria_rows, draft_of, write_columns
from annotation.campaigns.services.problems import FieldProblems, refusal
from annotation.models import Campaign, Criterion


@contextmanager
def campaign_with_changes(*, campaign: Campaign, changes: Mapping[str, Any]) -> Iterator[list[Criterion]]:
    """Apply changes within the block and yield the criteria, if they can be shown; nothing is stored afterwards."""
    draft = replace(draft_of(campaign), **changes)
    problems = FieldProblems()
    if draft.criteria or not draft.writing:
        validate_criteria(draft.criteria, draft.presentation, draft.dataset, problems)
    if problems:
        raise refusal(problems)
    with transaction.atomic():
        write_columns(campaign, draft)
        campaign.systems.set(draft.systems)
        yield criteria_rows(campaign, draft.criteria)
        transaction.set_rollback(True)
