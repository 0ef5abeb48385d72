"""Who rates what, in which order: decisions on plain values, without a database."""

from annotation.allocation.checks import CHECK_KINDS, check_at, checks_among, pick_check, pick_repeat, repeat_order
from annotation.allocation.degrade import OPERATIONS as DEGRADE_OPERATIONS
from annotation.allocation.degrade import Degraded, degrade, replaced_words
from annotation.allocation.handout import Candidate, next_unit, order_keys, systems_to_avoid
from annotation.allocation.interleaving import interleaved
from annotation.allocation.leases import adaptive_lease
from annotation.allocation.ordering import draw_order
from annotation.allocation.seeds import derive_seed, permutation
from annotation.allocation.splits import assign_splits, draws, split_sizes
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
    "DEGRADE_OPERATIONS",
    "MAX_LIST",
    "Candidate",
    "Degraded",
    "Plan",
    "PlannedUnit",
    "Source",
    "adaptive_lease",
    "all_pairs",
    "assign_splits",
    "check_at",
    "checks_among",
    "degrade",
    "derive_seed",
    "draw_order",
    "draws",
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
    "replaced_words",
    "split_sizes",
    "systems_to_avoid",
]
