"""What choosing a value on some items reaches on others: cross-validation over items, repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.parameters import ParameterValue, curves
from correlations.stats.ranks import Bools, Floats, Ints

FOLDS = 10
FEW_FOLDS = 5
ENOUGH = 100  # items, for ten folds
FEWEST = 20  # items, for five


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """A value chosen on all folds but one and judged on that one; means over the folds of all repeats.

    All coefficients but ``on_training`` are over one fold, so that they can be compared with each other.

    Attributes
    ----------
    n_folds, n_repeats : int
    judged : int
        Folds with every coefficient defined, of n_folds * n_repeats.
    shares : (V,) float
        In which share of the judged folds each value was chosen.
    on_training : float
        Coefficient of the chosen value over the items that it was chosen on.
    inside, outside : float
        Coefficient of the chosen value over a fold that it was chosen on, and over the one that it was not.
    fixed : float
        Coefficient of the value in use over the same fold as ``outside``.
    gain : float
        outside - fixed: what choosing is worth on other items.
    gain_range : (float, float)
        The middle 95% of the gain over folds: how much it varies, and no confidence interval, as folds share items.
    """

    n_folds: int
    n_repeats: int
    judged: int
    shares: Floats
    on_training: float
    inside: float
    outside: float
    fixed: float
    gain: float
    gain_range: tuple[float, float]


def fitting_folds(n_items: int) -> int:
    """Return how many folds so many items make: 10, 5 if they are few, 0 if they are too few.

    >>> [fitting_folds(n) for n in (1000, 99, 19)]
    [10, 5, 0]
    """
    return FOLDS if n_items >= ENOUGH else FEW_FOLDS if n_items >= FEWEST else 0


def random_folds(items: ArrayLike, n_folds: int, rng: np.random.Generator) -> Ints:
    """Return for each item the fold that it falls into, -1 for items that are not there; folds differ by one at most.

    Parameters
    ----------
    items : (S,) bool
    n_folds : int
        At least 2.

    Examples
    --------
    >>> folds = random_folds([True, True, False, True, True], 2, np.random.default_rng(1))
    >>> int(folds[2]), np.bincount(folds[folds >= 0]).tolist()
    (-1, [2, 2])
    """
    if n_folds < 2:
        raise ValueError(f"n_folds is {n_folds}: at least 2 are needed")
    there = np.flatnonzero(np.asarray(items, dtype=np.bool_))
    folds = np.full(np.asarray(items).size, -1, dtype=np.int64)
    folds[rng.permutation(there)] = np.arange(there.size) % n_folds
    return folds


def cross_validated_choice(
    values: Sequence[ParameterValue],
    human: ArrayLike,
    outputs: Bools,
    fixed: int,
    *,
    coefficient: str,
    n_folds: int = FOLDS,
    n_repeats: int = 20,
    seed: int,
) -> CrossValidated | None:
    """Choose the best value on all folds of the items but one, and judge it on that one.

    Parameters
    ----------
    values : V values of a parameter
    human : (T, S) float
        Ratings; NaN for an output without a rating.
    outputs : (T, S) bool
        With a rating and a score at every value: see `parameters.usable_outputs`.
    fixed : int
        Index of the value in use, which was chosen beforehand.
    coefficient : str
        A key of `COEFFICIENTS`; over systems.
    n_folds, n_repeats : int
        Items are divided into folds anew for each repeat.
    seed : int

    Returns
    -------
    CrossValidated or None
        None if in no fold every coefficient is defined.

    Raises
    ------
    ValueError
        If the coefficient is unknown, or there are fewer than 2 folds or 1 repeat.

    References
    ----------
    Stone, "Cross-validatory choice and assessment of statistical predictions", JRSS B 1974: the choice itself is
    within what is validated. Bengio and Grandvalet, "No unbiased estimator of the variance of k-fold cross-validation",
    JMLR 2004: why the range over folds is no confidence interval.
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient is {coefficient!r}: accepted are {', '.join(COEFFICIENTS)}")
    if n_repeats < 1:
        raise ValueError(f"n_repeats is {n_repeats}: at least 1 is needed")
    items, rng = outputs.any(axis=0), np.random.default_rng(seed)
    folds = np.stack([random_folds(items, n_folds, rng) for _ in range(n_repeats)])
    held_out = (folds[:, None, :] == np.arange(n_folds)[:, None]).reshape(n_repeats * n_folds, -1)
    weights = np.concatenate([held_out, items & ~held_out]).astype(np.float64)
    both = curves(values, human, outputs, weights, coefficients=[coefficient]).system[coefficient]
    on_fold, on_rest = (side.reshape(n_repeats, n_folds, -1) for side in np.split(both, 2))
    defined: Bools = np.asarray(np.isfinite(on_rest).all(axis=2) & np.isfinite(on_fold).all(axis=2))
    if not defined.any():
        return None
    chosen = np.where(defined, np.nan_to_num(on_rest, nan=-math.inf).argmax(axis=2), 0)
    # (repeats, folds, folds): the value chosen without one fold, over each of the folds.
    everywhere = np.take_along_axis(on_fold[:, None], chosen[:, :, None, None], axis=3)[..., 0]
    outside = np.diagonal(everywhere, axis1=1, axis2=2)[defined]
    others = np.asarray(defined[:, None] & defined[:, :, None] & (np.eye(n_folds) == 0))
    inside = everywhere[others]
    gain = outside - on_fold[..., fixed][defined]
    low, high = np.quantile(gain, (0.025, 0.975))
    return CrossValidated(
        n_folds=n_folds,
        n_repeats=n_repeats,
        judged=int(defined.sum()),
        shares=np.bincount(chosen[defined], minlength=len(values)) / defined.sum(),
        on_training=float(np.take_along_axis(on_rest, chosen[..., None], axis=2)[..., 0][defined].mean()),
        inside=float(inside.mean()) if inside.size else math.nan,
        outside=float(outside.mean()),
        fixed=float(on_fold[..., fixed][defined].mean()),
        gain=float(gain.mean()),
        gain_range=(float(low), float(high)),
    )
