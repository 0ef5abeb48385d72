import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_ready

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


@worker_ready.connect
def say_alive(**_: Any) -> None:
    from annotation.services.jobs import heartbeat

    heartbeat("worker")
