"""The bootstrap over sampled units: what its shards are drawn from, written without code and read again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correlations.selectors.inputs import FloatArray, IntArray
from correlations.services.inputs import Turned
from correlations.stats.resampling import BootstrapShards, RaterRatings
from correlations.stats.units import StudyMetric, UnitSampling
from metrics.scoring.aggregates import Aggregate, aggregate_from

RATINGS = ("rater", "system", "segment", "value")


@dataclass(frozen=True, eq=False)
class UnitDraws:
    """What `study_bootstrap` takes; the sampling's seed is a number."""

    metrics: Sequence[StudyMetric]
    human: FloatArray
    pairs: IntArray
    sampling: UnitSampling
    raters: RaterRatings | None
    n_replicates: int

    def shards(self) -> BootstrapShards:
        return BootstrapShards(self.metrics, self.human, self.pairs, self.sampling, self.raters)

    def written(self) -> dict[str, Any]:
        """Return arrays and names for `read_unit_draws`. Rows that share an array hold its number."""
        arrays = {id(metric.statistics): metric.statistics for metric in self.metrics}
        place = {each: index for index, each in enumerate(arrays)}
        sampling = {name: getattr(self.sampling, name) for name in ("seed", "unit_size", "remainder", "orientation")}
        return {
            "statistics": list(arrays.values()),
            "metrics": [
                {
                    "name": metric.name,
                    "statistics": place[id(metric.statistics)],
                    **_aggregate(metric),
                    "valid": metric.valid,
                }
                for metric in self.metrics
            ],
            "human": self.human,
            "pairs": self.pairs,
            "sampling": {**sampling, "coefficients": list(self.sampling.coefficients)},
            "raters": self.raters and {name: getattr(self.raters, name) for name in RATINGS},
        }


def read_unit_draws(tree: Mapping[str, Any]) -> BootstrapShards:
    """Return what draws the shards."""
    metrics = [
        StudyMetric(
            each["name"],
            tree["statistics"][each["statistics"]],
            Turned(aggregate_from(each["aggregate"]), each["sign"]),
            each["valid"],
        )
        for each in tree["metrics"]
    ]
    raters = tree["raters"] and RaterRatings(*(np.asarray(tree["raters"][name]) for name in RATINGS))
    return BootstrapShards(metrics, tree["human"], tree["pairs"], UnitSampling(**tree["sampling"]), raters)


def _aggregate(metric: StudyMetric) -> dict[str, Any]:
    """Return a row's aggregate, and whether its scores are turned."""
    turned = metric.aggregate if isinstance(metric.aggregate, Turned) else None
    aggregate = turned.aggregate if turned else metric.aggregate
    if not isinstance(aggregate, Aggregate):
        raise TypeError(f"{metric.name}: found {type(aggregate).__name__}; only an aggregate can be written")
    return {"aggregate": aggregate.parameters(), "sign": turned.sign if turned else 1.0}
