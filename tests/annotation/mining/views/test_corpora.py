import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.mining import tasks
from annotation.mining.services.corpora import corpus_index
from annotation.models import Corpus, JobState, Project, User
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset, triples_file, uploaded_corpus

HTMX = {"HX-Request": "true"}


def url(name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=args)


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids that were queued; nothing is sent to a worker."""
    ids: list[int] = []
    monkeypatch.setattr(tasks.corpus_index, "delay_on_commit", ids.append)
    return ids


def upload(client, project: Project, content: bytes, filename: str = "pool.jsonl", **fields):
    data = {
        "name": "Pool",
        "file": SimpleUploadedFile(filename, content),
        "language": "en",
        "compression": "auto",
        "tokenizer": "words",
        "k1": "1.2",
        "b": "0.75",
        "header": "on",
        "context": "context",
        "message": "message",
        "response": "response",
        **fields,
    }
    return client.post(url("corpus-create", project.slug), data)


def test_an_upload_is_queued_then_shown_with_its_progress_and_result(
    as_user, project: Project, manager: User, queued
) -> None:
    client = as_user(manager)
    assert "Upload and index" in client.get(url("corpus-create", project.slug)).content.decode()
    answer = upload(client, project, triples_file(), licence="CC0")
    corpus = Corpus.objects.get()
    assert queued == [corpus.pk]
    page = url("corpus-detail", project.slug, "pool")
    assert answer.headers["Location"] == page
    assert "Next in line" in client.get(page).content.decode()
    progress = client.get(page, {"progress": 1}, headers=HTMX).content.decode()
    assert f'hx-get="{page}?progress=1"' in progress
    corpus_index(corpus_id=corpus.pk)
    assert client.get(page, {"progress": 1}, headers=HTMX).headers["HX-Refresh"] == "true"
    detail = client.get(page).content.decode()
    for text in ("What would be found?", "CC0", "bm25|", "pool.jsonl", Corpus.objects.get().content_hash):
        assert text in detail
    corpus_list = client.get(url("corpus-list", project.slug)).content.decode()
    assert "Pool" in corpus_list
    rows = json.loads(client.get(url("corpus-list", project.slug), {"format": "json"}).getvalue())
    assert [(row["slug"], row["triples"]) for row in rows] == [("pool", 11)]


def test_a_refused_file_shows_every_bad_line(as_user, project: Project, manager: User, queued) -> None:
    client = as_user(manager)
    upload(client, project, triples_file() + b'{"message": 5}\n')
    corpus_index(corpus_id=Corpus.objects.get().pk)
    page = url("corpus-detail", project.slug, "pool")
    shown = client.get(page).content.decode()
    for text in ("No corpus was created", "<code>message</code>", ">5<", "a text", "Upload again"):
        assert text in shown
    errors = json.loads(client.get(page, {"format": "json"}).getvalue())
    assert [(row["line"], row["field"]) for row in errors] == [(12, "message"), (12, "response")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "Give the corpus a name."),
        ({"name": "new"}, "other than “new”"),
        ({"filename": "pool.docx", "content": b"words"}, "JSON Lines (.jsonl), TSV (.tsv) or Parquet"),
        ({"k1": "-1"}, "k1: found -1.0"),
        ({"message": "response"}, "different columns for context"),
        ({"content": b""}, "The submitted file is empty."),
    ],
)
def test_a_bad_form_shows_the_problem(as_user, project, manager, queued, fields: dict, message: str) -> None:
    answer = upload(as_user(manager), project, **{"content": triples_file(), **fields})
    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert not Corpus.objects.exists()
    assert queued == []


def test_a_file_over_the_limit_is_refused_with_the_name_of_the_command(
    as_user, project, manager, queued, settings
) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    shown = upload(as_user(manager), project, triples_file()).content.decode()
    assert "or any size by the command import_corpus" in shown


def test_a_data_sets_responses_become_a_corpus(as_user, project: Project, manager: User, queued) -> None:
    client = as_user(manager)
    assert "No data set yet" in client.get(url("corpus-from-dataset", project.slug)).content.decode()
    seeds_dataset(project)
    form = client.get(url("corpus-from-dataset", project.slug)).content.decode()
    assert "Original response (3)" in form
    data = {"name": "Own", "sources": ["kind:seed"], "language": "en", "tokenizer": "words", "k1": 1.2, "b": 0.75}
    answer = client.post(url("corpus-from-dataset", project.slug), data)
    corpus = Corpus.objects.get()
    assert answer.headers["Location"] == url("corpus-detail", project.slug, "own")
    assert corpus.options["source_kinds"] == ["seed"]
    corpus_index(corpus_id=corpus.pk)
    assert "Talk" in client.get(url("corpus-detail", project.slug, "own")).content.decode()
    seeds_dataset(project, "Other")
    assert "Which data set?" in client.get(url("corpus-from-dataset", project.slug)).content.decode()
    assert client.get(url("corpus-from-dataset", project.slug), {"dataset": "gone"}).status_code == 404


def test_a_search_shows_the_most_similar_triples_with_scores(as_user, project: Project, viewer: User) -> None:
    corpus = indexed_corpus(project)
    client, page = as_user(viewer), url("corpus-detail", project.slug, corpus.slug)
    query = {"message": "Would you like some tea?", "response": "Tea would be lovely"}
    part = client.get(page, query, headers=HTMX).content.decode()
    assert "<html" not in part
    assert "Yes please, tea would be lovely." in part
    full_page = client.get(page, query).content.decode()
    assert "<html" in full_page
    assert "Yes please, tea would be lovely." in full_page
    rows = json.loads(client.get(page, {**query, "format": "json"}).getvalue())
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[0]["score"] >= rows[-1]["score"] > 0
    nothing = client.get(page, {"message": "xyzzy", "response": "plugh"}, headers=HTMX).content.decode()
    assert "No triple shares a word" in nothing
    assert "Enter both" in client.get(page, {"message": "tea", "response": ""}, headers=HTMX).content.decode()


def test_a_search_in_a_queued_corpus_shows_its_state(as_user, project: Project, viewer: User) -> None:
    corpus = uploaded_corpus(project)
    page = url("corpus-detail", project.slug, corpus.slug)
    part = as_user(viewer).get(page, {"message": "a", "response": "b"}, headers=HTMX).content.decode()
    assert "is queued" in part


def test_cancel_start_over_and_delete(as_user, project: Project, manager: User, queued) -> None:
    corpus = uploaded_corpus(project)
    client = as_user(manager)
    client.post(url("corpus-cancel", project.slug, corpus.slug))
    corpus.refresh_from_db()
    assert corpus.state == JobState.CANCELLED
    assert "Start over" in client.get(url("corpus-detail", project.slug, corpus.slug)).content.decode()
    client.post(url("corpus-retry", project.slug, corpus.slug))
    assert queued == [corpus.pk]
    corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    run = asked_run(project, seeds_dataset(project), corpus)
    refused = client.post(url("corpus-delete", project.slug, corpus.slug), follow=True).content.decode()
    assert f"used by mining run {run.pk}" in refused
    run.delete()
    deleted = client.post(url("corpus-delete", project.slug, corpus.slug), follow=True).content.decode()
    assert "and its files were deleted" in deleted
    assert not Corpus.objects.exists()


def test_an_outsider_gets_404_and_a_viewer_changes_nothing(
    as_user, project: Project, viewer: User, outsider: User
) -> None:
    corpus = indexed_corpus(project)
    reads = [url("corpus-list", project.slug), url("corpus-detail", project.slug, corpus.slug)]
    forms = [url("corpus-create", project.slug), url("corpus-from-dataset", project.slug)]
    acts = [url(f"corpus-{act}", project.slug, corpus.slug) for act in ("cancel", "retry", "delete")]
    for address in reads + forms:
        assert as_user(outsider).get(address).status_code == 404
    for address in acts:
        assert as_user(outsider).post(address).status_code == 404
        assert as_user(viewer).post(address).status_code == 403
        assert as_user(viewer).get(address).status_code == 405
    for address in reads:
        shown = as_user(viewer).get(address)
        assert shown.status_code == 200
        assert "Delete" not in shown.content.decode()
        assert "Upload a corpus" not in shown.content.decode()
    for address in forms:
        assert as_user(viewer).get(address).status_code == 403
