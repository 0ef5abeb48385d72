"""Ridge regression for all strengths at once.

References
----------
Hoerl and Kennard: Ridge regression. Technometrics 12, 1970; in the dual form of Saunders, Gammerman and Vovk, ICML
1998, if there are fewer rows than columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lsqr

from metrics.scoring.arrays import Floats

STRENGTHS: tuple[float, ...] = tuple(float(each) for each in np.logspace(-1, 3, 17))
_NOISE = 1e-10  # of the largest eigenvalue: rounding
_LARGEST_EXACT = 3000  # rows or columns
_TOLERANCE = 1e-8


def ridge(rows: csr_array, targets: Floats, strengths: Sequence[float] = STRENGTHS) -> tuple[Floats, Floats]:
    """Return weights (k, d) and intercepts (k,), one for each strength; intercepts are not penalised.

    Parameters
    ----------
    rows : (n, d) sparse
    targets : (n,) float
    strengths : k positive floats
        Each multiplies the sum of squared weights, which is added to the sum of squared errors.

    Examples
    --------
    >>> weights, intercepts = ridge(csr_array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 3.0]), [2.0])
    >>> weights.tolist(), intercepts.tolist()
    ([[0.5]], [1.5])
    """
    n, d = rows.shape
    means, mean = np.asarray(rows.sum(axis=0)).ravel() / n, float(targets.mean())
    solve = _exactly if min(n, d) <= _LARGEST_EXACT else _step_by_step
    weights = solve(rows, means, targets - mean, np.asarray(strengths, dtype=np.float64))
    return weights, np.asarray(mean - weights @ means)


def _exactly(rows: csr_array, means: Floats, centred: Floats, strengths: Floats) -> Floats:
    """Return the weights (k, d) from one decomposition."""
    n, d = rows.shape
    if n > d:
        gram = np.asarray((rows.T @ rows).toarray(), dtype=np.float64) - n * np.outer(means, means)
        values, vectors = _eigen(gram)
        return np.asarray(((vectors.T @ (rows.T @ centred)) / (values[None] + strengths[:, None])) @ vectors.T)
    gram = np.asarray((rows @ rows.T).toarray(), dtype=np.float64)
    # Of rows less their mean: the matrix of products is centred twice.
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    values, vectors = _eigen(gram)
    dual = ((vectors.T @ centred) / (values[None] + strengths[:, None])) @ vectors.T
    return np.asarray((rows.T @ dual.T).T - dual.sum(axis=1)[:, None] * means)


def _step_by_step(rows: csr_array, means: Floats, centred: Floats, strengths: Floats) -> Floats:
    """Return the weights (k, d) by LSQR (Paige and Saunders 1982), one strength after the other."""
    operator = LinearOperator(
        rows.shape,
        matvec=lambda weights: rows @ weights - means @ weights,
        rmatvec=lambda errors: rows.T @ errors - errors.sum() * means,
        dtype=np.float64,
    )
    solved = [lsqr(operator, centred, damp=math.sqrt(each), atol=_TOLERANCE, btol=_TOLERANCE)[0] for each in strengths]
    return np.array(solved)


def _eigen(gram: Floats) -> tuple[Floats, Floats]:
    values, vectors = eigh(gram)
    values[values < _NOISE * max(float(values[-1]), 0.0)] = 0.0
    return values, vectors
