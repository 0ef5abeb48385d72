"""Child processes forked from this one, which has imported the project: each starts in a fraction of a second."""

import ctypes
import os
import runpy
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import structlog
from django.conf import settings

CAN_FORK = sys.platform == "linux"  # libraries of other systems refuse to work in a forked process
LIBRARY = ctypes.CDLL(None) if CAN_FORK else None
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15  # linux/prctl.h
HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


def fork(main: Callable[[], object], *, name: str, log: Path | None = None) -> psutil.Process:
    """Run ``main`` in a child process, which is asked to end (SIGTERM) when this one does.

    With ``log``, it has a session of its own, no input, and writes there. The caller must hold no connection to the
    database and run no threads.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)  # the child must not handle its own as this one does
    try:
        pid = os.fork()
    finally:
        if os.getpid() == parent:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    if pid:
        return psutil.Process(pid)
    status = 1
    try:
        become(name, parent, log)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        status = exit_status(main)
    except Exception:  # noqa: BLE001 - logged in full
        structlog.get_logger("assay.part").exception("ended by an error", part=name)
    finally:
        leave(status)


def become(name: str, parent: int, log: Path | None) -> None:
    """Make this forked process one of its own."""
    signal.set_wakeup_fd(-1)
    for number in HANDLED:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    if LIBRARY is not None:
        LIBRARY.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        LIBRARY.prctl(PR_SET_NAME, f"assay {name}".encode()[:15])  # as `ps -A` and `top` show it
        if os.getppid() != parent:
            os._exit(0)
    if settings.EMBEDDED_POSTGRES:
        settings.EMBEDDED_POSTGRES.hold_after_fork()
    if log is not None:
        os.setsid()
        nothing, file = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(nothing, 0)
        os.dup2(file, 1)
        os.dup2(file, 2)


def exit_status(main: Callable[[], object]) -> int:
    try:
        main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def leave(status: int) -> None:
    """End this forked process without what its parent registered for its own end."""
    try:
        if settings.EMBEDDED_POSTGRES:
            settings.EMBEDDED_POSTGRES.release()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def run_command(words: Sequence[str]) -> None:
    """Be ``python -m`` with these words: in this process if it is as good as new, else in its place."""
    os.chdir(settings.BASE_DIR)
    if not CAN_FORK:
        os.execv(sys.executable, [sys.executable, "-m", *words])  # noqa: S606 - these words, no shell
    sys.argv = list(words)
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
