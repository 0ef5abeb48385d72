"""The cast of every test: a project, its people, an outsider; and a real worker for those that need one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from hypothesis import settings as hypothesis_settings

from annotation.models import Membership, Project, Role, User
from tests.worker import Worker, running_worker

ROOT = Path(__file__).resolve().parent.parent

# An example may take long on a busy machine; that is no failure.
hypothesis_settings.register_profile("untimed", deadline=None)
hypothesis_settings.load_profile("untimed")


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(name="Chit-chat", slug="chit-chat")


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
    """A test client signed in as somebody."""

    def client_of(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return client_of


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Worker]:
    """A real Celery worker process on the test database and its queue."""
    with running_worker() as process:
        yield process
