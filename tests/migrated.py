"""One migrated database that every process of a run copies, stored for later runs until a migration changes.

A server that ``DATABASE_URL`` names keeps the database, too; the tests' own server goes with the run.
"""

import fcntl
import hashlib
import os
import subprocess
from pathlib import Path

from django.conf import settings
from django.db import connection

from config.embedded_postgres import BINARIES

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = "test_assay_migrated"


def copy_what_is_migrated(*, shared: Path, cache: Path | None) -> None:
    """Make the test database a copy of ``TEMPLATE``, which the first process of a run creates.

    ``shared`` is a folder of this run, ``cache`` an optional one for all runs.
    """
    original_name, test_options = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
    marker = shared / TEMPLATE
    with marker.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            connection.settings_dict["TEST"] = {**test_options, "NAME": TEMPLATE}
            _make_template(cache)
            settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = original_name
            marker.touch()
    connection.settings_dict["TEST"] = {**test_options, "TEMPLATE": TEMPLATE, "MIGRATE": False}


def _make_template(cache: Path | None) -> None:
    dump = cache / f"{_state_of_migrations()}.sql" if cache and _same_version() else None
    if dump and dump.exists():
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
            cursor.execute(f"CREATE DATABASE {TEMPLATE}")
        _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={dump}")
        return
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    connection.close()
    if dump:
        for old_dump in dump.parent.glob("*.sql"):
            old_dump.unlink(missing_ok=True)
        new_dump = dump.with_suffix(f".{os.getpid()}")
        _run("pg_dump", f"--file={new_dump}")
        new_dump.replace(dump)


def _state_of_migrations() -> str:
    """Return a digest of what the tables depend on: migrations, the broker's installation, package versions."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("*/migrations/*.py"), ROOT / "config" / "broker.py", ROOT / "requirements.txt"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _same_version() -> bool:
    """Return whether pg_dump and psql have the server's major version."""
    version_line = subprocess.run(
        [BINARIES / "pg_dump", "--version"], capture_output=True, text=True, check=True
    ).stdout
    with connection._nodb_cursor() as cursor:
        cursor.execute("SHOW server_version")
        return cursor.fetchone()[0].split(".")[0] == version_line.split()[-1].split(".")[0]


def _run(program: str, *arguments: str) -> None:
    database = connection.settings_dict
    connection_options = {
        "PGHOST": database["HOST"],
        "PGPORT": str(database["PORT"]),
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": TEMPLATE,
    }
    command = [str(BINARIES / program), *arguments]
    subprocess.run(command, env={**os.environ, **connection_options}, stdout=subprocess.DEVNULL, check=True)
