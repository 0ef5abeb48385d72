"""Score runs, what raters say of the same systems, and the trained models that some metrics read."""

from metrics.models.runs import RunGroup, RunOrigin, ScoreRun, ScoreShard, ShardStep, SystemRatings, SystemScore
from metrics.models.trained import TrainedModel

__all__ = [
    "RunGroup",
    "RunOrigin",
    "ScoreRun",
    "ScoreShard",
    "ShardStep",
    "SystemRatings",
    "SystemScore",
    "TrainedModel",
]
