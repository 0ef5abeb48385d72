"""A draft as it would be with changes that nobody has saved: for the preview beside the form."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.db import transaction

from annotation.campaigns.services.drafts import criteria_rows, draft_of, write_columns
from annotation.campaigns.services.problems import Problems, refusal
from annotation.campaigns.services.scales import validate_criteria
from annotation.models import Campaign, Criterion


@contextmanager
def campaign_imagined(*, campaign: Campaign, changes: Mapping[str, Any]) -> Iterator[list[Criterion]]:
    """Inside, the campaign is as changed, and these are its criteria; afterwards nothing of it is stored.

    Raises ``AnnotationError`` where a criterion could not be shown.
    """
    draft = replace(draft_of(campaign), **changes)
    problems = Problems()
    validate_criteria(draft.criteria, draft.presentation, draft.dataset, problems)
    if problems.found:
        raise refusal(problems.found)
    with transaction.atomic():
        write_columns(campaign, draft)
        campaign.systems.set(draft.systems)
        yield criteria_rows(campaign, draft.criteria)
        transaction.set_rollback(True)
