import json

import pytest
from django.core.management import CommandError, call_command

from metrics.models import ScoreRun
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db


def test_it_prints_scores_as_json(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("score", "--project", "chit-chat", "--metric", "bleu", "--json")

    printed = json.loads(capsys.readouterr().out)
    run = ScoreRun.objects.get()
    assert printed["signature"] == run.signature
    assert {row["system"]: row["score"] for row in printed["systems"]} == dict(
        run.scores.values_list("system__name", "score")
    )
    assert {row["system"] for row in printed["systems"]} == set(HYPOTHESES)


def test_it_names_the_systems_that_it_leaves_out(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("score", "--project", "chit-chat", "--metric", "bleu")
    assert "Not scored, because they gave references: Human, Random." in capsys.readouterr().out
    call_command("score", "--project", "chit-chat", "--metric", "bleu", "--json")
    assert json.loads(capsys.readouterr().out)["systems_left_out"] == ["Human", "Random"]
    call_command("score", "--project", "chit-chat", "--metric", "bleu", "--systems", "Echo", "--json")
    assert json.loads(capsys.readouterr().out)["systems_left_out"] == []


def test_it_prints_a_table_and_does_nothing_twice(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        call_command("score", "--project", "chit-chat", "--metric", "delta_bleu", "--subset", "w>=0.5")

    run = ScoreRun.objects.get()
    printed = capsys.readouterr().out
    assert run.attempt == 1
    assert printed.count(run.signature) == 2
    for score in run.scores.all():
        assert f"{score.system.name:<24}{score.score:.4f}  [{score.low:.4f}, {score.high:.4f}]" in printed


def test_a_metric_is_written_with_its_parameters(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("score", "--project", "chit-chat", "--metric", "chrf:word_order=2", "--json")

    printed = json.loads(capsys.readouterr().out)
    assert ScoreRun.objects.get().parameters["word_order"] == 2
    assert printed["bootstrap"]["replicates"] == 1000
    assert all(row["low"] <= row["score"] <= row["high"] for row in printed["systems"])


@pytest.mark.parametrize("named", [["--dataset", "cats"], []])
def test_a_metric_that_reads_no_references_takes_the_data_set(
    world: World, capsys: pytest.CaptureFixture[str], named: list[str]
) -> None:
    call_command("score", "--project", "chit-chat", "--metric", "distinct", "--systems", "Echo", *named)

    assert ScoreRun.objects.get().release is None
    assert "No ranges: a resample repeats segments" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--project", "nowhere", "--metric", "bleu"], "--project: no project has the slug 'nowhere'"),
        (["--project", "chit-chat", "--metric", "rouge"], "found 'rouge'; accepted"),
        (["--project", "chit-chat", "--metric", "bleu", "--subset", "best"], "found 'best'; accepted"),
        (["--project", "chit-chat", "--metric", "bleu", "--systems", "Ghost"], "found 'Ghost'; accepted: Echo"),
        (["--project", "chit-chat", "--metric", "bleu", "--release", "x/v1"], "accepted: cat-references/v1"),
        (["--project", "chit-chat", "--metric", "bleu", "--dataset", "dogs"], "found 'dogs'; accepted: cats"),
        (["--project", "chit-chat", "--metric", "bleu", "--dataset", "cats"], "BLEU reads references"),
        (["--project", "chit-chat", "--metric", "bleu:ord=2"], "bleu: found 'ord=2'; accepted: max_order="),
        (["--project", "chit-chat", "--metric", "length", "--release", "a", "--dataset", "b"], "a release, too"),
    ],
)
def test_what_is_wrong_is_named(world: World, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("score", *arguments)
