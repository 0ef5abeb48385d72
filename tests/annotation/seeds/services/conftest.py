import pytest

from annotation.models import (
    Campaign,
    Dataset,
    Project,
    Unit,
    UnitResponse,
)
from tests.annotation.seeds.judged import FIVE, judged
from tests.annotation.worlds.rated import make_campaign, make_dataset


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return make_dataset(project)


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    """Every rating has its own unit; a third unit of d has no rating."""
    campaign = make_campaign(dataset)
    seeds = judged(campaign, FIVE)
    unit = Unit.objects.create(campaign=campaign, item=seeds["d"].item, position=campaign.units.count())
    UnitResponse.objects.create(unit=unit, response=seeds["d"], number=0)
    return campaign
