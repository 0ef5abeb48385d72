"""The whole way on PostgreSQL 17, a server that the installation only knows the address of."""

from pathlib import Path

import psycopg
import pytest

from tests.services import servers
from tests.services.site import running_site
from tests.services.walk import start, walk

pytestmark = pytest.mark.services


def test_texts_become_a_study_on_postgresql_17(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binaries = servers.postgres_17()
    assert binaries, "make test-services installs it"
    with servers.postgres(binaries=binaries) as database, running_site(tmp_path, database) as site:
        with psycopg.connect(database) as connection:
            assert connection.info.server_version // 10_000 == 17
        start(site)
        walk(site, capsys)
        assert site.errors("worker") == site.errors("web") == ""
        archive = tmp_path / "backup.tar"
        assert f"{archive}: the database of" in site.run("backup", str(archive))
