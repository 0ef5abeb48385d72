import doctest
import importlib

import pytest

MODULES = ["checks", "degrade", "handout", "interleaving", "leases", "ordering", "seeds", "units"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    outcome = doctest.testmod(importlib.import_module(f"annotation.allocation.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
