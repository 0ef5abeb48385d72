import json
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import CampaignSnapshot, Participation, Rater
from annotation.quality.selectors.monitoring import live
from annotation.quality.selectors.monitoring.live import campaign_monitor
from annotation.quality.selectors.monitoring.live import pace as forecast_pace
from annotation.quality.selectors.monitoring.statistics import Statistics, compute_statistics
from annotation.quality.selectors.monitoring.stored import plain, revived
from annotation.quality.selectors.raters import moment
from annotation.quality.services.decisions import rater_exclude, rater_include
from annotation.quality.services.snapshots import snapshot_update, snapshots_waiting
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import join
from tests.annotation.worlds.campaigns import make_campaign as make_live_campaign
from tests.annotation.worlds.campaigns import make_dataset as make_live_dataset
from tests.annotation.worlds.rated import (
    make_campaign,
    make_dataset,
    make_item,
    make_response,
    present,
    rate,
    rate_in,
)


@pytest.fixture
def dataset(project):
    return make_dataset(project)


def responses(dataset, count):
    return [make_response(make_item(dataset, f"i{n}"), f"Answer {n}", "A") for n in range(count)]


def test_agreement_is_that_of_the_published_example(dataset):
    """Shrout & Fleiss 1979, Table 2 (6 targets, 4 judges): ICC(1,1) = .17, ICC(1,k) = .44."""
    campaign = make_campaign(dataset, criteria={"quality": (1, 10)})
    judged = ([9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7])
    for response, values in zip(responses(dataset, 6), judged, strict=True):
        for rater, value in zip("abcd", values, strict=True):
            rate(campaign, rater, response, value)
    (quality,) = campaign_monitor(campaign).figures.criteria
    assert (round(quality.icc.icc_1, 2), round(quality.icc.icc_k, 2), quality.icc.k) == (0.17, 0.44, 4)
    assert quality.alpha.n_responses == 6
    assert dict(quality.values)[6.0] == 5


def test_completion_extras_and_corrections_are_counted(dataset):
    campaign = make_campaign(dataset)
    first, second, third = responses(dataset, 3)
    rate(campaign, "ann", first, 4)
    (old,) = rate(campaign, "bob", second, 5)
    rate_in(old.presentation, second, 3, revision=1)
    rate_in(present(campaign, "cem", second, outcome="late"), second, 1, extra=True)
    present(campaign, "dot", third, outcome="returned")
    monitor = campaign_monitor(campaign)
    assert (monitor.slots_done, monitor.slots_total) == (2, 4)
    figures = monitor.figures
    assert (figures.n_ratings, figures.n_extra, figures.n_superseded, figures.n_raters) == (2, 1, 1, 2)
    assert figures.per_response == [(0, 1), (1, 2)]
    assert [count for _, count in figures.per_hour] == [2]


def test_ratings_of_excluded_raters_are_left_out_of_all_statistics_and_counted_separately(dataset):
    """The oracle: the same campaign without them."""
    campaign = make_campaign(dataset, presentation="pair")
    (first, second) = responses(dataset, 2)
    for rater, values in (("ann", (4, 3)), ("bob", (2, 2)), ("spam", (5, 1))):
        for response, value in zip((first, second), values, strict=True):
            rate(campaign, rater, response, value, position=0)
    spam = Rater.objects.get(pseudonym="spam")
    before = campaign_monitor(campaign)
    Participation.objects.create(campaign=campaign, rater=spam, order_seed=1)
    rater_exclude(campaign=campaign, rater=spam, reason="Spam")
    after = campaign_monitor(campaign)
    figures = after.figures
    assert (figures.n_ratings, figures.n_raters, figures.n_excluded_raters, figures.n_excluded_ratings) == (4, 2, 1, 2)
    assert figures.criteria[0].mean == 2.75
    assert sum(count for _, count in figures.per_hour) == 4
    assert figures.positions[0].means == [(1, 4, 2.75)]
    assert figures.n_superseded == 0
    assert after.figures_version != before.figures_version
    assert after.version != before.version
    rater_include(campaign=campaign, rater=spam, reason="A mistake")
    assert campaign_monitor(campaign).figures.n_ratings == 6


def test_undefined_statistics_have_a_reason(dataset):
    campaign = make_campaign(dataset)
    (quality,) = campaign_monitor(campaign).figures.criteria
    assert np.isnan(quality.alpha.alpha)
    assert quality.alpha.reason == "no response has ratings of two raters"
    assert quality.icc.reason == "fewer than two responses have ratings"
    assert np.isnan(quality.mean)


def test_pairs_have_a_mean_by_position_and_the_difference_within_pairs(dataset):
    campaign = make_campaign(dataset, presentation="pair")
    item = make_item(dataset, "i")
    first_text, second_text = make_response(item, "One", "A"), make_response(item, "Two", "B")
    for rater, first, second in (("ann", 5, 3), ("bob", 4, 3), ("cem", 3, 3)):
        presentation = present(campaign, rater, first_text, second_text)
        rate_in(presentation, first_text, first, position=0)
        rate_in(presentation, second_text, second, position=1)
    (figures,) = campaign_monitor(campaign).figures.positions
    assert figures.means == [(1, 3, 4.0), (2, 3, 3.0)]
    assert figures.difference == 1.0
    # differences 2, 1, 0: standard deviation 1; Student's t with 2 degrees of freedom, from a printed table: 4.303
    assert figures.high - figures.difference == pytest.approx(4.303 / 3**0.5, abs=1e-3)


