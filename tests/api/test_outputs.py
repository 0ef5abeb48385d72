"""Outputs that are added over the API: as a file or as JSON, checked, refused."""

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.models import Project, System, User
from tests.annotation.worlds.datasets import example_dataset

Api = Callable[..., APIClient]
OUTPUTS = [
    {"item_id": "1", "system": "New", "text": "Hi."},
    {"item_id": "2", "system": "New", "text": "I do not know."},
]


@pytest.fixture
def where(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/datasets/{example_dataset(project).slug}/outputs/"


def test_outputs_are_checked_and_added(where: str, manager: User, viewer: User, api: Api) -> None:
    assert api(viewer).post(where, {"outputs": OUTPUTS}, format="json").status_code == 403
    client = api(manager)
    checked = client.post(where, {"outputs": OUTPUTS, "check": True}, format="json")
    assert checked.status_code == 200
    assert not System.objects.filter(name="New").exists()
    added = client.post(where, {"outputs": OUTPUTS}, format="json")
    assert added.status_code == 201
    assert added.json() == checked.json()
    assert (added.json()["outputs"], added.json()["new_responses"], added.json()["known_responses"]) == (2, 1, 1)
    file = SimpleUploadedFile("other.csv", b"item_id,text\n3,Cold?\n")
    assert client.post(where, {"file": file, "system": "Other"}).json()["systems"] == [
        {"system": "Other", "is_new": True, "outputs": 1, "known": 0}
    ]


def test_refusals_have_rows_and_fields(where: str, manager: User, api: Api) -> None:
    client = api(manager)
    rows = client.post(where, {"outputs": [*OUTPUTS, {"item_id": "9", "system": "New", "text": ""}]}, format="json")
    assert rows.status_code == 400
    assert [(row["line"], row["field"]) for row in rows.json()["rows"]] == [(3, "text"), (3, "item_id")]
    assert "system" in client.post(where, {"outputs": [{"id": "1", "text": "Hi."}]}, format="json").json()["fields"]
    assert "sort" in client.post(where, {"outputs": OUTPUTS, "sort": 1}, format="json").json()["fields"]
    assert not System.objects.filter(name="New").exists()
