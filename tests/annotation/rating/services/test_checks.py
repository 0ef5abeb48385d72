"""Checks among the work: where they come, that they take no slot, and that they count as no rating."""

import pytest

from annotation.models import (
    MIXED_IN,
    Campaign,
    CheckAnswer,
    CheckUnit,
    Presentation,
    Project,
    Purpose,
    Rating,
    Slot,
    SlotState,
)
from annotation.overview.selectors import counts_of
from annotation.rating.selectors.handout import Waiting, progress, waiting
from annotation.rating.selectors.ratings import rating_columns
from annotation.rating.services.handout import unit_request, unit_return
from annotation.records.selectors.payment import payment
from tests.annotation.worlds.campaigns import answer, join, make_dataset
from tests.annotation.worlds.designed import QUALIFICATION, QUALITY, make_designed, screen

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_designed(make_dataset(project, items=10), quality=QUALITY, ratings_per_unit=1)


def work_through(campaign: Campaign, value: int = 3, most: int = 100) -> list[Presentation]:
    rater = join(campaign)
    shown = []
    while (presentation := unit_request(campaign=campaign, rater=rater)) and len(shown) < most:
        answer(presentation, value)
        shown.append(presentation)
    return shown


def test_every_block_of_items_has_one_check_and_all_kinds_occur(campaign: Campaign) -> None:
    purposes = [presentation.purpose for presentation in work_through(campaign, most=20)]
    blocks = [purposes[start : start + 4] for start in range(0, 20, 4)]
    assert [sum(purpose in MIXED_IN for purpose in block) for block in blocks] == [1] * 5
    assert set(purposes) == {Purpose.WORK, *MIXED_IN}


def test_work_is_handed_out_once_the_prepared_checks_run_out(campaign: Campaign) -> None:
    purposes = [presentation.purpose for presentation in work_through(campaign)]
    assert purposes.count(Purpose.ATTENTION) == 1
    assert purposes.count(Purpose.WORK) == 30


def test_checks_take_no_slot_and_store_no_rating(campaign: Campaign) -> None:
    presentations = work_through(campaign)
    checks = [presentation for presentation in presentations if presentation.purpose != Purpose.WORK]
    assert Slot.objects.filter(campaign=campaign, state=SlotState.DONE).count() == 30
    assert not Rating.objects.filter(presentation__in=checks).exists()
    assert CheckAnswer.objects.filter(presentation__in=checks).count() == len(checks)
    assert len(rating_columns([campaign]).value) == 30


def test_checks_count_as_no_judgements_and_training_and_test_are_not_paid(project: Project) -> None:
    campaign = make_designed(
        make_dataset(project, items=3), quality=QUALITY, qualification=QUALIFICATION, payment_per_unit="0.10"
    )
    rater = join(campaign)
    purposes = []
    while presentation := unit_request(campaign=campaign, rater=rater):
        answer(presentation, 1 if "Bananas." in str(presentation.check_unit and presentation.check_unit.texts) else 5)
        purposes.append(presentation.purpose)
    before_work = sum(purpose in (Purpose.TRAINING, Purpose.TEST) for purpose in purposes)
    assert before_work == 3
    work = purposes.count(Purpose.WORK)
    assert counts_of(project).answers == work == 9
    due = payment(campaign)
    assert due is not None
    assert due.total == pytest.approx(0.10 * (len(purposes) - before_work))


def test_no_check_is_shown_twice_to_a_rater(campaign: Campaign) -> None:
    presentations = work_through(campaign)
    prepared = [presentation.check_unit_id for presentation in presentations if presentation.check_unit_id]
    repeated = [presentation.unit_id for presentation in presentations if presentation.purpose == Purpose.REPEAT]
    assert len(prepared) == len(set(prepared))
    assert repeated
    assert len(repeated) == len(set(repeated))


def test_a_repeat_shows_a_unit_that_the_rater_rated_some_items_before(campaign: Campaign) -> None:
    presentations = work_through(campaign)
    worked = [presentation.unit_id for presentation in presentations if presentation.purpose == Purpose.WORK]
    for index, presentation in enumerate(presentations):
        if presentation.purpose == Purpose.REPEAT:
            earlier = next(
                number for number, candidate in enumerate(presentations) if candidate.pk == presentation.repeats_id
            )
            assert presentations[earlier].unit_id == presentation.unit_id
            assert index - earlier >= 2
            assert worked.count(presentation.unit_id) == 1


def test_a_check_stays_on_screen_until_it_is_answered_or_returned(campaign: Campaign) -> None:
    rater = join(campaign)
    while (presentation := unit_request(campaign=campaign, rater=rater)) and presentation.purpose == Purpose.WORK:
        answer(presentation)
    assert presentation is not None
    assert unit_request(campaign=campaign, rater=rater) == presentation
    assert unit_return(presentation=presentation)
    assert not unit_return(presentation=presentation)
    following = unit_request(campaign=campaign, rater=rater)
    assert following is not None
    assert following != presentation


