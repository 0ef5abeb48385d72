import os
import threading
from contextlib import suppress
from typing import Any

import structlog
from celery import Celery
from celery.app.amqp import AMQP
from celery.signals import (
    after_task_publish,
    beat_embedded_init,
    beat_init,
    before_task_publish,
    celeryd_after_setup,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutting_down,
)
from kombu import Connection

from config.liveness import Liveness, turning_step

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class PromptConnection(Connection):  # type: ignore[misc] # kombu has no types
    """A connection to the queue that is tried again every two seconds. By default the pauses grow up to 30."""

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        return super().ensure_connection(*args, **{"interval_start": 1, "interval_max": 2, **options})

    def _establish_connection(self) -> Any:
        """Begin each try with a new client: one that failed waits longer each time before it connects again."""
        try:
            return super()._establish_connection()
        except self.recoverable_connection_errors:
            with suppress(Exception):  # it has no connection, which transports of other brokers may miss
                self.transport.close_connection(None)
            self._do_close_transport()
            raise


class PromptAMQP(AMQP):  # type: ignore[misc] # Celery has no types
    Connection = PromptConnection


app = Celery("assay", amqp=PromptAMQP)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

HEARTBEAT, LONG_HEARTBEAT = "annotation.tasks.heartbeat", "annotation.tasks.long_heartbeat"
STILL_SECONDS = 60  # far above the two seconds between two tries to reach a queue that was away
liveness = Liveness(STILL_SECONDS)
app.steps["consumer"].add(turning_step(liveness.turn))


@setup_logging.connect  # type: ignore[untyped-decorator] # Celery has no types
def keep_logging(**_: Any) -> None:
    """Keep the logging of Django's settings: Celery configures none if this signal has a receiver."""


@celeryd_after_setup.connect  # type: ignore[untyped-decorator] # Celery has no types
def take_turns(instance: Any, conf: Any, **_: Any) -> None:
    """Let a worker of several queues look at each without waiting, or each message of one waits for the others."""
    from django.conf import settings

    if settings.BROKER_IS_DATABASE and len(instance.app.amqp.queues.consume_from) > 1:
        unhurried = {"wait_time_seconds": 0, "polling_interval": 0.25}
        conf.broker_transport_options = {**conf.broker_transport_options, **unhurried}


@worker_init.connect  # type: ignore[untyped-decorator] # Celery has no types
def check_before_work(**_: Any) -> None:
    from django.core.exceptions import ImproperlyConfigured

    from config.checks import refuse_to_serve

    try:
        refuse_to_serve()
    except ImproperlyConfigured as refusal:
        # Celery logs and swallows all other exceptions of a signal's receiver.
        raise SystemExit(str(refusal)) from refusal


@beat_init.connect  # type: ignore[untyped-decorator] # Celery has no types
@beat_embedded_init.connect  # type: ignore[untyped-decorator] # Celery has no types
def send_first_heartbeat(**_: Any) -> None:
    """Send one of each at once: the schedule waits for its first interval to pass."""
    from django.conf import settings

    for name, queue in ((HEARTBEAT, settings.CELERY_TASK_DEFAULT_QUEUE), (LONG_HEARTBEAT, settings.LONG_QUEUE)):
        app.send_task(name, queue=queue, expires=settings.SILENT_SECONDS)


@after_task_publish.connect(sender=HEARTBEAT)  # type: ignore[untyped-decorator] # Celery has no types
def report_scheduler(**_: Any) -> None:
    """Only the scheduler sends heartbeats."""
    from django.db import connection

    from annotation.core.heartbeats import SCHEDULER, heartbeat

    try:
        heartbeat(SCHEDULER)
    finally:
        connection.close()


@before_task_publish.connect  # type: ignore[untyped-decorator] # Celery has no types
def send_request_id(headers: dict[str, Any], **_: Any) -> None:
    """Let a task's log lines have the id of the request that it was sent by."""
    if request_id := structlog.contextvars.get_contextvars().get("request_id"):
        headers["request_id"] = request_id


@task_prerun.connect  # type: ignore[untyped-decorator] # Celery has no types
def begin_task(task_id: str, task: Any, **_: Any) -> None:
    from annotation.core.task_memory import limit_begin

    liveness.busy = True
    names = {"task": task.name, "task_id": task_id, "request_id": task.request.get("request_id")}
    bound = structlog.contextvars.bind_contextvars(**{key: value for key, value in names.items() if value})
    task.request.update(log_names=bound)
    limit_begin()


@task_postrun.connect  # type: ignore[untyped-decorator] # Celery has no types
def end_task(task: Any, **_: Any) -> None:
    from annotation.core.task_memory import limit_end

    limit_end()
    liveness.busy = False
    structlog.contextvars.reset_contextvars(**task.request.get("log_names", {}))


@worker_ready.connect  # type: ignore[untyped-decorator] # Celery has no types
def start_threads(**_: Any) -> None:
    """Report and watch in threads: a task can take long."""
    for target in (report_until_stopped, liveness.watch):
        threading.Thread(target=target, name=target.__name__, daemon=True).start()


@worker_shutting_down.connect  # type: ignore[untyped-decorator] # Celery has no types
def stop_threads(**_: Any) -> None:
    liveness.ending.set()


def report_until_stopped() -> None:
    from django.conf import settings
    from django.db import DatabaseError, connection

    from annotation.core.heartbeats import worker_heartbeat

    while not liveness.ending.is_set():
        with suppress(MemoryError):  # the task is about to let go of it
            try:
                worker_heartbeat(queues=app.amqp.queues.consume_from, busy=liveness.busy)
                liveness.database_answers = True
            except DatabaseError as error:
                liveness.database_answers = False
                structlog.get_logger("assay.worker").warning("heartbeat failed", error=str(error))
            connection.close()
        liveness.ending.wait(settings.HEARTBEAT_SECONDS)
