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


@setup_logging.connect
def keep_our_logs(**_: Any) -> None:
    """Connected so that Celery leaves the logging that Django's settings configured alone."""


@worker_init.connect
def check_before_work(**_: Any) -> None:
    from django.core.exceptions import ImproperlyConfigured

    from config.checks import refuse_demo_in_production

    try:
        refuse_demo_in_production()
    except ImproperlyConfigured as refusal:
        # Celery logs and swallows what a signal's receiver raises, but for this.
        raise SystemExit(str(refusal)) from refusal


stopping = threading.Event()


@worker_ready.connect
def keep_saying_alive(**_: Any) -> None:
    """From a thread of the worker's own process: tasks may keep its pool busy for long."""
    threading.Thread(target=say_alive_until_stopped, name="heartbeat", daemon=True).start()


@worker_shutting_down.connect
def fall_silent(**_: Any) -> None:
    stopping.set()


def say_alive_until_stopped() -> None:
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
