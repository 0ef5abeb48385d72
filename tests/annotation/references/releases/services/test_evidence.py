"""Spread and histogram beside each weight: stored when a release is built."""

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import Criterion, Release, ReleaseWeight
from annotation.references.releases.services.releases import release_build, release_create, stored_content_hash
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate

RATERS = ("ann", "bob", "cem", "dot", "eve")


@pytest.fixture
def campaign(project):
    return make_campaign(make_dataset(project))


@pytest.fixture
def response(campaign):
    """Five ratings 4, 4, 4, 4, 5."""
    response = make_response(make_item(campaign.dataset, "i1"), "A fine answer.", "seed")
    for rater, value in zip(RATERS, (4, 4, 4, 4, 5), strict=True):
        rate(campaign, rater, response, value)
    return response


def build(campaign, **arguments) -> Release:
    reference_set = reference_set_create(
        dataset=campaign.dataset, name="Seeds", campaigns=[campaign], source_kinds=["seed"]
    )
    release = release_create(reference_set=reference_set, **arguments)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.error == ""
    return release


def test_a_release_is_built_with_its_evidence(campaign, response):
    """Four 4s and a 5 about a mean of 4.2: (4 * 0.04 + 0.64) / 4 = 0.2 is their variance."""
    release = build(campaign)
    weight = release.weights.get()
    assert weight.histogram == [0, 0, 0, 4, 1]
    assert weight.rating_spread == pytest.approx(0.2**0.5)
    assert release.report["histogram"] == {"kind": "points", "labels": ["1", "2", "3", "4", "5"]}


def test_one_judgement_has_a_histogram_and_no_spread(campaign):
    rate(campaign, "ann", make_response(make_item(campaign.dataset, "i1"), "Once.", "seed"), 2)
    weight = build(campaign).weights.get()
    assert (weight.histogram, weight.rating_spread) == ([0, 1, 0, 0, 0], None)


def test_a_slider_is_counted_in_equal_bins(campaign):
    Criterion.objects.filter(campaign=campaign).update(kind="slider", scale_min=0, scale_max=10, step=0)
    response = make_response(make_item(campaign.dataset, "i1"), "So so.", "seed")
    for rater, value in zip(RATERS, (0, 4.99, 5, 9.5, 10), strict=True):
        rate(campaign, rater, response, value)
    release = build(campaign)
    assert release.report["histogram"]["kind"] == "equal"
    assert release.weights.get().histogram == [1, 0, 0, 0, 1, 1, 0, 0, 0, 2]


def test_the_hash_does_not_depend_on_the_evidence(campaign, response):
    release = build(campaign)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('assay.purge', 'on', true)")
        release.weights.update(rating_spread=None, histogram=None)
        cursor.execute("SELECT set_config('assay.purge', 'off', true)")
    assert stored_content_hash(release) == release.content_hash


def test_evidence_is_as_immutable_as_the_weights(campaign, response):
    weight = build(campaign).weights.get()
    with pytest.raises(IntegrityError, match="immutable"), transaction.atomic():
        ReleaseWeight.objects.filter(pk=weight.pk).update(histogram=[5, 0, 0, 0, 0])


def test_magnitudes_are_counted_in_doublings_of_the_standard(campaign):
    """Ratios 1, 1, 2, 4 and 100 to a standard of 10; on a scale without ends only z-scores become weights."""
    Criterion.objects.filter(campaign=campaign).update(kind="magnitude", standard_source="seed", standard_value=10)
    response = make_response(make_item(campaign.dataset, "i1"), "So so.", "seed")
    lower_rated = make_response(make_item(campaign.dataset, "i2"), "Worse.", "seed")
    for rater, value in zip(RATERS, (10, 10, 20, 40, 1000), strict=True):
        rate(campaign, rater, response, value)
        rate(campaign, rater, lower_rated, value / 4)
    release = build(campaign, method="zscore")
    assert release.report["histogram"]["kind"] == "ratios"
    assert release.weights.get(response=response).histogram == [0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 1]
