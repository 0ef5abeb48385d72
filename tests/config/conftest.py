"""A folder that a database server of another account can reach."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def server_folder() -> Iterator[Path]:
    """Not below pytest's temporary folder: each start of pytest closes that to other accounts, also while this runs."""
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as name:
        yield Path(name)
