"""Training, test and second attempt, which come before a rater's first unit."""

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
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    return ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): value})


def stage_of(campaign: Campaign, rater: Rater) -> str:
    return Participation.objects.get(campaign=campaign, rater=rater).stage


def test_training_shows_the_expected_values_and_leads_to_the_test(campaign: Campaign) -> None:
    rater = join(campaign)
    sent = send(campaign, rater, 2)
    assert sent.feedback == "It **answers** the question."
    (wrong,) = sent.wrong
    assert (wrong.criterion, wrong.value, wrong.low, wrong.high) == ("relevance", 2.0, 4.0, 5.0)
    assert stage_of(campaign, rater) == Stage.TEST


def test_a_rater_who_passes_the_test_gets_work(campaign: Campaign) -> None:
    rater = join(campaign)
    send(campaign, rater, 5)
    assert send(campaign, rater, 5).test is None
    result = send(campaign, rater, 1).test
    assert result is not None
    assert (result.passed, result.share, result.attempt) == (True, 1.0, 1)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    assert presentation.purpose == Purpose.WORK


def test_a_second_attempt_counts_alone_and_a_second_failure_is_final(campaign: Campaign) -> None:
    rater, failing_rater = join(campaign), join(campaign)
    for candidate in (rater, failing_rater):
        send(campaign, candidate, 5)
        send(campaign, candidate, 5)
        result = send(campaign, candidate, 5).test
        assert result is not None
        assert (result.passed, result.share, result.attempts_left) == (False, 0.5, 1)
    send(campaign, rater, 4)
    second_result = send(campaign, rater, 2).test
    assert second_result is not None
    assert (second_result.passed, second_result.attempt) == (True, 2)
    send(campaign, failing_rater, 1)
    final_result = send(campaign, failing_rater, 1).test
    assert final_result is not None
    assert (final_result.passed, final_result.attempts_left) == (False, 0)
    assert unit_request(campaign=campaign, rater=failing_rater) is None
    assert waiting(campaign=campaign, rater=failing_rater) == Waiting.FAILED


def test_a_test_item_is_answered_once_and_cannot_be_skipped(campaign: Campaign) -> None:
    rater = join(campaign)
    send(campaign, rater, 5)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    assert not unit_return(presentation=presentation)
    ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 1})
    repeated = ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 5})
    assert repeated.written == 0
    assert send(campaign, rater, 1).test.share == 0.5  # type: ignore[union-attr]


def test_without_training_and_test_a_rater_begins_with_work(project: Project) -> None:
    plain = make_designed(make_dataset(project))
    assert stage_of(plain, join(plain)) == Stage.WORK
