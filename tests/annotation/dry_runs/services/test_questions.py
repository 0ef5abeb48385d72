"""Simulated raters answer questions about themselves on the real page."""

from collections.abc import Callable

import pytest

from annotation.campaigns.design.questionnaire import Questionnaire
from annotation.campaigns.questions import READY_MADE
from annotation.models import Campaign
from tests.annotation.campaigns.questions.test_every_kind import EXAMPLES
from tests.annotation.dry_runs.services.conftest import play


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("when", ["before", "after"])
def test_simulated_raters_answer_every_kind_of_question(draft: Callable[..., Campaign], when: str) -> None:
    questions = Questionnaire(when, (*READY_MADE.values(), *EXAMPLES.values())).to_dict()
    result = play(draft(items=1, questions=questions)).result
    assert result["findings"] == []
    assert result["simulated"]["filled"] == result["simulated"]["places"]
