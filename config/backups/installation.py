"""What an installation consists of, apart from its program."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.crypto import salted_hmac

from annotation.core.errors import AnnotationError
from annotation.mining.selectors import corpora_folder
from config.checks import refuse_pooler
from config.embedded_postgres import BINARIES

# Messages of the broker: jobs that they belong to are enqueued again by the sweep, and nothing is sent twice.
_WITHOUT_ROWS = ("pgmq.q_*", "pgmq.a_*")
_OWN_TABLES = """
    SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg_toast%'
"""


@dataclass(frozen=True)
class Installation:
    database: str  # postgresql://...
    folders: dict[str, Path]  # by their names in an archive
    secret_key_file: Path
    secret_key: str
    binaries: Path = BINARIES  # of pg_dump and pg_restore

    @classmethod
    def here(cls, binaries: Path | None = None) -> Installation:
        return cls(
            database=settings.DATABASE_URL,
            folders={"corpora": corpora_folder(), "models": Path(settings.MODELS_DIR)},
            secret_key_file=Path(settings.DATA_DIR) / "secret_key",
            secret_key=settings.SECRET_KEY,
            binaries=binaries or BINARIES,
        )

    @property
    def address(self) -> str:
        """Return host, port and name of the database."""
        address = urlsplit(self.database)
        return f"{address.hostname}:{address.port or 5432}{address.path}"

    @property
    def key_digest(self) -> str:
        return salted_hmac("config.backups", "", secret=self.secret_key, algorithm="sha256").hexdigest()[:16]

    def has_own_key(self) -> bool:
        """Return whether the secret key is the one that was generated for this installation."""
        return self.secret_key_file.is_file() and self.secret_key_file.read_text().strip() == self.secret_key

    def files(self) -> dict[str, Path]:
        """Return finished files by their names in an archive; what begins with a dot is being written."""
        return {
            f"{name}/{path.relative_to(folder).as_posix()}": path
            for name, folder in self.folders.items()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        }

    def require_server(self) -> None:
        """Refuse a pooler: pg_dump would leave its settings to the next that gets the session."""
        with psycopg.connect(self.database) as connection:
            try:
                refuse_pooler(connection)
            except ImproperlyConfigured as error:
                raise AnnotationError(str(error)) from error

    def version(self) -> str:
        with psycopg.connect(self.database) as connection:
            return str(connection.execute("SHOW server_version").fetchone()[0])  # type: ignore[index]

    def migrations(self) -> list[str]:
        with psycopg.connect(self.database) as connection:
            rows = connection.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()
        return [f"{app}.{name}" for app, name in rows]

    def tables(self) -> int:
        """Return how many tables the database has, apart from the server's own."""
        with psycopg.connect(self.database) as connection:
            return int(connection.execute(_OWN_TABLES).fetchone()[0])  # type: ignore[index]

    def dump(self, into: Path) -> None:
        """Write the database as it is at this moment. It can be read and written meanwhile."""
        without = [f"--exclude-table-data={pattern}" for pattern in _WITHOUT_ROWS]
        self._run("pg_dump", "--format=custom", "--no-owner", "--no-acl", *without, f"--file={into}", self._dbname())

    def load(self, dump: Path) -> None:
        """Fill an empty database from a dump, whole or not at all."""
        options = ("--exit-on-error", "--single-transaction", "--no-owner", "--no-acl", "--no-comments")
        self._run("pg_restore", *options, self._dbname(), str(dump))

    def _run(self, program: str, *arguments: str) -> None:
        # The password is in the environment, because arguments are shown to all users of the machine.
        try:
            environment = {**os.environ, "PGPASSWORD": unquote(urlsplit(self.database).password or "")}
            command = [str(self.binaries / program), *arguments]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        except OSError as error:
            raise AnnotationError(f"{self.binaries / program} cannot be run: {error.strerror}.") from error
        if done.returncode:
            raise AnnotationError(f"{program} of {self.address} failed: {done.stderr.strip()}")

    def _dbname(self) -> str:
        """Return the database's address with its parameters, such as ``sslmode``, but without the password."""
        address = urlsplit(self.database)
        user, _, server = address.netloc.rpartition("@")
        netloc = f"{user.partition(':')[0]}@{server}" if user else server
        return f"--dbname={urlunsplit(address._replace(scheme='postgresql', netloc=netloc))}"
