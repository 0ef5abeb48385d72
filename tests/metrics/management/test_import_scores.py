"""Scores in and out at the command line."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from metrics.models import ScoreRun
from tests.metrics.world import World

pytestmark = pytest.mark.django_db

TABLE = "system,item,score\nEcho,item-0,0.5\nEcho,item-2,1\nParrot,item-0,0.25\n"


def command(world: World, manager, path: Path, *options: str) -> str:
    out = io.StringIO()
    target = ["--project", world.project.slug, "--user", manager.username, "--dataset", world.dataset.slug]
    call_command("import_scores", str(path), *target, *options, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "comet.csv"
    path.write_text(TABLE)
    return path


def test_a_file_becomes_a_run_and_a_second_import_finds_that_run(world: World, manager, table: Path) -> None:
    first = command(world, manager, table, "--name", "COMET-22", "--low", "0", "--high", "1")
    repeated = json.loads(command(world, manager, table, "--name", "COMET-22", "--low", "0", "--high", "1", "--json"))

    run = ScoreRun.objects.get()
    assert first.startswith(run.signature)
    assert "Echo                    0.7500" in first
    assert "2 items, 1 scores missing" in first
    assert repeated[0]["run"] == run.number
    assert repeated[0]["state"].endswith("imported before")


def test_a_check_stores_nothing(world: World, manager, table: Path) -> None:
    shown = command(world, manager, table, "--name", "COMET-22", "--check")
    assert "COMET-22 (segment)" in shown
    assert "scores 0.25 to 1; no range known: state one with --scale" in shown
    assert "; range 0 to 1, as stated" in command(world, manager, table, "--name", "x", "--check", "--scale", "0..1")
    assert not ScoreRun.objects.exists()


def test_columns_are_named_and_left_out(world: World, manager, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("system,item,judge,ann,COMET\nEcho,item-0,4,3,0.5\nEcho,item-1,5,2,0.25\n")
    options = ["--names", "judge=GPT-4", "--skip", "ann", "COMET"]

    assert "COMET" not in command(world, manager, path, *options, "--check")
    command(world, manager, path, *options)
    assert ScoreRun.objects.get().parameters["scorer"] == "GPT-4"


def test_refusals_name_what_is_accepted(world: World, manager, viewer, table: Path) -> None:
    with pytest.raises(CommandError, match="name: found nothing"):
        command(world, manager, table)
    with pytest.raises(CommandError, match="accepted: a manager or owner"):
        command(world, viewer, table, "--name", "x")
    with pytest.raises(CommandError, match="--dataset: found 'dogs'; accepted: cats"):
        command(world, manager, table, "--name", "x", "--dataset", "dogs")
    table.write_text(TABLE + "Nobody,item-0,1\n")
    with pytest.raises(CommandError, match=r"comet.csv, line 5, field system: found Nobody; accepted: .*Echo"):
        command(world, manager, table, "--name", "x")


def test_what_is_exported_is_imported_again(world: World, manager, table: Path, tmp_path: Path) -> None:
    command(world, manager, table, "--name", "COMET-22")
    path = tmp_path / "out.zip"
    options = ["--project", world.project.slug, "--dataset", world.dataset.slug, "--to", str(path)]
    call_command("export_scores", *options, stdout=io.StringIO())

    repeated = command(world, manager, path)
    assert "imported before\n  scores 0.25 to 1; no range known" in repeated
    for run in ScoreRun.objects.all():
        ScoreRun.objects.filter(pk=run.pk).update(report=run.report | {"imported": {}})  # stored by an earlier version
    assert "imported before\n  no range known" in command(world, manager, path)
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_scores", *options)
    command(world, manager, table, "--name", "ranged", "--scale", "0..1")
    call_command("export_scores", *options[:-1], str(tmp_path / "both.zip"), stdout=io.StringIO())
    assert "range 0 to 1, as the archive says" in command(world, manager, tmp_path / "both.zip", "--check")
