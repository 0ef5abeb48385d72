"""Who rates what, in which order: decisions on plain values, without a database."""

from annotation.allocation.checks import CHECK_KINDS, check_at, pick_check, pick_repeat, repeat_order
from annotation.allocation.handout import Candidate, next_unit, order_keys, systems_to_avoid
from annotation.allocation.interleaving import interleaved
from annotation.allocation.ordering import draw_order
from annotation.allocation.seeds import derive_seed, permutation
from annotation.allocation.units import (
    MAX_LIST,
    Plan,
    PlannedUnit,
    Source,
    all_pairs,
    plan_lists,
    plan_pairs,
    plan_singles,
)

__all__ = [
    "CHECK_KINDS",
    "MAX_LIST",
    "Candidate",
    "Plan",
    "PlannedUnit",
    "Source",
    "all_pairs",
    "check_at",
    "derive_seed",
    "draw_order",
    "interleaved",
    "next_unit",
    "order_keys",
    "permutation",
    "pick_check",
    "pick_repeat",
    "plan_lists",
    "plan_pairs",
    "plan_singles",
    "repeat_order",
    "systems_to_avoid",
]
