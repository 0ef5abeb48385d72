import json
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.datasets.services.imports import dataset_import_execute
from annotation.judgements.services.imports import rating_import_execute
from annotation.models import Dataset, Project, User
from tests.annotation.worlds.datasets import EXAMPLES, example_dataset
from tests.api.world import ITEMS, jsonl, judgements

Api = Callable[..., APIClient]
AS_FILE = {"name": "Chats", "file": SimpleUploadedFile("chats.jsonl", jsonl(ITEMS))}


@pytest.fixture
def imports(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/dataset-imports/"


def test_a_file_and_the_same_items_as_json_become_the_same_data_set(
    imports: str, manager: User, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client = api(manager)
    with django_capture_on_commit_callbacks() as enqueued:
        file = client.post(imports, {**AS_FILE, "licence": "CC0"}, format="multipart")
        body = client.post(imports, {"name": "Again", "items": ITEMS}, format="json")
    assert (file.status_code, body.status_code, len(enqueued)) == (202, 202, 2)
    assert file["Location"] == file.json()["url"]
    for answer in (file, body):
        dataset_import_execute(import_id=answer.json()["id"])
    first, second = (client.get(answer.json()["url"]).json() for answer in (file, body))
    assert (first["state"], first["dataset"]) == ("done", "chats")
    assert first["report"] == second["report"]
    assert Dataset.objects.get(slug="chats").licence == "CC0"


def test_bad_items_are_reported_by_line_and_nothing_is_stored(imports: str, manager: User, api: Api) -> None:
    client = api(manager)
    wrong = [ITEMS[0], {"id": "", "message": 5}, "no object"]
    job = client.post(imports, {"name": "Chats", "items": wrong}, format="json").json()
    dataset_import_execute(import_id=job["id"])
    answer = client.get(job["url"]).json()
    assert answer["state"] == "failed"
    assert [(row["line"], row["field"]) for row in answer["report"]["errors"]] == [
        (2, "message"),
        (2, "id"),
        (3, "line"),
    ]
    assert answer["report"]["total"] == 3
    assert answer["dataset"] is None
    assert not Dataset.objects.exists()


def test_a_file_with_other_names_is_imported_with_the_proposed_mapping(imports: str, manager: User, api: Api) -> None:
    client = api(manager)
    lines = jsonl([{"question": "Tea?", "answers": ["Yes"], "t5_output": "No", "url": "x.org"}])
    file = SimpleUploadedFile("qa.jsonl", lines)
    looked = client.post(f"{imports}look/", {"file": file}, format="multipart").json()
    assert looked["needs_mapping"] is True
    assert looked["mapping"] == {
        "question": "message",
        "answers": "references",
        "t5_output": "output:t5",
        "url": "ignore",
    }
    assert looked["fields"][0] | {"kind": ""} == {
        "name": "question",
        "kind": "",
        "samples": ["Tea?"],
        "meaning": "message",
    }
    job = client.post(
        imports,
        {"name": "QA", "file": SimpleUploadedFile("qa.jsonl", lines), "mapping": json.dumps(looked["mapping"])},
        format="multipart",
    ).json()
    dataset_import_execute(import_id=job["id"])
    answer = client.get(job["url"]).json()
    assert (answer["state"], answer["options"]["mapping"]) == ("done", looked["mapping"])
    assert Dataset.objects.get(slug="qa").systems.get().name == "t5"


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"question": "mesage"}, "(did you mean message?)"),
        ({"question": ["message"]}, "Found a list; accepted: text that is not empty."),
        (["question"], "Found a list; accepted: an object."),
        ({"question": "ignore"}, "Nothing would be imported"),
    ],
)
def test_a_mapping_that_cannot_be_imported_is_refused_at_its_field(
    imports: str, manager: User, api: Api, mapping: object, message: str
) -> None:
    body = {"name": "Chats", "items": [{"question": "Tea?"}], "mapping": mapping}
    answer = api(manager).post(imports, body, format="json")
    assert answer.status_code == 400
    assert message in json.dumps({name: text for name, text in answer.json()["fields"].items() if "mapping" in name})


