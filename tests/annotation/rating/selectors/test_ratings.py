import numpy as np
import pytest

from annotation.core.errors import AnnotationError
from annotation.models import Criterion
from annotation.rating.selectors.ratings import (
    campaign_criteria,
    current_ratings,
    judgement_table,
    rating_columns,
)
from tests.annotation.worlds.rated import (
    make_campaign,
    make_dataset,
    make_item,
    make_response,
    present,
    rate,
    rate_in,
)

TWO_CRITERIA = {"relevance": (1, 5), "informativeness": (1, 5)}


@pytest.fixture
def dataset(project):
    return make_dataset(project)


@pytest.fixture
def response(dataset):
    return make_response(make_item(dataset, "i1"), "Fine, thanks.", "seed")


def test_a_superseded_rating_does_not_count_and_stays_in_the_log(dataset, response):
    campaign = make_campaign(dataset)
    presentation = present(campaign, "ann", response)
    (first,) = rate_in(presentation, response, 2)
    (second,) = rate_in(presentation, response, 5, revision=1)
    assert list(current_ratings([campaign])) == [second]
    assert list(campaign.ratings.order_by("id")) == [first, second]


def test_seconds_are_read_only_if_requested_and_nothing_else_differs(dataset, response):
    campaign = make_campaign(dataset)
    presentation = present(campaign, "ann", response, seconds=7.5)
    rate_in(presentation, response, 2)
    rate_in(presentation, response, 5, revision=1)
    rate(campaign, "bob", response, 4)
    timed, plain = rating_columns([campaign]), rating_columns([campaign], timed=False)
    assert (timed.value.tolist(), timed.seconds.tolist()[0]) == ([5.0, 4.0], 7.5)
    assert np.isnan(plain.seconds).all()
    for name in set(plain._fields) - {"seconds"}:
        np.testing.assert_array_equal(getattr(plain, name), getattr(timed, name))


def test_an_extra_rating_counts_only_if_requested(dataset, response):
    campaign = make_campaign(dataset)
    (counted,) = rate(campaign, "ann", response, 4)
    (extra,) = rate_in(present(campaign, "bob", response, outcome="late"), response, 1, extra=True)
    assert list(current_ratings([campaign])) == [counted]
    assert set(current_ratings([campaign], include_extra=True)) == {counted, extra}
    assert judgement_table([campaign]).value.tolist() == [4.0]


def test_an_extra_correction_does_not_supersede_the_rating_that_counts(dataset, response):
    campaign = make_campaign(dataset)
    presentation = present(campaign, "ann", response)
    (counted,) = rate_in(presentation, response, 4)
    rate_in(presentation, response, 1, revision=1, extra=True)
    assert list(current_ratings([campaign])) == [counted]


def test_a_judgement_is_the_mean_over_the_criteria_of_one_presentation(dataset, response):
    campaign = make_campaign(dataset, criteria=TWO_CRITERIA)
    rate(campaign, "ann", response, 4, 5, seconds=7.5)
    second_response = make_response(response.item, "Why?", "A")
    pair = present(campaign, "bob", second_response, response)
    rate_in(pair, second_response, 1, 2)
    rate_in(pair, response, 3, 3)
    table = judgement_table([campaign])
    assert list(zip(table.response_id.tolist(), table.value.tolist(), strict=True)) == [
        (response.pk, 4.5),
        (response.pk, 3.0),
        (second_response.pk, 1.5),
    ]
    assert table.seconds.tolist() == [7.5, 6.0, 6.0]
    assert (table.low, table.high, table.n_incomplete) == (1.0, 5.0, 0)


def test_one_criterion_can_be_selected(dataset, response):
    campaign = make_campaign(dataset, criteria=TWO_CRITERIA)
    rate(campaign, "ann", response, 4, 5)
    assert judgement_table([campaign], criteria=["informativeness"]).value.tolist() == [5.0]
    with pytest.raises(AnnotationError, match="has no criterion charm; it has: relevance, informativeness"):
        judgement_table([campaign], criteria=["charm"])


def test_a_judgement_that_lacks_a_criterion_is_left_out_and_counted(dataset, response):
    campaign = make_campaign(dataset, criteria=TWO_CRITERIA)
    rate(campaign, "ann", response, 4)
    table = judgement_table([campaign])
    assert (len(table.value), table.n_incomplete) == (0, 1)


def test_only_the_named_responses_and_campaigns_are_read(dataset, response):
    second_response = make_response(response.item, "Why?", "A")
    campaign, second_campaign = make_campaign(dataset), make_campaign(dataset, "Another")
    rate(campaign, "ann", response, 4)
    rate(campaign, "ann", second_response, 2)
    rate(second_campaign, "ann", response, 1)
    assert judgement_table([campaign], [second_response.pk]).value.tolist() == [2.0]
    assert sorted(judgement_table([campaign, second_campaign], [response.pk]).value.tolist()) == [1.0, 4.0]
    assert judgement_table([campaign], []).value.tolist() == []


def test_imported_judgements_have_no_known_time(dataset, response):
    campaign = make_campaign(dataset, imported=True)
    rate(campaign, "ann", response, 4)
    assert np.isnan(judgement_table([campaign]).seconds).tolist() == [True]


def test_scales_that_differ_are_put_on_that_of_the_weights_first(dataset, response):
    """ΔBLEU §4.1 maps 4 of 1 to 5 to 0.5, and 1 of 0 to 1 to 1."""
    campaign = make_campaign(dataset, criteria={"relevance": (1, 5), "charm": (0, 1)})
    rate(campaign, "ann", response, 4, 1)
    table = judgement_table([campaign])
    assert (table.value.tolist(), table.low, table.high) == ([0.75], -1.0, 1.0)
    chosen = judgement_table([campaign], criteria=["relevance"])
    assert (chosen.value.tolist(), chosen.low, chosen.high) == ([4.0], 1.0, 5.0)


def test_criteria_that_need_one_scale_or_rate_relative_to_another_text_are_refused(dataset, response):
    campaign = make_campaign(dataset, criteria={"relevance": (1, 5), "charm": (0, 1)})
    with pytest.raises(AnnotationError, match="share one scale to be averaged; found: 0 to 1, 1 to 5"):
        campaign_criteria([campaign], on_one_scale=True)
    Criterion.objects.filter(campaign=campaign, name="charm").update(kind="magnitude")
    with pytest.raises(AnnotationError, match="found: 1 to 5, magnitudes"):
        judgement_table([campaign])
