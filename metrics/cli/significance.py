"""Intervals and paired tests of scores from files, as sacrebleu's options name them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.cli.cache import Scores
from metrics.cli.errors import CommandError
from metrics.cli.files import Inputs
from metrics.scoring.paired_tests import (
    LEVEL,
    RESAMPLES,
    TRIALS,
    paired_bootstrap_p,
    randomization_p,
    resampled_scores,
    systems_agree,
)
from metrics.scoring.resampling import FEW_SEGMENTS, REPEATED, SEED, Interval, percentile_interval

BOOTSTRAP, RANDOMIZATION = "paired-bs", "paired-ar"
NAMES = {BOOTSTRAP: "paired bootstrap test", RANDOMIZATION: "paired approximate randomization test"}


@dataclass(frozen=True)
class Design:
    """What is computed besides scores: a test against the first system, intervals, or both.

    Attributes
    ----------
    test : str
        `BOOTSTRAP`, `RANDOMIZATION`, or empty.
    trials : int
        Of the randomization test.
    resamples : int
        Of the intervals and of the bootstrap test; 0 without either.
    seed : int
    """

    test: str
    trials: int
    resamples: int
    seed: int

    def as_json(self, baseline: str) -> dict[str, object]:
        written: dict[str, object] = {"seed": self.seed}
        if self.resamples:
            written["resamples"] = self.resamples
        if self.test:
            written |= {"test": self.test, "baseline": baseline}
        return written | ({"trials": self.trials} if self.test == RANDOMIZATION else {})


@dataclass(frozen=True)
class Tested:
    """What resamples say about one system's score.

    Attributes
    ----------
    interval : Interval or None
        None if it was not requested.
    p_value : float or None
        Against the first system; None for that system, or without a test.
    reason : str
        Why something is undefined; empty if nothing is.
    agrees : bool
        Whether the system has the statistics of the first on every segment.
    """

    interval: Interval | None = None
    p_value: float | None = None
    reason: str = ""
    agrees: bool = False

    @property
    def half_width(self) -> float:
        """Return half the interval's width, sacrebleu's ``ci``."""
        return (self.interval.high - self.interval.low) / 2 if self.interval else math.nan

    @property
    def differs(self) -> bool:
        return self.p_value is not None and self.p_value < LEVEL and not self.agrees


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add sacrebleu's options, by its names."""
    options = parser.add_argument_group(
        "intervals and paired tests", "with sacrebleu's draws; metrics whose scores sum"
    )
    tests = options.add_mutually_exclusive_group()
    tests.add_argument("--paired-bs", action="store_true", help="bootstrap test of each system against the first")
    tests.add_argument("--paired-ar", action="store_true", help="the same by approximate randomization")
    options.add_argument("--paired-bs-n", type=int, metavar="N", help=f"resamples of the test ({RESAMPLES:,})")
    options.add_argument("--paired-ar-n", type=int, metavar="N", help=f"trials of the test ({TRIALS:,})")
    options.add_argument("--confidence", action="store_true", help="95%% intervals (--paired-bs has them)")
    options.add_argument("--confidence-n", type=int, metavar="N", help=f"resamples of the intervals ({RESAMPLES:,})")
    options.add_argument("--seed", type=int, metavar="N", help=f"of all draws ({SEED}, as sacrebleu's)")


def design_from(options: argparse.Namespace) -> Design | None:
    """Read the options; None if neither a test nor intervals are requested."""
    requested = {
        "--paired-bs-n": ("--paired-bs", options.paired_bs, options.paired_bs_n, RESAMPLES),
        "--paired-ar-n": ("--paired-ar", options.paired_ar, options.paired_ar_n, TRIALS),
        "--confidence-n": ("--confidence", options.confidence, options.confidence_n, RESAMPLES),
    }
    numbers = {}
    for name, (parent, is_on, number, usual) in requested.items():
        if number is not None and not is_on:
            raise CommandError(f"{name}: found without {parent}; accepted: together with it")
        if number is not None and number < 1:
            raise CommandError(f"{name}: found {number}; accepted: 1 or more")
        numbers[parent] = 0 if not is_on else usual if number is None else number
    bootstrap, trials, confidence = (numbers[parent] for parent in ("--paired-bs", "--paired-ar", "--confidence"))
    if bootstrap and confidence and options.confidence_n is not None:
        raise CommandError("--confidence-n: found beside --paired-bs; accepted: --paired-bs-n, for test and intervals")
    if options.seed is not None and not (bootstrap or trials or confidence):
        raise CommandError("--seed: found without a test; accepted: with --paired-bs, --paired-ar or --confidence")
    seed = SEED if options.seed is None else options.seed
    if seed < 0:
        raise CommandError(f"--seed: found {seed}; accepted: 0 or more")
    if not (bootstrap or trials or confidence):
        return None
    return Design(BOOTSTRAP if bootstrap else RANDOMIZATION if trials else "", trials, bootstrap or confidence, seed)


def check_systems(design: Design, systems: Sequence[str]) -> None:
    """Refuse a test of one system."""
    if design.test and len(systems) == 1:
        raise CommandError(
            f"--{design.test}: found one system, {systems[0]}; accepted: two or more after --systems, "
            "each compared with the first"
        )


def tested(inputs: Inputs, scores: Scores, design: Design) -> list[Tested]:
    """Return intervals and tests of all systems by one metric."""
    names = inputs.names
    packed, aggregate = scores.packed, scores.aggregate
    if packed is None or aggregate is None:
        return [Tested(reason=REPEATED) for _ in names]
    results = []
    replicates = None
    if design.resamples:
        replicates = resampled_scores(packed, aggregate, resamples=design.resamples, seed=design.seed)
    for system in range(len(names)):
        interval = None if replicates is None else percentile_interval(replicates[:, system])
        p_value = None
        if design.test and system:
            if replicates is not None and design.test == BOOTSTRAP:
                difference = float(scores.systems[system] - scores.systems[0])
                p_value = paired_bootstrap_p(difference, replicates[:, system], replicates[:, 0])
            else:
                pair = packed[0], packed[system]
                p_value = randomization_p(*pair, aggregate, trials=design.trials, seed=design.seed)
        results.append(
            Tested(interval, p_value, _reason(interval, p_value), bool(system) and systems_agree(*packed[[0, system]]))
        )
    return results


def _reason(interval: Interval | None, p_value: float | None) -> str:
    if interval is not None and interval.reason:
        return interval.reason
    if p_value is not None and np.isnan(p_value):
        return "a resample of one of the two systems has no score"
    return ""


def explained(design: Design, baseline: str, n_segments: int) -> list[str]:
    """Return lines that say how to read the numbers."""
    lines = []
    if design.resamples:
        lines.append(
            f"In brackets: mean of {design.resamples:,} resamples and half the width of their 95% interval; "
            f"seed {design.seed}."
        )
    if design.test:
        draws = f"{design.resamples:,} resamples" if design.test == BOOTSTRAP else f"{design.trials:,} trials"
        lines.append(f"p: {NAMES[design.test]} against {baseline}, {draws}, seed {design.seed}; * below {LEVEL}.")
        if design.test == BOOTSTRAP and n_segments < FEW_SEGMENTS:
            lines.append(f"Only {n_segments:,} segments: so few understate how scores spread, and p is too small.")
    return lines
