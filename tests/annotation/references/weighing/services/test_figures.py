"""Figures of large releases: computed once per input, and the same as those of small releases."""

import numpy as np
import pytest
from django.core.cache import cache

from annotation.models import FiguresPart, JobState, ReleaseFigures
from annotation.quality.services.operations import campaign_extend
from annotation.references.weighing.selectors import stored
from annotation.references.weighing.selectors.attention import attention, suggestion
from annotation.references.weighing.selectors.guard import circularity
from annotation.references.weighing.selectors.influence import influences, rater_influences, turned_by
from annotation.references.weighing.selectors.sensitivity import comparisons
from annotation.references.weighing.selectors.stored import FiguresAwaited, is_large
from annotation.references.weighing.services.figures import figures_compute, figures_prepare, figures_request
from tests.annotation.worlds.rated import make_campaign, make_response
from tests.annotation.worlds.weighed import make_release, rate_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(project):
    return make_release(project)


@pytest.fixture
def every_release_is_large(monkeypatch):
    monkeypatch.setattr(stored, "IN_REQUEST", 0)


def compute_all(release) -> None:
    for pk in figures_prepare(release_id=release.pk):
        figures_compute(figures_id=pk)
    assert {figures.state for figures in release.figures.all()} == {JobState.DONE}


def page_content(release) -> list[object]:
    """Return everything that the pages show, as plain data."""
    lists = attention(release)
    influence = influences(release)
    return [
        {name: ids.tolist() for name, ids in lists.listed.items()},
        lists.n_items,
        [column.tolist() for column in lists.fewer],
        suggestion(release, "uncertain", lists.listed["uncertain"]),
        rater_influences(release, influence),
        [turned_by(influence, pk) for pk in influence.rater_id.tolist()],
        circularity(release),
    ]


def test_a_small_release_is_computed_in_the_request(release):
    assert not is_large(release)
    assert figures_prepare(release_id=release.pk) == []
    assert len(comparisons(release)) == 7
    assert not ReleaseFigures.objects.exists()


def test_a_large_release_is_awaited(release, every_release_is_large):
    for selector in (attention, comparisons, influences, circularity):
        with pytest.raises(FiguresAwaited, match="try again in a moment"):
            selector(release)


def test_figures_can_be_computed_without_a_worker(release, every_release_is_large):
    assert attention(release, here=True).n_items["tie"] == 1
    cache.clear()
    assert circularity(release, here=True).same == 1


def test_stored_figures_are_those_that_would_be_computed(release, monkeypatch):
    rate_all(make_campaign(release.reference_set.dataset, "Outputs"), release.weights.first().response, ann=3)
    before, schemes = page_content(release), comparisons(release)
    monkeypatch.setattr(stored, "IN_REQUEST", 0)
    cache.clear()
    compute_all(release)
    assert page_content(release) == before
    for comparison, expected in zip(comparisons(release), schemes, strict=True):
        assert (comparison.name, comparison.label, comparison.parameters, comparison.is_own, comparison.reason) == (
            expected.name,
            expected.label,
            expected.parameters,
            expected.is_own,
            expected.reason,
        )
        np.testing.assert_array_equal(comparison.moved.alternative.weights, expected.moved.alternative.weights)
        for name in ("reversed_sign", "to_or_from_zero", "best_changed", "lost_positive", "gained_positive"):
            np.testing.assert_array_equal(getattr(comparison.moved, name), getattr(expected.moved, name))
        assert comparison.moved.mean_change == pytest.approx(expected.moved.mean_change, nan_ok=True)


def test_each_part_is_computed_once_however_often_it_is_requested(release, every_release_is_large):
    assert len(figures_prepare(release_id=release.pk)) == len(FiguresPart)
    assert figures_prepare(release_id=release.pk) == []
    figures, created = figures_request(release=release, part=FiguresPart.INFLUENCE)
    assert not created
    figures_compute(figures_id=figures.pk)
    figures_compute(figures_id=figures.pk)
    figures.refresh_from_db()
    assert (figures.state, figures.attempt) == (JobState.DONE, 1)


def test_new_outputs_make_texts_on_both_sides_outdated(release, every_release_is_large):
    compute_all(release)
    before = sum(system.near for system in circularity(release).systems)
    item = release.reference_set.dataset.items.get(external_id="i1")
    make_response(item, "WELL.", "Cy")
    with pytest.raises(FiguresAwaited):
        circularity(release)
    compute_all(release)
    assert sum(system.near for system in circularity(release).systems) == before + 1
    assert release.figures.filter(part=FiguresPart.TEXTS).count() == 1  # the outdated ones are deleted
    assert comparisons(release)


def test_ratings_of_outputs_count_without_a_wait(release, every_release_is_large):
    compute_all(release)
    outputs = make_campaign(release.reference_set.dataset, "Outputs")
    response = release.reference_set.dataset.items.get(external_id="i1").responses.get(sources__system__name="Bo")
    rate_all(outputs, response, ann=3)
    assert [(rater.pseudonym, rater.outputs) for rater in circularity(release).raters] == [("ann", 1)]


def test_the_planned_number_of_ratings_follows_the_campaign(release, every_release_is_large):
    compute_all(release)
    assert len(attention(release).fewer.response_id) == 0
    campaign = release.reference_set.campaigns.get()
    campaign_extend(campaign=campaign, ratings_per_unit=4)
    with pytest.raises(FiguresAwaited):
        attention(release)
    compute_all(release)
    assert len(attention(release).fewer.response_id) == 5


def test_a_failure_stores_its_reason_and_no_content(release, every_release_is_large, monkeypatch):
    figures, _ = figures_request(release=release, part=FiguresPart.SENSITIVITY)
    monkeypatch.setattr("annotation.references.weighing.services.figures.packed", lambda tree: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        figures_compute(figures_id=figures.pk)
    figures.refresh_from_db()
    assert (figures.state, figures.content) == (JobState.FAILED, None)
    assert "ZeroDivisionError" in figures.error
