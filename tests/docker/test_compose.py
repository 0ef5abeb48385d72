"""docker/compose.yaml and the programs beside it. `python -m scripts.follow_compose` starts what the file describes."""

import re
import runpy
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.core.heartbeats import SCHEDULER, Work, heartbeat, task_heartbeat, worker_heartbeat
from annotation.core.queues import SHORT
from tests.conftest import ROOT

DOCKER = ROOT / "docker"
OWN = ("migrate", "web", "worker", "long_worker", "beat")  # services of Assay's image


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    return content


def test_every_service_is_limited_watched_and_started_again(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert service["mem_limit"], name
        if name == "migrate":  # a job: it ends
            assert service["restart"] == "no"
            continue
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"][0] == "CMD", name
    for name in (*OWN, "proxy"):
        service = services[name]
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["tmpfs"], name


def test_the_parts_share_their_files_and_wait_for_the_migrations(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name in OWN:
        assert services[name]["volumes"] == ["data:/data"], name
        needed = {"migrate": {"condition": "service_completed_successfully"}}
        assert services[name]["depends_on"] == (
            {"database": {"condition": "service_healthy"}} if name == "migrate" else needed
        )
    assert "migrate" in " ".join(services["migrate"]["command"])
    assert services["beat"].get("deploy") is None, "exactly one scheduler"


def test_every_setting_and_secret_is_a_documented_one(compose: dict[str, Any]) -> None:
    documented = set(re.findall(r"`([A-Z_]{4,})`", (ROOT / "docs/deployment.md").read_text()))
    for name in OWN:
        service = compose["services"][name]
        for variable, value in service["environment"].items():
            assert variable.removesuffix("_FILE") in documented, variable
            if variable.endswith("_FILE"):
                assert Path(value).name in service["secrets"], f"{name} reads {value} without having the secret"
        assert set(service["secrets"]) <= set(compose["secrets"])
    example = (DOCKER / ".env.example").read_text()
    used = set(re.findall(r"\$\{(\w+)", (DOCKER / "compose.yaml").read_text()))
    assert used == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_secrets_are_made_once(tmp_path: Path, compose: dict[str, Any]) -> None:
    make = runpy.run_path(str(DOCKER / "make_secrets.py"))["make"]
    folder = tmp_path / "secrets"
    assert set(make(folder)) == set(compose["secrets"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    password = (folder / "database_password").read_text()
    assert f":{password}@database:5432/assay" in (folder / "database_url").read_text()
    (folder / "metrics_token").unlink()
    assert make(folder) == ["metrics_token"]
    assert (folder / "database_password").read_text() == password


@pytest.mark.django_db(transaction=True)
def test_health_is_that_of_the_part(
    live_server: LiveServer,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.ALLOWED_HOSTS = ["web"]  # as the container asks
    monkeypatch.setenv("ASSAY_HEALTH_URL", f"{live_server.url}/healthz")
    health = runpy.run_path(str(DOCKER / "health.py"))
    assert health["WORKS"] == Work.WORKING  # written again, since the program imports nothing of Assay
    main = health["main"]
    assert main("web") == 0
    assert main("worker") == 1, "no worker has given a sign of life"
    assert main("nothing of the kind") == 1
    assert "nothing of the kind: unknown" in capsys.readouterr().out
    heartbeat(SCHEDULER)
    task_heartbeat(SHORT)
    worker_heartbeat(queues=[SHORT], busy=True)
    assert (main("scheduler"), main("worker")) == (0, 0)
