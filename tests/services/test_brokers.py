"""The same way with each broker: the database, Redis, RabbitMQ."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from tests.services import servers
from tests.services.site import running_site
from tests.services.walk import start, walk

pytestmark = pytest.mark.services
BROKERS = {"database": lambda: nullcontext(""), "redis": servers.redis, "rabbitmq": servers.rabbitmq}


@pytest.mark.parametrize("broker", BROKERS.values(), ids=BROKERS)
def test_texts_become_a_study_with_every_broker(
    broker: Callable[[], AbstractContextManager[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with servers.postgres() as database, broker() as address, running_site(tmp_path, database, broker=address) as site:
        start(site)
        walk(site, capsys)
        assert site.errors("worker") == site.errors("web") == ""
