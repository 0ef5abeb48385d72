"""Why a system's score is exactly 0."""

from metrics.models import ScoreRun, SystemScore
from metrics.scoring.aggregates import MeanAggregate, aggregate_from
from metrics.selectors.runs import run_metric


def zero_reason(score: SystemScore, run: ScoreRun) -> str:
    """Return why the score is 0; empty if it is not 0, or if the stored counts do not say why."""
    metric = run_metric(run)
    if score.score != 0 or metric is None:
        return ""
    if score.clamped_orders:
        order = score.clamped_orders[0]
        weight = (score.details.get("numerators") or [0.0] * order)[order - 1]
        if weight < 0:
            return f"matched {order}-grams weigh less than 0 in all, which counts as 0"
        return f"no {order}-gram match has a weight" if metric.needs_weights else f"no {order}-gram matches"
    aggregate = run.report.get("aggregate")
    if metric.low == 0 and aggregate and isinstance(aggregate_from(aggregate), MeanAggregate):
        return "every item scores 0"
    return ""
