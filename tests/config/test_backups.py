"""Backups of a real database that raters write to, restored into an empty one on the same server."""

import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path
from threading import Event

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from annotation.core.errors import AnnotationError
from annotation.models import Project, Rater, RaterIdentity, Rating, Slot
from annotation.models.identities import digests_of, opened
from config.backups.archive import LIST
from config.backups.installation import Installation
from config.backups.services import DUMP, KEY, backup_restore, backup_write
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next

KNOWN = frozenset(f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations)
RESTORED = "assay_restored"


def url_of(name: str) -> str:
    database = connection.settings_dict
    address = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    return f"postgresql://{address}/{name}"


@pytest.fixture
def here(tmp_path: Path, transactional_db: None) -> Installation:
    home = tmp_path / "here"
    for name, text in (("corpora/7f3a/postings.bin", "index"), ("models/lsa-1", "model"), ("models/.new", "half")):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / KEY).write_text("generated-key\n")
    folders = {"corpora": home / "corpora", "models": home / "models"}
    return Installation(url_of(connection.settings_dict["NAME"]), folders, home / KEY, "generated-key")


@pytest.fixture
def empty(here: Installation, tmp_path: Path) -> Iterator[Installation]:
    """Return an installation without tables and files."""
    name = f"{RESTORED}_{connection.settings_dict['NAME']}"
    with psycopg.connect(url_of("postgres"), autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        home = tmp_path / "new"
        folders = {"corpora": home / "corpora", "models": home / "models"}
        yield Installation(url_of(name), folders, home / KEY, "another-key")
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def rows(installation: Installation, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(installation.database) as database:
        return database.execute(query).fetchall()


def test_what_was_acknowledged_before_a_backup_is_restored_whole_while_raters_go_on(
    here: Installation, empty: Installation, project: Project, tmp_path: Path
) -> None:
    campaign = make_campaign(make_dataset(project, items=200), ratings_per_unit=2)
    raters = [join(campaign) for _ in range(2)]
    RaterIdentity.objects.create(rater=raters[0], project=project, provider="prolific", external_id="60bf9310e8dec401")
    began, ended = Event(), Event()

    def work(rater: Rater) -> int:
        answered = 0
        try:
            while not ended.is_set() and rate_next(campaign, rater) is not None:
                answered += 1
                if answered == 3:
                    began.set()
        finally:
            connection.close()
        return answered

    path = tmp_path / "backup.tar"
    with ThreadPoolExecutor(len(raters)) as pool:
        working = [pool.submit(work, rater) for rater in raters]
        assert began.wait(60)
        before = set(Rating.objects.values_list("pk", "value"))
        written = backup_write(path, here, product="0.1.0")
        ended.set()
        answered = sum(each.result() for each in working)

    restored = backup_restore(path, empty, known=KNOWN)

    kept = set(rows(empty, "SELECT id, value FROM annotation_rating"))
    assert before <= kept <= set(Rating.objects.values_list("pk", "value"))
    assert answered > len(before) > 0  # raters were not stopped by it
    # At one moment: a slot is done if, and only if, it has its rating.
    done = rows(empty, "SELECT count(*) FROM annotation_slot WHERE state = 'done'")[0][0]
    assert done == rows(empty, "SELECT count(DISTINCT presentation_id) FROM annotation_rating")[0][0]
    assert rows(empty, "SELECT count(*) FROM annotation_slot")[0][0] == Slot.objects.count()
    assert restored == written
    (identity,) = rows(empty, "SELECT sealed, digest FROM annotation_rateridentity")
    assert opened(str(identity[0]))["external_id"] == "60bf9310e8dec401"  # the same SECRET_KEY opens it
    assert identity[1] in digests_of("60bf9310e8dec401")
    files = {name: (empty.secret_key_file.parent / name).read_text() for name in ("corpora/7f3a/postings.bin", KEY)}
    assert files == {"corpora/7f3a/postings.bin": "index", KEY: "generated-key\n"}
    assert written.members.keys() == {DUMP, KEY, "corpora/7f3a/postings.bin", "models/lsa-1"}
    assert not (empty.folders["models"] / ".new").exists()  # it was being written
    assert empty.migrations() == here.migrations()  # nothing is left to migrate
    assert rows(empty, "SELECT count(*) FROM pgmq.meta")[0][0] == rows(here, "SELECT count(*) FROM pgmq.meta")[0][0]

    with pytest.raises(AnnotationError, match=r"found \d+ tables; accepted: an empty database"):
        backup_restore(path, empty, known=KNOWN)


def test_a_damaged_or_later_backup_changes_nothing(here: Installation, empty: Installation, tmp_path: Path) -> None:
    path = tmp_path / "backup.tar"
    contents = backup_write(path, here, product="0.1.0")
    whole = path.read_bytes()
    dump = whole.index(b"PGDMP")

    for damaged, message in (
        (whole[: len(whole) // 2], "ends early or is no archive"),
        (whole[: whole.index(LIST.encode())], f"found no {LIST} at its end"),
        (whole[: dump + 400] + bytes([whole[dump + 400] ^ 1]) + whole[dump + 401 :], "was changed or damaged"),
        (b"no archive", "ends early or is no archive"),
        (whole.replace(b'"format": 1', b'"format": 2'), "found format 2 of backups; accepted: 1"),
        (whole.replace(b'"members": {', b'"members": ['), f"found a damaged {LIST}"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(AnnotationError, match=message):
            backup_restore(path, empty, known=KNOWN)

    path.write_bytes(whole)
    latest = contents.migrations[-1]
    with pytest.raises(AnnotationError, match=f"found the migration {latest}, which this version does not have"):
        backup_restore(path, empty, known=KNOWN - {latest})
    (empty.folders["models"]).mkdir(parents=True)
    (empty.folders["models"] / "lsa-1").write_text("mine")
    with pytest.raises(AnnotationError, match="found a file that the backup has, too"):
        backup_restore(path, empty, known=KNOWN)
    assert empty.tables() == 0
    assert (empty.folders["models"] / "lsa-1").read_text() == "mine"
    assert not empty.secret_key_file.exists()


def test_a_restore_that_fails_in_the_database_leaves_no_files(
    here: Installation, empty: Installation, tmp_path: Path
) -> None:
    path = tmp_path / "backup.tar"
    backup_write(path, here, product="0.1.0")
    failing = tmp_path / "binaries"
    failing.mkdir()
    (failing / "pg_restore").write_text("#!/bin/sh\necho no room left on device >&2\nexit 1\n")
    (failing / "pg_restore").chmod(0o755)

    with pytest.raises(AnnotationError, match=r"pg_restore of .* failed: no room left on device"):
        backup_restore(path, replace(empty, binaries=failing), known=KNOWN)

    assert [each for each in empty.secret_key_file.parent.rglob("*") if each.is_file()] == []
    assert empty.tables() == 0


def test_the_commands_write_and_check_a_backup(
    here: Installation, tmp_path: Path, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Installation, "here", classmethod(lambda cls, binaries=None: replace(here, secret_key="given")))
    path, said = tmp_path / "backup.tar", StringIO()

    call_command("backup", path, stdout=said)
    call_command("restore", "--check", path, stdout=said)

    assert "and 2 files" in said.getvalue()
    assert "Not in it: the secret key, which the environment gives." in said.getvalue()
    assert f"{path} is whole: 3 files" in said.getvalue()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="found a file; accepted: the path of a new one"):
        call_command("backup", path)
    with pytest.raises(CommandError, match="found no folder"):
        call_command("backup", tmp_path / "none" / "backup.tar")
    with tarfile.open(path) as archive:
        assert archive.getnames()[-1] == LIST
