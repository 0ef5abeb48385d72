import numpy as np
import pytest

from annotation.models import Participation, Rater
from annotation.selectors.monitoring import campaign_monitor
from annotation.services.decisions import rater_exclude, rater_include
from tests.annotation.rated import make_campaign, make_dataset, make_item, make_response, present, rate, rate_in


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


def test_ratings_of_excluded_raters_are_in_no_figure_and_are_counted_apart(dataset):
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


def test_what_is_undefined_says_why(dataset):
    campaign = make_campaign(dataset)
    (quality,) = campaign_monitor(campaign).figures.criteria
    assert np.isnan(quality.alpha.alpha)
    assert quality.alpha.reason == "no response has ratings of two raters"
    assert quality.icc.reason == "fewer than two responses have ratings"
    assert np.isnan(quality.mean)


def test_pairs_show_the_mean_by_place_and_the_difference_within_pairs(dataset):
    campaign = make_campaign(dataset, presentation="pair")
    item = make_item(dataset, "i")
    one, two = make_response(item, "One", "A"), make_response(item, "Two", "B")
    for rater, first, second in (("ann", 5, 3), ("bob", 4, 3), ("cem", 3, 3)):
        presentation = present(campaign, rater, one, two)
        rate_in(presentation, one, first, position=0)
        rate_in(presentation, two, second, position=1)
    (figures,) = campaign_monitor(campaign).figures.positions
    assert figures.means == [(1, 3, 4.0), (2, 3, 3.0)]
    assert figures.difference == 1.0
    # differences 2, 1, 0: standard deviation 1; Student's t with 2 degrees of freedom, from a printed table: 4.303
    assert figures.high - figures.difference == pytest.approx(4.303 / 3**0.5, abs=1e-3)


def test_figures_are_computed_once_until_a_rating_arrives(dataset, django_assert_num_queries):
    campaign = make_campaign(dataset)
    first, second = responses(dataset, 2)
    rate(campaign, "ann", first, 4)
    before = campaign_monitor(campaign)
    with django_assert_num_queries(9):  # where the logs end (3), size, slots (2), raters at work, pace, comments
        assert campaign_monitor(campaign).figures is not None
    rate(campaign, "ann", second, 2)
    after = campaign_monitor(campaign)
    assert (before.figures.n_ratings, after.figures.n_ratings) == (1, 2)
    assert before.figures_version != after.figures_version
