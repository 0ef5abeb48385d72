"""One metric on a few texts."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.scoring.metric import Metric, MetricStatistics, Workspace
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text


def scored(
    metric: Metric,
    hypotheses: Sequence[Text],
    references: Sequence[Sequence[Text]] | None = None,
    sources: Sequence[Text] | None = None,
    mask: Sequence[bool] | None = None,
) -> MetricStatistics:
    """Statistics of one system; without references each segment has none."""
    segments = Segments([hypotheses], [[]] * len(hypotheses) if references is None else references, sources)
    return Workspace(segments, [metric]).statistics(metric, reference_mask=mask)
