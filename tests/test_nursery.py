"""One process forks the workers of all processes of a run."""

import os
from pathlib import Path

import psutil
import pytest

from tests.conftest import folder_of_run
from tests.worker import Nursery, Worker, wait_until


@pytest.mark.worker
def test_processes_of_a_run_share_it_and_workers_end_with_the_connection_that_asked_for_them(
    nursery: Nursery, tmp_path_factory: pytest.TempPathFactory
) -> None:
    another = Nursery(folder_of_run(tmp_path_factory), nursery.environment)
    own, other = Worker(nursery), Worker(another)

    assert psutil.Process(own.pid).ppid() == psutil.Process(other.pid).ppid() != os.getpid()
    assert [own.is_alive(), other.is_alive(), bool(nursery.request("alive", other.pid))] == [True, True, False]
    another.close()
    wait_until(lambda: not psutil.pid_exists(other.pid), seconds=10)
    assert own.is_alive()
    own.kill()
    assert own.has_ended()


def test_a_port_that_no_nursery_listens_at_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nursery.port").write_text("1")
    monkeypatch.setattr(Nursery, "_begun", lambda self: "begun")
    assert Nursery(tmp_path, {}).connection == "begun"  # type: ignore[comparison-overlap]
