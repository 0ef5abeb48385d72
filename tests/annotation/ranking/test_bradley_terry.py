"""Bradley-Terry against published tables, closed forms, and the log-linear model that statsmodels fits."""

import numpy as np
import pytest
import statsmodels.api as sm

from annotation.ranking.bradley_terry import bradley_terry, bradley_terry_certainty

# Stigler, Citation Patterns in the Journals of Statistics and Probability, Statistical Science 1994, as printed in
# Turner and Firth, Bradley-Terry Models in R, Journal of Statistical Software 48(9), 2012, section 2:
# how often the journal of the column cites that of the row, which is then preferred.
JOURNALS = ("Biometrika", "Comm Statist", "JASA", "JRSS-B")
CITED = np.array([[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]])

# American League 1987, Agresti, Categorical Data Analysis, 1990, table 10.5, as in section 3 there: the home team is of
# the row, (won at home, won away) against that of the column.
TEAMS = ("Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")
HOME_WON = np.array(
    [
        [0, 1, 3, 1, 2, 2, 1],
        [6, 0, 5, 2, 5, 4, 3],
        [2, 4, 0, 3, 2, 4, 3],
        [4, 6, 6, 0, 3, 4, 4],
        [6, 6, 4, 4, 0, 4, 4],
        [6, 4, 4, 5, 3, 0, 2],
        [6, 4, 4, 4, 2, 2, 0],
    ]
)
AWAY_WON = np.array(
    [
        [0, 6, 4, 5, 5, 4, 6],
        [0, 0, 2, 5, 1, 2, 3],
        [4, 2, 0, 3, 5, 3, 4],
        [3, 0, 1, 0, 3, 3, 2],
        [0, 1, 2, 3, 0, 3, 2],
        [1, 3, 2, 1, 3, 0, 5],
        [0, 3, 2, 3, 5, 4, 0],
    ]
)


def comparisons(first_won: np.ndarray, second_won: np.ndarray, tied: np.ndarray | None = None) -> np.ndarray:
    """Return (3, N): the systems at the two places, and who won."""
    parts = []
    for counts, outcome in ((first_won, 1), (second_won, -1), (tied, 0)):
        if counts is not None:
            first, second = np.nonzero(counts - np.diag(np.diag(counts)))
            n = counts[first, second]
            parts.append(np.stack([np.repeat(first, n), np.repeat(second, n), np.full(n.sum(), outcome)]))
    return np.concatenate(parts, axis=1)


def test_journals_have_the_published_strengths() -> None:
    fit = bradley_terry(*comparisons(CITED, np.zeros_like(CITED)), n_systems=4)

    # Turner and Firth, section 2: abilities relative to Biometrika.
    assert (fit.strengths - fit.strengths[0])[1:] == pytest.approx([-2.94907, -0.47957, 0.26895], abs=5e-6)
    assert fit.strengths.sum() == pytest.approx(0)
    assert (fit.tie, fit.order) == (0, 0)


def test_teams_have_the_published_strengths_with_and_without_the_home_field() -> None:
    games = comparisons(HOME_WON, AWAY_WON)
    plain = bradley_terry(*games, n_systems=7)
    at_home = bradley_terry(*games, n_systems=7, order_effect=True)

    # Turner and Firth, section 3, relative to Baltimore; the advantage at home is 0.3023 there.
    expected = [1.1077, 0.6839, 1.4364, 1.5814, 1.2476, 1.2945]
    assert (plain.strengths - plain.strengths[0])[1:] == pytest.approx(expected, abs=5e-5)
    expected = [1.1438, 0.7047, 1.4754, 1.6196, 1.2813, 1.3271]
    assert (at_home.strengths - at_home.strengths[0])[1:] == pytest.approx(expected, abs=5e-5)
    assert at_home.order == pytest.approx(0.3023, abs=5e-5)


def test_two_systems_have_davidsons_closed_form() -> None:
    """With one pair the model is saturated: shares of outcomes are met exactly."""
    fit = bradley_terry([0] * 12, [1] * 12, [1] * 6 + [0] * 4 + [-1] * 2, n_systems=2)

    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(np.log(6 / 2))
    assert fit.tie == pytest.approx(4 / np.sqrt(6 * 2))


@pytest.fixture(scope="module")
def tied() -> np.ndarray:
    """400 comparisons of five systems with ties, the first place favoured."""
    rng = np.random.default_rng(4)
    first = rng.integers(0, 5, 400)
    second = (first + rng.integers(1, 5, 400)) % 5
    latent = 0.4 * (first - second) + 0.5 + rng.logistic(size=400)
    return np.stack([first, second, np.where(np.abs(latent) < 0.5, 0, np.sign(latent))]).astype(int)


