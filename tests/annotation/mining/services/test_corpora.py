"""Corpora from files, streams and data sets: indexed completely or not at all, safe to retry and to delete."""

import gzip
import io
import os
import shutil
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from annotation.core import jobs
from annotation.core.errors import AnnotationError
from annotation.mining.selectors import corpora_folder, corpus_folder, corpus_index, corpus_search
from annotation.mining.services import corpora, runs
from annotation.models import AuditEntry, Corpus, JobState, Project, User
from tests.annotation.worlds.mined import (
    TRIPLES,
    asked_run,
    indexed_corpus,
    jsonl,
    seeds_dataset,
    triples_file,
    uploaded_corpus,
)


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def as_tsv() -> bytes:
    lines = ["context\tmessage\tresponse"]
    lines += ["\t".join([" ||| ".join(context), message, response]) for context, message, response in TRIPLES]
    return "\n".join(lines).encode()


def as_parquet() -> bytes:
    sink = io.BytesIO()
    contexts, messages, responses = zip(*TRIPLES, strict=True)
    pq.write_table(pa.table({"context": contexts, "message": messages, "response": responses}), sink)
    return sink.getvalue()


def files_of(corpus: Corpus) -> list[Path]:
    return [path for path in corpora_folder().glob("**/*") if str(corpus.folder) in str(path)]


def test_an_upload_is_indexed_and_its_content_is_not_stored_twice(project: Project) -> None:
    corpus = indexed_corpus(project)
    assert corpus.n_triples == len(TRIPLES)
    assert corpus.content is None
    assert corpus.index_bytes == sum(
        path.stat().st_size
        for path in corpus_folder(corpus).glob("**/*")
        if path.is_file() and path.name != "index.json"
    )
    assert corpus.index_signature.startswith("bm25|")
    assert len(corpus.content_hash) == 64
    assert corpus.report["counts"]["lines"] == len(TRIPLES)
    assert corpus_index(corpus).triple(0).context == ("Hello.",)


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("pool.tsv", as_tsv()),
        ("pool.parquet", as_parquet()),
        ("pool.jsonl.gz", gzip.compress(triples_file(), mtime=0)),
        ("pool.jsonl.zst", zstandard.compress(triples_file())),
        ("pool.tsv.zst", zstandard.compress(as_tsv())),
        ("pool.parquet.gz", gzip.compress(as_parquet(), mtime=0)),
    ],
)
def test_every_format_gives_the_same_triples(project: Project, filename: str, content: bytes) -> None:
    plain = indexed_corpus(project)
    corpus = uploaded_corpus(project, "Again", content, filename=filename)
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert (corpus.state, corpus.error) == (JobState.DONE, "")
    assert corpus.content_hash == plain.content_hash


def test_a_file_with_bad_lines_is_not_indexed_and_every_bad_line_is_listed(project: Project) -> None:
    content = triples_file() + jsonl([{"message": "Hm?"}, {"message": 5, "response": "x"}])
    corpus = uploaded_corpus(project, content=content)
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.state == JobState.FAILED
    lines = [(row["line"], row["field"]) for row in corpus.report["errors"]]
    assert lines == [(len(TRIPLES) + 1, "response"), (len(TRIPLES) + 2, "message")]
    assert f"line {len(TRIPLES) + 1}" in corpus.error
    assert corpus.content is None
    assert files_of(corpus) == []


def test_only_a_failed_corpus_is_replaced_by_another_of_the_same_name(project: Project) -> None:
    failed = uploaded_corpus(project, content=b"{}\n", filename="pool.jsonl")
    corpora.corpus_index(corpus_id=failed.pk)
    corpus = indexed_corpus(project)
    assert not Corpus.objects.filter(pk=failed.pk).exists()
    with pytest.raises(AnnotationError, match="has a corpus 'pool' already"):
        uploaded_corpus(project)
    assert Corpus.objects.get() == corpus


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"filename": "pool.docx", "content": b"words"}, "file_format"),
        ({"content": b""}, "file"),
        ({"name": "日本"}, "name"),
        ({"name": "new"}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"columns": {"message": "text", "response": "text"}}, "columns"),
        ({"columns": {"reply": "text"}}, "columns"),
        ({"index": {"k1": -1}}, "index"),
        ({"index": {"depth": 1}}, "index"),
        ({"compression": "rar"}, "compression"),
        ({"header": False, "file_format": "tsv", "columns": {"message": "m"}}, "columns"),
    ],
)
def test_invalid_uploads_are_refused_at_their_field(project: Project, change: dict, field: str) -> None:
    with pytest.raises(AnnotationError) as refusal:
        uploaded_corpus(project, **change)
    assert list(refusal.value.fields) == [field]
    assert "accepted" in refusal.value.message
    assert not Corpus.objects.exists()


