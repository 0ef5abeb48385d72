import doctest
import importlib

import pytest

MODULES = [
    "coefficients.kendall",
    "coefficients.pearson",
    "coefficients.somers_d",
    "coefficients.spearman",
    "intervals",
    "resampling",
    "sampled_units",
    "significance",
    "sweeps",
    "system_level",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run_as_printed(name):
    result = doctest.testmod(importlib.import_module(f"correlations.stats.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
