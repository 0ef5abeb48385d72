"""The cast of every test: a project, its people, an outsider; and a real worker for those that need one."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import CodeType
from typing import Any

import altair as alt
import pytest
from altair.utils.schemapi import validate_jsonschema
from django.apps import apps
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from django.test import Client, TransactionTestCase
from django.utils.timezone import now
from psycopg.errors import DeadlockDetected

import metrics.charts
from annotation.core import charts
from annotation.models import Membership, Project, Role, User
from annotation.references.weighing import charts as weighing_charts
from tests.durations import seconds_by_file
from tests.migrated import copy_what_is_migrated
from tests.processes import NUMBER, scope_of
from tests.snapshots import PROJECT_ID, may_copy
from tests.worker import Nursery, Worker, running_nursery, running_worker

pytest_plugins = ["tests.annotation.recruitment.fakes"]

EMPTY_TRIES = 5
ROOT = Path(__file__).resolve().parent.parent

# What takes longest, for a checkout where no file has run: begun first, so that no process is left with one when the
# others have done.
LONG = (
    "api",
    "demo",
    "tests/config/test_up.py",
    "tests/browser/",
    "tests/metrics/scoring/test_every_metric.py",
    "tests/annotation/dry_runs/services/test_running.py",
    "tests/annotation/references/browsing/views/test_references.py",
    "tests/correlations/test_worker.py",
    "tests/metrics/scoring/test_meteor.py",
    "tests/test_access.py",
    "tests/annotation/mining/services/test_worker.py",
    "tests/annotation/rating/test_invariants.py",
    "tests/correlations/views/test_pages.py",
    "tests/correlations/services/test_execution.py",
    "tests/annotation/references/releases/test_files.py",
)
NOTICEABLE = 4  # seconds of a file; shorter ones follow in random order


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    yield
    begin_with_the_longest(items, seconds_by_file(config))


def begin_with_the_longest(items: list[pytest.Item], seconds: Mapping[str, float]) -> None:
    """Sort by the seconds of what one process runs as a whole, longest first; in a new checkout by ``LONG``."""
    together: Counter[str] = Counter()
    for file, duration in seconds.items():
        together[scope_of(file)] += duration

    def rank(item: pytest.Item) -> float:
        scope = scope_of(item.nodeid)
        if scope in together:
            return -max(together[scope], NOTICEABLE)
        return next((n - 1000.0 for n, start in enumerate(LONG) if scope.startswith(start)), -NOTICEABLE)

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays: nothing is gained by looking through it for garbage again and again.

    Later looks at young objects are rarer, too: half the time of collecting, a hundredth of Python's.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    return result


def folder_of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if NUMBER in os.environ else own


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    django_db_use_migrations: bool,
    django_db_keepdb: bool,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> None:
    """Migrations take 20 seconds: none of them is run again where its result is there."""
    if not django_db_use_migrations or django_db_keepdb:
        return
    cache = getattr(pytestconfig, "cache", None)
    with django_db_blocker.unblock():
        copy_what_is_migrated(
            shared=folder_of_run(tmp_path_factory),
            cache=cache.mkdir("migrated") if cache else None,
        )


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The last thread of a live server may not have let go of its connection when the database is dropped."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = current_user"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="session", autouse=True)
def _empty_quickly() -> Iterator[None]:
    """After a test that commits, rows are deleted: to truncate 70 tables takes 20 times as long.

    As truncation does, it waits for requests that still run. If one of them waits for it, too, PostgreSQL ends one of
    the two: the tables are then emptied again. Content types and permissions stay.
    """
    flush = TransactionTestCase._fixture_teardown
    stays = {"django_content_type", "auth_permission"}
    tables = sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)} - stays)

    def emptied(case: TransactionTestCase) -> None:
        if not may_copy():
            flush(case)
            return
        for _ in range(EMPTY_TRIES):
            try:
                empty()
            except OperationalError as error:
                if not isinstance(error.__cause__, DeadlockDetected):
                    raise
                deadlock = error
            else:
                return
        raise deadlock

    def empty() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {', '.join(tables)}; SET LOCAL session_replication_role = replica")
            cursor.execute("; ".join(f"DELETE FROM {table}" for table in tables))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", emptied)
        yield


@pytest.fixture(scope="session", autouse=True)
def _check_charts() -> Iterator[None]:
    """The first chart that a function draws is checked against the schema of Vega-Lite: each would take too long."""
    look, seen = charts.themed, set[CodeType]()

    def checked(spec: Mapping[str, Any], theme: charts.Theme) -> charts.Spec:
        caller = sys._getframe(1)
        while caller.f_code.co_filename == charts.__file__ and caller.f_back:
            caller = caller.f_back
        if caller.f_code not in seen:
            seen.add(caller.f_code)
            validate_jsonschema(dict(spec), {"$ref": "#/definitions/TopLevelSpec"}, rootschema=alt.load_schema())
        return look(spec, theme)

    with pytest.MonkeyPatch.context() as patch:
        for module in (charts, metrics.charts, weighing_charts):
            patch.setattr(module, "themed", checked)
        yield


@pytest.fixture(autouse=True)
def _forget_what_was_cached() -> None:
    """Rows of another test can have had the same keys, and clients the same address."""
    cache.clear()


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(pk=PROJECT_ID, name="Chit-chat", slug="chit-chat")


def _member(project: Project, username: str, role: Role) -> User:
    user = User.objects.create_user(username, password="password")
    Membership.objects.create(project=project, user=user, role=role)
    return user


@pytest.fixture
def owner(project: Project) -> User:
    return _member(project, "olga-owner", Role.OWNER)


@pytest.fixture
def manager(project: Project) -> User:
    return _member(project, "max-manager", Role.MANAGER)


@pytest.fixture
def viewer(project: Project) -> User:
    return _member(project, "vera-viewer", Role.VIEWER)


@pytest.fixture
def outsider(db: None) -> User:
    """A manager, but of another project."""
    elsewhere = Project.objects.create(name="Elsewhere", slug="elsewhere")
    return _member(elsewhere, "otto-outsider", Role.OWNER)


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """A test client signed in as a user, by a session in one statement: to sign in takes ten, and six times as long."""
    numbers = count(1)

    def client_of(user: User) -> Client:
        client, key = Client(), f"session{next(numbers):025}"
        held = {
            SESSION_KEY: str(user.pk),
            BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
            HASH_SESSION_KEY: user.get_session_auth_hash(),
        }
        ends = now() + timedelta(seconds=settings.SESSION_COOKIE_AGE)
        Session.objects.create(session_key=key, session_data=SessionStore().encode(held), expire_date=ends)
        client.cookies[settings.SESSION_COOKIE_NAME] = key
        return client

    return client_of


@pytest.fixture(scope="session")
def nursery(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with running_nursery(folder_of_run(tmp_path_factory)) as process:
        yield process


@pytest.fixture
def worker(transactional_db: None, nursery: Nursery) -> Iterator[Worker]:
    """A real Celery worker process on the test database and its queue."""
    with running_worker(nursery) as process:
        yield process
