"""Finished releases: their files and deprecation; changes of sets; imported weights."""

import json
from collections.abc import Callable

from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.models import Release, WeightsImport
from annotation.references.releases.files.kinds import FILES
from annotation.references.releases.services.imports import weights_import_execute
from tests.api.conftest import World

Api = Callable[..., APIClient]
HERE = "/api/v1/projects/lab"
GOLD = f"{HERE}/reference-sets/gold/"


def body(answer) -> bytes:
    return b"".join(answer.streaming_content)


def test_a_release_lists_its_files_and_they_can_be_cached(world: World, api: Api) -> None:
    client = api(world.people["viewer"])
    release = client.get(f"{GOLD}releases/1/").json()
    assert list(release["files"]) == list(FILES)
    assert release["code_version"].startswith("0.1.0")
    answer = client.get(release["files"]["items.jsonl"])
    lines = [json.loads(line) for line in body(answer).decode().splitlines()]
    assert (lines[0]["release"], lines[0]["content_hash"]) == ("gold/v1", release["content_hash"])
    assert answer["Assay-Content-Hash"] == release["content_hash"]
    cached = client.get(release["files"]["items.jsonl"], headers={"If-None-Match": answer["ETag"]})
    assert cached.status_code == 304
    assert client.get(f"{GOLD}releases/1/files/weights.exe/").status_code == 404
    assert api(world.people["outsider"]).get(release["files"]["card.md"]).status_code == 404


def test_a_release_is_deprecated_with_a_reason_and_restored(world: World, api: Api) -> None:
    client, where = api(world.people["manager"]), f"{GOLD}releases/1/"
    assert api(world.people["viewer"]).post(f"{where}deprecate/", {"reason": "x"}, format="json").status_code == 403
    assert client.post(f"{where}deprecate/", {"reason": " "}, format="json").status_code == 400
    deprecated = client.post(f"{where}deprecate/", {"reason": "Use v2."}, format="json").json()
    assert (deprecated["deprecation_reason"], deprecated["deprecated_by"]) == (
        "Use v2.",
        world.people["manager"].username,
    )
    assert deprecated["deprecated_at"]
    restored = client.post(f"{where}restore/").json()
    assert (restored["deprecated_at"], restored["deprecation_reason"]) == (None, "")
    assert client.post(f"{where}restore/").status_code == 400


def test_a_set_can_be_changed_but_not_with_a_campaign_it_already_has(world: World, api: Api) -> None:
    client = api(world.people["manager"])
    changed = client.patch(GOLD, {"description": "By hand."}, format="json")
    assert (changed.status_code, changed.json()["description"], changed.json()["slug"]) == (200, "By hand.", "gold")
    refused = client.patch(GOLD, {"name": "Other", "add_campaigns": ["References"]}, format="json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["campaigns"])
    assert client.get(GOLD).json()["name"] == "Gold"
    assert client.patch(GOLD, {"source_kinds": []}, format="json").status_code == 400
    assert api(world.people["viewer"]).patch(GOLD, {}, format="json").status_code == 403


def test_weights_are_imported_or_refused_with_every_bad_row(world: World, api: Api) -> None:
    client, where = api(world.people["manager"]), f"{HERE}/reference-sets/import/"
    exported = body(client.get(f"{GOLD}releases/1/files/items.jsonl/"))
    body_fields = {
        "dataset": "chats",
        "name": "Theirs",
        "file": SimpleUploadedFile("w.jsonl", exported),
        "origin": "A paper",
    }
    response = client.post(where, body_fields, format="multipart")
    assert (response.status_code, response["Location"]) == (202, response.json()["weights_import"])
    weights_import_execute(import_id=WeightsImport.objects.latest("pk").pk)
    weights_import = client.get(response["Location"]).json()
    assert (weights_import["state"], weights_import["release"], weights_import["report"]) == ("done", "theirs/v1", {})
    imported, gold = (Release.objects.get(reference_set__slug=slug, number=1) for slug in ("theirs", "gold"))
    weights = [
        set(release.weights.values_list("response", "weight", "rating_mean", "low")) for release in (imported, gold)
    ]
    assert weights[0] == weights[1]
    assert client.get(weights_import["release_url"]).json()["method"] == "imported"
    bad = SimpleUploadedFile("w.csv", b"item,text,weight\nnowhere,x,9\n")
    response = client.post(where, {"dataset": "chats", "name": "Bad", "file": bad}, format="multipart")
    weights_import_execute(import_id=WeightsImport.objects.latest("pk").pk)
    refused = client.get(response["Location"]).json()
    assert (refused["state"], refused["release"]) == ("failed", None)
    assert [(row["line"], row["field"], row["found"]) for row in refused["report"]["errors"]] == [(2, "weight", "9")]
    unread = SimpleUploadedFile("w.csv", b"item,text,weight\nnowhere,x,9\n")
    refused = client.post(where, {"dataset": "chats", "name": "", "file": unread}, format="multipart")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["name"])
