"""A folder that a database server under another account can access."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def server_folder() -> Iterator[Path]:
    """Return a folder outside pytest's temporary one, which every start of pytest closes to other accounts."""
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as name:
        yield Path(name)
