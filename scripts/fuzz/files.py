"""Damage small files of every format that is read, and see that each reader refuses them or reads them.

A reader may raise nothing but the project's refusals, take ten seconds for a file, leave nothing behind when it
refuses, and use no more memory than stated. A file that breaks this is kept.
"""

import json
import os
import random
import signal
import tempfile
import time
import traceback

from scripts.fuzz.damage import Sample, damaged
from scripts.fuzz.outcome import KEPT, Outcome
from scripts.fuzz.samples import samples

SECONDS = 10  # of the processor, for a file
MEMORY_MIB = 700  # of a process, Python and libraries included
PIECE = 250  # files in a process
STATES = ("read", "refused")
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "fuzz",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
}


class Late(Exception):
    """The file took too long."""


def attempt(sample: Sample, content: bytes) -> str:
    """Read a file; return what came of it: read, refused, or what is wrong."""
    from annotation.core.errors import AnnotationError, ImportRefused
    from annotation.hygiene.refusal import ParameterRefused

    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        sample.read(content)
        outcome = "read"
    except AnnotationError as error:
        report = json.dumps(error.rows if isinstance(error, ImportRefused) else error.message, ensure_ascii=False)
        outcome = "refused"
        if "\x00" in report or tempfile.gettempdir() in report or len(report.encode()) > 2_000_000:
            outcome = "a refusal that cannot be stored, or names a folder"
    except ParameterRefused:
        outcome = "refused"
    except Late:
        outcome = "too late"
    except Exception:  # noqa: BLE001 - any is what is looked for
        outcome = traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "too late" if time.process_time() - started > SECONDS else outcome


def late(*_: object) -> None:
    raise Late


def run(numbers: range, seed: int) -> Outcome:
    """Read the files of these numbers in this process."""
    os.environ |= ENVIRONMENT
    import django

    django.setup()
    signal.signal(signal.SIGPROF, late)
    chosen, outcome = samples(), Outcome(MEMORY_MIB)
    for number in numbers:
        sample = chosen[number % len(chosen)]
        content, how = damaged(sample, random.Random(f"{seed}/{number}"))
        began = time.process_time()
        state = attempt(sample, content)
        outcome.took(time.process_time() - began, sample.name)
        outcome.counts["files", state if state in STATES else "wrong"] += 1
        if state not in STATES:
            (KEPT / f"{number}-{sample.name.replace(' ', '-')}").write_bytes(content)
            outcome.wrong(f"file {number}, {sample.name}, {how}:\n{state}")
    outcome.measure_memory()
    return outcome