def test_statistics_are_cached_until_a_rating_arrives(dataset, django_assert_num_queries):
    campaign = make_campaign(dataset)
    first, second = responses(dataset, 2)
    rate(campaign, "ann", first, 4)
    before = campaign_monitor(campaign)
    with django_assert_num_queries(12):  # ends of logs (4), size, slots (3), at work, pace, comments, joined
        assert campaign_monitor(campaign).figures is not None
    rate(campaign, "ann", second, 2)
    after = campaign_monitor(campaign)
    assert (before.figures.n_ratings, after.figures.n_ratings) == (1, 2)
    assert before.figures_version != after.figures_version


def test_statistics_survive_serialisation_as_json(dataset):
    campaign = make_campaign(dataset, presentation="pair")
    item = make_item(dataset, "i")
    first_text, second_text = make_response(item, "One", "A"), make_response(item, "Two", "B")
    for rater, first, second in (("ann", 5, 3), ("bob", 4, 3), ("cem", 3, 3)):
        presentation = present(campaign, rater, first_text, second_text)
        rate_in(presentation, first_text, first, position=0)
        rate_in(presentation, second_text, second, position=1)
    figures = compute_statistics(campaign, moment(campaign))
    stored = json.loads(json.dumps(plain(figures), allow_nan=False))
    restored = revived(Statistics, stored)
    assert plain(restored) == plain(figures)
    assert restored.per_hour == figures.per_hour
    assert restored.criteria[0].icc.icc_1_low == pytest.approx(figures.criteria[0].icc.icc_1_low, nan_ok=True)
    assert np.isnan(restored.criteria[0].by_hours.slope)


def test_statistics_of_many_ratings_are_computed_by_a_worker(dataset, monkeypatch):
    monkeypatch.setattr(live, "SYNCHRONOUS", 2)
    campaign = make_campaign(dataset)
    rated = responses(dataset, 4)
    for response in rated[:3]:
        rate(campaign, "ann", response, 4)
    waiting = campaign_monitor(campaign)
    assert waiting.figures is None
    assert waiting.live  # the page goes on asking
    assert snapshots_waiting() == [campaign.pk]
    snapshot_update(campaign_id=campaign.pk)
    ready = campaign_monitor(campaign)
    assert ready.figures.n_ratings == 3
    assert ready.computed_at is not None
    assert not ready.behind
    assert snapshots_waiting() == []
    rate(campaign, "ann", rated[3], 2)
    behind = campaign_monitor(campaign)
    assert (behind.figures.n_ratings, behind.behind) == (3, True)
    assert snapshots_waiting() == []  # not before a minute has passed
    CampaignSnapshot.objects.update(computed_at=timezone.now() - timedelta(seconds=61))
    assert snapshots_waiting() == [campaign.pk]


def test_statistics_that_another_version_of_the_product_stored_are_computed_anew(dataset, monkeypatch):
    monkeypatch.setattr(live, "SYNCHRONOUS", 0)
    campaign = make_campaign(dataset)
    rate(campaign, "ann", responses(dataset, 1)[0], 4)
    snapshot = snapshot_update(campaign_id=campaign.pk)
    former = {name: value for name, value in snapshot.figures.items() if name not in {"enough", "shape"}}
    CampaignSnapshot.objects.update(figures=former)
    assert campaign_monitor(campaign).figures is None
    assert snapshots_waiting() == [campaign.pk]
    snapshot_update(campaign_id=campaign.pk)
    assert campaign_monitor(campaign).figures.n_ratings == 1
    assert snapshots_waiting() == []


def test_statistics_of_few_ratings_need_no_worker(dataset):
    campaign = make_campaign(dataset)
    rate(campaign, "ann", responses(dataset, 1)[0], 4)
    assert snapshots_waiting() == []


def test_half_widths_use_the_pooled_standard_deviation(dataset):
    """Cochran 1977, section 4.6. Ratings 4, 5, 4 / 1, 2, 1 / 3, 3, 5: pooled s = sqrt(4/6 + ...) by hand below."""
    campaign = make_campaign(dataset, ratings_per_unit=3)
    judged = ([4, 5, 4], [1, 2, 1], [3, 3, 5])
    for response, values in zip(responses(dataset, 3), judged, strict=True):
        for rater, value in zip("abc", values, strict=True):
            rate(campaign, rater, response, value)
    (certainty,) = campaign_monitor(campaign).figures.enough
    # Sums of squares 2/3, 2/3, 8/3 = 4 over 6 degrees of freedom, halved per unit of weight (five points, -1 to 1);
    # t(6) at 95% from a printed table: 2.447.
    half = 2.447 * (4 / 6) ** 0.5 / 2 / 3**0.5
    assert certainty.half_width == pytest.approx(half, abs=1e-3)
    target = next(target for target in certainty.targets if target.half_width == 0.2)
    assert target.needed == 25  # (2.447 * 0.408 / 0.2)^2 = 24.96
    assert target.more == 3 * (25 - 3)


