"""Draw anew the systems and the raters on which each row's correlation over systems rests."""

import math
from dataclasses import dataclass, replace

import numpy as np

from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from correlations.selectors.inputs import BoolArray, FloatArray
from correlations.services.draws import Report, RowOutputs, row_outputs
from correlations.services.progress import part_of
from correlations.stats.system_draws import SystemDraws, system_draws
from correlations.stats.system_intervals import reach_over_raters

ONE_RATER = "all ratings are by one rater: there are no others to draw"
NO_RATING = "no rated output counts"


@dataclass(frozen=True)
class RowDraws:
    """A row's draws, None if none were requested, and why no raters are among them."""

    draws: SystemDraws | None
    n_raters: int
    raters_reason: str
    reach: float = math.nan  # see `reach_over_raters`

    def systems(self, key: str) -> FloatArray | None:
        return None if self.draws is None else self.draws.over_systems[key]

    def raters(self, key: str) -> FloatArray | None:
        return None if self.draws is None or self.draws.over_raters is None else self.draws.over_raters[key]

    def all_three(self, key: str) -> FloatArray | None:
        drawn = None if self.draws is None else self.draws.over_items_systems_and_raters
        return None if drawn is None else drawn[key]


def study_system_draws(rows: RowOutputs, report: Report) -> list[RowDraws]:
    """Return each row's draws. Rows of the same outputs share them."""
    groups: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for index, row in enumerate(rows.inputs.rows):
        outputs = row_outputs(rows.inputs, row)
        groups.setdefault(outputs.tobytes(), (outputs, []))[1].append(index)
    found: dict[int, RowDraws] = {}
    for place, (outputs, indices) in enumerate(groups.values()):
        drawn = _group_draws(rows, indices, outputs, part_of(report, place, len(groups)))
        found |= dict(zip(indices, drawn, strict=True))
    return [found[index] for index in range(len(rows.values))]


def _group_draws(rows: RowOutputs, indices: list[int], outputs: BoolArray, report: Report) -> list[RowDraws]:
    inputs, spec = rows.inputs, rows.inputs.specification
    human = inputs.human.counted(outputs)
    reason = _raters_reason(inputs.human.raters_known, human.n_raters)
    raters = None if reason else human.raters
    nothing = RowDraws(
        None,
        human.n_raters if inputs.human.raters_known else 0,
        reason,
        math.nan if raters is None else reach_over_raters(raters),
    )
    if spec.bootstrap < 2 or not outputs.any():
        return [nothing] * len(indices)
    drawn = system_draws(
        [rows.values[index] for index in indices],
        np.asarray(human.mean),
        outputs,
        raters=raters,
        seed=spec.seed,
        n_draws=spec.bootstrap,
        report=report,
    )
    return [replace(nothing, draws=each) for each in drawn]


def _raters_reason(known: bool, n_raters: int) -> str:
    if not known:
        return UNKNOWN_RATERS
    if n_raters < 2:
        return ONE_RATER if n_raters else NO_RATING
    return ""
