"""Every instance is predicted once for each seed, by a model that was trained without it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.qe import cross_validation
from metrics.scoring.qe.coefficients import errors, pearson, spearman
from metrics.scoring.qe.cross_validation import CrossValidated, cross_tested, cross_validated, fold_splits
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.parallel import run_ahead
from metrics.scoring.qe.plans import WrittenText
from metrics.scoring.qe.splits import Split
from metrics.scoring.qe.steps import Step
from metrics.scoring.qe.training import train
from tests.metrics.scoring.qe.made import made_instances

INSTANCES = made_instances(90)
RATINGS = np.array([each.rating for each in INSTANCES])
# By texts: what the made outputs are read as are a dozen inputs, too few to learn from in folds.
RIDGE = QualityOptions(estimator="ridge", folds="texts")
TINY = QualityOptions(folds="texts", embedding=4, passes=2, synthetic_passes=1, learning_rate=0.01)


def assert_same(first: CrossValidated, second: CrossValidated) -> None:
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.raw, second.raw)


def test_predictions_are_pooled_over_folds() -> None:
    result = cross_validated(INSTANCES, RIDGE, seeds=(1, 2))
    assert result.values.shape == result.raw.shape == (2, 90)
    assert np.isfinite(result.values).all()
    assert pearson(result.raw[0], RATINGS) > 0.8
    splits = fold_splits(INSTANCES, RIDGE, 5)
    for fold, split in enumerate(splits):
        assert (result.fold[split.tested] == fold).all()
        assert result.constant[split.tested] == pytest.approx(RATINGS[split.training].mean())
    model = train(INSTANCES, replace(RIDGE, seed=1), split=splits[2])
    tested = [INSTANCES[at] for at in splits[2].tested]
    alone = model.predict([each.source for each in tested], [each.output for each in tested])
    assert alone.tolist() == result.values[0, splits[2].tested].tolist()
    # Other texts, yet read alike; not so if folds keep inputs together.
    assert model.has_seen([each.source for each in tested], [each.output for each in tested]).all()
    assert result.read_before > 80
    assert cross_validated(INSTANCES, replace(RIDGE, folds="inputs"), seeds=(1,)).read_before == 0


def test_finished_runs_are_read_back_and_a_stopped_one_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    whole = cross_validated(INSTANCES, TINY, folds=3, seeds=(1,))
    steps: list[Step] = []

    def stop(step: Step) -> None:
        steps.append(step)
        if (step.run, step.done) == (2, 1):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        cross_validated(INSTANCES, TINY, folds=3, seeds=(1,), progress=stop, checkpoint=tmp_path)
    again: list[tuple[int, int]] = []
    resumed = cross_validated(
        INSTANCES,
        TINY,
        folds=3,
        seeds=(1,),
        progress=lambda step: again.append((step.run, step.done)),
        checkpoint=tmp_path,
    )

    assert [(step.run, step.done) for step in steps] == [(1, 1), (1, 2), (2, 1)]
    assert again == [(1, 1), (2, 2), (3, 1), (3, 2)]
    assert steps[-1].share == pytest.approx((1 + 1 / 2) / 3)
    assert_same(resumed, whole)
    monkeypatch.setattr(cross_validation, "train", None)  # nothing is trained a third time
    assert_same(cross_validated(INSTANCES, TINY, folds=3, seeds=(1,), checkpoint=tmp_path), whole)


def test_runs_at_once_have_the_results_of_runs_in_turn(tmp_path: Path) -> None:
    splits = fold_splits(INSTANCES, RIDGE, 3)
    reports: list[tuple[int, int]] = []
    run_ahead(INSTANCES, RIDGE, splits, (1,), tmp_path, jobs=2, progress=lambda *done: reports.append(done))
    assert reports == [(1, 3), (2, 3), (3, 3)]
    assert len(list(tmp_path.glob("seed-1-fold-*-done.npz"))) == 3
    ahead = cross_validated(INSTANCES, RIDGE, folds=3, seeds=(1,), checkpoint=tmp_path)
    assert_same(ahead, cross_validated(INSTANCES, RIDGE, folds=3, seeds=(1,)))


@pytest.mark.parametrize("plan", ["C1", "C2", "C3"])
def test_cross_domain_plans_predict_what_they_test_on(plan: str) -> None:
    instances = [
        replace(each, output=f"{each.output} {number}") for number, each in enumerate(made_instances(600, seed=1))
    ]
    result = cross_tested(instances, RIDGE, plan=plan, field="domain", value="hotels", seeds=(1,))
    tested = np.flatnonzero(result.fold == 0)
    assert len(tested) == 100
    assert {instances[at].domain for at in tested} == {"hotels"}
    assert np.isfinite(result.values[0, tested]).all()
    assert np.isnan(result.values[0, result.fold < 0]).all()


@pytest.mark.parametrize("plan", ["S3", "S4", "S5", "S6"])
def test_plans_with_references_run_on_what_a_user_supplies(plan: str) -> None:
    """Each learns from what it names and no more: another text changes the predictions of the plans that read it."""
    written = [
        WrittenText(each.source, f"{each.references[0]}!", complete)
        for each in INSTANCES[:8]
        for complete in (False, True)
    ]
    options = replace(RIDGE, plan=plan)
    [split] = fold_splits(INSTANCES, RIDGE, 3)[:1]

    def predicted(instances: list[Instance], texts: list[WrittenText]) -> list[float]:
        run = cross_validation.run_split(instances, options, split, texts)
        return run.raw.tolist()

    usual = predicted(INSTANCES, written)
    other = "an unusual text of many words that no output has"
    of_tested = [
        replace(each, references=(other,)) if at in split.tested else each for at, each in enumerate(INSTANCES)
    ]
    changed = {
        "tested": predicted(of_tested, written) != usual,
        "written": predicted(INSTANCES, [replace(each, text=other) if not each.complete else each for each in written])
        != usual,
        "complete": predicted(INSTANCES, [replace(each, text=other) if each.complete else each for each in written])
        != usual,
    }
    number = int(plan[1])
    assert changed == {"tested": number >= 5, "written": number >= 4, "complete": number >= 6}


def test_coefficients_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, 50).astype(float), rng.normal(size=50)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert errors(np.array([1.0, 4.0]), np.array([2.0, 2.0])) == pytest.approx((1.5, np.sqrt(2.5)))
    assert np.isnan([pearson(x, np.ones(50)), spearman(x[:1], y[:1])]).all()


def test_a_split_is_part_of_what_a_finished_run_is(tmp_path: Path) -> None:
    file = tmp_path / "seed-1-fold-0.npz"
    first, second = fold_splits(INSTANCES, RIDGE, 3)[:2]
    runs = [cross_validation.run_split(INSTANCES, RIDGE, split, checkpoint=file) for split in (first, second)]
    assert isinstance(first, Split)
    assert [len(run.raw) for run in runs] == [len(first.tested), len(second.tested)]
    assert runs[0].raw.tolist() != runs[1].raw.tolist()
