import doctest
import importlib

import pytest

MODULES = ["forest", "observations", "render", "sweeps"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run_as_printed(name):
    # From sys.modules by its full name: the package's own `render` is the function.
    result = doctest.testmod(importlib.import_module(f"correlations.charts.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
