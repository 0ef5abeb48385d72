"""Training, test, second try: what a rater must pass before the first unit."""

import pytest

from annotation.models import Campaign, Participation, Project, Purpose, Rater, Stage
from annotation.rating.selectors.handout import Waiting, waiting
from annotation.rating.services.handout import unit_request, unit_return
from annotation.rating.services.ratings import Submission, ratings_submit
from tests.annotation.worlds.campaigns import join, make_dataset
from tests.annotation.worlds.designed import QUALIFICATION, make_designed

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_designed(make_dataset(project), qualification=QUALIFICATION)


def send(campaign: Campaign, rater: Rater, value: int) -> Submission:
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    return ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): value})


def stage_of(campaign: Campaign, rater: Rater) -> str:
    return Participation.objects.get(campaign=campaign, rater=rater).stage


def test_training_says_what_was_expected_and_leads_to_the_test(campaign: Campaign) -> None:
    rater = join(campaign)
    sent = send(campaign, rater, 2)
    assert sent.feedback == "It **answers** the question."
    (wrong,) = sent.wrong
    assert (wrong.criterion, wrong.value, wrong.low, wrong.high) == ("relevance", 2.0, 4.0, 5.0)
    assert stage_of(campaign, rater) == Stage.TEST


def test_whoever_passes_the_test_works(campaign: Campaign) -> None:
    rater = join(campaign)
    send(campaign, rater, 5)
    assert send(campaign, rater, 5).test is None
    result = send(campaign, rater, 1).test
    assert result is not None
    assert (result.passed, result.share, result.attempt) == (True, 1.0, 1)
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    assert shown.purpose == Purpose.WORK


def test_a_second_try_counts_alone_and_a_second_failure_is_final(campaign: Campaign) -> None:
    rater, other = join(campaign), join(campaign)
    for one in (rater, other):
        send(campaign, one, 5)
        send(campaign, one, 5)
        result = send(campaign, one, 5).test
        assert result is not None
        assert (result.passed, result.share, result.attempts_left) == (False, 0.5, 1)
    send(campaign, rater, 4)
    again = send(campaign, rater, 2).test
    assert again is not None
    assert (again.passed, again.attempt) == (True, 2)
    send(campaign, other, 1)
    last = send(campaign, other, 1).test
    assert last is not None
    assert (last.passed, last.attempts_left) == (False, 0)
    assert unit_request(campaign=campaign, rater=other) is None
    assert waiting(campaign=campaign, rater=other) == Waiting.FAILED


def test_a_test_screen_is_answered_once_and_cannot_be_skipped(campaign: Campaign) -> None:
    rater = join(campaign)
    send(campaign, rater, 5)
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    assert not unit_return(presentation=shown)
    ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 1})
    again = ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 5})
    assert again.written == 0
    assert send(campaign, rater, 1).test.share == 0.5  # type: ignore[union-attr]


def test_without_training_or_test_a_rater_begins_at_work(project: Project) -> None:
    plain = make_designed(make_dataset(project))
    assert stage_of(plain, join(plain)) == Stage.WORK
