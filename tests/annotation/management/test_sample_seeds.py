"""The command that draws candidates for seeds."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Corpus, Dataset, Project, User
from tests.annotation.seeds.services.test_sampling import make_corpus, triples


@pytest.fixture
def corpus(project: Project, settings: Any, tmp_path: Path) -> Corpus:
    settings.DATA_DIR = tmp_path
    return make_corpus(project, triples(30))


def run(*arguments: str) -> None:
    call_command("sample_seeds", "--project", "chit-chat", "--user", "max-manager", "--name", "Candidates", *arguments)


def test_a_data_set_is_drawn_and_the_report_printed(
    corpus: Corpus, manager: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hygiene = tmp_path / "hygiene.json"
    hygiene.write_text('[{"step": "mask_handles"}]')
    run("--corpus", "talk", "--n", "12", "--seed", "5", "--hygiene", str(hygiene), "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["state"], report["dataset"], report["counts"]["items"], report["counts"]["drawn"]) == (
        "done",
        "candidates",
        12,
        12,
    )
    assert report["counts"]["masked_by_hygiene"] == 12
    dataset = Dataset.objects.get(slug="candidates")
    assert all("<user>" in item.responses.get().text for item in dataset.items.all())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--corpus", "none", "--n", "3"], "--corpus: found 'none'; accepted: talk"),
        (["--corpus", "talk", "--n", "31"], "Found 31; accepted: 1 to 30"),
        (["--corpus", "talk", "--n", "3", "--hygiene", "/nowhere.json"], "accepted: a file that can be read"),
    ],
)
def test_invalid_options_are_refused(corpus: Corpus, manager: User, arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        run(*arguments)
    assert not Dataset.objects.exists()


def test_a_viewer_cannot_draw_seeds(corpus: Corpus, viewer: User) -> None:
    with pytest.raises(CommandError, match="a manager or owner of the project"):
        call_command(
            "sample_seeds",
            "--project",
            "chit-chat",
            "--user",
            "vera-viewer",
            "--name",
            "x",
            "--corpus",
            "talk",
            "--n",
            "1",
        )
