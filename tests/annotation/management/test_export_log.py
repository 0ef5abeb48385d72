"""The command that writes and verifies records; written logs can be imported."""

import json
import zipfile
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.models import Campaign, Project, Rating
from tests.annotation.worlds.campaigns import INFORMATIVENESS, RELEVANCE, join, make_campaign, make_dataset, rate_next
from tests.snapshots import recalled

REPLIES = ("--project", "chit-chat", "--campaign", "Replies")


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return recalled("two raters of all", project, lambda: _campaign(project))


def _campaign(project: Project) -> Campaign:
    campaign = make_campaign(make_dataset(project), criteria=[RELEVANCE, INFORMATIVENESS])
    for value in (2, 5):
        rater = join(campaign)
        while rate_next(campaign, rater, value):
            pass
    return campaign


def export(campaign: Campaign, *arguments: object) -> str:
    out = StringIO()
    call_command(
        "export_log",
        "--project",
        campaign.project.slug,
        "--campaign",
        campaign.name,
        *map(str, arguments),
        stdout=out,
        verbosity=0,
    )
    return out.getvalue()


def test_a_written_record_is_verified(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "record.zip"
    assert str(path) in export(campaign, "--out", path)
    out = StringIO()
    call_command("export_log", "--verify", str(path), stdout=out)
    assert "The record is whole" in out.getvalue()
    assert list(tmp_path.iterdir()) == [path]


def test_a_changed_record_fails_with_the_number_of_failed_checks(campaign: Campaign, tmp_path: Path) -> None:
    path, changed = tmp_path / "record.zip", tmp_path / "other.zip"
    export(campaign, "--out", path, "--without-parquet")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            after.writestr(
                name, content.replace(b'"value": 5.0', b'"value": 4.0') if name == "ratings.jsonl" else content
            )
    with pytest.raises(CommandError, match=r"changed or damaged: 1 of \d+ checks failed"):
        call_command("export_log", "--verify", str(changed), stdout=StringIO())


def test_one_table_is_written_in_the_format_of_the_files_ending(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "ratings.parquet"
    export(campaign, "--table", "ratings", "--out", path)
    assert pq.read_table(path).num_rows == Rating.objects.filter(campaign=campaign).count()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--out", "x.zip"], "Give --project"),
        (["--project", "none", "--campaign", "a", "--out", "x.zip"], "no project has the slug 'none'"),
        (["--project", "chit-chat", "--campaign", "none", "--out", "x.zip"], "accepted: Replies"),
        (
            ["--project", "chit-chat", "--campaign", "Replies", "--table", "ratings", "--out", "x.exe"],
            "found the ending 'exe'",
        ),
        (["--project", "chit-chat", "--campaign", "Replies", "--out", "/nowhere/x.zip"], "cannot be written"),
        (["--verify", "/nowhere/x.zip"], "This is not a record"),
    ],
)
def test_invalid_options_are_refused(campaign: Campaign, arguments: list[str], problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        call_command("export_log", *arguments, stdout=StringIO(), verbosity=0)


def test_the_log_of_ratings_can_be_imported_as_judgements(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    export(campaign, "--table", "ratings", "--out", path)
    job = rating_import_create(
        dataset=campaign.dataset, by=None, name="Read again", filename=path.name, content=path.read_bytes()
    )
    rating_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.report
    assert job.campaign is not None

    def values(of: Campaign) -> list[tuple[object, ...]]:
        ratings = of.ratings.values_list("response_id", "criterion__name", "value")
        return sorted((response, name, value) for response, name, value in ratings)

    assert values(job.campaign) == values(campaign)
    record = tmp_path / "imported.zip"
    export(job.campaign, "--out", record)
    call_command("export_log", "--verify", str(record), stdout=StringIO())


def test_the_readme_explains_every_column_of_every_table(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "record.zip"
    export(campaign, "--out", path, "--without-parquet")
    with zipfile.ZipFile(path) as archive:
        readme = archive.read("README.md").decode()
        for name in archive.namelist():
            if name.endswith(".jsonl") and (content := archive.read(name)):
                for column in json.loads(content.splitlines()[0]):
                    assert f"| `{column}` |" in readme
