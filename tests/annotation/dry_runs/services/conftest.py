"""A campaign to simulate."""

from collections.abc import Callable
from typing import Any

import pytest

from annotation.dry_runs.services.running import dry_run_create, dry_run_execute
from annotation.models import Campaign, DryRun, Project
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.designed import screen

GOLD = [screen(f"Gold {number}", *((4, 5) if number % 2 else (1, 2))) for number in range(40)]
CHECKS: dict[str, Any] = {"every": 2, "mix": {"gold": 1, "repeat": 1}, "repeat_gap": 2, "gold": GOLD}
FEW = {"raters": 4, "arrivals_per_hour": 60, "median_seconds": 10, "dropout": 0, "seed": 5}


def make_draft(project: Project, *, items: int = 2, k: int = 2, **columns: Any) -> Campaign:
    options = {name: columns.pop(name) for name in ("presentation", "criteria", "writing") if name in columns}
    dataset = make_dataset(project, items=items)
    campaign = make_campaign(dataset, launch=False, ratings_per_unit=k, **options)
    Campaign.objects.filter(pk=campaign.pk).update(**columns)
    campaign.refresh_from_db()
    return campaign


def play(campaign: Campaign, **specification: Any) -> DryRun:
    run = dry_run_create(campaign=campaign, specification={**FEW, **specification})
    dry_run_execute(dry_run_id=run.pk)
    run.refresh_from_db()
    return run


@pytest.fixture
def draft(project: Project) -> Callable[..., Campaign]:
    return lambda **options: make_draft(project, **options)
