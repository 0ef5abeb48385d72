"""The Python client against a live server and a real worker: its tour, which is that of docs/api.md."""

import re
import runpy
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from annotation.models import Project, User
from assay_client import ApiError, Assay, Gone, JobFailed
from tests.conftest import ROOT
from tests.worker import Worker

pytestmark = pytest.mark.worker
PASSWORD = "a-password-of-theirs"


def test_the_tour_goes_from_texts_to_a_study(
    live_server: LiveServer,
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    User.objects.create_user("reader", password=PASSWORD)
    monkeypatch.chdir(ROOT)
    runpy.run_path("client/examples/tour.py")["main"](live_server.url, "reader", PASSWORD)

    printed = capsys.readouterr().out
    # As in the tour by curl: linear weights, 2 (4.75 - 1) / (5 - 1) - 1.
    assert "+0.875  I did. What a strike." in printed
    assert re.search(r"ΔBLEU of SystemA: \d", printed)
    assert "sBLEU, original:" in printed
    assert "relevance: By the mean of 3 raters’ ratings" in printed

    with Assay.sign_in(live_server.url, "reader", PASSWORD) as assay:
        assert [each["slug"] for each in assay.projects()] == ["python-tour"]
        project = assay.project("python-tour")
        assert [item["external_id"] for item in project.rows("datasets/small-talk/items/", page_size=1)] == [
            "1",
            "2",
            "3",
        ]
        ratings = list(project.ratings(project.get("campaigns/")["results"][0]["id"]))
        assert len(ratings) == 30
        release = project.get("reference-sets/gold/releases/1/")
        kept = assay.download(release["files"]["references.jsonl"], tmp_path / "references.jsonl")
        assert "I did. What a strike." in kept.read_text()
        with pytest.raises(Gone):
            assay.download("projects/another/", tmp_path / "nothing")
        assert not (tmp_path / "nothing").exists()


def test_what_is_refused_says_where_and_why(live_server: LiveServer, worker: Worker, tmp_path: Path) -> None:
    User.objects.create_user("reader", password=PASSWORD)
    with pytest.raises(ApiError, match=r"status 400"):
        Assay.sign_in(live_server.url, "reader", "another password")
    with Assay.sign_in(live_server.url, "reader", PASSWORD) as assay:
        project = assay.create_project("Refused")
        broken = tmp_path / "broken.jsonl"
        broken.write_text('{"id": "1", "message": "Hello?", "outputs": {"A": 7}}\n')
        with pytest.raises(JobFailed, match=r"Line 1, outputs\.A: found .*; accepted:") as failed:
            project.import_dataset(broken, name="Broken").wait(60)
        assert failed.value.rows[0]["line"] == 1
        with pytest.raises(ValueError, match="exactly one"):
            project.import_ratings("broken", name="None")
        with pytest.raises(ApiError) as refused:
            project.post("campaigns/", {"name": ""})
        assert "name" in refused.value.fields
        assay.delete("token/")
        with pytest.raises(ApiError, match="status 401"):
            next(assay.projects())
    assert Project.objects.filter(slug="refused").exists()
