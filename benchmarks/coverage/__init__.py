"""How often intervals hold the truth, and tests reject a true null, on simulated data; the table is in docs/methods.md.

python -m benchmarks coverage --write                 measures every row
python -m benchmarks coverage --write --rows Drift    those with this word, and those that the table lacks

Everything that pages, downloads, the API or commands show as an interval or a p-value is a case here.
"""

from __future__ import annotations

import math
import os
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage import (
    agreement,
    campaign,
    left_out,
    pooled,
    ranges,
    rater,
    scores,
    significance,
    studies,
    systems,
    weights,
    worth,
)
from benchmarks.coverage.case import Case

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "methods.md"
HEADINGS = {
    "shown": "Shown",
    "function": "From",
    "setting": "Simulated",
    "share": "Held, or rejected",
    "claims": "Shown as",
}
MODULES = (
    weights,
    agreement,
    rater,
    campaign,
    systems,
    scores,
    studies,
    ranges,
    significance,
    left_out,
    worth,
    pooled,
)
CASES: tuple[Case, ...] = tuple(case for module in MODULES for case in module.CASES)
# Fields that look like an interval's and are none: ends of a scale or range, what a class of results holds
# in general, and quantiles of simulated campaigns, which dry runs call by that name.
NO_INTERVALS = {
    "Ladder.low",
    "Parameter.low",
    "QualityOptions.low",
    "RatingScale.low",
    "Reweighing.low",
    "WeighedResponse.low",
    "Intervals.low",
    "Coefficient.no_interval",
    "DurationForecast.hours_low",
    "DurationForecast.raters_low",
    "DurationForecast.screens_low",
    "CostForecast.total_low",
}


def run(only: str = "") -> list[dict[str, Any]]:
    """Measure the rows whose name has these words; the others stay as the document has them."""
    shares = {} if not only else written()
    places = [(i, j) for i, case in enumerate(CASES) for j in range(len(case.settings))]
    due = [place for place in places if only.lower() in CASES[place[0]].shown.lower() or named(place) not in shares]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for place, share in zip(due, pool.map(measured, due), strict=True):
            shares[named(place)] = share
            print(f"  {', '.join(named(place))}: {share}", file=sys.stderr)
    return [
        {
            **({"shown": case.shown, "function": f"`{case.function}`"} if j == 0 else {}),
            "setting": setting.label,
            "share": shares[case.shown, setting.label],
            "claims": setting.claims or case.claims,
        }
        for case in CASES
        for j, setting in enumerate(case.settings)
    ]


def named(place: tuple[int, int]) -> tuple[str, str]:
    case = CASES[place[0]]
    return case.shown, case.settings[place[1]].label


def written() -> dict[tuple[str, str], str]:
    """Return the shares that the document's table has, by what is shown and what was simulated."""
    shares, shown = {}, ""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == len(HEADINGS) and cells[3].endswith("%"):
            shown = cells[0] or shown
            shares[shown, cells[2]] = cells[3]
    return shares


def measured(place: tuple[int, int]) -> str:
    """Return the percentage of a setting's intervals that hold the truth, or of its tests that reject.

    Beside it stands what chance may add or take: 1.96 standard errors over the trials.
    """
    case = CASES[place[0]]
    setting = case.settings[place[1]]
    rng = np.random.default_rng(zlib.crc32(", ".join(named(place)).encode()))
    hits = [np.atleast_1d(setting.trial(rng)) for _ in range(setting.trials)]
    share = 100 * float(np.nanmean(np.concatenate(hits)))
    of_trials = np.array([100 * np.nanmean(each) for each in hits if not np.isnan(each).all()])
    return f"{share:.1f} ± {1.96 * of_trials.std() / math.sqrt(len(of_trials)):.1f} %"
