import doctest
import importlib

import pytest

MODULES = [
    "agreement",
    "checks",
    "degraded",
    "evidence",
    "sequence",
    "exclusion.applying",
    "influence",
    "sensitivity",
    "intervals",
    "kappa",
    "linear",
    "position",
    "quality",
    "raters",
    "reliability",
    "result",
    "scheme",
    "schemes",
    "enough",
    "table",
    "zscore",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    outcome = doctest.testmod(importlib.import_module(f"annotation.weighting.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
