"""Commands that import corpora and mine them."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.models import Corpus, JobState, MinedCandidate, MiningRun, Project, ResponseSource, User
from tests.annotation.worlds.mined import TRIPLES, indexed_corpus, seeds_dataset, triples_file
from tests.conftest import ROOT


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, "--project", "chit-chat", "--user", "max-manager", stdout=out)
    return out.getvalue()


def test_a_file_becomes_a_corpus(project: Project, manager: User, tmp_path: Path) -> None:
    file = tmp_path / "pool.jsonl"
    file.write_bytes(triples_file())
    report = json.loads(run("import_corpus", str(file), "--name", "Pool", "--licence", "CC0", "--k1", "1.5", "--json"))
    corpus = Corpus.objects.get()
    assert (report["state"], report["corpus"], report["triples"]) == ("done", "pool", len(TRIPLES))
    assert report["content_hash"] == corpus.content_hash
    assert "k1:1.5" in corpus.index_signature
    assert (corpus.licence, corpus.requested_by) == ("CC0", manager)


def test_a_corpus_is_read_from_standard_input(project, manager, monkeypatch) -> None:
    lines = "\n".join(f"{response}\t{message}" for _, message, response in TRIPLES).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
    shown = run(
        "import_corpus", "-", "--name", "Pool", "--format", "tsv", "--no-header", "--message", "2", "--response", "1"
    )
    assert f"{len(TRIPLES)}  Triples" in shown
    assert Corpus.objects.get().filename == "standard input"


def test_every_bad_line_is_reported(project: Project, manager: User, tmp_path: Path) -> None:
    file = tmp_path / "pool.jsonl"
    file.write_bytes(triples_file() + b'{"message": 5, "response": "x"}\nnothing\n')
    with pytest.raises(CommandError) as refusal:
        run("import_corpus", str(file), "--name", "Pool")
    assert "pool.jsonl:12  message: found 5; accepted: a text" in str(refusal.value)
    assert "pool.jsonl:13" in str(refusal.value)
    assert Corpus.objects.get().state == JobState.FAILED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "accepted: a file that can be read"),
        (["pool.docx"], "JSON Lines"),
        (["pool.docx", "--format", "jsonl", "--user", "vera-viewer"], "a manager or owner"),
    ],
)
def test_unreadable_files_are_refused_at_once(project, manager, viewer, tmp_path, arguments, message) -> None:
    (tmp_path / "pool.docx").write_bytes(b"words")
    first, *others = arguments
    with pytest.raises(CommandError, match=message):
        call_command(
            "import_corpus",
            str(tmp_path / first),
            "--name",
            "P",
            "--project",
            "chit-chat",
            "--user",
            "max-manager",
            *others,
            stdout=io.StringIO(),
        )
    assert not Corpus.objects.exists()


def test_mining_prints_the_report_and_stores_responses(project, manager, tmp_path) -> None:
    seeds_dataset(project)
    indexed_corpus(project)
    hygiene = tmp_path / "hygiene.json"
    hygiene.write_text('[{"step": "mask_urls"}, {"step": "length", "max_tokens": 6}]')
    options = ("--dataset", "talk", "--corpus", "pool", "--n", "2", "--negatives", "1", "--hygiene", str(hygiene))
    output = json.loads(run("mine", *options, "--json"))
    assert output["report"]["seeds"]["all"] == 3
    assert not ResponseSource.objects.filter(kind="mined").exists()
    shown = run("mine", *options, "--split", "dev", "--store")
    assert "1 seeds" in shown
    assert "New responses of Talk" in shown
    stored = MiningRun.objects.latest("pk")
    assert stored.stored_at is not None
    assert {source.item.external_id for source in ResponseSource.objects.filter(mining_run=stored)} == {"tea"}


def test_candidates_named_in_a_file_are_left_out(project, manager, tmp_path) -> None:
    """Mining is reproducible: inspect a first run, then store a second one without unwanted candidates."""
    seeds_dataset(project)
    indexed_corpus(project)
    options = ("--dataset", "talk", "--corpus", "pool", "--near-duplicate", "0.3")
    run("mine", *options)
    unwanted = MinedCandidate.objects.filter(fate="kept").exclude(near_duplicate="").earliest("pk")
    named = {"item_id": unwanted.item.external_id, "kind": unwanted.kind, "rank": unwanted.rank, "text": unwanted.text}
    chosen = tmp_path / "unwanted.jsonl"
    chosen.write_text(json.dumps(named) + "\n")
    run("mine", *options, "--store", "--leave-out", str(chosen))
    (left_out,) = MinedCandidate.objects.filter(left_out=True)
    assert (left_out.run, left_out.text) == (MiningRun.objects.latest("pk"), unwanted.text)
    chosen.write_text('{"item_id": "nobody", "kind": "mined", "rank": 1}\n')
    with pytest.raises(CommandError, match=r"line 1: found .*nobody.*accepted: item_id, kind and rank of a candidate"):
        run("mine", *options, "--store", "--leave-out", str(chosen))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "gone", "--corpus", "pool"], "--dataset: found 'gone'; accepted: talk"),
        (["--dataset", "talk", "--corpus", "gone"], "--corpus: found 'gone'; accepted: pool"),
        (["--dataset", "talk", "--corpus", "pool", "--n", "-3"], "n: found -3"),
        (["--dataset", "talk", "--corpus", "pool", "--seed-source", "Nobody"], "System: found 'Nobody'"),
        (["--dataset", "talk", "--corpus", "pool", "--hygiene", "nowhere.json"], "accepted: a file that can be read"),
    ],
)
def test_invalid_mining_options_are_refused(project, manager, arguments: list[str], message: str) -> None:
    seeds_dataset(project)
    indexed_corpus(project)
    with pytest.raises(CommandError, match=message):
        run("mine", *arguments)
    assert not MiningRun.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_interrupted_import_can_be_run_again(
    project: Project, manager: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first runs in its own process, fed by a pipe and interrupted by Ctrl-C."""
    arguments = ["import_corpus", "-", "--format", "jsonl", "--name", "Pool"]
    database = connection.settings_dict
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**database),
        "ASSAY_DATA_DIR": str(settings.DATA_DIR),
    }
    cut = subprocess.Popen(
        [sys.executable, "manage.py", *arguments, "--project", "chit-chat", "--user", "max-manager"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job is deaf to it
    )
    assert cut.stdin
    cut.stdin.write(triples_file(TRIPLES * 600))  # many times what a pipe holds
    cut.stdin.flush()
    cut.send_signal(signal.SIGINT)
    cut.stdin.close()
    assert cut.wait(60) != 0
    assert not Corpus.objects.filter(state=JobState.RUNNING).exists()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(triples_file())))
    assert "11  Triples" in run(*arguments)
    assert Corpus.objects.get().state == JobState.DONE
