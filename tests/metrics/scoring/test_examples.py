import doctest
import importlib
import pkgutil

import pytest

import metrics.scoring

MODULES = [module.name for module in pkgutil.iter_modules(metrics.scoring.__path__, "metrics.scoring.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
