"""Signs of life of the processes that do the work, by the database's clock.

A task that the scheduler sends through each queue proves that work is done. Each worker also reports from a thread
whether it is busy: tasks that take long in all workers keep their queue waiting, and are no failure.
"""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from annotation.core.queues import LONG, SHORT
from annotation.models import Heartbeat

SCHEDULER = "scheduler"
TASK, WORKER = "task ", "worker "  # and the name of a queue
FORGOTTEN_AFTER = timedelta(hours=1)  # rows of workers that ended


@dataclass(frozen=True)
class Work:
    """Whether work is sent and done: the state of each part, and the seconds since a short task came through."""

    scheduler: str
    worker: str
    long_worker: str
    task_age_seconds: float | None

    WORKING: ClassVar[tuple[str, ...]] = ("ok", "busy")


def heartbeat(name: str, *, busy: bool = False) -> None:
    Heartbeat.objects.update_or_create(name=name, defaults={"seen_at": Now(), "busy": busy})


def worker_heartbeat(*, queues: Iterable[str], busy: bool) -> None:
    """Report that this process, which takes work from these queues, is alive."""
    for queue in queues:
        heartbeat(f"{WORKER}{queue} {socket.gethostname()}:{os.getpid()}", busy=busy)


def task_heartbeat(queue: str) -> None:
    """Report that a task came through a queue."""
    heartbeat(f"{TASK}{queue}")
    Heartbeat.objects.filter(name__startswith=WORKER, seen_at__lt=Now() - FORGOTTEN_AFTER).delete()


def heartbeats_forget() -> None:
    """Forget the heartbeats of an earlier start."""
    Heartbeat.objects.all().delete()


def work_state() -> Work:
    age = ExpressionWrapper(Now() - F("seen_at"), output_field=DurationField())
    seen = {beat.name: (beat.age.total_seconds(), beat.busy) for beat in Heartbeat.objects.annotate(age=age)}
    recent = {name: busy for name, (seconds, busy) in seen.items() if seconds < settings.SILENT_SECONDS}
    task_age, _ = seen.get(f"{TASK}{SHORT}", (None, False))
    scheduler = "ok" if SCHEDULER in recent else "not seen"
    return Work(scheduler, _worker_state(SHORT, recent), _worker_state(LONG, recent), task_age)


def _worker_state(queue: str, recent: Mapping[str, bool]) -> str:
    """Return how the workers of a queue are, from the parts seen of late and whether each is busy."""
    workers = [busy for name, busy in recent.items() if name.startswith(f"{WORKER}{queue} ")]
    if f"{TASK}{queue}" in recent:
        return "ok"
    if not workers:
        return "not seen"
    if all(workers):
        return "busy"
    return "takes no work" if SCHEDULER in recent else "unknown"
