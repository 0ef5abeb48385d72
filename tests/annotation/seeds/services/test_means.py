"""Means of ratings of seeds are exact."""

from fractions import Fraction

from django.utils import timezone

from annotation.models import (
    Dataset,
    Participation,
    Response,
)
from annotation.seeds.selectors import (
    exact_means,
    seed_rows,
)
from tests.annotation.seeds.judged import judged, make_seed, names, select
from tests.annotation.worlds.rated import make_campaign, make_item, make_rater, make_response, rate


def test_means_are_exact(dataset: Dataset) -> None:
    campaign = make_campaign(dataset, criteria={"grade": (0, 10)})
    seeds = judged(campaign, {"tenths": [0.1, 0.2, 0.3], "thirds": [1, 1, 2]})
    means = exact_means([campaign], [seed.pk for seed in seeds.values()])
    assert means[seeds["tenths"].pk] == (Fraction(1, 5), 3)  # as floats: 0.20000000000000004
    assert means[seeds["thirds"].pk] == (Fraction(4, 3), 3)
    assert names(select(campaign, threshold=0.2)) == ["tenths", "thirds"]


def test_a_judgement_is_the_mean_of_its_criteria_and_counts_only_if_complete(dataset: Dataset) -> None:
    campaign = make_campaign(dataset, criteria={"one": (1, 5), "two": (1, 5)})
    seed = make_seed(dataset, "x")
    rate(campaign, "amy", seed, 4, 5)
    rate(campaign, "bob", seed, 1)
    assert exact_means([campaign], [seed.pk]) == {seed.pk: (Fraction(9, 2), 1)}


def test_excluded_raters_corrections_and_extra_ratings_count_as_in_releases(dataset: Dataset) -> None:
    campaign = make_campaign(dataset)
    seed = make_seed(dataset, "x")
    (first,) = rate(campaign, "amy", seed, 1)
    first.presentation.campaign.ratings.create(
        presentation=first.presentation,
        response=seed,
        rater=first.rater,
        criterion=first.criterion,
        value=5,
        revision=1,
        sent_at=first.sent_at,
    )
    rate(campaign, "bob", seed, 1, extra=True)
    rate(campaign, "eve", seed, 1)
    Participation.objects.create(
        campaign=campaign, rater=make_rater(dataset.project, "eve"), order_seed=1, excluded_at=timezone.now()
    )
    assert exact_means([campaign], [seed.pk]) == {seed.pk: (Fraction(5), 1)}


def test_the_best_ranked_of_several_originals_is_the_seed(dataset: Dataset) -> None:
    item = make_item(dataset, "x")
    for rank, text in ((2, "second"), (1, "first"), (None, "unranked")):
        make_response(item, text).sources.create(item=item, kind="seed", rank=rank)
    ((seed,), several) = seed_rows(dataset)
    assert (Response.objects.get(pk=seed.response_id).text, several) == ("first", 1)
