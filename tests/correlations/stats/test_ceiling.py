"""The human ceiling, against formulas of the literature, pingouin, pandas, and a second panel of raters."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from correlations.stats.ceiling import APART, NO_UNITS, ONE_RATER, leave_one_rater_out, split_halves, stepped_up
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.resampling import RaterRatings
from correlations.stats.sampled_units import sampled_unit_correlation
from correlations.stats.units import StudyMetric, UnitSampling

PAIRS = np.array(list(combinations(range(4), 2)))


def panel(quality: np.ndarray, rng: np.random.Generator, *, raters: int, of_output: int) -> RaterRatings:
    """Rate outputs (T, S) on five points, each by some raters of different severity."""
    severity = rng.normal(0, 0.3, raters)
    rater = rng.random((*quality.shape, raters)).argpartition(of_output - 1, axis=-1)[..., :of_output]
    value = np.clip(np.rint(3 + quality[..., None] + severity[rater] + rng.normal(size=rater.shape)), 1, 5)
    system, segment, _ = np.indices(rater.shape)
    return RaterRatings(rater.ravel(), system.ravel(), segment.ravel(), value.ravel())


def means(ratings: RaterRatings, shape: tuple[int, int]) -> np.ndarray:
    frame = pd.DataFrame({"t": ratings.system, "s": ratings.segment, "value": ratings.value})
    return frame.groupby(["t", "s"])["value"].mean().to_numpy().reshape(shape)


@pytest.mark.parametrize("r", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("share", [0.5, 1 / 3, 0.1])
def test_stepping_up_is_spearman_and_brown_and_horst(r: float, share: float) -> None:
    rest = 1 - share
    # Horst 1951, the reliability of a whole from the correlation of parts of the sizes p and q.
    root = np.sqrt(r**2 + 4 * share * rest * (1 - r**2))
    horst = (r * root - r**2) / (2 * share * rest * (1 - r**2))

    assert stepped_up(r, 6 * share, 6 * rest, 6) == pytest.approx(horst)
    if share == 0.5:
        assert stepped_up(r, 3, 3, 6) == pytest.approx(2 * r / (1 + r))


def test_what_cannot_be_stepped_up() -> None:
    assert np.isnan(stepped_up(-0.2, 1, 1, 2))
    assert np.isnan(stepped_up(float("nan"), 1, 1, 2))
    for arguments, message in (((1.2, 1, 1, 2), "a correlation lies"), ((0.5, 0, 1, 2), "above 0")):
        with pytest.raises(ValueError, match=message):
            stepped_up(*arguments)


@pytest.mark.parametrize("r", [-0.7, 0.3, 0.8])
def test_rank_coefficients_of_a_normal_distribution_are_put_on_pearsons_scale(r: float) -> None:
    x, y = np.random.default_rng(3).multivariate_normal([0, 0], [[1, r], [r, 1]], 100_000).T

    assert COEFFICIENTS["spearman"].to_pearson(stats.spearmanr(x, y).statistic) == pytest.approx(r, abs=0.01)
    assert COEFFICIENTS["kendall"].to_pearson(stats.kendalltau(x, y).statistic) == pytest.approx(r, abs=0.01)
    for entry in COEFFICIENTS.values():
        assert entry.from_pearson(entry.to_pearson(0.4)) == pytest.approx(0.4)


def test_halves_of_a_panel_step_up_to_cronbachs_alpha() -> None:
    """Cronbach 1951: alpha is the mean of all split-half coefficients."""
    import pingouin  # here, because it takes each process that imports it half a second

    rng = np.random.default_rng(1)
    ratings = panel(rng.normal(size=(2, 500)), rng, raters=6, of_output=6)
    frame = pd.DataFrame({"t": ratings.system, "s": ratings.segment, "r": ratings.rater, "value": ratings.value})
    table = frame.pivot_table(index="s", columns=["t", "r"], values="value")
    sampling = UnitSampling(seed=1, unit_size=1, orientation="fixed", coefficients=("pearson",))

    (result,) = split_halves(ratings, [np.ones((1, 500), bool)], [(0, 1)], 2, sampling)

    assert result.ceiling["pearson"] == pytest.approx(pingouin.cronbach_alpha(table[0] - table[1])[0], abs=0.005)
    assert (result.raters_of_output, *result.raters_of_half) == pytest.approx((6, 3, 3))


@pytest.mark.parametrize(("unit_size", "remainder"), [(1, "keep"), (20, "keep"), (20, "drop")])
def test_the_ceiling_is_how_far_a_second_panel_agrees(unit_size: int, remainder: str) -> None:
    found, true = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        quality = np.linspace(0, 0.4, 4)[:, None] + rng.normal(0, 0.5, 400) + rng.normal(0, 0.6, (4, 400))
        one, other = (panel(quality, rng, raters=30, of_output=3) for _ in range(2))
        sampling = UnitSampling(seed=seed, unit_size=unit_size, n_assignments=5, remainder=remainder)
        (result,) = split_halves(one, [np.ones((6, 400), bool)], PAIRS, 4, sampling, n_splits=10)
        metric = StudyMetric("other", means(other, quality.shape)[..., None], lambda sums: sums[..., 0])
        row = sampled_unit_correlation([metric], means(one, quality.shape), PAIRS, sampling).rows[0]
        found.append([result.ceiling[key] for key in sampling.coefficients])
        true.append([row.coefficients[key].mean for key in sampling.coefficients])

    assert np.mean(found, axis=0) == pytest.approx(np.mean(true, axis=0), abs=0.04)
    assert max(np.mean(found, axis=0)) < 0.9  # far from where every formula agrees


def test_only_counted_segments_enter() -> None:
    rng = np.random.default_rng(2)
    ratings = panel(rng.normal(size=(4, 60)), rng, raters=4, of_output=4)
    ratings.value[ratings.segment >= 30] = rng.integers(1, 6, int((ratings.segment >= 30).sum()))
    counted = np.arange(60) < 30
    kept = RaterRatings(*(getattr(ratings, name)[ratings.segment < 30] for name in vars(ratings)))
    sampling = UnitSampling(seed=1, unit_size=1)

    masks = [np.broadcast_to(mask, (6, 60)) for mask in (counted, ~counted)]
    some, noise = split_halves(ratings, masks, PAIRS, 4, sampling)
    (alone,) = split_halves(kept, [np.ones((6, 30), bool)], PAIRS, 4, sampling)

    assert some.ceiling["spearman"] == pytest.approx(alone.ceiling["spearman"], abs=1e-12)
    assert noise.halves["spearman"] < 0.3 < some.halves["spearman"]


def test_what_has_no_ceiling_says_why() -> None:
    rng = np.random.default_rng(2)
    sampling = UnitSampling(seed=1, unit_size=30, coefficients=("pearson",))

    def reason(ratings: RaterRatings, unit_size: int) -> str:
        sizes = UnitSampling(seed=1, unit_size=unit_size, coefficients=("pearson",))
        (result,) = split_halves(ratings, [np.ones((1, 30), bool)], [(0, 1)], 2, sizes)
        assert np.isnan(result.ceiling["pearson"])
        return result.reasons["pearson"]

    two = panel(rng.normal(size=(2, 30)), rng, raters=2, of_output=2)
    assert reason(panel(rng.normal(size=(2, 30)), rng, raters=1, of_output=1), 1) == ONE_RATER
    assert reason(two, sampling.unit_size) == NO_UNITS
    assert (
        reason(panel(rng.normal(size=(2, 30)), rng, raters=2, of_output=1), 1) == "no output has ratings of both halves"
    )
    opposed = RaterRatings(
        two.rater, two.system, two.segment, np.where(two.rater == 0, 1, -1) * two.segment * two.system
    )
    assert reason(opposed, 1) == APART
    with pytest.raises(ValueError, match=r"counted\[0\] has shape"):
        split_halves(two, [np.ones((2, 30), bool)], [(0, 1)], 2, sampling)


def test_raters_left_out_one_by_one_as_pandas_has_it() -> None:
    rng = np.random.default_rng(4)
    ratings = rng.integers(1, 6, (4, 80)).astype(float) + np.arange(80) % 4
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    ratings[3, 35:] = np.nan  # leaves too few
    scores = np.stack([np.arange(80) % 4 + rng.normal(size=80), rng.normal(size=80)])
    scores[1, :10] = np.nan
    frame = pd.DataFrame(ratings.T)

    results = leave_one_rater_out(ratings, scores, coefficients=["spearman", "kendall"])

    for row, result in enumerate(results):
        for key in ("spearman", "kendall"):
            of_raters, of_metric = [], []
            for rater in frame:
                sides = pd.DataFrame(
                    {"own": frame[rater], "others": frame.drop(columns=rater).mean(axis=1), "score": scores[row]}
                ).dropna()
                if len(sides) >= 30:
                    of_raters.append(sides["own"].corr(sides["others"], method=key))
                    of_metric.append(sides["score"].corr(sides["others"], method=key))
            assert result.n_raters[key] == len(of_raters) == 3
            assert result.rater[key] == pytest.approx(np.mean(of_raters))
            assert result.metric[key] == pytest.approx(np.mean(of_metric))


def test_a_rater_of_one_rating_or_of_few_outputs_is_not_left_out() -> None:
    ratings = np.stack([np.full(40, 3.0), np.arange(40) % 5, np.arange(40) % 4])

    (one,) = leave_one_rater_out(ratings, [np.arange(40)], coefficients=["pearson"])
    (none,) = leave_one_rater_out(ratings[:, :20], [np.arange(20)], coefficients=["pearson"])

    assert one.n_raters == {"pearson": 2}
    assert (none.n_raters["pearson"], np.isnan(none.rater["pearson"])) == (0, True)
    assert "30 scored outputs" in none.reason
    for arguments, message in ((([[1, 2]], [[1, 2]]), "at least 2"), ((ratings, [[1, 2]]), r"\(metrics, 40\)")):
        with pytest.raises(ValueError, match=message):
            leave_one_rater_out(*arguments, coefficients=["pearson"])
