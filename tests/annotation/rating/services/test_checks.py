"""Checks among the work: where they come, that they take no slot, and that nothing downstream counts them."""

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
from annotation.overview.selectors import project_overview
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


def test_every_block_of_screens_holds_one_check_and_all_kinds_come(campaign: Campaign) -> None:
    purposes = [shown.purpose for shown in work_through(campaign, most=20)]
    blocks = [purposes[start : start + 4] for start in range(0, 20, 4)]
    assert [sum(purpose in MIXED_IN for purpose in block) for block in blocks] == [1] * 5
    assert set(purposes) == {Purpose.WORK, *MIXED_IN}


def test_where_the_prepared_checks_run_out_there_is_work_instead(campaign: Campaign) -> None:
    purposes = [shown.purpose for shown in work_through(campaign)]
    assert purposes.count(Purpose.ATTENTION) == 1
    assert purposes.count(Purpose.WORK) == 30


def test_checks_take_no_slot_and_leave_no_rating(campaign: Campaign) -> None:
    shown = work_through(campaign)
    checks = [presentation for presentation in shown if presentation.purpose != Purpose.WORK]
    assert Slot.objects.filter(campaign=campaign, state=SlotState.DONE).count() == 30
    assert not Rating.objects.filter(presentation__in=checks).exists()
    assert CheckAnswer.objects.filter(presentation__in=checks).count() == len(checks)
    assert len(rating_columns([campaign]).value) == 30


def test_checks_are_no_judgements_of_the_project_and_training_is_not_paid_by_the_screen(project: Project) -> None:
    campaign = make_designed(
        make_dataset(project, items=3), quality=QUALITY, qualification=QUALIFICATION, payment_per_unit="0.10"
    )
    rater = join(campaign)
    purposes = []
    while shown := unit_request(campaign=campaign, rater=rater):
        answer(shown, 1 if "Bananas." in str(shown.check_unit and shown.check_unit.texts) else 5)
        purposes.append(shown.purpose)
    before_work = sum(purpose in (Purpose.TRAINING, Purpose.TEST) for purpose in purposes)
    assert before_work == 3
    work = purposes.count(Purpose.WORK)
    assert project_overview(project).counts["judgements"] == work == 9
    due = payment(campaign)
    assert due is not None
    assert due.total == pytest.approx(0.10 * (len(purposes) - before_work))


def test_no_check_is_shown_twice_to_a_rater(campaign: Campaign) -> None:
    shown = work_through(campaign)
    prepared = [one.check_unit_id for one in shown if one.check_unit_id]
    repeated = [one.unit_id for one in shown if one.purpose == Purpose.REPEAT]
    assert len(prepared) == len(set(prepared))
    assert repeated
    assert len(repeated) == len(set(repeated))


def test_a_repeat_shows_a_unit_of_the_raters_own_that_lies_some_screens_back(campaign: Campaign) -> None:
    shown = work_through(campaign)
    worked = [one.unit_id for one in shown if one.purpose == Purpose.WORK]
    for place, one in enumerate(shown):
        if one.purpose == Purpose.REPEAT:
            earlier = next(at for at, other in enumerate(shown) if other.pk == one.repeats_id)
            assert shown[earlier].unit_id == one.unit_id
            assert place - earlier >= 2
            assert worked.count(one.unit_id) == 1


def test_a_check_stays_on_screen_until_it_is_answered_or_given_back(campaign: Campaign) -> None:
    rater = join(campaign)
    while (shown := unit_request(campaign=campaign, rater=rater)) and shown.purpose == Purpose.WORK:
        answer(shown)
    assert shown is not None
    assert unit_request(campaign=campaign, rater=rater) == shown
    assert unit_return(presentation=shown)
    assert not unit_return(presentation=shown)
    following = unit_request(campaign=campaign, rater=rater)
    assert following is not None
    assert following != shown


def test_the_same_answer_to_a_check_is_one_and_a_correction_is_kept(campaign: Campaign) -> None:
    rater = join(campaign)
    while (shown := unit_request(campaign=campaign, rater=rater)) and shown.purpose == Purpose.WORK:
        answer(shown)
    assert shown is not None
    assert [answer(shown, 2).written, answer(shown, 2).written, answer(shown, 4).written] == [1, 0, 1]
    rows = CheckAnswer.objects.filter(presentation=shown).order_by("revision")
    assert list(rows.values_list("value", "revision")) == [(2.0, 0), (4.0, 1)]


