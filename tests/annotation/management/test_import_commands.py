"""Import commands: their output, and what they refuse."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Campaign, Dataset, Project, User
from tests.annotation.worlds.datasets import EXAMPLES, example_dataset


def run(*arguments: object) -> str:
    out = StringIO()
    call_command(*[str(argument) for argument in arguments], stdout=out)
    return out.getvalue()


@pytest.fixture
def project_options(project: Project, manager: User) -> tuple[str, ...]:
    return "--project", project.slug, "--user", manager.username


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
def test_a_data_set_is_imported_and_reported(project_options: tuple[str, ...], kind: str) -> None:
    out = run("import_dataset", EXAMPLES / f"dataset.{kind}", "--name", "Small", *project_options)
    assert Dataset.objects.get().slug == "small"
    assert "       12  Distinct responses" in out


def test_the_report_can_be_json(project_options: tuple[str, ...]) -> None:
    out = json.loads(run("import_dataset", EXAMPLES / "dataset.csv", "--name", "Small", "--json", *project_options))
    assert (out["state"], out["dataset"], out["counts"]["references"]) == ("done", "small", 7)


def test_a_file_with_other_names_is_looked_at_and_mapped(project_options: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "qa.csv"
    path.write_text("question,answer,system_t5,url\nTea?,Yes,No,x.org\n")
    looked = run("import_dataset", path, "--look", *project_options)
    assert "--map question=message  # Tea?" in looked
    assert "--map system_t5=output:t5  # No" in looked
    assert not Dataset.objects.exists()
    mapped = ("--map", "question=message", "--map", "answer=references", "--map", "system_t5=output:T5")
    with pytest.raises(CommandError, match="field url: found a field without a meaning"):
        run("import_dataset", path, "--name", "QA", *mapped, *project_options)
    run("import_dataset", path, "--name", "QA", *mapped, "--map", "*=ignore", *project_options)
    assert Dataset.objects.get().systems.get().name == "T5"


def test_every_bad_row_is_in_the_message(project_options: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "1"}\n{"id": "1"}\n{"idd": "2"}\n')
    with pytest.raises(CommandError) as refused:
        run("import_dataset", path, "--name", "Bad", *project_options)
    assert "bad.jsonl:2  id: found 1; accepted: each id once" in str(refused.value)
    assert "bad.jsonl:3  idd: found an unknown field" in str(refused.value)
    assert not Dataset.objects.exists()


def test_ratings_are_imported_with_their_options(
    project_options: tuple[str, ...], project: Project, tmp_path: Path
) -> None:
    example_dataset(project)
    path = tmp_path / "judges.tsv"
    path.write_text("Judge\titem\tsystem\tq\nann\t1\tAlias\t7\nann\t1\tSystemB\t7\n")
    out = run(
        "import_ratings",
        path,
        "--dataset",
        "small",
        "--name",
        "Judged",
        "--column",
        "rater=Judge",
        "--alias",
        "Alias=SystemA",
        "--only-system",
        "Alias",
        "--scale",
        "1",
        "7",
        "--json",
        *project_options,
    )
    report = json.loads(out)
    assert (report["campaign"], report["counts"]["alias_judgements"]) == ("Judged", 1)
    assert Campaign.objects.get().criteria.get().scale_max == 7


def test_a_file_can_be_previewed_before_it_is_imported(project_options: tuple[str, ...], project: Project) -> None:
    example_dataset(project)
    path = EXAMPLES / "ratings-appraise.csv"
    options = ("--dataset", "small", "--name", "DA", "--look", *project_options)
    out = run("import_ratings", path, *options, "--item-type", "CHK=*")
    assert "This looks like Appraise's export of scores (CSV): 2 raters, 1 criterion, 5 judgements" in out
    assert "        1  Rows about degraded texts (BAD), left out" in out
    with pytest.raises(CommandError, match=r"ratings-appraise.csv:1  score: found 92; accepted: a number from 0 to 90"):
        run("import_ratings", path, *options, "--scale", "0", "90")
    assert not Campaign.objects.exists()


def test_other_shapes_are_imported_by_command(project_options: tuple[str, ...], project: Project) -> None:
    example_dataset(project)
    for number, name in enumerate(("by-rater.csv", "medians.csv", "label-studio.json")):
        run(
            "import_ratings",
            EXAMPLES / f"ratings-{name}",
            "--dataset",
            "small",
            "--name",
            f"J{number}",
            *project_options,
        )
    assert [campaign.design.get("aggregate") for campaign in Campaign.objects.order_by("pk")] == [None, "median", None]


def test_an_unknown_data_set_is_refused_with_the_accepted_ones(
    project_options: tuple[str, ...], project: Project
) -> None:
    example_dataset(project)
    with pytest.raises(CommandError, match="--dataset: found 'large'; accepted: small"):
        run("import_ratings", EXAMPLES / "ratings.csv", "--dataset", "large", "--name", "J", *project_options)


def test_only_managers_import(project: Project, viewer: User, outsider: User) -> None:
    for user in (viewer, outsider):
        with pytest.raises(CommandError, match="accepted: a manager or owner of the project 'chit-chat'"):
            run("import_dataset", EXAMPLES / "dataset.csv", "--name", "S", "--project", project.slug, "--user", user)


def test_a_missing_file_is_refused(project_options: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"file: found nowhere\.csv"):
        run("import_dataset", "nowhere.csv", "--name", "S", *project_options)


def test_synthetic_data_is_written_to_files_and_into_a_project(
    project_options: tuple[str, ...], tmp_path: Path
) -> None:
    size = ("--items", "5", "--references", "3", "--systems", "2", "--pairs", "1", "--raters", "3", "--ratings", "2")
    out = json.loads(run("generate_dataset", *size, "--out", tmp_path / "new", *project_options, "--json"))
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "design.json",
        "items.jsonl",
        "output-ratings.csv",
        "reference-ratings.csv",
    ]
    counts = {campaign.name: campaign.ratings.count() for campaign in Campaign.objects.all()}
    assert counts == dict(zip(out["campaigns"], (5 * 3 * 2, 5 * 2 * 2), strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"), [((), "Say where"), (("--out", "x", "--items", "0"), "--items: found 0")]
)
def test_synthetic_data_needs_a_target_and_a_valid_size(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run("generate_dataset", *arguments)
