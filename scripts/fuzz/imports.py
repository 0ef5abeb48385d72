"""Import damaged files by the product's own services, and see that a refused file leaves nothing behind.

    python -m scripts.fuzz_imports --files 2000 --seed 1

After a refusal every table has the rows it had before, but for the job, which has failed, and no file was left. Any
other error is wrong, and so is a file that takes ten seconds. Each import is rolled back. A file that goes wrong is
kept, and its number repeats it.
"""

import hashlib
import io
import json
import logging
import os
import random
import re
import signal
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scripts.fuzz.damage import Sample, damaged
from scripts.fuzz.files import late
from scripts.fuzz.outcome import KEPT, Outcome
from scripts.fuzz.samples import corpora, models, tarred, zipped

SECONDS = 10  # of the processor, for an import; of the database, for a statement
MEMORY_MIB = 1000  # of the process
PIECE = 500  # imports in a process
STATES = ("imported", "refused")


class Import(NamedTuple):
    """A file that is accepted, and its way in: ``create`` stores it, as a job if there is ``execute``."""

    sample: Sample
    create: Callable[[bytes], Any]
    execute: Callable[[int], object] | None = None
    kind: str = ""


# --- Ways in ----------------------------------------------------------------------------------------------------------


def build_world() -> tuple[Any, Any]:
    """Return a project with a data set, and its owner."""
    from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
    from annotation.models import Project, Role
    from tests.api.world import ITEMS, jsonl, member

    project = Project.objects.create(name="Lab", slug="lab")
    owner = member(project, "olga", Role.OWNER)
    job = dataset_import_create(project=project, by=owner, name="Chats", filename="items.jsonl", content=jsonl(ITEMS))
    dataset_import_execute(import_id=job.pk)
    return project, owner


def imports(project: Any, by: Any) -> list[Import]:
    """Return every way in, with its files."""
    makers = (_datasets, _outputs, _ratings, _weights, _scores, _corpora, _models, _designs, _projects)
    return [each._replace(kind=make.__name__.strip("_")) for make in makers for each in make(project, by)]


def _datasets(project: Any, by: Any) -> Iterator[Import]:
    from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
    from tests.api.world import ITEMS, jsonl

    def create(content: bytes, filename: str) -> Any:
        return dataset_import_create(project=project, by=by, name="Imported", filename=filename, content=content)

    rows = [b"item_id\tcontext\tmessage\tsystem\tkind\ttext\n"]
    rows += [b"%d\tHi.\tHow are you?\t%s\t\tFine %d\n" % (n, system, n) for n in range(5) for system in (b"Ada", b"Bo")]
    tabs = b"".join(rows)
    files = {"d.jsonl": jsonl(ITEMS), "d.tsv": tabs, "d.csv": tabs.replace(b"\t", b",")}
    for name, content in files.items():
        yield Import(
            Sample(name, content, bytes),
            lambda content, name=name: create(content, name),
            lambda pk: dataset_import_execute(import_id=pk),
        )


def _ratings(project: Any, by: Any) -> Iterator[Import]:
    from annotation.judgements.services.imports import rating_import_create, rating_import_execute
    from tests.api.world import ITEMS, jsonl, judgements

    dataset = project.datasets.get(slug="chats")

    def create(content: bytes, filename: str, *, draft: bool) -> Any:
        return rating_import_create(
            dataset=dataset, by=by, name="Rated", filename=filename, content=content, draft=draft
        )

    lines = ["rater,item,text,quality,fluency\n"]
    lines += [f"{rater},{item['id']},{text},4,2\n" for rater in "ab" for item in ITEMS for text in item["references"]]
    files = {"r.jsonl": jsonl(judgements(rate_references=True)), "r.csv": "".join(lines).encode()}
    for name, content in files.items():
        sample = Sample(name, content, bytes)
        yield Import(
            sample,
            lambda content, name=name: create(content, name, draft=False),
            lambda pk: rating_import_execute(import_id=pk),
        )
        yield Import(
            sample._replace(name=f"{name} as a draft"), lambda content, name=name: create(content, name, draft=True)
        )


def _weights(project: Any, by: Any) -> Iterator[Import]:
    from annotation.references.releases.services.imports import (
        ImportOptions,
        weights_import_create,
        weights_import_execute,
    )
    from tests.api.world import ITEMS

    dataset = project.datasets.get(slug="chats")

    def create(content: bytes, filename: str, *, add_texts: bool) -> Any:
        options = ImportOptions(name="Theirs", add_texts=add_texts)
        return weights_import_create(dataset=dataset, filename=filename, content=content, options=options, by=by)

    rows = [(item["id"], text, n / 9) for item in ITEMS for n, text in enumerate(item["references"])]
    files = {
        "w.csv": "item,text,weight\n" + "".join(f"{item},{text},{weight}\n" for item, text, weight in rows),
        "w.jsonl": "".join(json.dumps(dict(zip(("item", "text", "weight"), row, strict=True))) + "\n" for row in rows),
    }
    for name, text in files.items():
        for add_texts in (False, True):
            yield Import(
                Sample(f"{name}{' with new texts' * add_texts}", text.encode(), bytes),
                lambda content, name=name, add_texts=add_texts: create(content, name, add_texts=add_texts),
                lambda pk: weights_import_execute(import_id=pk),
            )


