from dataclasses import replace
from decimal import Decimal

import pytest

from annotation.campaigns.selectors import seconds_per_screen
from annotation.models import CampaignPace, Offer, Project, Submission
from annotation.rating.selectors.welcome import welcome_of
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset
from tests.annotation.worlds.recruited import make_recruitment


@pytest.mark.parametrize(
    ("limits", "fewest", "most", "exact", "code_after"),
    [
        ({}, 0, None, None, 0),
        ({"completion_code": "DONE"}, 0, None, None, 1),
        ({"min_units_per_rater": 3, "completion_code": "DONE"}, 3, 12, None, 3),
        ({"min_units_per_rater": 3, "max_units_per_rater": 5}, 3, 5, None, 0),
        ({"min_units_per_rater": 3, "max_units_per_rater": 3}, 3, 3, 3, 0),
        ({"min_units_per_rater": 3, "quality": {"every": 5, "mix": {"repeat": 1}}}, 3, 15, None, 0),  # and 3 checks
        ({"max_units_per_rater": 1}, 0, 1, 1, 0),
        ({"min_units_per_rater": 50, "completion_code": "DONE"}, 12, 12, 12, 12),  # there are no more than 12
    ],
)
def test_raters_read_how_many_screens_there_are(
    project: Project, limits: dict[str, object], fewest: int, most: int | None, exact: int | None, code_after: int
) -> None:
    welcome = welcome_of(campaign=make_campaign(make_dataset(project), **limits), rater=None)
    assert (welcome.fewest, welcome.most, welcome.exact, welcome.code_after) == (fewest, most, exact, code_after)


def test_the_time_is_estimated_from_the_texts_until_the_raters_pace_is_known(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), min_units_per_rater=10, lease_min_seconds=60, lease_max_seconds=600)
    estimate = seconds_per_screen(campaign)
    assert 5 < estimate < 15
    assert welcome_of(campaign=campaign, rater=None).seconds == estimate
    pace = CampaignPace.objects.create(campaign=campaign, median_seconds=31.0, n=19, lease_seconds=100)
    assert welcome_of(campaign=campaign, rater=None).seconds == estimate
    pace.n = 20
    pace.save()
    welcome = welcome_of(campaign=campaign, rater=None)
    assert (welcome.minutes, welcome.seconds_each) == (6, 35)  # ten screens: 310 s
    assert replace(welcome, fewest=10, most=100).minutes_most == 52  # 3,100 s
    assert replace(welcome, fewest=10, most=10).minutes_most is None


def test_pay_is_that_of_a_screen_or_what_the_provider_offered(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), payment_per_unit=Decimal("0.125"), payment_currency="EUR")
    rater = join(campaign)
    assert welcome_of(campaign=campaign, rater=rater).per_screen == Decimal("0.125")
    Submission.objects.create(recruitment=make_recruitment(campaign, None), rater=rater, external_id="s")
    welcome = welcome_of(campaign=campaign, rater=rater)
    assert (welcome.per_screen, welcome.offer, welcome.minutes) == (None, Offer(Decimal("2.50"), "GBP", 15), 15)
    assert welcome.code_after == 1