def test_column_names_and_index_parameters_can_be_set(project: Project) -> None:
    content = b"reply\tasked\nYes, I like tea.\tDo you like tea?\n"
    corpus = uploaded_corpus(
        project,
        content=content,
        filename="pool.tsv",
        columns={"message": "asked", "response": "reply"},
        index={"k1": 1.5, "tokenizer": "bigrams"},
    )
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus_index(corpus).triple(0).message == "Do you like tea?"
    assert "k1:1.5" in corpus.index_signature
    assert "tok:bigrams" in corpus.index_signature


def test_a_stream_is_indexed_at_once_from_a_pipe(project: Project, manager: User) -> None:
    """A pipe is not seekable, and the content is larger than its buffer."""
    content = triples_file(TRIPLES * 2000)
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as sink:
            sink.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    notes: list[str] = []
    with os.fdopen(reading, "rb") as stream:
        corpus = corpora.corpus_stream(
            project=project,
            by=manager,
            name="Pool",
            filename="standard input",
            stream=stream,
            options={"file_format": "jsonl"},
            progress=lambda done, total, note: notes.append(note),
        )
    writer.join()
    assert (corpus.state, corpus.n_triples) == (JobState.DONE, len(TRIPLES) * 2000)
    assert corpus.content is None
    assert any(note.startswith("Reading: ") for note in notes)
    assert notes[-1] == "Done"


