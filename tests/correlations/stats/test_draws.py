"""Draws in shards: the same whatever order, and each the coefficient of what it drew."""

import numpy as np
import pytest
from scipy import stats

from correlations.stats.draws import Drawn, joined, shard_draws, shard_sizes
from correlations.stats.nested import nested_bootstrap
from correlations.stats.parameters import ParameterValue
from correlations.stats.resampling import RaterRatings


@pytest.fixture(scope="module")
def human():
    return np.linspace(0, 1, 6)[:, None] + np.random.default_rng(3).normal(size=(6, 40))


@pytest.fixture(scope="module")
def entries(human):
    rng = np.random.default_rng(4)
    scores = [human + rng.normal(size=human.shape) for _ in range(3)]
    some = np.ones(human.shape, dtype=bool)
    some[0, :7] = False
    outputs = [np.ones_like(some), some, some]
    return [Drawn(ParameterValue(each[..., None], mean, each), of) for each, of in zip(scores, outputs, strict=True)]


def mean(sums):
    return sums[..., 0]


def test_shards_drawn_in_any_order_and_number_of_turns_join_to_the_same_draws(entries, human):
    sizes = dict(enumerate(shard_sizes(1200)))
    first = {number: shard_draws(entries, human, seed=7, number=number, size=sizes[number]) for number in (2, 0, 1)}
    again = [shard_draws(entries, human, seed=7, number=number, size=size) for number, size in sizes.items()]
    one, two = joined([first[number] for number in sizes]), joined(again)
    assert one.outputs.shape == (3, 1200)
    for key, values in one.over_items_and_systems.items():
        np.testing.assert_array_equal(values, two.over_items_and_systems[key])
    assert len(np.unique(one.outputs[0])) == 1200, "each shard draws from a seed of its own"


def test_a_metrics_draws_do_not_depend_on_the_others(entries, human):
    together = shard_draws(entries, human, seed=7, number=1, size=30)
    np.testing.assert_array_equal(shard_draws(entries[2:], human, seed=7, number=1, size=30)[0], together[2])


def test_each_draw_equals_scipys_coefficient_of_the_drawn_items_and_systems(entries, human):
    """The items and systems drawn are those of NumPy's generators with the shard's two seeds."""
    items, systems = np.random.SeedSequence(7, spawn_key=(2,)).spawn(2)
    weights = np.random.default_rng(items).multinomial(40, np.full(40, 1 / 40), size=20)
    drawn = np.random.default_rng(systems).integers(0, 6, (20, 6))
    found = joined([shard_draws(entries, human, seed=7, number=2, size=20)])
    scores, outputs = entries[1].value.scores, entries[1].outputs
    for b, (times, taken) in enumerate(zip(weights, drawn, strict=True)):
        of = np.repeat(np.arange(40), times)
        chosen = [np.where(outputs, side, np.nan)[:, of] for side in (scores, human)]
        totals, ratings = np.nansum(chosen[0], axis=1), np.nanmean(chosen[1], axis=1)
        assert found.over_items["kendall"][1, b] == pytest.approx(stats.kendalltau(totals, ratings).statistic)
        nested = stats.pearsonr(totals[taken], ratings[taken]).statistic
        assert found.over_items_and_systems["pearson"][1, b] == pytest.approx(nested)
        kept = np.isfinite(chosen[0])
        assert found.outputs[1, b] == pytest.approx(stats.pearsonr(chosen[0][kept], chosen[1][kept]).statistic)


def test_raters_are_drawn_alone_or_with_items_and_systems(human):
    """Each replicate against means of the drawn raters' ratings, taken by a loop."""
    rng = np.random.default_rng(9)
    rater, system, segment = (each.ravel() for each in np.indices((5, 6, 40)))
    ratings = RaterRatings(rater, system, segment, human[system, segment] + rng.normal(size=rater.size))
    metric = human + rng.normal(size=human.shape)
    found = nested_bootstrap(
        metric, human, rng=np.random.default_rng(5), over=None, n_replicates=4, raters=ratings, coefficient="spearman"
    )
    draws = np.random.default_rng(5)
    table = ratings.value.reshape(5, 6, 40)
    for value in found:
        means = table[draws.integers(0, 5, 5)].mean(axis=(0, 2))
        assert value == pytest.approx(stats.spearmanr(metric.mean(axis=1), means).statistic)
    both = [
        nested_bootstrap(metric, human, rng=np.random.default_rng(1), over=over, n_replicates=200, raters=raters)
        for over, raters in (("both", None), ("both", ratings))
    ]
    assert all(np.isfinite(each).all() for each in both)
    with pytest.raises(ValueError, match="over is 'None': accepted are"):
        nested_bootstrap(metric, human, rng=rng, over=None)
