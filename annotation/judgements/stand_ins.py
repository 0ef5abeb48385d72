"""Stand-in raters for campaigns of which only medians or means were imported.

Weights and coefficients can be computed from these. What needs the raters themselves cannot, and says so.
"""

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.models import RaterIdentity
from annotation.weighting.result import WeightResult

REASON = "only medians or means were imported: their raters are not known"


def by_stand_ins(rater_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which of these raters are stand-ins."""
    distinct = np.unique(rater_ids).tolist()
    stand_ins = RaterIdentity.objects.filter(provider=RaterIdentity.AGGREGATE, rater__in=distinct)
    return np.isin(rater_ids, list(stand_ins.values_list("rater_id", flat=True)))


def without_intervals(result: WeightResult, responses: npt.NDArray[np.int64]) -> WeightResult:
    """Return the same weights, without error and interval for these responses, and with the reason."""
    if not responses.size:
        return result
    unknown = np.isin(np.arange(len(result.weights)), responses) & np.isfinite(result.weights)
    blank: dict[str, Any] = {
        name: np.where(unknown, np.nan, getattr(result, name)) for name in ("standard_error", "low", "high")
    }
    return dataclasses.replace(result, reasons=np.where(unknown, REASON, result.reasons), **blank)
