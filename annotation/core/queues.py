"""The queues of the workers: short work, and long work, which takes minutes and must not delay the other."""

from collections.abc import Callable
from typing import Any

from celery import Task, shared_task
from django.conf import settings

SHORT = settings.CELERY_TASK_DEFAULT_QUEUE
LONG = settings.LONG_QUEUE


def long_task(function: Callable[..., None]) -> Any:
    """Make a task of long work, as ``celery.shared_task`` makes one of short work."""
    return shared_task(is_long=True)(function)


def route(name: str, args: Any, kwargs: Any, options: Any, task: Task | None = None, **_: Any) -> dict[str, str] | None:
    """Return the queue of a task of long work; Celery asks for each task that is sent."""
    return {"queue": LONG} if getattr(task, "is_long", False) else None
