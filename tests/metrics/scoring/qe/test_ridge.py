"""Ridge regression against scikit-learn's, and what the features say."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.linear_model import Ridge

from metrics.scoring.qe import ridge as module
from metrics.scoring.qe.features import BUCKETS, features, overlaps
from metrics.scoring.qe.ridge import ridge


@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 30)], ids=["wide", "tall"])
@pytest.mark.parametrize("largest", [3000, 10], ids=["exactly", "step by step"])
def test_weights_are_those_of_scikit_learn(n: int, d: int, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST_EXACT", largest)
    rng = np.random.default_rng(1)
    rows = csr_array(random_array((n, d), density=0.3, rng=rng))
    targets = rng.normal(4, 1, n)
    strengths = [0.1, 3.0, 100.0]

    weights, intercepts = ridge(rows, targets, strengths)

    for at, strength in enumerate(strengths):
        expected = Ridge(alpha=strength).fit(rows.toarray(), targets)
        np.testing.assert_allclose(weights[at], expected.coef_, atol=1e-6)
        assert intercepts[at] == pytest.approx(expected.intercept_, abs=1e-6)


def test_features_are_hashed_alike_for_equal_texts_and_have_length_one_in_each_block() -> None:
    source, output = ("inform", "name", "X-name"), ("X-name", "is", "cheap")
    rows = features([source, source, ()], [output, output, ()]).toarray()
    assert np.array_equal(rows[0], rows[1])
    for block in range(3):
        part = rows[0, block * BUCKETS : (block + 1) * BUCKETS]
        assert np.linalg.norm(part) == pytest.approx(1)
    assert np.isfinite(rows).all()


def test_overlaps_count_what_the_output_lacks_adds_and_repeats() -> None:
    source = ("inform", "name", "X-name", "inform", "food", "X-food")
    [row] = overlaps([source], [("X-name", "X-name", "near", "X-near", "near", "X-near")])
    shared, lacking, added, repeated = row[3:7]
    assert shared == pytest.approx(1 / 5)  # of inform, name, X-name, food and X-food
    assert (lacking, added, repeated) == (1, 1, 2)
    assert row[7] == pytest.approx(1 - 3 / 6)
    assert row[8] == pytest.approx(1 / 6)  # "near X-near" twice
    assert row[9] == 1