def test_an_interrupted_stream_fails_and_can_be_sent_again(project: Project, manager: User) -> None:
    class InterruptedStream(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 0:
                raise KeyboardInterrupt
            return super().read(size)

        def seekable(self) -> bool:
            return False

    arguments = {"project": project, "by": manager, "name": "Pool", "filename": "pool.jsonl", "options": {}}
    with pytest.raises(KeyboardInterrupt):
        corpora.corpus_stream(stream=InterruptedStream(triples_file(TRIPLES * 20_000)), **arguments)
    assert not Corpus.objects.filter(state=JobState.RUNNING).exists()
    corpus = corpora.corpus_stream(stream=io.BytesIO(triples_file()), **arguments)
    assert corpus.state == JobState.DONE
    assert Corpus.objects.count() == 1


def test_a_worker_fails_a_streamed_corpus_with_advice(project: Project) -> None:
    corpus = Corpus.objects.create(project=project, name="P", slug="p", options={"streamed": True, "index": {}})
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.state == JobState.FAILED
    assert "Run the command again" in corpus.error


def test_references_of_a_data_set_become_triples_with_their_conversations(project: Project) -> None:
    dataset = seeds_dataset(project)
    corpus = corpora.corpus_from_dataset(
        project=project, by=None, name="Own", dataset=dataset, source_kinds=["seed", "human"]
    )
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.n_triples == 5
    index = corpus_index(corpus)
    assert index.triple(0) == (("Good morning.",), "Would you like some tea?", "Yes please, tea would be lovely.")
    assert {index.triple(number).response for number in range(5)} >= {"Only me.", "The game was great!"}


@pytest.mark.parametrize(
    ("sources", "field"),
    [
        ({"source_kinds": ["system"]}, "source_kinds"),
        ({"source_systems": ["Nobody"]}, "source_systems"),
        ({}, "source_kinds"),
    ],
)
def test_sources_that_the_data_set_does_not_have_are_refused(project: Project, sources: dict, field: str) -> None:
    with pytest.raises(AnnotationError) as refusal:
        corpora.corpus_from_dataset(project=project, by=None, name="Own", dataset=seeds_dataset(project), **sources)
    assert list(refusal.value.fields) == [field]


def test_a_corpus_from_a_data_set_without_such_responses_fails(project: Project) -> None:
    corpus = corpora.corpus_from_dataset(
        project=project, by=None, name="Own", dataset=seeds_dataset(project), source_kinds=["mined"]
    )
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.state == JobState.FAILED
    assert "holds no triple" in corpus.error
    assert files_of(corpus) == []


def test_indexing_a_finished_corpus_again_does_nothing(project: Project) -> None:
    corpus = indexed_corpus(project)
    before = corpus.finished_at
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.finished_at == before


def test_files_of_a_worker_that_died_are_replaced_by_the_next(project: Project) -> None:
    corpus = uploaded_corpus(project)
    assert jobs.job_claim(Corpus, corpus.pk)
    corpus_folder(corpus).mkdir(parents=True)
    (corpus_folder(corpus) / "half").write_text("not an index")
    Corpus.objects.filter(pk=corpus.pk).update(lease_expires_at=jobs.Now() - jobs.timedelta(seconds=1))
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert (corpus.state, corpus.attempt) == (JobState.DONE, 2)
    assert corpus_index(corpus).n == len(TRIPLES)
    assert not (corpus_folder(corpus) / "half").exists()


def test_cancelling_leaves_no_files(project: Project) -> None:
    corpus = uploaded_corpus(project, content=triples_file(TRIPLES * 1000))
    corpora.corpus_index(corpus_id=corpus.pk, progress=lambda done, total, note: jobs.job_request_cancel(corpus))
    corpus.refresh_from_db()
    assert corpus.state == JobState.CANCELLED
    assert files_of(corpus) == []
    assert jobs.job_requeue(corpus)
    corpora.corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.n_triples == len(TRIPLES) * 1000


def test_a_host_without_the_folder_names_it_and_gives_advice(project: Project) -> None:
    corpus = indexed_corpus(project)
    shutil.rmtree(corpus_folder(corpus))
    with pytest.raises(AnnotationError) as refusal:
        corpus_search(corpus, "tea?", "tea")
    assert str(corpus_folder(corpus)) in refusal.value.message
    assert os.uname().nodename in refusal.value.message
    assert "Let every host share" in refusal.value.message


def test_other_triples_in_the_folder_are_noticed(project: Project) -> None:
    corpus, other = indexed_corpus(project), indexed_corpus(project, "Other", triples_file(TRIPLES[:3]))
    shutil.rmtree(corpus_folder(corpus))
    shutil.copytree(corpus_folder(other), corpus_folder(corpus))
    with pytest.raises(AnnotationError, match="holds other triples than were indexed"):
        corpus_index(corpus)


def test_a_search_finds_triples_similar_in_message_and_response(project: Project) -> None:
    corpus = indexed_corpus(project)
    matches = corpus_search(corpus, "Would you like a cup of tea?", "Tea would be lovely, thanks")
    assert matches[0].triple.response.endswith("tea would be lovely.")
    assert all(match.message_score > 0 and match.response_score > 0 for match in matches)
    assert corpus_search(corpus, "Where are my keys?", "Behind a tree!") == []


@pytest.mark.django_db(transaction=True)
def test_deleting_removes_the_files_and_is_in_the_audit_log(project: Project, manager: User) -> None:
    corpus = indexed_corpus(project)
    assert files_of(corpus)
    corpora.corpus_delete(corpus=corpus, by=manager)
    assert files_of(corpus) == []
    assert not Corpus.objects.exists()
    assert AuditEntry.objects.get(verb="corpus.delete").actor == manager


def test_a_corpus_that_a_run_uses_is_not_deleted(project: Project) -> None:
    corpus = indexed_corpus(project)
    run = asked_run(project, seeds_dataset(project), corpus)
    with pytest.raises(AnnotationError, match=f"used by mining run {run.pk}"):
        corpora.corpus_delete(corpus=corpus)
    assert files_of(corpus)
    runs.mining_run_delete(run=run)
    corpora.corpus_delete(corpus=corpus)
    assert not Corpus.objects.exists()
