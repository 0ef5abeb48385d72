"""One document starts the same study by page, by API and by command, and has a published schema."""

import json
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from rest_framework.test import APIClient

from correlations.api.studies import SpecificationSerializer
from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.specification import NOT_REQUESTED, Specification
from correlations.specification_schema import FILENAME, specification_schema
from tests.metrics.world import World

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Each way to write a metric, what may be left to the data, and what a stored specification holds besides.
METRICS = ["bleu", {"name": "chrf", "beta": 1}, {"name": "delta_bleu", "parameters": {"max_order": 1}}]
DOCUMENT = {"metrics": METRICS, "unit_size": None, "$schema": "https://example.org/schema.json", "last_rating_id": 4}


@pytest.fixture
def unqueued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("correlations.tasks.execute.delay_on_commit", lambda _: None)


@pytest.mark.django_db
@pytest.mark.usefixtures("unqueued")
def test_a_document_gives_one_signature_by_page_api_and_command(
    world: World, manager, as_user, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = world.specification(**DOCUMENT, assignments=2, bootstrap=2)
    text = json.dumps(document)
    path = tmp_path / "trust.json"
    path.write_text(text)

    call_command("study", str(path), "--project", "chit-chat", "--json")
    of_command = json.loads(capsys.readouterr().out)["signature"]
    api = APIClient()
    api.force_authenticate(manager)
    body = {"name": "By API", "specification": document}
    of_api = api.post("/api/v1/projects/chit-chat/studies/", body, format="json")
    page = reverse("correlations:study-from-specification", args=["chit-chat"])
    client = as_user(manager)
    pasted = client.post(page, {"name": "Pasted", "text": text})
    sent = client.post(page, {"file": SimpleUploadedFile("trust.json", text.encode())})

    study = Study.objects.get()
    assert of_api.status_code == 200, of_api.json()
    assert (study.signature, study.name) == (of_command, "trust")
    assert of_api.json()["signature"] == of_command
    assert pasted.url == sent.url == reverse("correlations:study-detail", args=["chit-chat", study.pk])

    given = client.get(reverse("correlations:study-specification", args=["chit-chat", study.pk]))
    assert given.headers["Content-Disposition"].endswith(f'chit-chat-study-{study.pk}-specification.json"')
    read = given.json()
    jsonschema.validate(read, specification_schema())
    jsonschema.validate(document, specification_schema())
    assert api.get(f"/api/v1/projects/chit-chat/studies/{study.pk}/specification/").json() == {
        name: value for name, value in read.items() if name != "$schema"
    }
    again = client.post(page, {"text": given.content.decode()})
    assert (again.url, Study.objects.count()) == (pasted.url, 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, "Found neither; accepted: a file, or its text."),
        ({"text": "{"}, "Not JSON"),
        ({"text": "[1]"}, "Found &#x27;[1]&#x27;; accepted: an object"),
        ({"text": '{"colour": 1}'}, "colour: found; accepted:"),
        ({"text": "{}", "file": SimpleUploadedFile("a.json", b"{}")}, "Found both"),
        ({"file": SimpleUploadedFile("a.json", b"\xff\xfe")}, "Not JSON"),
    ],
)
def test_a_wrong_document_is_refused_with_its_field(project, manager, as_user, sent: dict, message: str) -> None:
    answer = as_user(manager).post(reverse("correlations:study-from-specification", args=[project.slug]), sent)
    assert message in answer.content.decode()


def test_the_schema_is_valid_published_and_names_every_field(client) -> None:
    schema = specification_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    names = {each.name for each in fields(Specification)}
    assert schema["properties"].keys() == names | NOT_REQUESTED.keys() | {"datasets"}
    assert schema["properties"]["datasets"]["items"]["properties"].keys() == names
    assert json.loads((DOCS / FILENAME).read_text()) == schema, "manage.py study schema > docs/" + FILENAME
    answer = client.get(reverse("correlations:study-schema"))
    assert (answer.json(), answer.headers["Content-Type"]) == (schema, "application/schema+json")


def test_the_api_documents_the_fields_of_the_schema() -> None:
    documented = SpecificationSerializer().fields
    properties = specification_schema()["properties"]
    del properties["datasets"]  # these have a resource of their own
    assert documented.keys() == properties.keys()
    assert {name: each.help_text for name, each in documented.items()} == {
        name: each["description"] for name, each in properties.items()
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": 1},
        {"systems": ["Echo"]},
        {"campaigns": []},
        {"orientation": "left"},
        {"bootstrap": -1},
        {"bootstrap": 2.5},
        {"seed": True},
        {"coefficients": []},
        {"coefficients": ["phi"]},
        {"lowercase": 1},
        {"metrics": []},
        {"metrics": ["no_such"]},
        {"metrics": [7]},
        {"pairs": [["Echo"]]},
        {"subsets": "all"},
        {"criteria": ["a", "a"]},
    ],
)
def test_the_schema_refuses_what_a_specification_refuses(wrong: dict) -> None:
    right = {"campaigns": ["Output ratings"], "systems": ["Echo", "Quill"]}
    jsonschema.validate(right, specification_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(right | wrong, specification_schema())
    with pytest.raises((StudyRefused, ValueError)):
        Specification.from_mapping(right | wrong)


@pytest.mark.django_db
def test_a_command_takes_one_file(project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="accepted: one specification"):
        call_command("study", "a.json", "b.json", "--project", project.slug)
    with pytest.raises(CommandError, match="accepted: the slug of a project"):
        call_command("study", "a.json")