def _outputs(project: Any, by: Any) -> Iterator[Import]:
    from annotation.datasets.services.outputs import outputs_add

    dataset = project.datasets.get(slug="chats")

    def create(content: bytes, filename: str) -> Any:
        system = "Latest" if filename == "one.tsv" else ""
        return outputs_add(dataset=dataset, by=by, filename=filename, content=content, system=system)

    wide = [{"id": f"i{n}", "Latest": f"Well, {n}.", "Older": "Hm."} for n in range(4)]
    files = {
        "long.csv": "item_id,system,text\n" + "".join(f'i{n},Latest,"Well, {n}."\n' for n in range(4)),
        "one.tsv": "id\ttext\n" + "".join(f"i{n}\tWell, {n}.\n" for n in range(4)),
        "wide.jsonl": "".join(json.dumps(record) + "\n" for record in wide),
    }
    for name, text in files.items():
        yield Import(Sample(name, text.encode(), bytes), lambda content, name=name: create(content, name))


def _scores(project: Any, by: Any) -> Iterator[Import]:
    from metrics.services.score_imports import score_file_import
    from metrics.services.score_options import ImportOptions

    dataset = project.datasets.get(slug="chats")

    def create(content: bytes, filename: str) -> Any:
        name = "" if filename.endswith((".zip", ".tgz", ".score")) else "Mine"
        options = ImportOptions(name=name)
        return score_file_import(dataset=dataset, by=by, filename=filename, content=content, options=options)

    systems = [system for system in ("Alpha", "Beta", "Gamma") for _ in range(4)]
    segments = "".join(f"{system}\t0.{n}\n" for n, system in enumerate(systems)).encode()
    table = "".join(f"{system},i{n % 4},0.{n}\n" for n, system in enumerate(systems))
    files = {"x.seg.score": segments, "s.csv": b"system,item,score\n" + table.encode()}
    for name, content in files.items():
        yield Import(Sample(name, content, bytes), lambda content, name=name: create(content, name))
    for name, pack in (("s.zip", _zipped), ("s.tgz", tarred)):
        sample = Sample(name, pack(segments), bytes, segments, pack)
        yield Import(sample, lambda content, name=name: create(content, name))


def _zipped(content: bytes) -> bytes:
    return zipped(content, description='{"metrics": {"x": {"name": "X", "lowest": -1}}}')


def _corpora(project: Any, by: Any) -> Iterator[Import]:
    from annotation.mining.services.corpora import corpus_index, corpus_upload

    def create(content: bytes, filename: str) -> Any:
        return corpus_upload(project=project, by=by, name="Pool", filename=filename, content=content, options={})

    for sample in corpora():
        yield Import(
            sample,
            lambda content, name=sample.name: create(content, name),
            lambda pk: corpus_index(corpus_id=pk),
        )


def _models(project: Any, by: Any) -> Iterator[Import]:
    from metrics.services.model_rows import ModelRequest
    from metrics.services.training import model_execute, model_register_upload, model_train_on_upload

    def create(content: bytes, filename: str) -> Any:
        if filename.startswith("t."):
            request = ModelRequest(project, by, "Trained", "vectors", {"dimension": 2, "min_count": 1})
            return model_train_on_upload(request=request, filename=filename, content=content)
        request = ModelRequest(project, by, "Model", "language_model" if ".arpa" in filename else "vectors")
        return model_register_upload(request=request, filename=filename, content=content)

    for sample in models():
        yield Import(
            sample,
            lambda content, name=sample.name: create(content, name),
            lambda pk: model_execute(model_id=pk),
        )


def _designs(project: Any, by: Any) -> Iterator[Import]:
    from annotation.campaigns.services.copies import campaign_import, parse_campaign_file

    dataset = project.datasets.get(slug="chats")

    def create(content: bytes) -> Any:
        return campaign_import(project=project, document=parse_campaign_file(content), dataset=dataset, by=by)

    criterion = {"name": "relevance", "question": "How relevant is it?", "scale_max": 5}
    rule = {"rule": "median_seconds_below", "version": 1, "action": "flag", "after": 1, "seconds": 2}
    design = {"assay_campaign": 1, "name": "Replies", "target": "outputs", "presentation": "single", "rules": [rule]}
    design |= {"criteria": [criterion], "ratings_per_unit": 5}
    yield Import(Sample("campaign.json", json.dumps(design).encode(), bytes), create)


