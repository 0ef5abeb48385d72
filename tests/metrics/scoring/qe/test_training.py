"""Training: the same seed gives the same model, a stopped one goes on as if it had not been, the best pass is kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics.scoring.models.store import ModelStore
from metrics.scoring.qe import learning, network, pair
from metrics.scoring.qe.checkpoints import read_checkpoint, write_checkpoint
from metrics.scoring.qe.coefficients import pearson, spearman
from metrics.scoring.qe.instances import Instance, pair_key
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.pair import PairedLearner
from metrics.scoring.qe.splits import development_split, kept_together
from metrics.scoring.qe.steps import Step
from metrics.scoring.qe.training import train
from tests.metrics.scoring.qe.made import made_instances

INSTANCES = made_instances(80)
SOURCES, OUTPUTS = [each.source for each in INSTANCES], [each.output for each in INSTANCES]
RATINGS = np.array([each.rating for each in INSTANCES])
# By texts: what the made outputs are read as are a dozen inputs, too few to choose by.
SMALL = QualityOptions(
    embedding=8, batch=20, passes=6, synthetic_passes=2, learning_rate=0.01, dropout=0.2, plan="S2", folds="texts"
)
RIDGE = QualityOptions(estimator="ridge", folds="texts")


def test_ridge_predicts_ratings_on_their_scale_and_knows_what_it_has_seen(tmp_path: Path) -> None:
    steps: list[Step] = []
    model = train(INSTANCES, RIDGE, progress=steps.append)

    values = model.predict(SOURCES, OUTPUTS)
    assert pearson(model.predict(SOURCES, OUTPUTS, rounded=False), RATINGS) > 0.9
    assert set(values * 2) <= set(range(4, 13))  # 2 to 6 by halves, as the ratings
    assert [step.share for step in steps] == [1]
    # What it reads counts: another place in the same words is seen, a source that is no dialogue act is not.
    here, there = "inform(name='here',food=thai,area=soma)", "inform(name='there',food=french,area=soma)"
    text, acts = "{} serves {} food in soma.", [here, there, there, "how is it ?", "inform(name='here')"]
    outputs = [text.format("Here", "Thai"), text.format("THERE", "French"), "there is bad .", "it is good", "good"]
    known = train([replace(each, source=here, output=f"here {at}") for at, each in enumerate(INSTANCES)], RIDGE)
    assert not known.has_seen(acts, outputs).any()
    assert known.has_seen_sources(acts).tolist() == [True, True, True, False, False]
    learnt = train([replace(INSTANCES[0], source=here, output=outputs[0]), *INSTANCES], RIDGE)
    assert learnt.has_seen(acts, outputs).tolist() == [True, True, False, False, False]
    reference = ModelStore([tmp_path]).add(model)
    loaded: QualityEstimator = ModelStore([tmp_path]).load("quality", reference)
    assert loaded.predict(SOURCES, OUTPUTS).tolist() == values.tolist()
    assert loaded.has_seen(SOURCES, OUTPUTS).all()
    assert loaded.digest == model.digest
    assert loaded.facts == model.facts
    assert loaded.facts["training"] + loaded.facts["development"] == 80
    assert model.predict([], []).size == 0


def test_a_model_of_the_earlier_layout_knows_texts_and_keeps_its_hash(tmp_path: Path) -> None:
    keys = b"".join(sorted({pair_key(each.source, each.output) for each in INSTANCES}))
    model = replace(train(INSTANCES, RIDGE), layout=1, seen=np.frombuffer(keys, dtype="<u8"))
    loaded: QualityEstimator = ModelStore([tmp_path]).load("quality", ModelStore([tmp_path]).add(model))
    header = json.loads(next(tmp_path.glob("quality-*/model.json")).read_text())
    assert "folds" not in header["options"]
    assert (loaded.layout, loaded.options.folds) == (1, "texts")
    assert loaded.has_seen([SOURCES[0], SOURCES[0]], [f" {OUTPUTS[0].upper()}", "other"]).tolist() == [True, False]
    assert not loaded.has_seen_sources(SOURCES).any()


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        ([Instance("hello()", "hi")], r"instances\[0\]: found rating nan; accepted: a finite number"),
        ([Instance("hello()", "hi", 3.0)] * 4, "fewer than 2 distinct"),
        ([Instance("hello()", "hi", 3.0), Instance("hello()", "ho", 3.0)], "ratings: found 3 alone"),
        ([Instance("well", "hi", 3.0), Instance("hello()", "ho", 4.0)], "found 'well'; accepted: a dialogue act"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused_in_words(instances: list[Instance], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(instances, RIDGE)


def test_without_pytorch_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"PyTorch is not installed.*download.pytorch.org/whl/cpu; or the estimator"):
        train(INSTANCES, SMALL)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"dropout: found 1\.5; accepted: a number from 0 to 0\.95"):
        QualityOptions(dropout=1.5)
    with pytest.raises(ValueError, match="high: found 1; accepted: a number above low, 2"):
        QualityOptions(low=2.0, high=1.0)


def test_an_unreadable_or_foreign_checkpoint_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    assert read_checkpoint(path, "a") is None
    write_checkpoint(path, {"identity": "a"}, {"x": np.arange(3)})
    assert read_checkpoint(path, "b") is None
    header, arrays = read_checkpoint(path, "a") or ({}, {})
    assert (header, arrays["x"].tolist()) == ({"identity": "a"}, [0, 1, 2])
    path.write_bytes(path.read_bytes()[:40])
    assert read_checkpoint(path, "a") is None
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def trained(options: QualityOptions, **arguments: object) -> QualityEstimator:
    pytest.importorskip("torch")
    return train(INSTANCES, options, **arguments)


def test_a_training_that_was_stopped_ends_with_the_same_model(tmp_path: Path) -> None:
    checkpoint, steps = tmp_path / "run.npz", []

    def stop_at(number: int) -> None:
        def report(step: Step) -> None:
            steps.append(step.done)
            if step.done == number:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            trained(SMALL, progress=report, checkpoint=checkpoint)

    # In the first stage, at its end, in the second, and at the last pass.
    for number in (1, 2, 5, 8):
        stop_at(number)
    resumed = trained(SMALL, checkpoint=checkpoint)

    assert steps == [1, 2, 3, 4, 5, 6, 7, 8]
    assert resumed.digest == trained(SMALL).digest
    assert resumed.digest != trained(replace(SMALL, seed=2), checkpoint=checkpoint).digest


def test_a_training_that_was_stopped_within_a_pass_loses_that_pass_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "BEAT", 0.0)
    monkeypatch.setattr(learning, "WRITE_EVERY", 0.0)
    steps: list[Step] = []

    def report(step: Step) -> None:
        steps.append(step)
        if [each.done for each in steps[-3:]] == [3, 3, 3]:  # the end of the third pass, and twice within the fourth
            raise InterruptedError

    with pytest.raises(InterruptedError):
        trained(SMALL, progress=report, checkpoint=tmp_path / "run.npz")
    assert [step.point and step.point.number for step in steps if step.done in (0, 3)][-4:] == [None, 3, 3, 3]
    assert trained(SMALL, checkpoint=tmp_path / "run.npz").digest == trained(SMALL).digest


def test_two_processes_train_the_same_model_and_go_on_from_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[PairedLearner] = []

    def paired(*arguments: Any) -> PairedLearner:
        if not started:
            started.append(PairedLearner(*arguments))
        return started[0]

    monkeypatch.setattr(learning, "PairedLearner", paired)
    monkeypatch.setattr(learning, "processes_here", lambda: 2)
    whole = trained(SMALL, processes=2).digest
    assert not started  # it takes longer to start than the training
    monkeypatch.setattr(pair, "WORTH", 0)
    monkeypatch.setattr(learning, "BEAT", 3600.0)  # on a busy machine a pass takes long enough for reports within it
    steps: list[int] = []

    def stop(step: Step) -> None:
        steps.append(step.done)
        if len(steps) == 5:
            raise InterruptedError

    with monkeypatch.context() as left_open:
        left_open.setattr(PairedLearner, "close", lambda self: None)
        with pytest.raises(InterruptedError):
            trained(SMALL, processes=2, checkpoint=tmp_path / "run.npz", progress=stop)
    resumed = trained(SMALL, processes=2, checkpoint=tmp_path / "run.npz", progress=stop)

    assert steps == [1, 2, 3, 4, 5, 6, 7, 8]
    assert resumed.digest == whole
    with pytest.raises(ChildProcessError, match="has ended; started again, the training goes on"):
        started[0].made_pass(9, "rated")


def test_the_best_pass_is_kept_by_both_coefficients_on_the_development_part() -> None:
    model = trained(SMALL)
    curve = [dict(zip(("number", "stage", "loss", "r", "rho"), point, strict=True)) for point in model.about["curve"]]
    assert [point["stage"] for point in curve] == ["synthetic"] * 2 + ["rated"] * 6
    best = max(curve, key=lambda point: point["r"] + point["rho"])
    assert model.about["best_pass"] == best["number"]
    # The stored parameters are those of that pass.
    chosen = development_split(kept_together(INSTANCES, SMALL), 0.25, 1).development
    raw = model.predict([SOURCES[at] for at in chosen], [OUTPUTS[at] for at in chosen], rounded=False)
    assert pearson(raw, RATINGS[chosen]) == pytest.approx(best["r"], abs=1e-6)
    assert spearman(raw, RATINGS[chosen]) == pytest.approx(best["rho"], abs=1e-6)
    assert best["r"] > 0.5


def test_training_ends_after_so_many_passes_without_improvement() -> None:
    model = trained(replace(SMALL, passes=200, patience=3))
    assert model.about["passes"] == max(model.about["best_pass"], 2) + 3


@pytest.mark.parametrize(
    "changes",
    [
        {"cell": "lstm", "layers": 2},
        {"encoders": "shared"},
        {"combination": "apart", "tanh_layers": 0},
        {"rank_weight": 1.0, "plan": "S1"},
        {"source": "text", "plan": "S1", "precision": "bfloat16"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_variant_learns(changes: dict[str, object], tmp_path: Path) -> None:
    model = trained(replace(SMALL, passes=3, **changes))
    assert pearson(model.predict(SOURCES, OUTPUTS, rounded=False), RATINGS) > 0.4
    model.save(tmp_path / "model")
    assert QualityEstimator.load(tmp_path / "model").digest == model.digest
