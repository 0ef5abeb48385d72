import doctest
import importlib.util
import pkgutil

import pytest

import annotation.dry_runs.simulation as package

MODULES = [module.name for module in pkgutil.walk_packages(package.__path__, "annotation.dry_runs.simulation.")]
EXAMPLES = [name for name in MODULES if ">>>" in importlib.util.find_spec(name).loader.get_source(name)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_run(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0
