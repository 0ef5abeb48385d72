"""What /metrics shows, read by the parser of Prometheus' own client library, and the ids in log lines."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog
import yaml
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from annotation.models import Project
from annotation.rating.services.handout import unit_request
from config.celery import app, begin_task, end_task, send_request_id
from config.middleware import RequestLog
from config.monitoring.installation import SLOT_STATES
from tests.annotation.rating.services.test_handout import lapse
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next

ALERTS = Path(__file__).resolve().parent.parent.parent / "docker" / "alerts.yml"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
Scrape = Callable[[], Samples]
COUNTED = {"assay_request_seconds_bucket", "assay_request_seconds_count"}  # by processes, once they have answered


@pytest.fixture
def scrape(client: Client, settings: Settings, db: None) -> Scrape:
    settings.METRICS_TOKEN = "a-token"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pgmq.create('monitored'), pgmq.send('monitored', '{}')")

    def read() -> Samples:
        answer = client.get("/metrics", headers={"Authorization": "Bearer a-token"})
        assert answer.status_code == 200
        families = text_string_to_metric_families(answer.content.decode())
        samples = [sample for family in families for sample in family.samples]
        return {(each.name, frozenset(each.labels.items())): each.value for each in samples}

    return read


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


@pytest.mark.django_db
def test_without_the_token_nothing_is_shown(client: Client, settings: Settings) -> None:
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "a-token"
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 401


def test_slots_jobs_queues_and_parts_are_counted(scrape: Scrape, project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=3, systems=["Ada"]), ratings_per_unit=2)
    rater, gone = join(campaign), join(campaign)
    rate_next(campaign, rater)
    unit_request(campaign=campaign, rater=gone)
    held = scrape()
    lapse(campaign)

    samples = scrape()

    slots = {state: value(samples, "assay_slots", state=state) for state in SLOT_STATES}
    assert slots == {"open": 4, "leased": 0, "done": 1, "returned": 0, "expired": 1}
    assert value(held, "assay_slots", state="leased") == 1
    assert value(samples, "assay_campaigns_running") == 1
    assert value(samples, "assay_jobs", kind="study", state="failed") == 0
    assert value(samples, "assay_queue_messages", queue="monitored") == 1
    assert value(samples, "assay_part_ok", part="database") == 1
    assert value(samples, "assay_part_ok", part="scheduler") == 0  # none runs here
    assert COUNTED | {"up"} | {name for name, _ in samples} >= names_in_alerts()


def names_in_alerts() -> set[str]:
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    expressions = [re.sub(r'"[^"]*"', "", rule["expr"]) for rule in rules]
    names = {name for each in expressions for name in re.findall(r"\b(up|assay_\w+)\b", each)}
    assert len(names) > 4
    return names


def test_a_request_is_counted_by_what_it_asks_for(scrape: Scrape, rf: RequestFactory) -> None:
    def counted(**labels: str) -> float:
        return scrape().get(("assay_request_seconds_count", frozenset(labels.items())), 0)

    before = counted(what="api", status="4xx")
    log = RequestLog(lambda request: HttpResponse(status=404))
    answer = log(rf.get("/api/v1/projects/"))
    log(rf.get("/metrics"))

    assert counted(what="api", status="4xx") == before + 1
    assert re.fullmatch("[0-9a-f]{12}", answer.headers["X-Request-ID"])


def test_a_task_logs_the_id_of_the_request_that_sent_it() -> None:
    structlog.contextvars.clear_contextvars()
    headers: dict[str, str] = {}
    with structlog.contextvars.bound_contextvars(request_id="7f3a81c05b2d"):
        send_request_id(headers=headers)
    task = app.tasks["annotation.tasks.heartbeat"]
    task.push_request(**headers)
    try:
        begin_task(task_id="1", task=task)
        assert structlog.contextvars.get_contextvars() == {
            "request_id": "7f3a81c05b2d",
            "task": "annotation.tasks.heartbeat",
            "task_id": "1",
        }
        end_task(task=task)
        assert structlog.contextvars.get_contextvars() == {}
    finally:
        task.pop_request()


def test_counts_of_several_processes_are_added(tmp_path: Path) -> None:
    """The library's files for processes hold what ``observe`` counts; two processes, one answer."""
    program = "from config.monitoring.requests import SECONDS\nSECONDS.labels('submit', '2xx').observe(0.02)\n"
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    read = (
        "import sys\nfrom prometheus_client import CollectorRegistry, generate_latest\n"
        "from prometheus_client.multiprocess import MultiProcessCollector\n"
        "registry = CollectorRegistry()\nMultiProcessCollector(registry, path=sys.argv[1])\n"
        "print(generate_latest(registry).decode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", read, str(tmp_path)], env=environment, check=True, capture_output=True, text=True
    )
    assert 'assay_request_seconds_count{status="2xx",what="submit"} 2.0' in done.stdout
    assert 'assay_request_seconds_bucket{le="0.01",status="2xx",what="submit"} 0.0' in done.stdout
