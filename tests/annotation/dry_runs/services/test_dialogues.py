"""Simulated raters rate dialogues turn by turn and at the end."""

import pytest

from annotation.models import Project
from tests.annotation.dry_runs.services.conftest import play
from tests.annotation.worlds.dialogues import make_dialogue_campaign, make_dialogues


@pytest.mark.django_db(transaction=True)
def test_simulated_raters_rate_every_turn(project: Project) -> None:
    checks = {"every": 2, "mix": {"repeat": 1, "degraded": 1}, "repeat_gap": 1, "degraded": {"count": 2}}
    result = play(make_dialogue_campaign(make_dialogues(project), launch=False, quality=checks)).result
    assert result["findings"] == []
    assert result["simulated"]["filled"] == result["simulated"]["places"]
    assert [row["criterion"] for row in result["certainty"]] == ["sense", "overall"]
