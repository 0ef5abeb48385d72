"""One migrated database that every process of a run copies, kept for later runs until a migration changes.

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
    """Let the test database be a copy of ``TEMPLATE``, made by whoever of a run comes first.

    ``shared`` is a folder of this run, ``cache`` one that outlives it, if there is any.
    """
    now, own = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
    made = shared / TEMPLATE
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            connection.settings_dict["TEST"] = {**own, "NAME": TEMPLATE}
            _make_template(cache)
            settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = now
            made.touch()
    connection.settings_dict["TEST"] = {**own, "TEMPLATE": TEMPLATE, "MIGRATE": False}


def _make_template(cache: Path | None) -> None:
    kept = cache / f"{_state_of_migrations()}.sql" if cache and _same_version() else None
    if kept and kept.exists():
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
            cursor.execute(f"CREATE DATABASE {TEMPLATE}")
        _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={kept}")
        return
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    connection.close()
    if kept:
        for former in kept.parent.glob("*.sql"):
            former.unlink(missing_ok=True)
        fresh = kept.with_suffix(f".{os.getpid()}")
        _run("pg_dump", f"--file={fresh}")
        fresh.replace(kept)


def _state_of_migrations() -> str:
    """A digest of all that the tables depend on: the migrations, the broker's installation, the packages' versions."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("*/migrations/*.py"), ROOT / "config" / "broker.py", ROOT / "requirements.txt"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _same_version() -> bool:
    """Whether pg_dump and psql at hand are of the server's version."""
    told = subprocess.run([BINARIES / "pg_dump", "--version"], capture_output=True, text=True, check=True).stdout
    with connection._nodb_cursor() as cursor:
        cursor.execute("SHOW server_version")
        return cursor.fetchone()[0].split(".")[0] == told.split()[-1].split(".")[0]


def _run(program: str, *arguments: str) -> None:
    database = connection.settings_dict
    where = {
        "PGHOST": database["HOST"],
        "PGPORT": str(database["PORT"]),
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": TEMPLATE,
    }
    command = [str(BINARIES / program), *arguments]
    subprocess.run(command, env={**os.environ, **where}, stdout=subprocess.DEVNULL, check=True)
