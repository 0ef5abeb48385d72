"""The state of the installation, read from the database each time that it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count, F, Sum
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from annotation.models import Campaign, CampaignState, Job, JobState, Presentation, PresentationOutcome
from config.health import PARTS, health, problems

# A slot whose lease has ended is free, whatever its row says.
_SLOTS = """
    SELECT CASE WHEN s.state = 'leased' AND s.expires_at <= statement_timestamp() THEN 'expired' ELSE s.state END,
           count(*)
    FROM annotation_slot s JOIN annotation_campaign c ON c.id = s.campaign_id
    WHERE c.state = 'running'
    GROUP BY 1
"""
SLOT_STATES = ("open", "leased", "done", "returned", "expired")
_EXTRA = (PresentationOutcome.LATE, PresentationOutcome.REPLACED)


class Installation(Collector):
    """A collector of what the database knows. Without the database it says only that."""

    def collect(self) -> Iterator[Metric]:
        states = health()
        up = GaugeMetricFamily(
            "assay_part_ok", "1 if a part of the installation works, as /healthz says.", labels=["part"]
        )
        for part in PARTS:
            up.add_metric([part], float(part not in problems(states)))
        yield up
        try:
            yield from (*_slots(), *_jobs(), *_queues())
        except DatabaseError:
            return  # assay_part_ok says so

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that it registers without reading the database."""
        return []


def _slots() -> Iterator[Metric]:
    with connection.cursor() as cursor:
        cursor.execute(_SLOTS)
        counts = dict(cursor.fetchall())
    slots = GaugeMetricFamily("assay_slots", "Slots of running campaigns.", labels=["state"])
    for state in SLOT_STATES:
        slots.add_metric([state], counts.get(state, 0))
    yield slots
    running = Campaign.objects.filter(state=CampaignState.RUNNING)
    yield GaugeMetricFamily("assay_campaigns_running", "Campaigns that hand out work.", value=running.count())
    extra = Presentation.objects.filter(campaign__in=running, outcome__in=_EXTRA).count()
    yield GaugeMetricFamily("assay_ratings_extra", "Answers of running campaigns beside those of slots.", value=extra)


def _jobs() -> Iterator[Metric]:
    jobs = GaugeMetricFamily("assay_jobs", "Jobs by kind and state.", labels=["kind", "state"])
    # Gauges: a project that is deleted takes its jobs with it.
    seconds = GaugeMetricFamily("assay_job_seconds", "Seconds that ended jobs took.", labels=["kind"])
    finished = GaugeMetricFamily("assay_jobs_finished", "Jobs that were done or failed.", labels=["kind"])
    for model in job_models():
        kind = model._meta.model_name or ""
        rows = (
            model._default_manager.order_by()
            .values("state")
            .annotate(count=Count("pk"), took=Sum(F("finished_at") - F("started_at")))
        )
        by_state = {row["state"]: row for row in rows}
        for state in JobState.values:
            jobs.add_metric([kind, state], by_state[state]["count"] if state in by_state else 0)
        ended = [by_state[state] for state in (JobState.DONE, JobState.FAILED) if state in by_state]
        seconds.add_metric([kind], sum(row["took"].total_seconds() for row in ended if row["took"]))
        finished.add_metric([kind], sum(row["count"] for row in ended))
    yield from (jobs, seconds, finished)


def job_models() -> list[type[Job]]:
    """Return every kind of job that a user asks for, without pieces of jobs."""
    return [model for model in apps.get_models() if issubclass(model, Job) and not model.is_piece]


def _queues() -> Iterator[Metric]:
    """Yield length and age of the database's queues; another broker has its own exporter."""
    if not settings.BROKER_IS_DATABASE:
        return
    length = GaugeMetricFamily("assay_queue_messages", "Messages that wait or are in work.", labels=["queue"])
    age = GaugeMetricFamily("assay_queue_oldest_seconds", "Age of the oldest of them.", labels=["queue"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT queue_name, queue_length, coalesce(oldest_msg_age_sec, 0) FROM pgmq.metrics_all()")
        for queue, messages, oldest in cursor.fetchall():
            length.add_metric([queue], messages)
            age.add_metric([queue], oldest)
    yield from (length, age)
