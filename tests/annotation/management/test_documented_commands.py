"""Every command line in the documents and in the commands' own help is understood; those of data-formats.md are run."""

import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import BaseCommand, call_command, get_commands, load_command_class

from annotation.models import Dataset, Project, Role, User
from annotation.projects.services.projects import member_add
from tests.conftest import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN = sorted(name for name, app in get_commands().items() if app in ("annotation", "metrics", "correlations", "config"))
PLACEHOLDER = {"…", "..."}


def command(name: str) -> BaseCommand:
    return load_command_class(get_commands()[name], name)


def command_lines(text: str) -> list[list[str]]:
    """Return the words of each line that calls a command, in a block or between backticks."""
    joined = re.sub(r"\\\n\s*", " ", text)
    found = re.findall(r"manage\.py ([a-z_]+(?: [^`\n]*)?)(?=`|\n|$)", joined)
    lines = [shlex.split(re.sub(r"\s\|.*|\s&& .*|;.*|\s>.*|\s#.*", "", line), comments=True) for line in found]
    return [line for line in lines if line[0] in OWN and not PLACEHOLDER & set(line)]


DOCUMENTED = [
    pytest.param(line, id=f"{path.name}: {' '.join(line)[:90]}")
    for path in DOCUMENTS
    for line in command_lines(path.read_text())
    if len(line) > 1
]
OF_HELP = [
    pytest.param(line, id=" ".join(line)[:90])
    for name in OWN
    for line in command_lines(getattr(command(name), "epilog", ""))
]


@pytest.mark.parametrize("line", DOCUMENTED)
def test_a_documented_command_line_is_understood(line: list[str]) -> None:
    if "--help" not in line:
        understood(line)


@pytest.mark.parametrize("line", OF_HELP)
def test_a_command_line_in_a_command_s_help_is_understood(line: list[str]) -> None:
    understood(line)


def understood(line: list[str]) -> None:
    parser = command(line[0]).create_parser("manage.py", line[0])
    known = {option for action in parser._actions for option in action.option_strings}
    named = {word.split("=")[0] for word in line[1:] if word.startswith("--")}
    assert named <= known, f"{named - known} of {line[0]}"
    if any(action.required for action in parser._actions if action.option_strings) and "--project" not in named:
        return  # a short form in a sentence: its options are checked above
    parser.called_from_command_line = False  # raise instead of ending the process
    parser.parse_args(line[1:])


def test_enough_lines_are_found() -> None:
    assert len(DOCUMENTED) > 30
    assert len(OF_HELP) > 15


def test_the_commands_of_data_formats_import_a_file_with_other_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], db: None
) -> None:
    Project.objects.create(name="Demo", slug="demo")
    User.objects.create_user("manager")
    member_add(project=Project.objects.get(), username="manager", role=Role.MANAGER)
    rows = [{"dialogue": ["Hi.", "How are you?"], "references": ["Fine."], "model_a": "Good.", "seed": 7}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "chats.parquet")
    monkeypatch.chdir(tmp_path)
    look, run = (
        line
        for line in command_lines((ROOT / "docs" / "data-formats.md").read_text())
        if line[:2] == ["import_dataset", "chats.parquet"]
    )
    call_command(*look)
    assert "--map dialogue=dialogue" in capsys.readouterr().out
    call_command(*run)
    dataset = Dataset.objects.get(slug="chats")
    assert [system.name for system in dataset.systems.all()] == ["A"]
    item = dataset.items.get()
    assert (item.context, item.message) == (["Hi."], "How are you?")
    assert {response.text for response in item.responses.all()} == {"Fine.", "Good."}


def test_the_first_commands_of_data_formats_import_the_examples(db: None) -> None:
    project = Project.objects.create(name="Demo", slug="demo")
    User.objects.create_user("manager")
    member_add(project=project, username="manager", role=Role.MANAGER)
    words = {"SLUG": "demo", "NAME": "manager"}
    examples = {"import_dataset": "dataset", "add_outputs": "outputs", "import_ratings": "ratings"}
    for line in command_lines((ROOT / "docs" / "data-formats.md").read_text()):
        if line[1:2] == ["FILE"]:
            words |= {"FILE": str(ROOT / "demo" / "examples" / f"{examples[line[0]]}.csv")}
            given = [words.get(word, word) for word in line]
            if "--dataset" in given:
                given[given.index("--dataset") + 1] = "my-data"
            call_command(*given)
    assert project.datasets.get().items.count() == 3
    assert [system.name for system in project.datasets.get().systems.order_by("name")] == [
        "SystemA",
        "SystemB",
        "SystemC",
    ]
    assert project.campaigns.get().ratings.count() == 30
