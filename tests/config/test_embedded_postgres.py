"""The embedded server is started by the first process that needs it and stopped by the last."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from config.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError, assert_reachable
from tests.conftest import ROOT
from tests.worker import wait_until

HOLD = (
    "import sys; from pathlib import Path; from config.embedded_postgres import EmbeddedPostgres; "
    "EmbeddedPostgres(Path(sys.argv[1])).hold(); print('held', flush=True); sys.stdin.readline()"
)


def hold_in_a_process(home: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=30)
    assert process.returncode == 0


def test_the_last_process_stops_the_server_and_data_is_kept(server_folder: Path) -> None:
    server = EmbeddedPostgres(server_folder / "pg")
    first = hold_in_a_process(server.home)
    second = hold_in_a_process(server.home)
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept VALUES (42)")
    leave(first)
    assert server.is_running()
    second.kill()  # after a crash the kernel drops the lock
    second.communicate()
    assert server.is_running()
    leave(hold_in_a_process(server.home))
    assert not server.is_running()
    server.hold()
    try:
        with psycopg.connect(server.url()) as connection:
            assert connection.execute("SELECT n FROM kept").fetchone() == (42,)
    finally:
        server.release()
    assert not server.is_running()


def test_the_server_needs_a_password_and_listens_on_loopback_only(server_folder: Path) -> None:
    server = EmbeddedPostgres(server_folder / "pg")
    server.hold()
    try:
        with psycopg.connect(server.url()) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)
            assert connection.execute("SHOW unix_socket_directories").fetchone() == ("",)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(server.url().replace("postgres:", "postgres:x", 1))
        assert (server.home / "address.json").stat().st_mode & 0o077 == 0
    finally:
        server.release()


def test_a_server_that_cannot_start_raises_an_error_with_the_reason(server_folder: Path) -> None:
    server = EmbeddedPostgres(server_folder / "pg", {"shared_buffers": "nonsense"})
    with pytest.raises(EmbeddedPostgresError, match="shared_buffers"):
        server.hold()


def test_a_killed_server_starts_again_at_the_same_address(server_folder: Path) -> None:
    server = EmbeddedPostgres(server_folder / "pg")
    server.hold()
    try:
        address = server.url()
        killed = psutil.Process(int((server.data / "postmaster.pid").read_text().split()[0]))
        killed.kill()
        killed.wait()

        def is_up_again() -> bool:
            with suppress(EmbeddedPostgresError):  # while the rest of the killed server is ending
                server.start_again()
            return server.is_running()

        wait_until(is_up_again)
        assert server.url() == address
        assert_reachable(address)
    finally:
        server.release()
