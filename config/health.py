"""The state of each part of the product, as `/healthz` shows it and as `up` reads it."""

import shutil
import tempfile
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection

from annotation.core.heartbeats import Work, work_state

PARTS = ("web", "database", "scheduler", "worker", "long_worker", "disk")
MEBIBYTE = 2**20


def health() -> dict[str, Any]:
    """Return the state of each part; ``status`` is ok if all are, down if the database is, else degraded."""
    body: dict[str, Any] = {"web": "ok", "disk": disk_state(), "version": settings.VERSION}
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        work = work_state()
    except DatabaseError:
        unknown = dict.fromkeys(("scheduler", "worker", "long_worker"), "unknown")
        return body | {"status": "down", "database": "down"} | unknown
    age = work.task_age_seconds
    body |= {"database": "ok", "scheduler": work.scheduler, "worker": work.worker, "long_worker": work.long_worker}
    body["seconds_since_task"] = None if age is None else round(age, 1)
    return body | {"status": "ok" if not problems(body) else "degraded"}


def problems(body: dict[str, Any]) -> dict[str, str]:
    """Return the parts that do not work, with their states."""
    return {part: state for part in PARTS if (state := body.get(part, "unknown")) not in Work.WORKING}


def disk_state() -> str:
    """Write to the data folder, since an account that may write can still meet a read-only or full file system."""
    try:
        with tempfile.TemporaryFile(dir=settings.DATA_DIR) as probe:
            probe.write(b"assay")
            probe.flush()
        free = shutil.disk_usage(settings.DATA_DIR).free
    except OSError as error:
        return f"the data folder cannot be written: {error.strerror}"
    if free < settings.DISK_FREE_MIN_BYTES:
        return f"{free // MEBIBYTE} MiB free, at least {settings.DISK_FREE_MIN_BYTES // MEBIBYTE} MiB needed"
    return "ok"
