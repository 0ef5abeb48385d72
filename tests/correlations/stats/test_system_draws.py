"""What correlations over systems rest on, drawn anew: each draw against a loop over what NumPy's generators draw."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage.significance import OWN, SPREAD, world
from correlations.stats import system_draws as module
from correlations.stats.draws import Drawn, joined, shard_draws
from correlations.stats.parameters import ParameterValue
from correlations.stats.resampling import RaterRatings
from correlations.stats.system_draws import system_draws
from correlations.stats.system_intervals import over_systems

SYSTEMS, ITEMS, RATERS, DRAWS, SEED = 6, 30, 4, 12, 7


def ratio(sums):
    """Return a score that is no mean of outputs' scores, as BLEU is none."""
    return sums[..., 0] / sums[..., 1]


def total(sums):
    return sums[..., 0]


@pytest.fixture(scope="module")
def ratings():
    """Two of four raters rated each output; some outputs were rated by one alone, two by none."""
    rng = np.random.default_rng(3)
    rater, system, segment = (each.ravel() for each in np.indices((RATERS, SYSTEMS, ITEMS)))
    chosen = (rater + system + segment) % 2 == 0
    chosen &= ~((rater > 1) & (segment < 4)) & ~((segment == 9) & (system < 2))
    rater, system, segment = rater[chosen], system[chosen], segment[chosen]
    return RaterRatings(rater + 100, system, segment, 0.4 * system + rng.integers(1, 6, rater.size))


@pytest.fixture(scope="module")
def human(ratings):
    return ratings.replicates(_Everyone(), 1, (SYSTEMS, ITEMS))[0]


class _Everyone:
    """Draws each rater once."""

    @staticmethod
    def integers(low, high, size):
        return np.arange(low, high)


@pytest.fixture(scope="module")
def values(human):
    rng = np.random.default_rng(4)
    made = rng.random((2, SYSTEMS, ITEMS, 2)) + 0.5
    made[..., 0] += 0.2 * np.arange(SYSTEMS)[:, None]
    return [ParameterValue(made[0], ratio, made[0, ..., 0]), ParameterValue(made[1], total, made[1, ..., 0])]


def naive(value, ratings, outputs, systems, items, times_of_rater):
    """Return a draw's scores and ratings of systems, by loops over the definition."""
    scores, means = [], []
    for t in systems:
        kept = []
        for item in items:
            if not outputs[t, item]:
                continue
            of = (ratings.system == t) & (ratings.segment == item)
            drawn = [
                each
                for each, rater in zip(ratings.value[of], ratings.rater[of], strict=True)
                for _ in range(times_of_rater[rater])
            ]
            if drawn:
                kept.append((value.statistics[t, item], float(np.mean(drawn))))
        scores.append(float(value.aggregate(np.sum([each for each, _ in kept], axis=0))))
        means.append(float(np.mean([mean for _, mean in kept])))
    return scores, means


def test_each_draw_equals_a_loop_over_the_drawn_systems_raters_and_items(values, ratings, human, monkeypatch):
    outputs = np.isfinite(human)
    monkeypatch.setattr(module, "_CELLS", 5 * ITEMS)  # several draws at a time, and a rest
    found = system_draws(values, human, outputs, raters=ratings, seed=SEED, n_draws=DRAWS)
    of_items, of_systems, of_raters = np.random.SeedSequence(SEED, spawn_key=(0,)).spawn(3)
    often = np.random.default_rng(of_items).multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=DRAWS)
    systems = np.random.default_rng(of_systems).integers(0, SYSTEMS, (DRAWS, SYSTEMS))
    times = np.random.default_rng(of_raters).multinomial(RATERS, np.full(RATERS, 1 / RATERS), size=DRAWS)
    every, everyone = range(SYSTEMS), dict.fromkeys(np.unique(ratings.rater), 1)
    for value, draws in zip(values, found, strict=True):
        for b in range(DRAWS):
            items, drawn = np.repeat(np.arange(ITEMS), often[b]), dict(zip(everyone, times[b], strict=True))
            expected = (
                (draws.over_systems, naive(value, ratings, outputs, systems[b], range(ITEMS), everyone)),
                (draws.over_raters, naive(value, ratings, outputs, every, range(ITEMS), drawn)),
                (draws.over_items_systems_and_raters, naive(value, ratings, outputs, systems[b], items, drawn)),
            )
            for coefficients, (scores, means) in expected:
                assert coefficients["pearson"][b] == pytest.approx(stats.pearsonr(scores, means).statistic)
                assert coefficients["spearman"][b] == pytest.approx(stats.spearmanr(scores, means).statistic)
                assert coefficients["kendall"][b] == pytest.approx(stats.kendalltau(scores, means).statistic)


def test_a_metrics_draws_depend_on_the_seed_alone(values, ratings, human, monkeypatch):
    outputs = np.isfinite(human)
    together = system_draws(values, human, outputs, raters=ratings, seed=SEED, n_draws=600)
    monkeypatch.setattr(module, "_CELLS", 1)
    (alone,) = system_draws(values[1:], human, outputs, raters=ratings, seed=SEED, n_draws=600)
    for name in ("over_systems", "over_raters", "over_items_systems_and_raters"):
        np.testing.assert_allclose(getattr(alone, name)["pearson"], getattr(together[1], name)["pearson"], rtol=1e-9)
    assert np.unique(alone.over_raters["pearson"][500:]).size > 1, "each shard draws from a seed of its own"


def test_without_raters_none_are_drawn_and_other_outputs_ratings_are_refused(values, ratings, human):
    outputs = np.isfinite(human)
    (draws,) = system_draws(values[:1], human, outputs, raters=None, seed=SEED, n_draws=20)
    assert draws.over_raters is None
    assert draws.over_items_systems_and_raters is None
    outputs[0, 0] = False
    with pytest.raises(ValueError, match="raters hold ratings of other outputs"):
        system_draws(values, human, outputs, raters=ratings, seed=SEED, n_draws=2)


def test_ranges_over_items_and_systems_hold_the_r_of_endless_systems():
    """docs/methods.md has the share for 10 systems and 100 items; items or systems alone hold it less often."""
    rng, truth = np.random.default_rng(11), SPREAD / float(np.hypot(SPREAD, OWN))
    held = {"items": 0, "systems": 0, "both": 0}
    trials = 120
    for _ in range(trials):
        (metric, _), human, _ = world(rng, 10, 100)
        value, outputs = ParameterValue(metric[..., None], total, metric), np.ones(human.shape, dtype=bool)
        seed, observed = int(rng.integers(2**31)), float(np.corrcoef(metric.mean(axis=1), human.mean(axis=1))[0, 1])
        (alone,) = system_draws([value], human, outputs, raters=None, seed=seed, n_draws=150)
        nested = joined([shard_draws([Drawn(value, outputs)], human, seed=seed, number=0, size=150)])
        of = {
            "items": nested.over_items["pearson"][0],
            "systems": alone.over_systems["pearson"],
            "both": nested.over_items_and_systems["pearson"][0],
        }
        for name, draws in of.items():
            low, high = over_systems(observed, draws, 10, alone=name == "systems")
            held[name] += low <= truth <= high
    assert 0.9 * trials <= held["both"]
    assert held["items"] < held["systems"] <= held["both"] + 3
