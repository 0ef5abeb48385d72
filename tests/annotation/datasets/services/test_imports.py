"""An import job stores everything or nothing, and records every bad row."""

import pytest
from django.db import IntegrityError

from annotation.core import rows
from annotation.core.errors import AnnotationError
from annotation.datasets.services import imports as runs
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.judgements.services.options import RatingOptions
from annotation.models import Campaign, Dataset, DatasetImport, Item, JobState, Project, RatingImport, Response, User

ITEMS = b'{"id": "1", "message": "Hello", "references": ["Hi"], "outputs": {"A": "Hi", "B": "Hi "}}\n{"id": "2"}\n'
RATINGS = b"rater,item,system,q\nann,1,A,3\n"


@pytest.fixture
def job(project: Project, manager: User) -> DatasetImport:
    return dataset_import_create(project=project, by=manager, name="My data", filename="d.jsonl", content=ITEMS)


@pytest.fixture
def dataset(job: DatasetImport) -> Dataset:
    dataset_import_execute(import_id=job.pk)
    return Dataset.objects.get()


def test_a_good_file_becomes_a_data_set_with_its_report(job: DatasetImport, dataset: Dataset) -> None:
    job.refresh_from_db()
    assert (job.state, job.dataset, dataset.slug) == (JobState.DONE, dataset, "my-data")
    assert job.report["counts"]["responses"] == 1
    assert list(dataset.items.values_list("external_id", "position")) == [("1", 0), ("2", 1)]
    response = Response.objects.get()
    assert response.text == "Hi"
    assert sorted(response.sources.values_list("kind", "system__name", "raw_text")) == [
        ("human", None, ""),
        ("system", "A", ""),
        ("system", "B", "Hi "),
    ]


def test_a_name_too_long_to_store_is_refused_at_once(project: Project, dataset: Dataset) -> None:
    name = "x" * 121
    with pytest.raises(AnnotationError, match="found 121 characters; accepted: up to 120"):
        dataset_import_create(project=project, by=None, name=name, filename="d.jsonl", content=ITEMS)
    with pytest.raises(AnnotationError, match="found 121 characters; accepted: up to 120"):
        rating_import_create(dataset=dataset, by=None, name=name, filename="r.csv", content=RATINGS)


def test_every_bad_row_of_a_rating_file_is_reported_in_file_order(dataset: Dataset) -> None:
    bad = b"ann,nowhere,Z,3\nann,1,Z,9\nann,1,Nobody,3\n"
    job = rating_import_create(dataset=dataset, by=None, name="J", filename="r.csv", content=RATINGS + bad)
    rating_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    fields = [row["field"] for row in job.report["errors"]]
    lines = [row["line"] for row in job.report["errors"]]
    assert lines == sorted(lines)
    assert {"item", "system"} < set(fields)
    assert any(row["found"] == "9" for row in job.report["errors"])


def test_a_bad_file_changes_nothing_and_keeps_every_bad_row(project: Project) -> None:
    content = b'{"id": "1"}\n{"id": "1"}\n{"id": "2", "split": 3}\n'
    job = dataset_import_create(project=project, by=None, name="Bad", filename="bad.jsonl", content=content)
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.report["total"]) == (JobState.FAILED, 2)
    assert [(row["line"], row["field"]) for row in job.report["errors"]] == [(2, "id"), (3, "split")]
    assert job.error.startswith("bad.jsonl, line 2, field id: found 1; accepted: each id once")
    assert not Dataset.objects.exists()
    assert not Item.objects.exists()


@pytest.mark.parametrize(
    ("filename", "content", "field"),
    [
        ("d.csv", b"item_id,te\0xt\n1,Hi\n", "column 2"),
        ("d.jsonl", b'{"id": "1", "a\\u0000b": 1}', r"a\x00b"),
        ("d.jsonl", b'{"id": "1", "\\ud800": 1}', r"\ud800"),
        ("d.jsonl", b'{"id": "1", "outputs": {"\\u0000": "Hi"}}', "system"),
    ],
)
def test_characters_that_postgresql_cannot_hold_are_reported(
    project: Project, filename: str, content: bytes, field: str
) -> None:
    job = dataset_import_create(project=project, by=None, name="Bad", filename=filename, content=content)
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.report["errors"][0]["field"]) == (JobState.FAILED, field)
    assert "Unexpected" not in job.error


def test_a_failure_while_storing_leaves_nothing_behind(job: DatasetImport, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_half_way(*args: object) -> None:
        Item.objects.create(dataset=Dataset.objects.get(), external_id="half", position=0)
        raise IntegrityError("disk full")

    monkeypatch.setattr(runs, "store_dataset", fail_half_way)
    with pytest.raises(IntegrityError):
        dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert not Dataset.objects.exists()


def test_a_job_that_runs_twice_imports_once(job: DatasetImport, dataset: Dataset) -> None:
    dataset_import_execute(import_id=job.pk)
    assert Dataset.objects.get() == dataset


def test_a_name_that_is_taken_is_refused_before_and_after_the_queue(job: DatasetImport, dataset: Dataset) -> None:
    with pytest.raises(AnnotationError, match="has a data set 'my-data' already") as refused:
        dataset_import_create(project=job.project, by=None, name="My  data", filename="d.jsonl", content=ITEMS)
    assert "name" in refused.value.fields
    late = DatasetImport.objects.create(
        project=job.project, name="My data", filename="d.jsonl", file_format="jsonl", content=ITEMS
    )
    dataset_import_execute(import_id=late.pk)
    late.refresh_from_db()
    assert late.state == JobState.FAILED
    assert "my-data" in late.error


def test_a_file_name_without_a_known_format_is_refused(project: Project) -> None:
    with pytest.raises(AnnotationError, match=r"found 'd\.xlsx'; accepted: \.jsonl, \.csv, \.tsv or \.parquet"):
        dataset_import_create(project=project, by=None, name="X", filename="d.xlsx", content=ITEMS)


def test_imported_ratings_become_a_campaign(dataset: Dataset, manager: User) -> None:
    job = rating_import_create(dataset=dataset, by=manager, name="Judged", filename="r.csv", content=RATINGS)
    rating_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.campaign) == (JobState.DONE, Campaign.objects.get(name="Judged"))
    assert job.report["counts"]["judgements"] == 1


def test_refused_ratings_leave_no_campaign_and_no_system_behind(dataset: Dataset) -> None:
    options = RatingOptions(aliases={"C": "A"})
    job = rating_import_create(
        dataset=dataset, by=None, name="J", filename="r.csv", content=RATINGS + b"bob,1,Z,3\n", options=options
    )
    rating_import_execute(import_id=job.pk)
    job = RatingImport.objects.get(pk=job.pk)
    assert (job.state, job.report["errors"][0]["line"]) == (JobState.FAILED, 3)
    assert not Campaign.objects.exists()
    assert list(dataset.systems.values_list("name", flat=True)) == ["A", "B"]


def test_a_long_read_keeps_its_lease_and_stops_when_cancelled(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "INTERVAL_SECONDS", 0)
    content = b"item_id\n" + b"".join(b"%d\n" % number for number in range(100))
    job = dataset_import_create(project=project, by=None, name="Long", filename="d.csv", content=content)
    cancel = DatasetImport.objects.filter(pk=job.pk).update
    dataset_import_execute(import_id=job.pk, progress=lambda *_: cancel(cancel_requested=True))
    job.refresh_from_db()
    assert (job.state, job.progress_note) == (JobState.CANCELLED, "Reading d.csv")
    assert not Dataset.objects.exists()
