"""Which instances a model learns from, which choose its best pass, and which it is tested on.

What the option ``folds`` keeps together is never divided: instances that the model reads alike, or equal texts.

References
----------
Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017, sections 3.1
and 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.scoring.arrays import Bools, Ints
from metrics.scoring.qe.inputs import encoded_pairs
from metrics.scoring.qe.instances import Instance, group_indices
from metrics.scoring.qe.options import TEXTS, QualityOptions
from metrics.scoring.texts import check_choice, check_whole

FIELDS = ("domain", "system")
CROSS_PLANS = ("C1", "C2", "C3")


@dataclass(frozen=True, eq=False)
class Split:
    """Indices of the instances to learn from, to choose the best pass by, and to test on."""

    training: Ints
    development: Ints
    tested: Ints


def kept_together(instances: Sequence[Instance], options: QualityOptions) -> Ints:
    """Return the group (n,) of each instance, from 0; a group is never divided.

    Examples
    --------
    >>> cats = [Instance("inform(food=Thai)", "It is Thai."), Instance("inform(food=French)", "It is French.")]
    >>> [kept_together(cats, QualityOptions(folds=folds)).tolist() for folds in ("inputs", "texts")]
    [[0, 0], [0, 1]]
    """
    sources, outputs = [each.source for each in instances], [each.output for each in instances]
    if options.folds == TEXTS:
        return group_indices(zip(sources, outputs, strict=True))
    return group_indices(encoded_pairs(sources, outputs, options))


def fold_numbers(groups: Ints, folds: int, seed: int) -> Ints:
    """Return the fold (n,) of each instance, from 0; folds are about equally large, groups are not divided.

    Raises
    ------
    ValueError
        Fewer than three folds, or fewer groups than folds.
    """
    check_whole("folds", folds, 3, 1000)
    n_groups = int(groups.max()) + 1 if groups.size else 0
    if n_groups < folds:
        raise ValueError(f"instances: found {n_groups} distinct; accepted: {folds} or more, one for each fold")
    return _parts(groups, folds, np.random.default_rng([seed, folds]))


def fold_split(numbers: Ints, fold: int) -> Split:
    """Return the split that tests on one fold: the next one is for development, the others are for training."""
    development = (fold + 1) % (int(numbers.max()) + 1)
    is_training = (numbers != fold) & (numbers != development)
    return Split(np.flatnonzero(is_training), np.flatnonzero(numbers == development), np.flatnonzero(numbers == fold))


def development_split(groups: Ints, share: float, seed: int) -> Split:
    """Return the split of a model that is tested on nothing; ``share`` of the instances are for development.

    Raises
    ------
    ValueError
        Fewer than two groups.
    """
    if groups.size == 0 or groups.max() == 0:
        raise ValueError("instances: found fewer than 2 distinct; accepted: one to learn from, one to choose by")
    is_development = _taken(groups, max(1, round(share * len(groups))), np.random.default_rng([seed, 1]))
    nothing = np.array([], dtype=np.int64)
    return Split(np.flatnonzero(~is_development), np.flatnonzero(is_development), nothing)


def cross_split(
    instances: Sequence[Instance], groups: Ints, plan: str, field: str, value: str, *, taken: int = 200, seed: int = 0
) -> Split:
    """Return a split that tests on one domain or on one system.

    ``taken`` instances of it are set aside, half of them for development. C1 learns from these alone; C2 learns from,
    and chooses by, the other domains or systems; C3 learns from the others and from those set aside. All three are
    tested on the same instances.

    Parameters
    ----------
    groups : (n,) int
        Of the instances; see `kept_together`.
    plan : {"C1", "C2", "C3"}
    field : {"domain", "system"}
    value : str
        The domain or system to test on.

    Raises
    ------
    ValueError
        An unknown plan or field, or too few instances inside or outside.
    """
    check_choice("plan", plan, CROSS_PLANS)
    check_choice("field", field, FIELDS)
    is_inside = np.array([getattr(each, field) == value for each in instances], dtype=np.bool_)
    if is_inside.sum() <= taken or is_inside.all():
        raise ValueError(
            f"{field}: found {int(is_inside.sum()):,} of {len(instances):,} instances with {value!r}; accepted: more "
            f"than {taken:,}, and others"
        )
    rng = np.random.default_rng([seed, 2])
    aside = _within(groups, is_inside, taken, rng)
    chosen = _within(groups, aside, taken // 2, rng)
    # A group that occurs inside and outside is tested inside, so it is not learnt from outside.
    outside = ~is_inside & ~np.isin(groups, groups[is_inside])
    outside_development = _within(groups, outside, round(outside.sum() / 4), rng)
    training, development = {
        "C1": (aside & ~chosen, chosen),
        "C2": (outside & ~outside_development, outside_development),
        "C3": (outside | (aside & ~chosen), chosen),
    }[plan]
    return Split(np.flatnonzero(training), np.flatnonzero(development), np.flatnonzero(is_inside & ~aside))


def _parts(groups: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Return the part (n,) of each instance: groups in random order, the instances cut into parts of equal size."""
    order = rng.permutation(int(groups.max()) + 1)
    sizes = np.bincount(groups)[order]
    # A group goes where its middle lies.
    middles = np.cumsum(sizes) - sizes / 2
    of_group = np.empty(len(order), dtype=np.int64)
    of_group[order] = np.minimum((middles * count / len(groups)).astype(np.int64), count - 1)
    return np.asarray(of_group[groups])


def _taken(groups: Ints, count: int, rng: np.random.Generator) -> Bools:
    """Return which instances are in the first groups, in random order, that hold ``count`` instances or just more.

    At least one group is not taken.
    """
    present, compact = np.unique(groups, return_inverse=True)
    order = rng.permutation(len(present))
    sizes = np.bincount(compact)[order]
    n_groups = min(int(np.searchsorted(np.cumsum(sizes), count)) + 1, len(present) - 1)
    return np.isin(compact, order[:n_groups])


def _within(groups: Ints, inside: Bools, count: int, rng: np.random.Generator) -> Bools:
    """Return `_taken` of the instances inside."""
    result = np.zeros(len(groups), dtype=np.bool_)
    result[inside] = _taken(groups[inside], count, rng)
    return result
