"""Through PgBouncer, which gives a session of the server for a transaction: the whole way, and samples of services."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from annotation.core.turns import RECRUITMENTS, turn
from tests.services import servers
from tests.services.site import ROOT, running_site
from tests.services.walk import start, walk

pytestmark = pytest.mark.services
SERVICES = (
    "tests/annotation/rating/services/test_handout.py",
    "tests/annotation/rating/services/test_ratings.py",
    "tests/annotation/campaigns/services/test_campaigns.py",
    "tests/annotation/references/releases/services/test_releases.py",
    "tests/annotation/recruitment/services/test_refreshing.py",
)
REFUSAL = "DATABASE_URL leads to a connection pooler, such as PgBouncer. Name the pooler in DATABASE_POOLER_URL"


class Pooled(NamedTuple):
    server: str
    pooler: str


@pytest.fixture(scope="module")
def pooled() -> Iterator[Pooled]:
    # Few sessions, so that the next transaction often gets another.
    with servers.postgres() as server, servers.pgbouncer(server, default_pool_size="4") as pooler:
        yield Pooled(server, pooler)


def test_texts_become_a_study_through_a_pooler(
    pooled: Pooled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_site(tmp_path, pooled.server, pooler=pooled.pooler) as site:
        start(site)
        walk(site, capsys)
        assert site.errors("worker") == site.errors("web") == ""
        with turn(RECRUITMENTS, 7) as first, turn(RECRUITMENTS, 7) as second, turn(RECRUITMENTS, 8) as another:
            assert (first, second, another) == (True, False, True)
        with turn(RECRUITMENTS, 7) as again:
            assert again
        archive = tmp_path / "backup.tar"
        assert f"{archive}: the database of" in site.run("backup", str(archive))
        site.database, site.pooler = pooled.pooler, ""
        assert REFUSAL in site.run("backup", str(tmp_path / "another.tar"))
        site.start_worker("refused")
        assert site.processes["refused"].wait(60)
        assert REFUSAL in site.log("refused")


def test_services_pass_their_own_tests_through_a_pooler(pooled: Pooled, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": pooled.server,
        "DATABASE_POOLER_URL": pooled.pooler,
        "ASSAY_DATA_DIR": f"{tmp_path}",
    }
    # Django makes its test database through the pooler, and keeps it: sessions of the pooler stay open.
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--reuse-db", "-m", "not worker", *SERVICES]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
