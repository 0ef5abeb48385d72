"""A release's weights compared with those of other schemes for the same judgements."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from annotation.models import FiguresPart, Release
from annotation.rating.selectors.ratings import BoolArray, FloatArray, IntArray
from annotation.references.weighing.selectors.columns import judged, release_columns
from annotation.references.weighing.selectors.stored import StoredStatistics
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.sensitivity import Alternative, Movement, alternatives, movement
from annotation.weighting.standing import is_best


class Variant(NamedTuple):
    """Weights that no scheme makes."""

    label: str
    about: str
    is_charted: bool = False


VARIANTS = {
    "shrunken": Variant(
        "Raw, noise removed",
        "the mean rating, shrunk to the overall mean as far as single ratings are noise",
        is_charted=True,
    ),
    "no_negatives": Variant("Negatives dropped", "this release's weights without those below 0"),
    "ones": Variant("All weights 1", "every reference counts the same, as in BLEU with several references"),
}
VARIANT_PARAMETERS = {"icc1": "ICC(1) of single ratings"}
CHANGES = {
    "sign": "References whose sign turns",
    "zero": "References that move to or from 0",
    "best": "Items whose best reference changes",
    "lost": "Items that lose their last positive weight",
    "gained": "Items that gain a positive weight",
    "gone": "References left without a weight",
}
OF_ITEMS = ("best", "lost", "gained")  # the others count references


def _count(mask: str) -> property:
    """Return a property that counts the references or items in a mask of ``Movement``."""
    return property(lambda comparison: int(getattr(comparison.moved, mask).sum()))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Another scheme compared with the release's weights."""

    name: str
    label: str
    about: str
    parameters: str
    is_own: bool  # the release's own scheme, with the same parameters
    moved: Movement

    @property
    def is_scheme(self) -> bool:
        return self.name in SCHEMES

    @property
    def is_charted(self) -> bool:
        return (self.is_scheme or VARIANTS[self.name].is_charted) and not self.reason

    @property
    def weights(self) -> FloatArray:
        return self.moved.alternative.weights

    @property
    def reason(self) -> str:
        """Return why the scheme has no weights; empty if it has."""
        return self.moved.alternative.reason

    @property
    def any_reason(self) -> str:
        """Return why the scheme has no weights or no rank correlation."""
        return self.reason or self.moved.rank_reason

    n_reversed = _count("reversed_sign")
    n_to_or_from_zero = _count("to_or_from_zero")
    n_best_changed = _count("best_changed")
    n_lost = _count("lost_positive")
    n_gained = _count("gained_positive")


def comparisons(release: Release, *, here: bool = False) -> list[Comparison]:
    """Compare every scheme and variant with the release; imported weights only with variants of themselves.

    A caller that can wait computes them ``here``; for others those of a large release are computed by a worker.
    """
    movements = SENSITIVITY.compute(release) if here else SENSITIVITY.of(release)
    return [_comparison(release, moved) for moved in movements]


def _compute(release: Release) -> list[Movement]:
    columns, evidence = release_columns(release), judged(release)
    table, low, high = (None, np.nan, np.nan) if evidence is None else (evidence.table, evidence.low, evidence.high)
    others = alternatives(table, low, high, columns.weight)
    return [movement(columns.weight, other, columns.item, columns.n_items) for other in others]


def _as_tree(movements: list[Movement]) -> list[dict[str, Any]]:
    return [{**vars(moved), "alternative": dict(vars(moved.alternative))} for moved in movements]


def _from_tree(tree: list[dict[str, Any]]) -> list[Movement]:
    return [Movement(**{**fields, "alternative": Alternative(**fields["alternative"])}) for fields in tree]


SENSITIVITY = StoredStatistics(FiguresPart.SENSITIVITY, _compute, _as_tree, _from_tree)


def _comparison(release: Release, moved: Movement) -> Comparison:
    name, parameters = moved.alternative.name, moved.alternative.parameters
    scheme = SCHEMES.get(name)
    words = {parameter.name: parameter.words for parameter in scheme.parameters} if scheme else VARIANT_PARAMETERS
    listed = ", ".join(f"{words[key]} {value:.3g}" for key, value in parameters.items())
    chosen = {key: value for key, value in release.parameters.items() if key in parameters}
    is_own = name == release.method and chosen == dict(parameters)
    kind = scheme or VARIANTS[name]
    return Comparison(name, kind.label, kind.about, listed, is_own, moved)


def changed(release: Release, chosen: Comparison, what: str) -> IntArray:
    """Return the indices, in the release's columns, of the references that a list of changes shows.

    For an item whose best references change, these are the best on either side; for an item that loses or gains its
    positive weights, the positive ones on either side.
    """
    columns, moved, other = release_columns(release), chosen.moved, chosen.weights
    item = columns.item
    positive = (columns.weight > 0) | (np.nan_to_num(other) > 0)
    best = is_best(columns.weight, item, columns.n_items) | is_best(other, item, columns.n_items)
    masks: dict[str, BoolArray] = {
        "sign": moved.reversed_sign,
        "zero": moved.to_or_from_zero,
        "best": moved.best_changed[item] & best,
        "lost": moved.lost_positive[item] & positive,
        "gained": moved.gained_positive[item] & positive,
        "gone": np.isfinite(columns.weight) & ~np.isfinite(other),
    }
    return np.flatnonzero(masks[what])


def count_changed(release: Release, chosen: Comparison, what: str) -> int:
    """Count what a list of changes is named after: items, or references."""
    changes = changed(release, chosen, what)
    return len(np.unique(release_columns(release).item[changes])) if what in OF_ITEMS else len(changes)


SCHEME_COLUMNS = {
    "scheme": "name",
    "parameters": "moved.alternative.parameters",
    "is_own": "is_own",
    "compared": "moved.n_compared",
    "without_weight": "moved.n_gone",
    "mean_change": "moved.mean_change",
    "max_change": "moved.max_change",
    "rank_correlation": "moved.rank_correlation",
    "signs_turned": "n_reversed",
    "to_or_from_zero": "n_to_or_from_zero",
    "items_best_changed": "n_best_changed",
    "items_lost_positive": "n_lost",
    "items_gained_positive": "n_gained",
    "items_tied": "moved.n_tied",
    "reason": "any_reason",
}
