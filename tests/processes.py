"""``-n N``: collect the tests once, then fork N processes that run them.

A process takes a file at a time (``scope_of``), in the order of the collected tests. Each has a folder and a database
of its own; fixtures of the session are made once in each.
"""

import os
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

import pytest

NUMBER = "ASSAY_TEST_PROCESS"  # set in each process that was forked

# Files that copy one large world, or import PyTorch: one process runs them all and does it once.
TOGETHER = {
    "tests/api/": "api",
    "tests/annotation/overview/": "api",
    "tests/annotation/removal/": "api",
    "tests/annotation/transfer/test_moving.py": "api",
    "tests/demo/": "demo",
    "tests/annotation/demo/": "demo",
    **dict.fromkeys(("tests/metrics/scoring/qe/", "tests/metrics/cli/test_quality.py"), "torch"),
    "tests/metrics/services/test_quality_training.py": "torch",
}

PATIENCE = 60  # seconds that a process has to finish its test when a run is given up

Positions = list[int]  # in the order of the collected tests


def pytest_addoption(parser: pytest.Parser) -> None:
    # Pytest keeps short lower-case options for itself, and has no -n.
    parser.getgroup("assay")._addoption(
        "-n", dest="processes", type=int, default=0, help="processes to fork; 0 runs the tests in this one"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if config.option.processes and reporter:
        reporter.showfspath = False  # results of many files arrive side by side


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    config = session.config
    if not config.option.processes or config.option.collectonly or session.testsfailed:
        return None
    pool = Pool(session)
    try:
        pool.run(config.option.processes)
    finally:
        pool.end()
    return True


def scope_of(nodeid: str) -> str:
    """Return the name of what one process runs as a whole: a file, or the files that copy one world."""
    return next((name for folder, name in TOGETHER.items() if nodeid.startswith(folder)), nodeid.split("::")[0])


class Pool:
    """The processes of a run, seen from the one that has forked them."""

    def __init__(self, session: pytest.Session) -> None:
        self.session, self.hook = session, session.config.hook
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        scopes: dict[str, Positions] = {}
        for position, item in enumerate(session.items):
            scopes.setdefault(scope_of(item.nodeid), []).append(position)
        self.waiting = deque(scopes.values())
        self.running: dict[Connection, Positions] = {}  # what each process has been given and has not finished
        self.processes: dict[Connection, ForkProcess] = {}

    def run(self, number: int) -> None:
        for _ in range(min(number, len(self.waiting))):
            self.fork()
        while self.running:
            for connection in wait(list(self.running)):
                assert isinstance(connection, Connection)
                try:
                    verb, content = connection.recv()
                except (EOFError, ConnectionError):
                    self.replace(connection)
                else:
                    getattr(self, verb)(connection, content)
                if self.session.shouldfail:
                    raise self.session.Failed(self.session.shouldfail)
                if self.session.shouldstop:
                    raise self.session.Interrupted(self.session.shouldstop)

    def fork(self) -> None:
        ours, theirs = get_context("fork").Pipe()
        # A process that kept the ends of the others would hide that one of them has ended.
        kept = [ours, *self.running]
        process = get_context("fork").Process(target=_work, args=(self.session, len(self.processes), theirs, kept))
        process.start()
        theirs.close()
        self.processes[ours], self.running[ours] = process, []

    def replace(self, connection: Connection) -> None:
        """After a process: if it ended early, fail the test that it ran, and run what it left over in another."""
        left = self.running.pop(connection)
        connection.close()
        self.processes[connection].join()
        ended_early = bool(left)
        if not left and self.processes[connection].exitcode:
            raise RuntimeError("A process failed outside of the tests: what it printed says why.")
        if left:
            item = self.session.items[left.pop(0)]
            message = f"The process that ran {item.nodeid} has ended."
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", message, "call")
            self.hook.pytest_runtest_logreport(report=report)
        if left:
            self.waiting.appendleft(left)
        if self.waiting and ended_early:
            self.fork()

    def end(self) -> None:
        """Let each process finish its test and take down the fixtures of its session."""
        for connection in self.running:
            connection.close()
        for process in self.processes.values():
            process.join(PATIENCE)
            if process.is_alive():
                process.terminate()
                process.join()

    # What processes send.

    def ready(self, connection: Connection, _: None) -> None:
        self.running[connection] = self.waiting.popleft() if self.waiting else []
        with suppress(ConnectionError):
            connection.send(self.running[connection])

    def report(self, _: Connection, data: dict[str, Any]) -> None:
        report = self.hook.pytest_report_from_serializable(config=self.session.config, data=data)
        self.hook.pytest_runtest_logreport(report=report)

    def warning(self, _: Connection, recorded: dict[str, Any]) -> None:
        self.hook.pytest_warning_recorded.call_historic(kwargs=recorded)

    def finished(self, connection: Connection, _: None) -> None:
        item = self.session.items[self.running[connection].pop(0)]
        self.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


class _Reports:
    """Send what a forked process has to report to the one that has forked it."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self.config, self.connection = config, connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.connection.send(("report", data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        warning_message.source = None  # an object of this process
        recorded = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        self.connection.send(("warning", recorded))


def _work(session: pytest.Session, number: int, connection: Connection, others: list[Connection]) -> None:
    for other in others:
        other.close()
    try:
        _prepare(session.config, number, connection)
        for items in _given(session, connection):
            for position, item in enumerate(items, start=1):
                # After the last of a file only fixtures of the session stay.
                nextitem: Any = items[position] if position < len(items) else session
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
                connection.send(("finished", None))
    except (KeyboardInterrupt, EOFError, ConnectionError):
        pass  # the run has been given up
    finally:
        session._setupstate.teardown_exact(None)
        connection.close()


def _given(session: pytest.Session, connection: Connection) -> Iterator[list[pytest.Item]]:
    connection.send(("ready", None))
    while positions := connection.recv():
        yield [session.items[position] for position in positions]
        connection.send(("ready", None))


def _prepare(config: pytest.Config, number: int, connection: Connection) -> None:
    """Share nothing with the other processes: reports, captured output, temporary files and database are its own."""
    os.environ[NUMBER] = str(number)
    manager = config.pluginmanager
    manager.unregister(name="terminalreporter")
    manager.register(_Reports(config, connection))
    if capture := manager.getplugin("capturemanager"):
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
    config.workerinput = {"workerid": f"p{number}"}  # type: ignore[attr-defined]  # pytest-django names its database so
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / f"p{number}"
    factory._basetemp.mkdir()
