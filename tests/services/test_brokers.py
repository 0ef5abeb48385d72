"""The same way with each broker: the database, Redis, RabbitMQ."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from tests.services import servers
from tests.services.site import running_site
from tests.services.walk import lose_a_worker, start, walk

pytestmark = pytest.mark.services
BROKERS = {"database": lambda: nullcontext(""), "redis": servers.redis, "rabbitmq": servers.rabbitmq}


@pytest.mark.parametrize("broker", BROKERS.values(), ids=BROKERS)
def test_texts_become_a_study_with_every_broker_and_a_lost_worker_costs_a_retry(
    broker: Callable[[], AbstractContextManager[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with servers.postgres() as database, broker() as address, running_site(tmp_path, database, broker=address) as site:
        start(site)
        walk(site, capsys)
        lose_a_worker(site)
        assert site.errors("worker") == site.errors("another") == site.errors("web") == ""