def test_two_raters_meet_their_checks_at_places_of_their_own(campaign: Campaign) -> None:
    campaign.refresh_from_db()
    first, second = ([shown.purpose for shown in work_through(campaign, most=14)] for _ in range(2))
    assert first != second[: len(first)]


def test_a_limit_counts_every_screen_and_progress_says_so(project: Project) -> None:
    limited = make_designed(make_dataset(project, items=10), quality=QUALITY, max_units_per_rater=8)
    rater = join(limited)
    for done in range(8):
        now = progress(campaign=limited, rater=rater)
        assert (now.done, now.total) == (done, 8)
        shown = unit_request(campaign=limited, rater=rater)
        assert shown is not None
        answer(shown)
    assert unit_request(campaign=limited, rater=rater) is None
    assert waiting(campaign=limited, rater=rater) == Waiting.LIMIT


@pytest.mark.parametrize("every", [2, 4, 5])
@pytest.mark.parametrize("gives_back", [False, True])
def test_what_is_done_and_left_moves_alike_for_work_and_checks(project: Project, every: int, gives_back: bool) -> None:
    """Whoever watched the counts would otherwise know a check once it is answered, and could go back to it."""
    quality = {**QUALITY, "every": every, "mix": {"gold": 1}, "gold": [screen(f"Gold {n}", 4, 5) for n in range(30)]}
    campaign = make_designed(make_dataset(project, items=5), quality=quality, ratings_per_unit=1)
    rater = join(campaign)
    left, seen = [], []
    while shown := unit_request(campaign=campaign, rater=rater):
        now = progress(campaign=campaign, rater=rater)
        assert now.done == (0 if gives_back else len(seen))
        left.append(now.left)
        seen.append(shown.purpose)
        if gives_back:
            assert unit_return(presentation=shown)
        else:
            answer(shown)
    assert Purpose.GOLD in seen
    assert left == list(range(len(seen), 0, -1))
    assert seen[-1] == Purpose.WORK  # a screen after "nothing left" could only be a check
    assert progress(campaign=campaign, rater=rater).left == 0


def test_what_is_left_allows_for_checks_that_run_out(project: Project) -> None:
    quality = {**QUALITY, "mix": {"gold": 1}, "every": 3}  # three of them
    campaign = make_designed(make_dataset(project, items=10), quality=quality, ratings_per_unit=1)
    rater = join(campaign)
    assert progress(campaign=campaign, rater=rater).left == 30 + 3
    assert len(work_through(campaign)) == 33


def test_degraded_screens_change_one_text_and_anchors_expect_a_high_value(campaign: Campaign) -> None:
    for unit in CheckUnit.objects.filter(campaign=campaign, kind=Purpose.DEGRADED).select_related("item"):
        (text,) = unit.texts
        assert text["role"] == "degraded"
        assert not unit.item.responses.filter(text=text["text"]).exists()
        assert unit.item.responses.filter(pk=text["response"]).exists()
    for unit in CheckUnit.objects.filter(campaign=campaign, kind=Purpose.ANCHOR):
        assert unit.texts[0]["expected"] == {"relevance": [4.0, 5.0]}
        assert "I prefer" in unit.texts[0]["text"]


def test_a_pair_with_a_degraded_text_keeps_the_other_as_it_was(project: Project) -> None:
    quality = QUALITY | {"mix": {"degraded": 1}, "gold": [], "attention": []}
    pairs = make_designed(make_dataset(project, items=6), presentation="pair", quality=quality)
    roles = [sorted(text["role"] for text in unit.texts) for unit in CheckUnit.objects.filter(campaign=pairs)]
    assert roles == [["degraded", "plain"]] * 3


def test_the_design_hash_covers_the_checks(project: Project) -> None:
    dataset = make_dataset(project, items=6)
    with_checks = make_designed(dataset, name="One", quality=QUALITY)
    same = make_designed(dataset, name="Two", quality=QUALITY)
    other = make_designed(dataset, name="Three", quality=QUALITY | {"gold": [screen("Other", 1, 2)]})
    assert with_checks.design["checks_hash"] == same.design["checks_hash"] != other.design["checks_hash"]
