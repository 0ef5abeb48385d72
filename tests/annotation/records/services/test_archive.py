"""The complete record: its contents, its consistency, and that changes are detected."""

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.campaigns.services.lifecycle import campaign_close
from annotation.campaigns.services.rules import rules_register
from annotation.core.errors import AnnotationError
from annotation.core.snapshots import snapshot
from annotation.models import Campaign, Presentation, Project, Rater, RaterIdentity, Rating, User
from annotation.projects.services.audit import audit_record
from annotation.quality.services.decisions import rater_exclude
from annotation.records.selectors.reading import table_rows
from annotation.records.selectors.tables import ALL, RATINGS, TABLES, tables_of
from annotation.records.services.archive import record_chunks
from annotation.records.services.papers import record_documents
from annotation.records.services.verification import record_verify
from tests.annotation.worlds.campaigns import (
    INFORMATIVENESS,
    RELEVANCE,
    answer,
    join,
    make_campaign,
    make_dataset,
    rate_next,
)
from tests.snapshots import recalled


@pytest.fixture
def campaign(project: Project) -> Campaign:
    """Three raters of six pairs; one answer is corrected."""
    return recalled("four raters of pairs", project, lambda: _rated_pairs(project))


def _rated_pairs(project: Project) -> Campaign:
    campaign = make_campaign(
        make_dataset(project, items=2), presentation="pair", criteria=[RELEVANCE, INFORMATIVENESS], instructions="Read."
    )
    for value in (2, 3, 4):
        rater = join(campaign)
        while rate_next(campaign, rater, value):
            pass
    corrected = Presentation.objects.filter(campaign=campaign, outcome="submitted").first()
    assert corrected is not None
    answer(corrected, 5)
    return campaign


def record(campaign: Campaign, **options: Any) -> io.BytesIO:
    return io.BytesIO(b"".join(record_chunks(campaign, **options)))


def rows(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(f"{name}.jsonl").splitlines()]


def test_every_table_is_written_in_both_formats_with_the_same_rows(campaign: Campaign) -> None:
    archive = zipfile.ZipFile(record(campaign))
    manifest = json.loads(archive.read("manifest.json"))
    for table in tables_of(campaign):
        written = rows(archive, table.name)
        parquet = pq.read_table(io.BytesIO(archive.read(f"{table.name}.parquet")))
        assert parquet.num_rows == len(written) == manifest["files"][f"{table.name}.jsonl"]["rows"]
        assert parquet.column_names == [column.name for column in table.columns]
        if written:
            assert list(written[0]) == parquet.column_names
        assert f"\n## {table.name}\n" in archive.read("README.md").decode()


def test_the_log_holds_every_rating_with_its_order_and_its_corrections(campaign: Campaign) -> None:
    archive = zipfile.ZipFile(record(campaign))
    ratings = rows(archive, "ratings")
    assert len(ratings) == Rating.objects.filter(campaign=campaign).count()
    assert max(row["revision"] for row in ratings) == 1
    units = {row["unit"]: row for row in rows(archive, "units")}
    shown = {row["presentation"]: row for row in rows(archive, "presentations")}
    for row in ratings:  # the order and the unit's canonical list give the position on screen
        screen = shown[row["presentation"]]
        assert units[screen["unit"]]["responses"][screen["order"][row["position"]]] == row["response"]
        assert screen["order_seed"] is not None
        assert screen["rater"] == row["rater"]


def test_the_design_hash_is_that_of_the_file(campaign: Campaign) -> None:
    archive = zipfile.ZipFile(record(campaign))
    assert hashlib.sha256(archive.read("design.json")).hexdigest() == campaign.design_hash


def test_the_content_hash_changes_with_the_content_only(campaign: Campaign) -> None:
    def content_hash() -> str:
        return str(json.loads(zipfile.ZipFile(record(campaign)).read("manifest.json"))["content_hash"])

    before = content_hash()
    assert content_hash() == before
    answer(Presentation.objects.filter(campaign=campaign, outcome="submitted").order_by("-id")[0], 1)
    assert content_hash() != before


