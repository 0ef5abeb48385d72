"""Examples in docstrings print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = [
    ".".join(path.relative_to(folder).with_suffix("").parts)
    for folder, packages in (
        (ROOT, ("annotation", "correlations", "demo", "metrics")),
        (ROOT / "client", ("assay_client",)),
    )
    for package in packages
    for path in sorted((folder / package).rglob("*.py"))
    if "    >>> " in path.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run_as_printed(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert result.attempted > 0
    assert result.failed == 0
