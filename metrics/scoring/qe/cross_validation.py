"""Predictions of each instance by models that were trained without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from metrics.scoring import VERSION
from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.qe.checkpoints import read_checkpoint, write_checkpoint
from metrics.scoring.qe.instances import Instance, instances_digest, ratings_of
from metrics.scoring.qe.options import INPUTS, QualityOptions
from metrics.scoring.qe.plans import WrittenText
from metrics.scoring.qe.splits import Split, cross_split, fold_numbers, fold_split, kept_together
from metrics.scoring.qe.steps import Progress, Step
from metrics.scoring.qe.training import options_text, train

FOLDS = 5
SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Predictions for n instances, by k seeds; each by the model that was tested on the instance's fold.

    Attributes
    ----------
    values : (k, n) float
        Rounded to the precision of the ratings and clipped to their range.
    raw : (k, n) float
        As predicted.
    constant : (n,) float
        The mean rating of the instances that the fold's models learnt from: a baseline, not rounded.
    fold : (n,) int
        From 0.
    seeds : (k,) int
    about : k lists of dicts, one for each fold
        What `QualityEstimator.about` says of each model.
    read_before : int
        How many tested instances read as one that the fold's models learnt from: none if folds keep inputs together.
    """

    values: Floats
    raw: Floats
    constant: Floats
    fold: Ints
    seeds: tuple[int, ...]
    about: Sequence[Sequence[dict[str, Any]]]
    read_before: int


def cross_validated(
    instances: Sequence[Instance],
    options: QualityOptions,
    *,
    folds: int = FOLDS,
    seeds: Sequence[int] = SEEDS,
    fold_seed: int = 0,
    written: Sequence[WrittenText] = (),
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    processes: int = 1,
) -> CrossValidated:
    """Train a model for each seed and fold, and predict each instance by the model that was tested on its fold.

    One fold is for tests, the next for development, the others for training. All folds of a seed come before the next
    seed; the folds are the same for every seed.

    Parameters
    ----------
    instances, options, written
        As `train` takes them; ``seeds`` take the place of the options' seed.
    folds : int
    seeds : sequence of int
    fold_seed : int
        How instances are dealt to folds.
    progress : callable, optional
        Called with a `Step` after each pass and every few seconds within one; what it raises ends the work.
    checkpoint : Path, optional
        A folder to go on from: finished runs, and the state of the last.
    processes : {1, 2}
        Of each training, as `train` takes it.
    """
    splits = fold_splits(instances, options, folds, fold_seed)
    return _predicted(instances, options, splits, seeds, written, progress, checkpoint, processes)


def cross_tested(
    instances: Sequence[Instance],
    options: QualityOptions,
    *,
    plan: str,
    field: str,
    value: str,
    seeds: Sequence[int] = SEEDS,
    written: Sequence[WrittenText] = (),
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    processes: int = 1,
) -> CrossValidated:
    """Train a model for each seed by a plan C1 to C3 (see `cross_split`), and predict the instances it tests on.

    What is not tested is NaN, in fold -1.
    """
    splits = [cross_split(instances, kept_together(instances, options), plan, field, value)]
    return _predicted(instances, options, splits, seeds, written, progress, checkpoint, processes)


def _predicted(
    instances: Sequence[Instance],
    options: QualityOptions,
    splits: Sequence[Split],
    seeds: Sequence[int],
    written: Sequence[WrittenText],
    progress: Progress | None,
    checkpoint: Path | None,
    processes: int,
) -> CrossValidated:
    ratings, n = ratings_of(instances), len(instances)
    values, raw = np.full((2, len(seeds), n), np.nan)
    constant, numbers = np.full(n, np.nan), np.full(n, -1)
    about: list[list[dict[str, Any]]] = []
    for fold, split in enumerate(splits):
        constant[split.tested], numbers[split.tested] = ratings[split.training].mean(), fold
    for seed_index, seed in enumerate(seeds):
        of_seed = []
        for fold, split in enumerate(splits):
            run_number = seed_index * len(splits) + fold + 1
            report = progress and _within(progress, run_number, len(splits) * len(seeds), fold, seed)
            file = checkpoint and checkpoint_file(checkpoint, seed, fold)
            run = run_split(instances, replace(options, seed=seed), split, written, report, file, processes)
            values[seed_index, split.tested], raw[seed_index, split.tested] = run.values, run.raw
            of_seed.append({"seed": seed, "fold": fold, **run.about})
        about.append(of_seed)
    return CrossValidated(values, raw, constant, numbers, tuple(seeds), about, _read_before(instances, options, splits))


def _read_before(instances: Sequence[Instance], options: QualityOptions, splits: Sequence[Split]) -> int:
    groups = kept_together(instances, replace(options, folds=INPUTS))
    return sum(int(np.isin(groups[split.tested], groups[split.training]).sum()) for split in splits)


def fold_splits(instances: Sequence[Instance], options: QualityOptions, folds: int, fold_seed: int = 0) -> list[Split]:
    """Return the split of each fold."""
    numbers = fold_numbers(kept_together(instances, options), folds, fold_seed)
    return [fold_split(numbers, fold) for fold in range(folds)]


def checkpoint_file(folder: Path, seed: int, fold: int) -> Path:
    """Return the file of a run in a folder of checkpoints."""
    return Path(folder) / f"seed-{seed}-fold-{fold}.npz"


@dataclass(frozen=True, eq=False)
class SplitRun:
    """Predictions (n,) of the tested part of a split, in its order, and what is known of the model."""

    values: Floats
    raw: Floats
    about: dict[str, Any]


def run_split(
    instances: Sequence[Instance],
    options: QualityOptions,
    split: Split,
    written: Sequence[WrittenText] = (),
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    processes: int = 1,
) -> SplitRun:
    """Train on a split and predict its tested part; with a checkpoint, a run that was finished is read from it."""
    identity = _identity(instances, options, split, written)
    done = checkpoint.with_name(f"{checkpoint.stem}-done.npz") if checkpoint else None
    stored = read_checkpoint(done, identity) if done else None
    if stored is not None:
        header, arrays = stored
        if progress is not None:
            progress(Step(1, 1, seed=options.seed))
        return SplitRun(arrays["values"], arrays["raw"], header["about"])
    model = train(
        instances,
        options,
        split=split,
        written=written,
        progress=progress,
        checkpoint=checkpoint,
        processes=processes,
    )
    chosen = [instances[at] for at in split.tested]
    raw = model.predict([each.source for each in chosen], [each.output for each in chosen], rounded=False)
    run = SplitRun(model.scale.rounded(raw), raw, dict(model.about))
    if checkpoint is not None and done is not None:
        write_checkpoint(done, {"identity": identity, "about": run.about}, {"values": run.values, "raw": raw})
        checkpoint.unlink(missing_ok=True)
    return run


def _within(progress: Progress, run: int, runs: int, fold: int, seed: int) -> Progress:
    return lambda step: progress(replace(step, run=run, runs=runs, fold=fold, seed=seed))


def _identity(
    instances: Sequence[Instance], options: QualityOptions, split: Split, written: Sequence[WrittenText]
) -> str:
    total = sha256(options_text(options).encode())
    total.update(f"{VERSION} {instances_digest(instances)} {list(written)!r}".encode())
    for part in (split.training, split.development, split.tested):
        total.update(part.astype("<i8").tobytes())
        total.update(b"|")
    return total.hexdigest()
