"""Simulated raters choose the best and the worst over the real pages."""

from collections.abc import Callable

import pytest

from annotation.campaigns.fields.table import CriterionDraft
from annotation.models import Campaign
from tests.annotation.dry_runs.services.conftest import play


@pytest.mark.django_db(transaction=True)
def test_raters_choose_the_best_and_the_worst_of_every_list(draft: Callable[..., Campaign]) -> None:
    criterion = CriterionDraft("quality", "Which is the best, and which the worst?", kind="best_worst")
    part = play(draft(presentation="list", criteria=[criterion])).result["simulated"]
    assert part["filled"] == part["places"] == 4
