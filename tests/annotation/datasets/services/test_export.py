"""A data set leaves in the format that it came in, and enters another project as the same."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.datasets.services.export import dataset_chunks, dataset_hash
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.mining.services.runs import mining_run_execute
from annotation.mining.services.storing import mining_run_store
from annotation.models import Dataset, JobState, Project, ResponseSource, User
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset

EVERYTHING: list[dict[str, Any]] = [
    {
        "id": "1",
        "context": ["Hej.", "Ok\u2028"],
        "message": "Så?",
        "meaning_representation": "greet()",
        "split": "dev",
        "references": [
            "Hi",
            {"text": "Ho", "kind": "mined", "rank": 7, "score": 0.1, "source_context": ["a"], "source_message": "b"},
            {"text": "Ha", "rank": None},
            {"text": "Hi", "raw_text": " Hi ", "kind": "seed"},
        ],
        "outputs": {
            "B": "Hi",
            "A": {"text": "Hi", "raw_text": "Hi ", "rank": 0, "score": 0.0, "source_message": "m"},
            "Empty": "",
        },
    },
    {"id": "zwei", "outputs": {"A": "x" * 300}},
    {"id": "3"},
]


def imported(project: Project, content: bytes, name: str = "Copy", rule: str = "nfc-space") -> Dataset:
    job = dataset_import_create(
        project=project, by=None, name=name, filename="d.jsonl", content=content, normalisation=rule
    )
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.report
    assert job.dataset is not None
    return job.dataset


@pytest.fixture
def other(db: None) -> Project:
    return Project.objects.create(name="Other", slug="other")


def exported(dataset: Dataset) -> bytes:
    return b"".join(dataset_chunks(dataset))


def test_everything_that_an_import_reads_is_exported_and_imported_again(project: Project, other: Project) -> None:
    lines = "".join(json.dumps(item) + "\n" for item in EVERYTHING).encode()
    original = imported(project, lines)
    copy = imported(other, exported(original))
    assert dataset_hash(copy) == dataset_hash(original) == hashlib.sha256(exported(copy)).hexdigest()
    columns = ("item__external_id", "kind", "system__name", "rank", "score", "raw_text", "response__text")
    rows = [list(ResponseSource.objects.filter(item__dataset=each).values_list(*columns)) for each in (original, copy)]
    assert sorted(map(repr, rows[0])) == sorted(map(repr, rows[1]))
    first = json.loads(exported(original).splitlines()[0])
    assert first["references"] == EVERYTHING[0]["references"]
    assert first["outputs"] == {"A": EVERYTHING[0]["outputs"]["A"], "B": "Hi", "Empty": ""}


def test_the_text_that_raters_see_is_the_same_whichever_source_came_first(project: Project, other: Project) -> None:
    table = b"item_id,system,text\n1,B,Two  words\n1,A,Two words\n1,,two words\n"
    job = dataset_import_create(
        project=project, by=None, name="T", filename="t.csv", content=table, normalisation="nfkc-casefold"
    )
    dataset_import_execute(import_id=job.pk)
    original = Dataset.objects.get(project=project)
    copy = imported(other, exported(original), rule="nfkc-casefold")
    texts = [list(each.items.get().responses.values_list("text", "text_key")) for each in (original, copy)]
    assert texts[0] == texts[1]
    assert texts[0][0][0] == "Two  words"
    assert dataset_hash(copy) == dataset_hash(original)


def test_mined_references_change_the_hash_and_travel(project: Project, manager: User, other: Project) -> None:
    dataset = seeds_dataset(project)
    before = dataset_hash(dataset)
    run = asked_run(project, dataset, indexed_corpus(project))
    mining_run_execute(run_id=run.pk)
    mining_run_store(run=run, by=manager)
    assert dataset_hash(dataset) != before
    assert dataset_hash(imported(other, exported(dataset))) == dataset_hash(dataset)


def test_page_api_and_command_give_the_same_file(
    project: Project, viewer: User, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = imported(project, json.dumps(EVERYTHING[1]).encode(), name="Chats")
    client.force_login(viewer)
    page = client.get(f"/p/{project.slug}/datasets/chats/")
    assert dataset_hash(dataset) in page.content.decode()
    assert f"/p/{project.slug}/datasets/chats/export.jsonl" in page.content.decode()
    file = b"".join(client.get(f"/p/{project.slug}/datasets/chats/export.jsonl"))  # type: ignore[arg-type]
    api = client.get(f"/api/v1/projects/{project.slug}/datasets/chats/export/")
    assert b"".join(api) == file == exported(dataset)  # type: ignore[arg-type]
    assert api["Content-Type"].startswith("application/jsonl")
    about = client.get(f"/api/v1/projects/{project.slug}/datasets/chats/").json()
    call_command("export_dataset", project=project.slug, dataset="chats", out=tmp_path / "c.jsonl", verbosity=0)
    assert (tmp_path / "c.jsonl").read_bytes() == file
    assert about["content_hash"] in capsys.readouterr().out
