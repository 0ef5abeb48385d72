from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.mining.services.corpora import corpus_index
from annotation.mining.services.runs import mining_run_execute
from annotation.models import Corpus, MinedCandidate, MiningRun, Project, ResponseSource, User
from tests.annotation.worlds.mined import TRIPLES, asked_run, indexed_corpus, seeds_dataset, triples_file

Api = Callable[..., APIClient]


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def where(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}"


def pool(name: str = "pool.jsonl", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, triples_file() if content is None else content)


def test_a_file_becomes_a_corpus_that_can_be_searched_and_deleted(
    where: str, manager: User, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client = api(manager)
    with django_capture_on_commit_callbacks() as enqueued:
        created = client.post(
            f"{where}/corpora/",
            {"name": "Pool", "file": pool(), "index": '{"k1": 1.5}', "licence": "CC0"},
            format="multipart",
        )
    assert (created.status_code, len(enqueued)) == (202, 1)
    assert created["Location"] == created.json()["url"]
    corpus_index(corpus_id=Corpus.objects.get().pk)
    shown = client.get(created["Location"]).json()
    assert (shown["state"], shown["n_triples"], shown["licence"]) == ("done", len(TRIPLES), "CC0")
    assert "k1:1.5" in shown["index_signature"]
    assert "content" not in shown
    query = {"message": "Would you like some tea?", "response": "Tea would be lovely", "n": 2}
    matches = client.get(f"{created['Location']}search/", query).json()
    assert matches[0]["response"].lower().endswith("tea would be lovely.")
    assert len(matches) == 2
    assert client.get(f"{created['Location']}search/", {"n": "0"}).json()["fields"]["n"]
    assert client.delete(created["Location"]).status_code == 204
    assert not Corpus.objects.exists()


def test_responses_of_a_data_set_become_a_corpus(where: str, project: Project, manager: User, api: Api) -> None:
    seeds_dataset(project)
    body = {"name": "Own", "dataset": "talk", "source_kinds": ["seed"]}
    corpus = api(manager).post(f"{where}/corpora/", body, format="json").json()
    corpus_index(corpus_id=Corpus.objects.get().pk)
    assert api(manager).get(corpus["url"]).json()["report"]["counts"]["triples"] == 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "Own", "dataset": "gone", "source_kinds": ["seed"]}, "dataset"),
        ({"name": "Own", "dataset": "talk"}, "source_kinds"),
        ({"name": "Own", "dataset": "talk", "source_kinds": ["seed"], "index": {"k1": "x"}}, "index"),
        ({"name": "Own", "dataset": "talk", "source_kinds": ["seed"], "index": "x"}, "index"),
        ({"name": "Own", "dataset": "talk", "kinds": ["seed"]}, "kinds"),
    ],
)
def test_invalid_corpora_are_refused_at_their_field(where, project, manager, api, body: dict, field: str) -> None:
    seeds_dataset(project)
    answer = api(manager).post(f"{where}/corpora/", body, format="json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def test_a_file_above_the_limit_is_refused(where: str, manager: User, api: Api, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    answer = api(manager).post(f"{where}/corpora/", {"name": "Pool", "file": pool()}, format="multipart")
    assert "at most 10" in answer.json()["fields"]["file"][0]


def test_bad_lines_are_reported(where: str, manager: User, api: Api) -> None:
    client = api(manager)
    corpus = client.post(f"{where}/corpora/", {"name": "P", "file": pool(content=b"{}\n")}, format="multipart").json()
    corpus_index(corpus_id=Corpus.objects.get().pk)
    report = client.get(corpus["url"]).json()["report"]
    assert [(row["line"], row["field"]) for row in report["errors"]] == [(1, "message"), (1, "response")]


def test_a_run_is_requested_read_and_stored_once(
    where: str, project: Project, manager: User, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    seeds_dataset(project)
    indexed_corpus(project)
    client = api(manager)
    body = {
        "dataset": "talk",
        "corpus": "pool",
        "seeds": {"kind": "seed", "splits": ["test"]},
        "specification": {"n": 2, "hygiene": [{"step": "length", "max_tokens": 8}]},
    }
    with django_capture_on_commit_callbacks() as enqueued:
        created = client.post(f"{where}/mining-runs/", body, format="json")
    assert (created.status_code, len(enqueued)) == (202, 1)
    run = MiningRun.objects.get()
    assert client.post(f"{created['Location']}store/").status_code == 400
    mining_run_execute(run_id=run.pk)
    shown = client.get(created["Location"]).json()
    assert (shown["state"], shown["progress"]["total"], shown["stored_at"]) == ("done", 2, None)
    candidates = client.get(f"{created['Location']}candidates/", {"fate": "kept", "item": "game"}).json()["results"]
    assert {row["item"] for row in candidates} == {"game"}
    assert {row["id"] for row in candidates} == set(
        MinedCandidate.objects.filter(item__external_id="game", fate="kept").values_list("pk", flat=True)
    )
    stored = client.post(f"{created['Location']}store/").json()
    assert sum(stored["kinds"].values()) == ResponseSource.objects.filter(mining_run=run).count()
    assert client.post(f"{created['Location']}store/").status_code == 400
    assert client.delete(f"{where}/corpora/pool/").json()["detail"].startswith("Corpus “Pool” is used by mining run")


def test_near_duplicates_are_left_out_by_their_ids(where: str, project: Project, manager: User, api: Api) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), near_duplicate=0.3)
    mining_run_execute(run_id=run.pk)
    client, run_url = api(manager), f"{where}/mining-runs/{run.pk}"
    near = client.get(f"{run_url}/candidates/", {"fate": "kept", "near": "true"}).json()["results"]
    assert all(row["near_duplicate"] and row["left_out"] is False for row in near)
    assert len(near) > 1
    assert list(client.get(f"{run_url}/candidates/", {"near": "perhaps"}).json()["fields"]) == ["near"]
    refused = client.post(f"{run_url}/store/", {"near_duplicates": False, "leave_out": []}, format="json")
    assert list(refused.json()["fields"]) == ["leave_out"]
    strange = client.post(f"{run_url}/store/", {"leave_out": [near[0]["id"], 10**6]}, format="json")
    assert strange.json()["fields"]["leave_out"][0].startswith("Found 1000000; accepted: ids of kept near-duplicates")
    stored = client.post(f"{run_url}/store/", {"leave_out": [near[0]["id"]]}, format="json").json()
    assert stored["near_duplicates"] == 1
    candidates = client.get(f"{run_url}/candidates/", {"near": "true"}).json()["results"]
    assert [row["id"] for row in candidates if row["left_out"]] == [near[0]["id"]]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"corpus": "gone"}, "corpus"),
        ({"dataset": "gone"}, "dataset"),
        ({"specification": {"n": -1}}, "n"),
        ({"seeds": {"kind": "system"}}, "seed_source"),
        ({"seeds": {"kinds": "seed"}}, "seeds.kinds"),
        ({"note": "x"}, "note"),
    ],
)
def test_invalid_runs_are_refused_at_their_field(where, project, manager, api, change: dict, field: str) -> None:
    seeds_dataset(project)
    indexed_corpus(project)
    body = {"dataset": "talk", "corpus": "pool", **change}
    answer = api(manager).post(f"{where}/mining-runs/", body, format="json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]
