"""Holm's correction against statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from annotation.ranking.holm import holm_adjusted


def test_holms_p_values_are_statsmodels() -> None:
    p_values = np.random.default_rng(1).uniform(0, 0.3, size=40)

    assert holm_adjusted(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_an_undefined_test_is_no_comparison() -> None:
    adjusted = holm_adjusted([0.02, np.nan, 0.04])

    assert adjusted[[0, 2]] == pytest.approx(multipletests([0.02, 0.04], method="holm")[1])
    assert np.isnan(adjusted[1])
    assert holm_adjusted([]).size == 0
