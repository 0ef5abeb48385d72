"""How often intervals hold the truth, and tests reject a true null, on simulated data; the table is in docs/methods.md.

python -m benchmarks coverage --write

Everything that pages, downloads, the API or commands show as an interval or a p-value is a case here.
"""

from __future__ import annotations

import os
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage import agreement, campaign, rater, scores, studies, systems, weights
from benchmarks.coverage.case import Case

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "methods.md"
HEADINGS = {
    "shown": "Shown",
    "function": "From",
    "setting": "Simulated",
    "share": "Held, or rejected",
    "claims": "Shown as",
}
CASES: tuple[Case, ...] = tuple(
    case for module in (weights, agreement, rater, campaign, systems, scores, studies) for case in module.CASES
)
# Fields that look like an interval's and are none: ends of a scale or range, what a class of results holds
# in general, and quantiles of simulated campaigns, which dry runs call by that name.
NO_INTERVALS = {
    "Ladder.low",
    "Parameter.low",
    "WeighedResponse.low",
    "Intervals.low",
    "Coefficient.no_interval",
    "DurationForecast.hours_low",
    "DurationForecast.raters_low",
    "DurationForecast.screens_low",
    "CostForecast.total_low",
}


def run() -> list[dict[str, Any]]:
    places = [(i, j) for i, case in enumerate(CASES) for j in range(len(case.settings))]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        shares = dict(zip(places, pool.map(measured, places), strict=True))
    rows = []
    for (i, j), share in shares.items():
        case, setting = CASES[i], CASES[i].settings[j]
        print(f"  {case.shown}, {setting.label}: {share:.1f}", file=sys.stderr)
        heads = {"shown": case.shown, "function": f"`{case.function}`", "claims": case.claims} if j == 0 else {}
        rows.append({**heads, "setting": setting.label, "share": f"{share:.1f} %"})
    return rows


def measured(place: tuple[int, int]) -> float:
    """Return the percentage of a setting's intervals that hold the truth, or of its tests that reject."""
    case = CASES[place[0]]
    setting = case.settings[place[1]]
    rng = np.random.default_rng(zlib.crc32(f"{case.shown}, {setting.label}".encode()))
    hits = np.concatenate([np.atleast_1d(setting.trial(rng)) for _ in range(setting.trials)])
    return 100 * float(np.nanmean(hits))
