import os
import threading
from typing import Any

import structlog
from celery import Celery
from celery.signals import setup_logging, worker_init, worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator] # Celery has no types
def keep_logging(**_: Any) -> None:
    """Keep the logging of Django's settings: Celery configures none if this signal has a receiver."""


@worker_init.connect  # type: ignore[untyped-decorator] # Celery has no types
def check_before_work(**_: Any) -> None:
    from django.core.exceptions import ImproperlyConfigured

    from config.checks import refuse_demo_in_production

    try:
        refuse_demo_in_production()
    except ImproperlyConfigured as refusal:
        # Celery logs and swallows all other exceptions of a signal's receiver.
        raise SystemExit(str(refusal)) from refusal


stopping = threading.Event()


@worker_ready.connect  # type: ignore[untyped-decorator] # Celery has no types
def start_heartbeat(**_: Any) -> None:
    """Beat in a thread of the worker's process: long tasks can keep its pool busy."""
    threading.Thread(target=beat_until_stopped, name="heartbeat", daemon=True).start()


@worker_shutting_down.connect  # type: ignore[untyped-decorator] # Celery has no types
def stop_heartbeat(**_: Any) -> None:
    stopping.set()


def beat_until_stopped() -> None:
    from django.conf import settings
    from django.db import DatabaseError, connection

    from annotation.core.jobs import heartbeat

    while True:
        try:
            heartbeat("worker")
        except DatabaseError as error:
            structlog.get_logger("assay.worker").warning("heartbeat failed", error=str(error))
        connection.close()
        if stopping.wait(settings.SWEEP_SECONDS):
            return
