"""Evidence beside weights: spread and histogram of the judgements. It follows from them, so it is not hashed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.models import Campaign, Release
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.weighting.evidence import Bins, Evidence, histogram_bins


def release_bins(release: Release, campaigns: Sequence[Campaign], low: float, high: float) -> Bins:
    """Return the bins of a release's histograms: of equal width if any criterion was answered on a slider."""
    criteria = campaign_criteria(campaigns, release.parameters.get("criteria"))
    return histogram_bins(low, high, has_points=all(criterion.scale.has_points for criterion in criteria))


def reported_bins(bins: Bins) -> dict[str, Any]:
    """Return the bins as a release's report describes them."""
    return {"histogram": {"kind": bins.kind, "labels": list(bins.labels)}}


def evidence_columns(evidence: Evidence, index: int) -> tuple[float | None, list[int]]:
    """Return the columns ``rating_spread`` and ``histogram`` of one response."""
    spread = float(evidence.spread[index])
    return (spread if np.isfinite(spread) else None), evidence.counts[index].tolist()
