"""Several trainings of a cross-validation at once, each in a process and a thread of its own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from metrics.scoring.qe.cross_validation import checkpoint_file, run_split
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.pair import ONE_THREAD
from metrics.scoring.qe.plans import WrittenText
from metrics.scoring.qe.splits import Split


def run_ahead(
    instances: Sequence[Instance],
    options: QualityOptions,
    splits: Sequence[Split],
    seeds: Sequence[int],
    checkpoint: Path,
    *,
    written: Sequence[WrittenText] = (),
    jobs: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Train and test every seed and fold, and leave the results in the folder that `cross_validated` goes on from.

    ``progress`` is called with how many runs are finished, and of how many.
    """
    runs = [(seed, fold, split) for seed in seeds for fold, split in enumerate(splits)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_use_one_thread) as pool:
        futures = [
            pool.submit(
                run_split,
                instances,
                replace(options, seed=seed),
                split,
                written,
                checkpoint=checkpoint_file(checkpoint, seed, fold),
            )
            for seed, fold, split in runs
        ]
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                future.result()
                if progress is not None:
                    progress(number, len(runs))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _use_one_thread() -> None:
    # Before PyTorch is imported; NumPy is there already, in one thread (metrics.single_thread).
    os.environ.update(ONE_THREAD)
