import pytest

from annotation.models import Campaign, Project, Recruitment
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.recruited import make_recruitment, mturk_account, prolific_account


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project), max_units_per_rater=3, payment_per_unit="1.00")


@pytest.fixture
def study(campaign: Campaign, fake_prolific: FakeProlific) -> Recruitment:
    """Published at Prolific."""
    return make_recruitment(campaign, prolific_account(campaign.project, fake_prolific))


@pytest.fixture
def hit(campaign: Campaign, fake_mturk: FakeMechanicalTurk) -> Recruitment:
    """Published at Mechanical Turk."""
    return make_recruitment(campaign, mturk_account(campaign.project, fake_mturk), provider="mturk")
