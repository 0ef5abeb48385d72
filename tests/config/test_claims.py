"""One ``up`` at a time has a data folder; what a killed one left is ended first."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from config.claims import FolderClaim, FolderInUseError
from tests.conftest import ROOT

# Claims a folder, as does a child that does not end when asked to.
CLAIM = """
import os, signal, sys
from pathlib import Path
from config.claims import FolderClaim
claim = FolderClaim(Path(sys.argv[1]), print)
claim.describe("http://127.0.0.1:8000")
if not (child := os.fork()):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pause()
print(child, flush=True)
signal.pause()
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", CLAIM, str(tmp_path)]
    owner = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    yield owner
    with suppress(ProcessLookupError):
        os.killpg(owner.pid, signal.SIGKILL)
    owner.communicate()


def test_a_folder_in_use_is_refused_and_its_user_named(owner: subprocess.Popen[str], tmp_path: Path) -> None:
    assert owner.stdout
    owner.stdout.readline()
    with pytest.raises(FolderInUseError, match=rf"{tmp_path}: http://127.0.0.1:8000, process {owner.pid}\."):
        FolderClaim(tmp_path, print)
    assert owner.poll() is None


def test_what_a_killed_owner_left_is_ended(owner: subprocess.Popen[str], tmp_path: Path) -> None:
    assert owner.stdout
    left = psutil.Process(int(owner.stdout.readline()))
    owner.kill()
    owner.wait()
    messages: list[str] = []
    FolderClaim(tmp_path, messages.append, leave_seconds=0).close()
    assert messages == ["Ending what an earlier start left ..."]
    assert not left.is_running() or left.status() == psutil.STATUS_ZOMBIE
    FolderClaim(tmp_path, messages.append).close()
    assert len(messages) == 1
