"""Trained models over the API: requested, polled, deleted."""

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.models import User
from metrics.models import TrainedModel
from metrics.scoring.qe.model import QualityEstimator
from metrics.services.training import model_execute
from tests.annotation.worlds.mined import indexed_corpus
from tests.metrics.quality import RIDGE
from tests.metrics.trained import models_dir  # noqa: F401
from tests.metrics.world import World, make_world

Api = Callable[..., APIClient]
pytestmark = pytest.mark.usefixtures("models_dir")


@pytest.fixture
def cats(project) -> World:
    return make_world(project)


@pytest.fixture
def where(cats: World) -> str:
    return f"/api/v1/projects/{cats.project.slug}/models/"


def test_a_model_is_requested_polled_named_by_its_hash_and_deleted(
    where: str, cats: World, manager: User, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client = api(manager)
    body = {
        "name": "Space",
        "kind": "lsa",
        "dataset": "cats",
        "texts": ["messages"],
        "source_systems": ["Human"],
        "options": {"components": 3},
        "keep_apart": False,
    }
    with django_capture_on_commit_callbacks() as enqueued:
        created = client.post(where, body, format="json")
    assert (created.status_code, len(enqueued)) == (202, 1)
    assert created["Location"] == created.json()["url"]
    model_execute(model_id=created.json()["id"])

    shown = client.get(created["Location"]).json()

    assert (shown["state"], shown["slug"], shown["version"]) == ("done", "space", 1)
    assert shown["reference"] == f"sha256:{shown['digest']}"
    assert shown["options"] == {"components": 3, "tokenize": "whitespace"}
    assert shown["report"]["overlap"][0]["references"] > 0
    assert shown["score_runs"] == []
    assert [row["id"] for row in client.get(where, {"kind": "lsa"}).json()["results"]] == [shown["id"]]
    assert client.get(where, {"kind": "vectors"}).json()["results"] == []
    assert client.delete(created["Location"]).status_code == 204


def test_a_quality_estimator_learns_from_a_campaigns_ratings(where: str, cats: World, manager: User, api: Api) -> None:
    client = api(manager)
    body = {"name": "Rated", "kind": QualityEstimator.kind, "options": RIDGE, "campaigns": ["Output ratings"]}
    wanted = body | {"criteria": ["relevance"], "statistic": "mean", "cross_validate": True}
    for wrong, field in (
        ({"dataset": "cats"}, "dataset"),
        ({"texts": ["messages"]}, "texts"),
        ({"campaigns": ["Nothing"]}, "campaigns"),
        ({"criteria": ["colour"]}, ""),
        ({"kind": "lsa", "options": {}}, "kind"),
        ({"options": {"estimator": "magic"}}, "estimator"),
    ):
        refused = client.post(where, wanted | wrong, format="json")
        assert refused.status_code == 400, wrong
        assert field in refused.json()["fields"] or not field, refused.json()

    created = client.post(where, wanted, format="json").json()
    model_execute(model_id=created["id"])
    shown = client.get(created["url"]).json()

    assert shown["state"] == "done"
    assert shown["source"]["criteria"] == ["relevance"]
    assert shown["report"]["cross_validation"]["outputs"] == shown["report"]["rated_outputs"]


def test_a_score_run_takes_a_models_name(where: str, cats: World, manager: User, api: Api) -> None:
    client = api(manager)
    run_body = {
        "release": "cat-references",
        "systems": ["Echo"],
        "metric": "am",
        "parameters": {"model": "space", "k": 2},
    }
    runs = where.replace("models", "score-runs")
    refused = client.post(runs, run_body, format="json")
    assert refused.status_code == 400
    assert "Train one under Models" in refused.json()["fields"]["model"][0]
    model = client.post(
        where,
        {"name": "Space", "kind": "lsa", "dataset": "cats", "source_systems": ["Human"], "keep_apart": False},
        format="json",
    ).json()
    model_execute(model_id=model["id"])

    run = client.post(runs, run_body, format="json").json()

    shown = client.get(model["url"]).json()
    assert run["parameters"]["model"] == shown["reference"]
    assert shown["score_runs"] == [run["id"]]
    assert "is read by score run" in client.delete(model["url"]).json()["detail"]


def test_models_can_be_trained_on_a_file_or_uploaded(where: str, manager: User, api: Api) -> None:
    client = api(manager)
    lines = SimpleUploadedFile("lines.txt", b"the cat sat\na dog saw it\n")
    vectors = SimpleUploadedFile("glove.txt", b"cat 1 0\ndog 0 1\n")
    bodies = [
        {"name": "A", "kind": "lsa", "file": lines, "options": '{"components": 2}'},
        {"name": "B", "kind": "vectors", "file": vectors, "made_elsewhere": "true"},
    ]

    for body in bodies:
        model = client.post(where, body, format="multipart").json()
        model_execute(model_id=model["id"])
        assert client.get(model["url"]).json()["state"] == "done"


def test_a_corpus_is_trained_on(where: str, cats: World, manager: User, api: Api, settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path
    indexed_corpus(cats.project)

    model = api(manager).post(where, {"name": "P", "kind": "language_model", "corpus": "pool"}, format="json").json()

    assert (model["corpus"], model["source"]["texts"]) == ("pool", ["responses"])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dataset": "gone"}, "dataset"),
        ({"corpus": "pool"}, "dataset"),
        ({"texts": []}, "texts"),
        ({"kind": "glove"}, "kind"),
        ({"kind": "sentence"}, "kind"),
        ({"options": {"order": 2}}, "order"),
        ({"name": "猫"}, "name"),
        ({"register": "/etc"}, "register"),
    ],
)
def test_invalid_models_are_refused_at_their_field(
    where: str, manager: User, api: Api, changes: dict, field: str
) -> None:
    body = {"name": "Space", "kind": "lsa", "dataset": "cats", "texts": ["messages"]} | changes

    answer = api(manager).post(where, body, format="json")

    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]
    assert not TrainedModel.objects.exists()


def test_a_file_above_the_limit_is_refused(where: str, manager: User, api: Api, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 3
    body = {"name": "B", "kind": "vectors", "file": SimpleUploadedFile("glove.txt", b"cat 1 0\n")}

    answer = api(manager).post(where, body, format="multipart")

    assert "train_metric_model" in answer.json()["fields"]["file"][0]


def test_an_unknown_kind_in_the_address_is_refused(where: str, manager: User, api: Api) -> None:
    assert api(manager).get(where, {"kind": "glove"}).json()["fields"]["kind"]