def test_a_repeated_answer_to_a_check_is_stored_once_and_a_correction_is_stored(campaign: Campaign) -> None:
    rater = join(campaign)
    while (presentation := unit_request(campaign=campaign, rater=rater)) and presentation.purpose == Purpose.WORK:
        answer(presentation)
    assert presentation is not None
    assert [answer(presentation, 2).written, answer(presentation, 2).written, answer(presentation, 4).written] == [
        1,
        0,
        1,
    ]
    rows = CheckAnswer.objects.filter(presentation=presentation).order_by("revision")
    assert list(rows.values_list("value", "revision")) == [(2.0, 0), (4.0, 1)]


def test_two_raters_get_checks_at_different_positions(campaign: Campaign) -> None:
    campaign.refresh_from_db()
    first, second = ([presentation.purpose for presentation in work_through(campaign, most=14)] for _ in range(2))
    assert first != second[: len(first)]


def test_checks_count_towards_the_limit_and_the_progress(project: Project) -> None:
    limited = make_designed(make_dataset(project, items=10), quality=QUALITY, max_units_per_rater=8)
    rater = join(limited)
    for done in range(8):
        current = progress(campaign=limited, rater=rater)
        assert (current.done, current.total) == (done, 8)
        presentation = unit_request(campaign=limited, rater=rater)
        assert presentation is not None
        answer(presentation)
    assert unit_request(campaign=limited, rater=rater) is None
    assert waiting(campaign=limited, rater=rater) == Waiting.LIMIT


@pytest.mark.parametrize("every", [2, 4, 5])
@pytest.mark.parametrize("gives_back", [False, True])
def test_progress_changes_alike_for_work_and_checks(project: Project, every: int, gives_back: bool) -> None:
    """Otherwise the counts would reveal a check once it is answered, and the rater could correct it."""
    quality = {**QUALITY, "every": every, "mix": {"gold": 1}, "gold": [screen(f"Gold {n}", 4, 5) for n in range(30)]}
    campaign = make_designed(make_dataset(project, items=5), quality=quality, ratings_per_unit=1)
    rater = join(campaign)
    left_counts, purposes = [], []
    while presentation := unit_request(campaign=campaign, rater=rater):
        current = progress(campaign=campaign, rater=rater)
        assert current.done == (0 if gives_back else len(purposes))
        left_counts.append(current.left)
        purposes.append(presentation.purpose)
        if gives_back:
            assert unit_return(presentation=presentation)
        else:
            answer(presentation)
    assert Purpose.GOLD in purposes
    assert left_counts == list(range(len(purposes), 0, -1))
    assert purposes[-1] == Purpose.WORK  # an item after "nothing left" could only be a check
    assert progress(campaign=campaign, rater=rater).left == 0


def test_progress_allows_for_checks_that_run_out(project: Project) -> None:
    quality = {**QUALITY, "mix": {"gold": 1}, "every": 3}  # three of them
    campaign = make_designed(make_dataset(project, items=10), quality=quality, ratings_per_unit=1)
    rater = join(campaign)
    assert progress(campaign=campaign, rater=rater).left == 30 + 3
    assert len(work_through(campaign)) == 33


def test_degraded_checks_change_one_text_and_anchors_expect_a_high_value(campaign: Campaign) -> None:
    for unit in CheckUnit.objects.filter(campaign=campaign, kind=Purpose.DEGRADED).select_related("item"):
        (text,) = unit.texts
        assert text["role"] == "degraded"
        assert not unit.item.responses.filter(text=text["text"]).exists()
        assert unit.item.responses.filter(pk=text["response"]).exists()
    for unit in CheckUnit.objects.filter(campaign=campaign, kind=Purpose.ANCHOR):
        assert unit.texts[0]["expected"] == {"relevance": [4.0, 5.0]}
        assert "I prefer" in unit.texts[0]["text"]


def test_a_pair_with_a_degraded_text_keeps_the_other_text(project: Project) -> None:
    quality = QUALITY | {"mix": {"degraded": 1}, "gold": [], "attention": []}
    pairs = make_designed(make_dataset(project, items=6), presentation="pair", quality=quality)
    roles = [sorted(text["role"] for text in unit.texts) for unit in CheckUnit.objects.filter(campaign=pairs)]
    assert roles == [["degraded", "plain"]] * 3


def test_the_design_hash_covers_the_checks(project: Project) -> None:
    dataset = make_dataset(project, items=6)
    with_checks = make_designed(dataset, name="One", quality=QUALITY)
    same = make_designed(dataset, name="Two", quality=QUALITY)
    other_gold = make_designed(dataset, name="Three", quality=QUALITY | {"gold": [screen("Other", 1, 2)]})
    assert with_checks.design["checks_hash"] == same.design["checks_hash"] != other_gold.design["checks_hash"]
