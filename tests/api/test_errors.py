"""Every refusal has the same shape."""

from collections.abc import Callable

import pytest
from rest_framework.exceptions import ValidationError
from rest_framework.test import APIClient

from annotation.core.errors import ImportRefused
from annotation.models import Project, User
from config.api import exception_handler

Api = Callable[..., APIClient]


def test_an_import_that_is_refused_lists_its_rows() -> None:
    row = {"file": "a.csv", "line": 3, "field": "rater", "found": "nothing", "accepted": "the rater's id"}
    answer = exception_handler(ImportRefused("Line 3 names no rater.", rows=[row], total=7), {})
    assert answer.status_code == 400
    assert answer.data == {"detail": "Line 3 names no rater.", "rows": [row], "total": 7}


def test_fields_inside_fields_are_named_with_dots() -> None:
    answer = exception_handler(
        ValidationError({"criteria": [{}, {"name": ["Too long."]}], "non_field_errors": ["Not like this."]}), {}
    )
    assert answer.data == {
        "detail": "criteria.1.name: Too long. Not like this.",
        "fields": {"criteria.1.name": ["Too long."], "": ["Not like this."]},
    }


def test_a_refusal_by_a_service_names_the_field(project: Project, manager: User, api: Api) -> None:
    body = {"name": "!?", "items": [{"id": "1"}]}
    answer = api(manager).post(f"/api/v1/projects/{project.slug}/dataset-imports/", body, format="json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == ["name"]
    assert "'!?'" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        ('{"name": ', "application/json", 400),
        ('{"name": NaN}', "application/json", 400),
        ('["a list"]', "application/json", 400),
        ("name=x", "text/plain", 415),
    ],
)
def test_an_unreadable_body_is_refused_with_a_detail(
    manager: User, api: Api, body: str, content_type: str, code: int
) -> None:
    answer = api(manager).post("/api/v1/projects/", body, content_type=content_type)
    assert answer.status_code == code
    assert answer.json()["detail"]


def test_a_body_too_large_for_memory_is_refused_before_it_is_read(manager: User, api: Api, settings) -> None:
    client = api(manager)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = client.post("/api/v1/projects/", {"name": "x" * 100}, format="json")
    assert answer.status_code == 413
    assert "at most 100" in answer.json()["detail"]


def test_a_nul_character_in_a_query_is_refused(project: Project, manager: User, api: Api) -> None:
    project.datasets.create(name="Chats", slug="chats")
    answer = api(manager).get(f"/api/v1/projects/{project.slug}/datasets/chats/items/", {"search": "a\x00b"})
    assert answer.status_code == 400
    assert "NUL" in answer.json()["detail"]


def test_a_session_without_its_csrf_token_may_not_write(project: Project, manager: User) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(manager)
    assert client.post("/api/v1/projects/", {"name": "Mine"}, format="json").status_code == 403
