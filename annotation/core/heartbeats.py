"""Signs of life of the processes that do the work, by the database's clock.

A task that the scheduler sends through the queue proves that work is done. Each worker also reports from a thread
whether it is busy: tasks that take long in all workers keep the queue waiting, and are no failure.
"""

import os
import socket
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from annotation.models import Heartbeat

TASK, SCHEDULER, WORKER = "task", "scheduler", "worker "
FORGOTTEN_AFTER = timedelta(hours=1)  # rows of workers that ended


@dataclass(frozen=True)
class Work:
    """Whether work is sent and done: the state of each part, and the seconds since a task came through."""

    scheduler: str
    worker: str
    task_age_seconds: float | None

    WORKING: ClassVar[tuple[str, ...]] = ("ok", "busy")


def heartbeat(name: str, *, busy: bool = False) -> None:
    Heartbeat.objects.update_or_create(name=name, defaults={"seen_at": Now(), "busy": busy})


def worker_heartbeat(*, busy: bool) -> None:
    """Report that this process is alive."""
    heartbeat(f"{WORKER}{socket.gethostname()}:{os.getpid()}", busy=busy)


def task_heartbeat() -> None:
    """Report that a task came through the queue."""
    heartbeat(TASK)
    Heartbeat.objects.filter(name__startswith=WORKER, seen_at__lt=Now() - FORGOTTEN_AFTER).delete()


def heartbeats_forget() -> None:
    """Forget the heartbeats of an earlier start."""
    Heartbeat.objects.all().delete()


def work_state() -> Work:
    age = ExpressionWrapper(Now() - F("seen_at"), output_field=DurationField())
    seen = {beat.name: (beat.age.total_seconds(), beat.busy) for beat in Heartbeat.objects.annotate(age=age)}
    recent = {name: busy for name, (seconds, busy) in seen.items() if seconds < settings.SILENT_SECONDS}
    workers = [busy for name, busy in recent.items() if name.startswith(WORKER)]
    if TASK in recent:
        worker = "ok"
    elif not workers:
        worker = "not seen"
    elif all(workers):
        worker = "busy"
    else:
        worker = "takes no work" if SCHEDULER in recent else "unknown"
    task_age = seen[TASK][0] if TASK in seen else None
    return Work("ok" if SCHEDULER in recent else "not seen", worker, task_age)
