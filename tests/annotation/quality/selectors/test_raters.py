import numpy as np
import pytest

from annotation.models import CheckAnswer, Criterion, Presentation
from annotation.quality.selectors.checks import check_log, second_halves
from annotation.quality.selectors.rater_work import rater_items
from annotation.quality.selectors.raters import campaign_log, moment, rater_quality_rows
from annotation.quality.services.decisions import rater_exclude
from annotation.rating.selectors.ratings import rating_columns
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import answer, join, make_dataset
from tests.annotation.worlds.designed import QUALITY, make_designed


@pytest.fixture
def campaign(project):
    return make_designed(make_dataset(project, items=6), quality=QUALITY)


def work(campaign, rater, value_of, screens=22):
    for _ in range(screens):
        shown = unit_request(campaign=campaign, rater=rater)
        if shown is None:
            break
        answer(shown, value_of(shown))


def log_of(campaign):
    return check_log([campaign], list(Criterion.objects.filter(campaign=campaign)))


def test_checks_come_with_their_kind_range_and_first_answer(campaign):
    work(campaign, join(campaign, "ann"), lambda shown: 2 if shown.purpose == "repeat" else 4)
    log = log_of(campaign)
    assert set(log.kind.tolist()) == {"gold", "attention", "anchor", "degraded", "repeat"}
    gold, attention, repeat = log.of("gold"), log.of("attention"), log.of("repeat")
    assert (gold.low.tolist(), gold.high.tolist()) == ([4.0] * len(gold), [5.0] * len(gold))
    assert (attention.low[0], attention.high[0]) == (1.0, 1.0)
    assert set(zip(repeat.first.tolist(), repeat.value.tolist(), strict=True)) == {(4.0, 2.0)}
    assert np.isnan(log.of("degraded").low).all()
    assert log.of("anchor").low.tolist() == [4.0] * len(log.of("anchor"))


def test_a_repeat_is_compared_with_the_answer_at_its_time(project):
    quality = QUALITY | {"every": 3, "mix": {"repeat": 1}, "repeat_gap": 1}
    campaign = make_designed(make_dataset(project, items=4), quality=quality)
    rater = join(campaign, "ann")
    shown = []
    for _ in range(9):
        shown.append(unit_request(campaign=campaign, rater=rater))
        answer(shown[-1], 4)
        if shown[-1].purpose == "work":
            answer(shown[-1], 5)  # corrected at once
    for presentation in shown:
        if presentation.purpose == "work":
            answer(presentation, 1)  # and again when all is done
    first = log_of(campaign).of("repeat").first
    assert set(first.tolist()) == {5.0}


def test_the_latest_answer_to_a_check_counts_as_of_each_moment(campaign):
    rater = join(campaign, "ann")
    work(campaign, rater, lambda shown: 4)
    gold = Presentation.objects.filter(campaign=campaign, purpose="gold").first()
    last = CheckAnswer.objects.latest("pk").pk
    ratings_submit(token=gold.token, rater=rater, values={(0, "relevance"): 1})
    criteria = list(Criterion.objects.filter(campaign=campaign))
    assert check_log([campaign], criteria).of("gold").value.min() == 1.0
    assert check_log([campaign], criteria, up_to=last).of("gold").value.min() == 4.0


def test_excluded_raters_are_not_compared_with_by_others(campaign):
    raters = [join(campaign, name) for name in ("ann", "bob", "cem")]
    units = {}
    for rater in raters[:2]:
        work(campaign, rater, lambda shown: 1 + units.setdefault(shown.unit_id or 0, len(units)) % 5)
    row = {row.rater.pk: row for row in rater_quality_rows(campaign)}
    assert row[raters[0].pk].measures["agreement"].estimate == pytest.approx(1.0)
    assert row[raters[2].pk].measures["n"].n == 0
    assert row[raters[2].pk].measures["gold"].reason == "no answer yet"
    rater_exclude(campaign=campaign, rater=raters[1], reason="A test.")
    row = {row.rater.pk: row for row in rater_quality_rows(campaign)}
    alone, excluded = row[raters[0].pk], row[raters[1].pk]
    assert alone.measures["agreement"].reason == "fewer than three responses rated by others too"
    assert excluded.state == "excluded"
    assert excluded.measures["agreement"].estimate == pytest.approx(1.0)  # still compared with the others


def test_rows_are_cached_until_an_answer_arrives(campaign, django_assert_max_num_queries):
    work(campaign, join(campaign, "ann"), lambda shown: 4)
    rater_quality_rows(campaign)
    with django_assert_max_num_queries(6):  # where the logs end, who joined, what became of the units
        rater_quality_rows(campaign)


def test_a_preference_counts_once(project):
    campaign = make_designed(
        make_dataset(project, items=3),
        presentation="pair",
        criterion={"kind": "preference", "scale_min": -2, "scale_max": 2},
    )
    rater = join(campaign, "ann")
    for _ in range(4):
        shown = unit_request(campaign=campaign, rater=rater)
        ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 2})
    criteria = list(Criterion.objects.filter(campaign=campaign))
    columns = rating_columns([campaign])
    assert len(columns.value) == 8
    assert second_halves(columns, criteria).sum() == 4
    assert len(campaign_log(campaign, moment(campaign)).value) == 4


def test_the_size_of_a_point_depends_on_the_scale():
    """Likert points are one apart; a slider's is a tenth of it; a magnitude's a factor of 1.5: ln 1.5 = 0.405."""
    slider = Criterion(kind="slider", scale_min=0, scale_max=100)
    assert (Criterion(kind="likert").scale.point, slider.scale.point) == (1.0, 10.0)
    assert round(Criterion(kind="magnitude").scale.point, 3) == 0.405


def test_a_raters_screens_come_in_order_with_corrections_and_pages(campaign):
    rater = join(campaign, "ann")
    first = unit_request(campaign=campaign, rater=rater)
    answer(first, 4)
    answer(first, 5)
    work(campaign, rater, lambda shown: 2, screens=9)
    items, more = rater_items(campaign, rater, size=4)
    assert len(items) == 4
    (value,) = items[0].texts[0].values
    assert (value.value, value.before) == (5.0, [4.0])
    rest, none = rater_items(campaign, rater, after=more, size=50)
    assert none is None
    assert [item.presentation.pk for item in items + rest] == sorted(item.presentation.pk for item in items + rest)
    assert any(item.is_check for item in items + rest)
