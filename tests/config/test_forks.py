"""A forked process runs a function and ends with its status, and with its parent."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from config.forks import fork


def fail() -> None:
    raise ValueError("odd")


@pytest.mark.parametrize(
    ("main", "status"),
    [(lambda: None, 0), (lambda: sys.exit(3), 3), (lambda: sys.exit("refused"), 1), (fail, 1)],
)
def test_it_ends_with_the_status_of_its_function(main: Callable[[], object], status: int) -> None:
    assert fork(main, name="test").wait() == status


def test_it_has_a_name_a_session_and_no_input_and_writes_to_its_log(tmp_path: Path) -> None:
    def show() -> None:
        own_session = os.getsid(0) == os.getpid()
        os.write(1, f"{psutil.Process().name()} {own_session} {os.read(0, 1)!r}".encode())

    assert fork(show, name="web", log=tmp_path / "log").wait() == 0
    assert (tmp_path / "log").read_text() == "assay web True b''"
