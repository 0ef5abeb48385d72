"""A file with other people's field names: its fields are given meanings, looked at, and imported."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.datasets import tasks
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.models import Dataset, Membership, Project, Role, User
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in

ROWS = [
    {"dialogue": ["Hi", "Tea?"], "response": "Yes", "refs": ["No"], "model_a": "Sure", "model_b": "Never", "url": "x"},
    {"dialogue": ["Bye"], "response": "Ciao", "refs": [], "model_a": "Bye", "model_b": "See you", "url": "y"},
]


@pytest.fixture
def manager(transactional_db: None) -> User:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=project, user=user, role=Role.MANAGER)
    return user


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    return file.getvalue()


def test_fields_get_meanings_and_the_file_is_imported(live_server, new_page, manager: User, monkeypatch) -> None:
    monkeypatch.setattr(tasks.dataset_import_execute, "delay_on_commit", lambda pk: None)  # the test is the worker
    project = Project.objects.get()
    job = dataset_import_create(
        project=project, by=manager, name="Chats", filename="chats.parquet", content=parquet(), ask=True
    )
    dataset_import_execute(import_id=job.pk)

    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(live_server.url + reverse("annotation:dataset-import-detail", args=[project.slug, job.pk]))
    expect(page.get_by_role("heading", name="What the fields mean")).to_be_visible()
    assert_everyone_can_read(page)
    expect(page.get_by_label("Meaning of dialogue")).to_have_value("dialogue")
    expect(page.get_by_label("System of url")).to_be_hidden()
    preview = page.locator("#mapping-preview")
    expect(preview).to_contain_text("Output of model_a")

    page.get_by_label("Meaning of response").select_option(label="Context and message")
    expect(page.get_by_role("alert")).to_contain_text("accepted: one field with the meaning dialogue")
    page.get_by_label("Meaning of response").select_option(label="Original response")
    page.get_by_label("System of model_a").fill("GPT")
    page.get_by_label("System of model_a").press("Tab")
    expect(preview).to_contain_text("Output of GPT")
    assert not Dataset.objects.exists()

    page.get_by_role("button", name="Import as “Chats”").click()
    expect(page.get_by_role("heading", name="How the fields were read")).to_be_visible()
    dataset_import_execute(import_id=job.pk)
    page.wait_for_url("**" + reverse("annotation:dataset-detail", args=[project.slug, "chats"]))
    expect(page.get_by_role("rowheader", name="GPT")).to_be_visible()
    assert Dataset.objects.get().imports.get().options["mapping"]["model_a"] == "output:GPT"
