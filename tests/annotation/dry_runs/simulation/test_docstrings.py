import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["answers", "arrivals", "forecast", "raters"])
def test_examples_in_docstrings_run(name):
    outcome = doctest.testmod(importlib.import_module(f"annotation.dry_runs.simulation.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