@pytest.mark.parametrize("order_effect", [False, True])
def test_ties_and_order_are_those_of_the_log_linear_model(tied, order_effect) -> None:
    """Both models as Poisson regressions (Fienberg 1979; Critchlow and Fligner 1991), which statsmodels fits."""
    cells: dict[tuple[int, int, int], int] = {}
    for first, second, outcome in tied.T.tolist():
        for each in (1, 0, -1):
            cells.setdefault((first, second, each), 0)
        cells[first, second, outcome] += 1
    pairs = sorted({(first, second) for first, second, _ in cells})
    design = []
    for first, second, outcome in cells:
        strengths = np.zeros(5)
        strengths[first], strengths[second] = {1: (1, 0), 0: (0.5, 0.5), -1: (0, 1)}[outcome]
        nuisance = [(first, second) == pair for pair in pairs]
        extra = [outcome == 0, -(outcome == -1)][: 1 + order_effect]
        design.append([*strengths[1:], *extra, *nuisance])
    expected = sm.GLM(list(cells.values()), np.array(design, float), family=sm.families.Poisson()).fit(tol=1e-12).params

    fit = bradley_terry(*tied, n_systems=5, order_effect=order_effect)

    assert (fit.strengths - fit.strengths[0])[1:] == pytest.approx(expected[:4], abs=1e-6)
    assert np.log(fit.tie) == pytest.approx(expected[4], abs=1e-6)
    assert fit.order == pytest.approx(expected[5] if order_effect else 0, abs=1e-6)


def test_a_weight_is_as_good_as_repeating(tied) -> None:
    twice = bradley_terry(*np.concatenate([tied, tied[:, :200]], axis=1), n_systems=5)
    weighted = bradley_terry(*tied, n_systems=5, weight=np.where(np.arange(400) < 200, 2, 1))

    assert weighted.strengths == pytest.approx(twice.strengths)


def test_without_ties_errors_by_item_are_statsmodels(tied) -> None:
    """A logit with standard errors clustered by item, without a factor of few clusters."""
    first, second, outcome = tied[:, tied[2] != 0]
    item = np.random.default_rng(1).integers(0, 60, first.size)
    design = np.zeros((first.size, 5))
    design[np.arange(first.size), first], design[np.arange(first.size), second] = 1, -1
    logit = sm.Logit(outcome > 0, design[:, 1:]).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": item, "use_correction": False}, tol=1e-12
    )
    fit = bradley_terry(first, second, outcome, n_systems=5)
    certainty = bradley_terry_certainty(fit, first, second, outcome, item=item, rater=None)

    widths = (certainty.difference_high - certainty.difference_low)[1:, 0]
    # Student's t with 59 degrees of freedom or a little less, times the root of 60 / 59.
    assert widths / 2 / logit.bse == pytest.approx(np.full(4, 2.02), rel=0.03)


def test_systems_that_were_never_compared_are_named() -> None:
    fit = bradley_terry([0, 1, 3], [1, 0, 2], [1, 1, 0], n_systems=5)

    assert fit.components.tolist() == [0, 0, 1, 1, 2]
    assert np.isnan(fit.strengths).all()
    assert "never compared" in fit.reason
    certainty = bradley_terry_certainty(fit, [0, 1, 3], [1, 0, 2], [1, 1, 0], item=[0, 1, 2], rater=[0, 1, 2])
    assert np.isnan(certainty.low).all()


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [([0, 0, 1, 1], [1, 2, 2, 2], [1, 1, 1, -1]), ([0, 0], [1, 1], [1, 0])],  # Davidson (1970): a tie is no defeat
)
def test_a_system_that_never_lost_has_no_finite_strength(first, second, outcome) -> None:
    fit = bradley_terry(first, second, outcome, n_systems=max(second) + 1)

    assert "never lost" in fit.reason
    assert not fit.components.any()


def test_an_order_effect_needs_both_orders() -> None:
    shown = [0, 0], [1, 1], [1, -1]

    assert bradley_terry(*shown, n_systems=2).strengths == pytest.approx([0, 0])
    assert "one order only" in bradley_terry(*shown, n_systems=2, order_effect=True).reason


@pytest.mark.parametrize(
    ("first", "second", "outcome", "message"),
    [
        ([0, 2], [1, 0], [1, 1], r"first\[1\] is 2; accepted: 0 to 1"),
        ([0], [-1], [1], r"second\[0\] is -1"),
        ([1], [1], [1], "comparison 0 is of system 1 with itself"),
        ([0], [1], [2], r"outcome\[0\] is 2; accepted: 1, 0 and -1"),
        ([0, 1], [1], [1], "accepted: one length"),
    ],
)
def test_comparisons_that_are_none_are_refused(first, second, outcome, message) -> None:
    with pytest.raises(ValueError, match=message):
        bradley_terry(first, second, outcome, n_systems=2)
