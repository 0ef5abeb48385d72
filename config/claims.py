"""One ``up`` at a time uses a data folder; a new one first ends what a killed one left."""

import fcntl
import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import psutil

LEAVE_SECONDS = 20  # the parts of a killed `up` are asked to end and have as long


class FolderInUseError(RuntimeError):
    """Another ``up`` that runs uses the folder."""


class FolderClaim:
    """A lock that this process and all that are forked from it hold together, until the last of them has ended."""

    def __init__(self, folder: Path, report: Callable[[str], Any], *, leave_seconds: float = LEAVE_SECONDS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder.resolve() / "up.lock"
        self.file: IO[str] = self.path.open("a+")
        try:
            self.lock()
        except BlockingIOError:
            self.refuse_while_owner_runs()
            report("Ending what an earlier start left ...")
            self.end_holders(leave_seconds)
            self.lock()
        self.describe("starting")

    def lock(self) -> None:
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def describe(self, address: str) -> None:
        """Write who holds the folder, for the next that asks."""
        self.file.truncate(0)
        self.file.write(json.dumps({"process": os.getpid(), "address": address}))
        self.file.flush()

    def refuse_while_owner_runs(self) -> None:
        with suppress(ValueError):  # not yet written
            owner = json.loads(self.path.read_text())
            if owner["process"] in {holder.pid for holder in self.holders()}:
                self.close()
                raise FolderInUseError(
                    f"Assay already runs with the data folder {self.path.parent}: {owner['address']}, process "
                    f"{owner['process']}. Stop it, or set ASSAY_DATA_DIR to another folder."
                )

    def holders(self) -> list[psutil.Process]:
        """Return the other processes that have the lock's file open."""
        holders = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if not Path(process.exe()).name.startswith("python") or process.pid == os.getpid():
                    continue  # before its files are listed, which takes long for a database's process
                if any(file.path == str(self.path) for file in process.open_files()):
                    holders.append(process)
        return holders

    def end_holders(self, leave_seconds: float) -> None:
        holders = self.holders()
        for process in holders:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGTERM)
        psutil.wait_procs(holders, timeout=leave_seconds)
        while remaining := self.holders():  # also those that started meanwhile
            for process in remaining:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(remaining, timeout=1)

    def close(self) -> None:
        self.file.close()
