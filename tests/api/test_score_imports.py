"""Imported scores over the API: checked, imported, downloaded."""

import io
import zipfile
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.models import User
from metrics.models import ScoreRun
from tests.metrics.world import World, make_world

Api = Callable[..., APIClient]
TABLE = "system,item,score\nEcho,item-0,0.5\nEcho,item-2,1\nParrot,item-0,0.25\n"


@pytest.fixture
def cats(project) -> World:
    return make_world(project)


@pytest.fixture
def where(cats: World) -> str:
    return f"/api/v1/projects/{cats.project.slug}/score-imports/"


def form_data(text: str = TABLE, **changes: object) -> dict:
    file = SimpleUploadedFile("comet.csv", text.encode())
    return {"file": file, "dataset": "cats", "name": "COMET-22", "lowest": 0, "highest": 1} | changes


def test_scores_are_imported_once_and_shown_as_a_run(where: str, manager: User, api: Api) -> None:
    client = api(manager)
    created = client.post(where, form_data())
    repeated = client.post(where, form_data())

    (score_import,) = created.json()
    assert (created.status_code, repeated.status_code) == (201, 200)
    assert (score_import["items"], score_import["missing"], score_import["created"]) == (2, 1, True)
    assert score_import["systems"] == [{"system": "Echo", "score": 0.75}, {"system": "Parrot", "score": 0.25}]
    assert repeated.json()[0]["run"] == score_import["run"]
    shown = client.get(score_import["url"]).json()
    assert (shown["state"], shown["metric"]) == ("done", "external")
    segments = client.get(f"{score_import['url']}segments/").json()["results"]
    assert segments[1]["scores"] == {"Echo": 1.0, "Parrot": None}


def test_columns_of_a_file_are_named_and_left_out(where: str, manager: User, api: Api) -> None:
    rows = "".join(f"Echo,item-{index},{1 + index % 5},{index % 3},0.{index}\n" for index in range(10))
    table = {"text": f"system,item,judge,ann,COMET\n{rows}", "name": "", "lowest": "", "highest": ""}
    chosen = table | {"names": ["judge=GPT-4"], "skip": ["ann"], "scale": ["judge=1..5"]}
    client = api(manager)

    checked = client.post(where, form_data(**chosen, check=True)).json()
    stored = client.post(where, form_data(**chosen)).json()

    for answer in (checked, stored):
        assert {each["name"]: each["highest"] for each in answer} == {"GPT-4": 5, "COMET": None}
    refused = client.post(where, form_data(**table, names=["gpt=GPT-4"])).json()
    assert "accepted: COLUMN=NAME, once for a column of " in str(refused["fields"]["names"])


def test_the_raters_scale_is_proposed_and_another_one_can_be_stated(where: str, manager: User, api: Api) -> None:
    rows = "".join(f"Echo,item-{index},{1 + index % 5}\n" for index in range(10))
    judge = {"text": f"system,item,score\n{rows}", "name": "judge", "lowest": "", "highest": "", "check": True}
    client = api(manager)

    (proposed,) = client.post(where, form_data(**judge)).json()
    (stated,) = client.post(where, form_data(**judge, scale=["judge=0..10"])).json()

    named = ("scores", "lowest", "highest", "range_from")
    assert [proposed[name] for name in named] == ["1 to 5, whole numbers", 1, 5, "proposed"]
    assert [stated[name] for name in named] == ["1 to 5, whole numbers", 0, 10, "stated"]
    (stored,) = client.post(where, form_data(**judge | {"check": False})).json()
    assert {name: stored[name] for name in named} == {name: proposed[name] for name in named}
    assert "scale" in client.post(where, form_data(**judge, scale=["judge=1-5"])).json()["fields"]


def test_a_check_stores_nothing(where: str, manager: User, api: Api) -> None:
    response = api(manager).post(where, form_data(check=True))
    assert response.status_code == 200
    assert response.json()[0]["run"] is None
    assert not ScoreRun.objects.exists()


def test_invalid_imports_are_refused_with_rows_and_fields(where: str, manager: User, api: Api) -> None:
    client = api(manager)
    rows = client.post(where, form_data(TABLE + "Nobody,item-0,1\n"))
    assert (rows.status_code, rows.json()["total"], rows.json()["rows"][0]["line"]) == (400, 1, 5)
    assert "name" in client.post(where, form_data(name="")).json()["fields"]
    assert "dataset" in client.post(where, form_data(dataset="dogs")).json()["fields"]
    assert "sort" in client.post(where, form_data(sort="x")).json()["fields"]


def test_members_download_scores_and_managers_import_them(
    where: str, manager: User, viewer: User, outsider: User, api: Api
) -> None:
    api(manager).post(where, form_data())
    response = api(viewer).get(f"{where}cats/archive/")
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
        assert "cats/metric-scores/cats/COMET-22-src.seg.score" in archive.namelist()
    assert api(viewer).post(where, form_data()).status_code == 403
    assert api(outsider).post(where, form_data()).status_code == 404
    assert api(outsider).get(f"{where}cats/archive/").status_code == 404
    assert api().get(f"{where}cats/archive/").status_code == 401