def test_a_file_above_the_limit_is_refused(imports: str, manager: User, api: Api, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    answer = api(manager).post(
        imports, {"name": "Chats", "file": SimpleUploadedFile("c.jsonl", b"x" * 11)}, format="multipart"
    )
    assert answer.json()["fields"] == {"file": ["Found 11 bytes; accepted: at most 10 bytes."]}


def test_a_name_that_is_taken_is_refused_with_the_field(
    imports: str, project: Project, manager: User, api: Api
) -> None:
    project.datasets.create(name="Chats", slug="chats")
    answer = api(manager).post(imports, {"name": "Chats", "items": ITEMS}, format="json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == ["name"]


def test_only_finished_imports_can_be_retried(
    imports: str, manager: User, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client = api(manager)
    job = client.post(imports, {"name": "Chats", "items": ITEMS}, format="json").json()
    refused = client.post(f"{job['url']}retry/")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "It is queued; accepted: a failed or cancelled one.",
    )
    assert client.post(f"{job['url']}cancel/").json()["state"] == "cancelled"
    with django_capture_on_commit_callbacks() as enqueued:
        assert client.post(f"{job['url']}retry/").json()["state"] == "queued"
    assert len(enqueued) == 1


def test_ratings_become_a_closed_campaign_whose_log_can_be_read_back(project: Project, manager: User, api: Api) -> None:
    client, where = api(manager), f"/api/v1/projects/{project.slug}"
    dataset_import = client.post(f"{where}/dataset-imports/", {"name": "Chats", "items": ITEMS}, format="json").json()
    dataset_import_execute(import_id=dataset_import["id"])
    body = {"dataset": "chats", "name": "Crowd", "judgements": judgements(True), "options": {"scale_max": 7}}
    job = client.post(f"{where}/rating-imports/", body, format="json").json()
    assert job["options"]["scale_max"] == 7
    rating_import_execute(import_id=job["id"])

    campaign = client.get(job["url"]).json()["campaign"]
    shown = client.get(f"{where}/campaigns/{campaign}/").json()
    assert (shown["state"], shown["imported"], shown["rater_link"]) == ("closed", True, None)
    assert [(c["name"], c["scale_min"], c["scale_max"]) for c in shown["criteria"]] == [("quality", 1, 7)]
    log = client.get(f"{where}/campaigns/{campaign}/ratings/").json()["results"]
    expected = [(judgement["item"], judgement["ratings"]["quality"]) for judgement in judgements(True)]
    assert [(row["item"], row["value"]) for row in log] == expected
    assert all(row["rater"] not in ("ann", "bob") for row in log)  # pseudonyms, never the ids of the file


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"dataset": "nowhere"}, "dataset"),
        ({"options": {"scale_max": 0}}, "scale_max"),
        ({"options": {"scale": 5}}, "options.scale"),
        ({"options": "scale"}, "options"),
        ({"note": "hello"}, "note"),
    ],
)
def test_invalid_rating_imports_are_refused_at_their_field(
    project: Project, manager: User, api: Api, change: dict, field: str
) -> None:
    project.datasets.create(name="Chats", slug="chats")
    body = {"dataset": "chats", "name": "Crowd", "judgements": judgements(True), **change}
    answer = api(manager).post(f"/api/v1/projects/{project.slug}/rating-imports/", body, format="json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def example_file(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (EXAMPLES / name).read_bytes())


def test_a_rating_file_can_be_previewed(project: Project, manager: User, viewer: User, api: Api) -> None:
    example_dataset(project)
    where = f"/api/v1/projects/{project.slug}/rating-imports/"
    body = {"dataset": "small", "name": "Medians", "file": example_file("ratings-medians.csv")}
    preview = api(manager).post(f"{where}look/", body, format="multipart").json()
    assert preview["sentence"].startswith("This looks like medians only: 2 criteria, 5 medians of 5 responses")
    assert (preview["options"]["shape"], preview["options"]["aggregate"], preview["total"]) == (
        "aggregate",
        "median",
        0,
    )
    assert not project.rating_imports.exists()
    assert api(viewer).post(f"{where}look/", body, format="multipart").status_code == 403


def test_label_studio_exports_can_be_uploaded_unchanged(project: Project, manager: User, api: Api) -> None:
    example_dataset(project)
    body = {
        "dataset": "small",
        "name": "LS",
        "file": example_file("ratings-label-studio.json"),
        "options": json.dumps({"criteria": ["quality"]}),
    }
    job = api(manager).post(f"/api/v1/projects/{project.slug}/rating-imports/", body, format="multipart").json()
    assert (job["file_format"], job["options"]["shape"]) == ("json", "label-studio")
    rating_import_execute(import_id=job["id"])
    done = api(manager).get(job["url"]).json()
    assert (done["state"], done["report"]["counts"]["judgements"]) == ("done", 3)
