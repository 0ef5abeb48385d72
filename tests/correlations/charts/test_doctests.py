import doctest
import importlib

import pytest

MODULES = [
    "correlations.charts.forest",
    "correlations.charts.observations",
    "correlations.charts.sweeps",
    "metrics.scoring.colours",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run_as_printed(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
