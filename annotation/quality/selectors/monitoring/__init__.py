"""How a campaign is going. Counts are of this moment; figures are kept until an answer or a decision arrives.

Figures of few ratings are computed when they are asked for; those of many by a worker, and pages say as of when.
"""

from annotation.quality.selectors.monitoring.certainty import TARGETS
from annotation.quality.selectors.monitoring.figures import CriterionFigures, Figures, compute_figures, spent
from annotation.quality.selectors.monitoring.live import (
    SYNCHRONOUS,
    Monitor,
    campaign_figures,
    campaign_monitor,
    is_large,
    waiting_for_figures,
)
from annotation.quality.selectors.monitoring.stored import plain
from annotation.quality.selectors.monitoring.tables import (
    AGREEMENT_COLUMNS,
    DRIFT_COLUMNS,
    ENOUGH_COLUMNS,
    POSITION_COLUMNS,
    agreement_rows,
    drift_rows,
    enough_rows,
    position_rows,
)

__all__ = [
    "AGREEMENT_COLUMNS",
    "DRIFT_COLUMNS",
    "ENOUGH_COLUMNS",
    "POSITION_COLUMNS",
    "SYNCHRONOUS",
    "TARGETS",
    "CriterionFigures",
    "Figures",
    "Monitor",
    "agreement_rows",
    "campaign_figures",
    "campaign_monitor",
    "compute_figures",
    "drift_rows",
    "enough_rows",
    "is_large",
    "plain",
    "position_rows",
    "spent",
    "waiting_for_figures",
]
