"""Score runs, and the trained models that some metrics read."""

from metrics.models.runs import ScoreRun, ScoreShard, ShardStep, SystemScore
from metrics.models.trained import TrainedModel

__all__ = ["ScoreRun", "ScoreShard", "ShardStep", "SystemScore", "TrainedModel"]
