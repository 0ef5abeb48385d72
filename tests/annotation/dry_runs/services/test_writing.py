"""Simulated raters write texts on the real pages."""

from collections.abc import Callable

import pytest

from annotation.models import Campaign
from tests.annotation.dry_runs.services.conftest import play

CORRECTION = {"asks": "correction", "question": "Correct it.", "least": 60, "most": 90, "language": "de"}


@pytest.mark.django_db(transaction=True)
def test_simulated_raters_write_where_raters_do(draft: Callable[..., Campaign]) -> None:
    result = play(draft(items=1, writing=CORRECTION)).result
    assert result["findings"] == []
    assert result["simulated"]["filled"] == result["simulated"]["places"]


@pytest.mark.django_db(transaction=True)
def test_a_campaign_that_asks_for_texts_alone_is_played_through(draft: Callable[..., Campaign]) -> None:
    reference = {"asks": "reference", "question": "Write a reply.", "least": 5, "most": 60}
    result = play(draft(items=2, criteria=[], writing=reference)).result
    assert result["findings"] == []