@pytest.mark.parametrize("presentation", ["single", "pair", "list"])
def test_the_margin_when_all_is_rated_is_what_further_ratings_give(project, presentation):
    """A response that several pairs show is rated once for each of them: k of a unit are not k of a response."""
    campaign = make_live_campaign(make_live_dataset(project, items=3), presentation=presentation, ratings_per_unit=4)
    draw = np.random.default_rng(3)

    def work(raters, screens):
        for rater in raters:
            for _ in range(screens):
                if (shown := unit_request(campaign=campaign, rater=rater)) is None:
                    break
                values = {(n, "relevance"): int(value) for n, value in enumerate(draw.integers(1, 6, len(shown.order)))}
                ratings_submit(token=shown.token, rater=rater, values=values)

    raters = [join(campaign) for _ in range(4)]
    work(raters, 6 if presentation != "list" else 2)
    (now,) = campaign_monitor(campaign).figures.enough
    work(raters, 100)
    after = campaign_monitor(campaign)
    (then,) = after.figures.enough
    assert (after.slots_done, after.figures.n_fewer) == (after.slots_total, 0)
    assert then.at_plan == pytest.approx(then.half_width)
    # The spread is estimated anew; without its change, the forecast is exact: every rater rates everything.
    assert now.at_plan / now.spread == pytest.approx(then.half_width / then.spread, rel=0.06)
    assert now.at_plan < now.half_width


def test_cannot_judge_is_counted_by_reason_and_is_no_rating(dataset):
    campaign = make_campaign(dataset)
    first, second = responses(dataset, 2)
    rate(campaign, "ann", first, 4)
    rate(campaign, "bob", second, None, cannot_judge="not my language")
    figures = campaign_monitor(campaign).figures
    assert figures.reasons == [("not my language", 1)]
    assert (figures.n_ratings, figures.criteria[0].n_cannot_judge) == (1, 1)
    assert figures.n_superseded == 0


def test_cannot_judge_counts_once_for_a_text_with_two_criteria(dataset):
    campaign = make_campaign(dataset, criteria={"fluency": (1, 5), "relevance": (1, 5)})
    (first,) = responses(dataset, 1)
    rate(campaign, "ann", first, None, None, cannot_judge="cut off")
    figures = campaign_monitor(campaign).figures
    assert figures.reasons == [("cut off", 1)]
    assert [criterion.n_cannot_judge for criterion in figures.criteria] == [1, 1]


def test_spending_counts_answered_screens_and_the_providers_fee(dataset):
    campaign = make_campaign(
        dataset, payment_per_unit=Decimal("0.10"), payment_fee_percent=Decimal(40), ratings_per_unit=2
    )
    for response in responses(dataset, 2):
        rate(campaign, "ann", response, 4)
    spend = campaign_monitor(campaign).spend
    assert (spend.screens, spend.pay, spend.with_fee) == (2, Decimal("0.2"), Decimal("0.28"))
    assert spend.total == Decimal("0.56")  # two units, two places each


def test_replaced_answers_are_paid_in_addition_to_open_slots(dataset):
    campaign = make_campaign(dataset, payment_per_unit=Decimal("0.10"), ratings_per_unit=2)
    for response in responses(dataset, 2):
        (rating,) = rate(campaign, "spam", response, 4)
    Participation.objects.create(campaign=campaign, rater=rating.rater, order_seed=1)
    assert rater_exclude(campaign=campaign, rater=rating.rater, reason="Spam", replace=True).reopened == 2
    spend = campaign_monitor(campaign).spend
    assert (spend.screens, spend.pay) == (2, Decimal("0.2"))
    assert spend.total == Decimal("0.6")  # two answers replaced, and all four places yet to be filled


def test_the_expected_end_follows_from_the_pace_of_the_last_hour(dataset):
    campaign = make_campaign(dataset, launched_at=timezone.now() - timedelta(hours=3), ratings_per_unit=3)
    for response in responses(dataset, 4):
        rate(campaign, "ann", response, 4)
    pace = campaign_monitor(campaign).pace
    assert (pace.screens, pace.per_hour, pace.rests_on) == (4, 4.0, "4 items in the last hour")
    campaign.launched_at = timezone.now() - timedelta(minutes=6)
    early = campaign_monitor(campaign).pace
    assert early.per_hour == pytest.approx(40, rel=0.01)
    assert early.rests_on == "extrapolated from 4 items in 6 minutes"
    hours_left = (pace.end - timezone.now()).total_seconds() / 3600
    assert hours_left == pytest.approx(8 / 4, abs=0.02)  # four units of three places, one of each filled
    assert not pace.is_idle
    idle = forecast_pace(campaign, 8, active=0)
    assert (idle.per_hour, idle.end, idle.is_idle) == (pytest.approx(40, rel=0.01), None, True)
