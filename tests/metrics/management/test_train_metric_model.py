"""Models from the command line."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from metrics.models import TrainedModel
from metrics.scoring.qe.model import QualityEstimator
from metrics.selectors.models import folder_of
from tests.annotation.worlds.mined import indexed_corpus
from tests.metrics.trained import models_dir  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir", "manager")]


def run(*arguments: str) -> str:
    out = io.StringIO()
    common = ["--project", "chit-chat", "--user", "max-manager", "--name", "Mine"]
    call_command("train_metric_model", *common, *arguments, stdout=out)
    return out.getvalue()


def test_it_trains_on_a_data_set_and_prints_what_it_found(world: World) -> None:
    text = run(
        "--kind",
        "lsa",
        "--dataset",
        "cats",
        "--texts",
        "messages",
        "--source-system",
        "Human",
        "--components",
        "3",
        "--with-judged",
    )

    model = TrainedModel.objects.get()
    assert model.options == {"components": 3, "tokenize": "whitespace"}
    assert "Mine v1: LSA space" in text
    assert f"{model.report['texts']}  Texts trained on" in text
    assert "WARNING: trained on outputs and references here" in text
    assert model.reference in text


def test_it_keeps_apart_what_is_judged_by_default(world: World) -> None:
    document = json.loads(
        run(
            "--kind",
            "vectors",
            "--dataset",
            "cats",
            "--texts",
            "messages",
            "--source-system",
            "Human",
            "--min-count",
            "1",
            "--lowercase",
            "no",
            "--json",
        )
    )

    assert (document["state"], document["texts"], document["kept_apart"]) == ("done", 1, 40)
    assert document["options"]["lowercase"] is False
    assert document["reference"].startswith("sha256:")


def test_it_trains_on_a_corpus(world: World, settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    indexed_corpus(world.project)

    assert "2-grams" in run("--kind", "language_model", "--corpus", "pool", "--order", "2")


def test_it_trains_on_a_file(world: World, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("the cat sat\nthe dog saw it\n")

    assert "2  Texts trained on" in run("--kind", "lsa", "--from-file", str(path), "--components", "2")


def test_it_registers_a_model_and_finds_it_the_same(world: World, tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("cat 1 0\ndog 0 1\n")

    run("--kind", "vectors", "--register", str(path))
    first = TrainedModel.objects.get()
    run("--kind", "vectors", "--register", str(folder_of(first)))

    assert set(TrainedModel.objects.values_list("version", "digest")) == {(1, first.digest), (2, first.digest)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "lsa", "--dataset", "gone"], "--dataset: found 'gone'; accepted: cats."),
        (["--kind", "lsa", "--corpus", "gone"], "--corpus: found 'gone'; accepted: none is there yet."),
        (["--kind", "lsa", "--from-file", "/gone"], "--from-file: found no /gone; accepted: a file that can be read."),
        (["--kind", "lsa", "--register", "/gone"], "path: found no /gone; accepted"),
        (["--kind", "lsa", "--dataset", "cats", "--order", "2"], "order: no option of kind 'lsa'; accepted"),
        (["--kind", "sentence", "--dataset", "cats"], "kind: found 'sentence'; accepted: lsa"),
        (["--kind", "lsa", "--dataset", "cats", "--source-system", "Human"], "Nothing to train on: 40 texts"),
        (
            ["--kind", "lsa", "--dataset", "cats", "--texts", "responses"],
            "--texts: found responses of a data set; accepted",
        ),
    ],
)
def test_errors_are_reported(world: World, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as refused:
        run(*arguments)

    assert str(refused.value).startswith(message)


def test_it_is_for_managers(world: World, viewer) -> None:
    with pytest.raises(CommandError, match="a manager or owner"):
        run("--kind", "lsa", "--dataset", "cats", "--user", "vera-viewer")


def test_it_learns_from_a_campaigns_ratings_and_says_how_well_it_predicts(world: World) -> None:
    kind = ["--kind", QualityEstimator.kind, "--estimator", "ridge", "--source", "text"]
    text = run(*kind, "--campaign", "Output ratings", "--criterion", "relevance", "--cross-validate")

    model = TrainedModel.objects.get()
    assert model.source["criteria"] == ["relevance"]
    assert f"{model.report['rated_outputs']}  Rated outputs" in text
    assert "WARNING: Outputs here that it has seen" in text
    assert f"Cross-validated, folds by inputs: r {model.report['cross_validation']['pearson']:.3f}" in text
    with pytest.raises(CommandError, match="--campaign: found 'Nothing'; accepted: "):
        run(*kind, "--campaign", "Nothing")
