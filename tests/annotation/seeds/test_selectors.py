"""Exact means, compared with fractions.Fraction."""

from fractions import Fraction

import pytest

from annotation.seeds.criteria import MeanRating
from annotation.seeds.selectors import exact_means
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate

pytestmark = pytest.mark.django_db

LONG = (0.12345678901234567, 99.00000000000001, 3.3333333333333335, 1e-07)  # too fine for whole numbers of 64 bits


@pytest.mark.parametrize("values", [(0.1, 0.2, 0.3), (4, 4, 5), (-2.5, 0.25, -0.0), LONG])
def test_means_are_exact_for_decimal_values(project, values):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset, criteria={"quality": (-3, 100)})
    response = make_response(make_item(dataset, "a"), "Yes.", "seed")
    for number, value in enumerate(values):
        rate(campaign, f"rater {number}", response, value)
    wanted = sum((Fraction(str(float(value))) for value in values), Fraction(0)) / len(values)
    assert exact_means([campaign], [response.pk]) == {response.pk: MeanRating(wanted, len(values))}


def test_a_judgement_is_the_mean_of_its_campaigns_criteria_and_counts_once(project):
    dataset = make_dataset(project)
    single = make_campaign(dataset, "One")
    three = make_campaign(dataset, "Three", {"a": (1, 5), "b": (1, 5), "c": (1, 5)})
    response, other_response = (make_response(make_item(dataset, name), "Yes.", "seed") for name in ("a", "b"))
    rate(single, "ann", response, 5)
    rate(three, "ann", response, 1, 1, 2)
    rate(three, "bob", response, 5, 5)  # lacks a criterion: does not count
    rate(three, "bob", other_response, 5)
    means = exact_means([single, three], [response.pk, other_response.pk])
    assert means == {response.pk: MeanRating((Fraction(5) + Fraction(4, 3)) / 2, 2)}
