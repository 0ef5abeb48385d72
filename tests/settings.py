"""Settings of the tests: a PostgreSQL of their own in a temporary folder, unless DATABASE_URL names one."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import psycopg
from psycopg.sql import SQL

from config.embedded_postgres import EmbeddedPostgres

if "DATABASE_URL" not in os.environ:
    home = Path(tempfile.mkdtemp(prefix="assay-tests-"))
    # Statistics gathered while a test's rows are not committed say that tables are empty: plans are then very slow.
    server = EmbeddedPostgres(
        home / "postgres", {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
    )
    server.hold()
    # Each of a thousand connections would hash the password 4,096 times.
    with psycopg.connect(server.url()) as connection:
        connection.execute("SET scram_iterations = 1")
        connection.execute(SQL("ALTER ROLE postgres PASSWORD {}").format(connection.info.password))
    # Processes that tests start inherit these and share the server.
    os.environ["DATABASE_URL"] = server.url()
    os.environ["ASSAY_DATA_DIR"] = str(home)

    def discard(owner: int = os.getpid()) -> None:
        if os.getpid() == owner:
            server.release()
            shutil.rmtree(home, ignore_errors=True)

    import atexit

    atexit.register(discard)
    # A run that is asked to end by SIGTERM takes down its fixtures and its server, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

os.environ.setdefault("SECRET_KEY", "tests-only-0123456789-0123456789-0123456789")
os.environ.setdefault("LOG_LEVEL", "WARNING")
os.environ.setdefault("ASSAY_LONG_QUEUE", "celery")  # one queue: a test has one worker, and never waits for two

from config.settings import *  # noqa: F403
from config.settings import STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
