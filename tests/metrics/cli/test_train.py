"""Models from files of texts, as a person at a command line asks for them."""

from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.training import train

TEXTS = ["the cat sat on the mat", "the dog sat on the cat", "a dog is a dog", "cats and dogs sat"]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join([*TEXTS, "", " "]) + "\n")
    return path


def test_a_model_is_stored_under_its_hash_and_scores(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"
    assert main(["train", "lsa", "--texts", str(texts), "--models", str(models), "--option", "components=2"]) == 0
    reference, path = capsys.readouterr().out.split()

    assert reference == f"sha256:{train('lsa', TEXTS, components=2).digest}"
    assert ModelStore([models]).path("lsa", reference) == Path(path)
    outputs = tmp_path / "outputs.txt"
    outputs.write_text("the cat sat\na dog\n")
    files = ["--systems", str(outputs), "--references", str(outputs), "--models", str(models)]
    assert main(["score", *files, "--no-cache", "--metric", f"am:model={reference},k=2"]) == 0
    output = capsys.readouterr().out
    assert reference[7:19] in output.splitlines()[0]
    assert output.splitlines()[2].split() == ["outputs", "1.0000"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lsa", "--option", "components=0"], "train lsa: components: found 0; accepted: "),
        (["lsa", "--option", "components=two"], "--option: found 'components=two'; accepted: a whole number"),
        (["language_model", "--option", "min_counts=x"], "found 'min_counts=x'; accepted: whole numbers such as 1/1/2"),
        (["language_model", "--option", "depth=2"], "--option: found 'depth=2'; accepted: order=2, "),
        (["language_model", "--option", "clean=perhaps"], "--option: found 'clean=perhaps'; accepted: yes or no"),
    ],
)
def test_errors_are_reported_and_no_model_is_stored(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["train", *arguments, "--texts", str(texts), "--models", str(tmp_path / "models")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "models").exists()
