import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from correlations.models import Study
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


def test_a_file_and_flags_create_a_study_printed_as_json(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cats.json"
    path.write_text(json.dumps(world.specification()))

    call_command("study", "--project", "chit-chat", "--spec", str(path), "--seed", "11", "--metrics", "bleu", "--json")

    study = Study.objects.get()
    printed = json.loads(capsys.readouterr().out)
    assert (study.name, study.specification["seed"]) == ("cats", 11)
    assert printed["result"] == study.result
    assert printed["signature"] == study.signature


def test_the_command_prints_a_table_and_reasons_for_undefined_values(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command(
        "study",
        "--project",
        "chit-chat",
        "--release",
        "cat-references",
        "--campaign",
        "Output ratings",
        "--systems",
        "Echo",
        "Quill",
        "--metrics",
        "bleu",
        "--subsets",
        "all",
        "--unit-size",
        "20",
        "--assignments",
        "2",
        "--orientation",
        "fixed",
        "--bootstrap",
        "0",
        "--no-sweeps",
    )

    printed = capsys.readouterr().out
    assert "rho undefined: 2 units: at least 3 observations are needed" in printed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Expecting property name"),
        ("[]", "found a list; accepted: an object"),
        ('{"colour": 1}', "colour: found"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_or_field(
    world: World, tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content)

    with pytest.raises(CommandError, match=message):
        call_command("study", "--project", "chit-chat", "--spec", str(path))
    assert not Study.objects.exists()