def test_it_names_no_rater_token_or_providers_id(campaign: Campaign, manager: User) -> None:
    rater = Rater.objects.filter(project=campaign.project).first()
    assert rater is not None
    RaterIdentity.objects.create(
        rater=rater, project=campaign.project, provider="prolific", external_id="5f3c9e1a2b4d6f8091a2b3c4"
    )
    audit_record(
        verb="rater.flag",
        summary="Flagged 5f3c9e1a2b4d6f8091a2b3c4.",
        campaign=campaign,
        by=manager,
        data={"who": "5f3c9e1a2b4d6f8091a2b3c4"},
    )
    archive = zipfile.ZipFile(record(campaign, documents=record_documents))
    everything = b"".join(archive.read(name) for name in archive.namelist() if not name.endswith(".parquet"))
    assert b"5f3c9e1a2b4d6f8091a2b3c4" not in everything
    assert str(rater.access_token).encode() not in everything
    assert manager.username.encode() not in everything
    assert any("Flagged [id]." in row["summary"] for row in rows(archive, "audit"))
    assert rater.pseudonym in {row["rater"] for row in rows(archive, "raters")}


def test_a_rater_who_typed_a_name_has_a_pseudonym_in_every_table(campaign: Campaign, manager: User) -> None:
    rater = Rater.objects.filter(participations__campaign=campaign).earliest("pk")
    Rater.objects.filter(pk=rater.pk).update(pseudonym='Zoë "Zo" Meyer')
    rater.refresh_from_db()
    rules = [{"rule": "exclude_raters", "version": 1, "raters": [rater.pseudonym]}]
    rules_register(campaign=campaign, records=rules, by=manager)
    rater_exclude(campaign=campaign, rater=rater, reason="Too fast.", by=manager, evidence={"rater": rater.pseudonym})
    audit_record(verb="rater.note", summary=f"Wrote to {rater.pseudonym}.", campaign=campaign, by=manager)
    archive = zipfile.ZipFile(record(campaign))
    everything = {name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
    assert [name for name, text in everything.items() if "Meyer" in text] == []
    expected = f"named-{rater.pk}"
    for table in ("raters", "ratings", "presentations", "decisions"):
        assert expected in {row["rater"] for row in rows(archive, table)}
    assert rows(archive, "rules")[-1]["rules"][0]["raters"] == [expected]
    assert any(row["summary"] == f"Wrote to {expected}." for row in rows(archive, "audit"))
    assert record_verify(record(campaign))


def test_an_unchanged_record_is_verified(campaign: Campaign, tmp_path: Path) -> None:
    campaign_close(campaign=campaign)
    findings = record_verify(record(campaign, documents=record_documents))
    assert findings
    assert [finding for finding in findings if not finding.ok] == []
    assert any("design hash" in finding.what for finding in findings)
    assert any("the items of the design" in finding.what for finding in findings)


def changed(source: io.BytesIO, change: dict[str, bytes | None]) -> io.BytesIO:
    """Return the zip with some files replaced or, for None, left out."""
    target = io.BytesIO()
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            content = change.get(name, before.read(name))
            if content is not None:
                after.writestr(name, content)
        for name in change.keys() - set(before.namelist()):
            after.writestr(name, change[name] or b"")
    return target


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_of_any_file_is_found(campaign: Campaign, data: st.DataObject) -> None:
    full_record = record(campaign, formats=("jsonl",))
    archive = zipfile.ZipFile(full_record)
    name = data.draw(
        st.sampled_from([member for member in archive.namelist() if archive.read(member) and member != "manifest.json"])
    )
    content = bytearray(archive.read(name))
    offset = data.draw(st.integers(0, len(content) - 1))
    content[offset] ^= data.draw(st.integers(1, 255))
    findings = record_verify(changed(full_record, {name: bytes(content)}))
    assert any(not finding.ok and name in finding.what for finding in findings)


def test_a_missing_and_an_added_file_are_found(campaign: Campaign) -> None:
    findings = record_verify(changed(record(campaign), {"ratings.jsonl": None, "more.jsonl": b"{}\n"}))
    bad = [finding.what for finding in findings if not finding.ok]
    assert bad == ["more.jsonl is not a file of the record", "ratings.jsonl is missing"]


def test_a_file_changed_together_with_its_hash_still_breaks_the_content_hash(campaign: Campaign) -> None:
    full_record = record(campaign, formats=("jsonl",))
    archive = zipfile.ZipFile(full_record)
    manifest = json.loads(archive.read("manifest.json"))
    ratings = archive.read("ratings.jsonl").replace(b'"value": 5.0', b'"value": 1.0')
    manifest["files"]["ratings.jsonl"]["sha256"] = hashlib.sha256(ratings).hexdigest()
    forged = changed(full_record, {"ratings.jsonl": ratings, "manifest.json": json.dumps(manifest).encode()})
    bad = [finding.what for finding in record_verify(forged) if not finding.ok]
    assert len(bad) == 1
    assert bad[0].startswith("content hash")


@pytest.mark.parametrize("content", [b"", b"no zip"])
def test_files_that_are_not_records_are_refused(content: bytes) -> None:
    with pytest.raises(AnnotationError, match="Accepted: a zip that Assay wrote"):
        record_verify(io.BytesIO(content))


def test_a_zip_of_something_else_is_refused() -> None:
    source = io.BytesIO()
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(AnnotationError, match=r"no readable manifest\.json"):
        record_verify(source)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_manifest_is_refused_in_every_compression(packing: int) -> None:
    source = io.BytesIO()
    with zipfile.ZipFile(source, "w", packing) as archive:
        archive.writestr("manifest.json", json.dumps({"format": "x", "files": list(range(500))}))
    content = bytearray(source.getvalue())
    content[100] ^= 0x5A
    with pytest.raises(AnnotationError, match="Accepted: a zip that Assay wrote"):
        record_verify(io.BytesIO(content))


def test_a_draft_and_an_empty_campaign_have_a_record_too(project: Project) -> None:
    draft = make_campaign(make_dataset(project), launch=False)
    findings = record_verify(record(draft, documents=record_documents))
    assert all(finding.ok for finding in findings)


@pytest.mark.django_db(transaction=True)
def test_answers_sent_while_a_record_is_written_are_not_in_it(project: Project) -> None:
    campaign = make_campaign(make_dataset(project))
    rater = join(campaign)
    rate_next(campaign, rater, 2)
    with snapshot():
        before = list(table_rows(TABLES["presentations"], campaign))
        _rate_in_another_connection(campaign)
        after = list(table_rows(TABLES["presentations"], campaign))
        ratings = list(table_rows(RATINGS, campaign))
    assert before == after
    assert {row[1] for row in ratings} == {row[0] for row in before}
    assert Rating.objects.filter(campaign=campaign).count() == 2


def _rate_in_another_connection(campaign: Campaign) -> None:
    """Rate in a thread, which has its own database connection."""
    from threading import Thread

    def work() -> None:
        rate_next(campaign, join(campaign), 4)
        connection.close()

    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_a_record_is_written_in_small_pieces(campaign: Campaign) -> None:
    pieces = list(record_chunks(campaign))
    assert len(pieces) > len(ALL)
    assert max(map(len, pieces)) < 1_000_000


def test_a_record_can_be_unpacked_by_ordinary_tools(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "record.zip"
    path.write_bytes(record(campaign).getvalue())
    shutil.unpack_archive(path, tmp_path / "out")
    assert (tmp_path / "out" / "ratings.parquet").stat().st_size > 0
