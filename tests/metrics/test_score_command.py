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


def test_it_prints_a_table_and_does_nothing_twice(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        call_command("score", "--project", "chit-chat", "--metric", "delta_bleu", "--subset", "w>=0.5")

    run = ScoreRun.objects.get()
    printed = capsys.readouterr().out
    assert run.attempt == 1
    assert printed.count(run.signature) == 2
    for score in run.scores.all():
        assert f"{score.system.name:<24}{score.score:.4f}" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--project", "nowhere", "--metric", "bleu"], "--project: found 'nowhere'"),
        (["--project", "chit-chat", "--metric", "rouge"], "found 'rouge'; accepted"),
        (["--project", "chit-chat", "--metric", "bleu", "--subset", "best"], "found 'best'; accepted"),
        (["--project", "chit-chat", "--metric", "bleu", "--systems", "Ghost"], "found 'Ghost'; accepted: Echo"),
        (["--project", "chit-chat", "--metric", "bleu", "--release", "x/v1"], "accepted: cat-references/v1"),
    ],
)
def test_what_is_wrong_is_named(world: World, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("score", *arguments)