def _projects(project: Any, by: Any) -> Iterator[Import]:
    from annotation.transfer.services.export import project_chunks
    from annotation.transfer.services.imports import project_import_create, project_import_execute

    def create(content: bytes) -> Any:
        return project_import_create(by=by, filename="lab.zip", content=content)

    archive = b"".join(project_chunks(project))
    for table in ("dataset", "item", "response", "responsesource"):
        name = f"tables/annotation.{table}.jsonl"
        with zipfile.ZipFile(io.BytesIO(archive)) as read:
            inner = read.read(name)

        def pack(content: bytes, name: str = name) -> bytes:
            return with_file(archive, name, content)

        yield Import(Sample(name, archive, bytes, inner, pack), create, lambda pk: project_import_execute(import_id=pk))


def with_file(archive: bytes, name: str, content: bytes) -> bytes:
    """Return an archive of a project with other content of a file, and its hash in the manifest."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as read, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as written:
        members = {each: read.read(each) for each in read.namelist()}
        manifest = json.loads(members["manifest.json"])
        manifest["files"][name]["sha256"] = hashlib.sha256(content).hexdigest()
        for each, before in (members | {name: content, "manifest.json": json.dumps(manifest).encode()}).items():
            written.writestr(each, before)
    return made.getvalue()


# --- Running ----------------------------------------------------------------------------------------------------------

State = dict[str, tuple[int, str]]


def rows_of_tables(besides: Any = None) -> State:
    """Return the number of rows of each table and a digest of them; of the job's own row nothing counts."""
    from django.apps import apps
    from django.db import connection

    queries = []
    for model in apps.get_models(include_auto_created=True):
        if model._meta.proxy or not model._meta.managed:
            continue
        table = model._meta.db_table
        condition = f" WHERE id <> {besides.pk}" if besides is not None and besides._meta.db_table == table else ""
        digest = "coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '')"
        queries.append(f"SELECT '{table}', count(*), {digest} FROM \"{table}\" t{condition}")
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(queries))
        return {table: (n, digest) for table, n, digest in cursor.fetchall()}


def files_below(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*") if "postgres" not in path.parts}


def attempt(way: Import, content: bytes, *folders: Path) -> str:
    """Import a file and roll back; return what came of it: imported, refused, or what is wrong."""
    from django.db import transaction

    files = files_below(*folders)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with transaction.atomic():
            outcome = _imported_or_refused(way, content)
            left = files_below(*folders) - files
            if outcome == "refused" and left:
                outcome = f"files are left: {sorted(map(str, left))[:5]}"
            transaction.set_rollback(True)
    except Exception:  # noqa: BLE001 - any is what is looked for
        outcome = traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    for path in sorted(files_below(*folders) - files, reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return "too late" if time.process_time() - started > SECONDS else outcome


def _imported_or_refused(way: Import, content: bytes) -> str:
    from annotation.core.errors import AnnotationError
    from annotation.models import JobState

    before = rows_of_tables()
    try:
        job = way.create(content)
    except AnnotationError:
        return _changed(before, rows_of_tables()) or "refused"
    if way.execute is None:
        return "imported"
    before = rows_of_tables(job)
    way.execute(job.pk)
    job.refresh_from_db()
    if job.state == JobState.DONE:
        return "imported"
    if job.state != JobState.FAILED or not job.error:
        return f"the job is {job.state}, with the error {job.error!r}"
    return _changed(before, rows_of_tables(job)) or "refused"


def _changed(before: State, after: State) -> str:
    changed = [
        f"{table} had {n} rows and has {after[table][0]}"
        for table, (n, digest) in before.items()
        if after[table] != (n, digest)
    ]
    return f"refused, but changed: {'; '.join(changed)}" if changed else ""


def run(numbers: range, seed: int) -> Outcome:
    """Import the files of these numbers, into a new database."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["LOG_LEVEL"] = "CRITICAL"
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection

    logging.getLogger("django").setLevel(logging.CRITICAL)
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    with connection.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = '{SECONDS}s'")
    signal.signal(signal.SIGPROF, late)
    outcome = Outcome(MEMORY_MIB)
    with tempfile.TemporaryDirectory(prefix="assay-fuzz-") as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        for name in ("corpora", "models"):  # made once and never removed
            (settings.DATA_DIR / name).mkdir(exist_ok=True)
        ways = imports(*build_world())
        for number in numbers:
            _import_one(outcome, number, ways[number % len(ways)], seed, settings.DATA_DIR, Path(folder))
    tempfile.tempdir = None
    outcome.measure_memory()
    return outcome


def _import_one(outcome: Outcome, number: int, way: Import, seed: int, *folders: Path) -> None:
    content, how = damaged(way.sample, random.Random(f"{seed}/{number}"))
    began = time.process_time()
    state = attempt(way, content, *folders)
    outcome.took(time.process_time() - began, way.sample.name)
    outcome.counts[way.kind, state if state in STATES else "wrong"] += 1
    if state not in STATES:
        (KEPT / f"import-{number}-{re.sub(r'[ /]', '-', way.sample.name)}").write_bytes(content)
        outcome.wrong(f"import {number}, {way.sample.name}, {how}:\n{state}")
    if outcome.counts.total() % 100 == 0:
        print(f"imports to {number}: {outcome.n_wrong} wrong", flush=True)
