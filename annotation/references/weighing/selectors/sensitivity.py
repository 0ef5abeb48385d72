"""A release's weights compared with those of other schemes for the same judgements."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import FiguresPart, Release
from annotation.rating.selectors.ratings import BoolArray, FloatArray, IntArray
from annotation.references.weighing.selectors.columns import judged, release_columns
from annotation.references.weighing.selectors.stored import Figures
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.sensitivity import Alternative, Movement, alternatives, movement
from annotation.weighting.standing import is_best

VARIANTS = {
    "shrunken": (
        "Raw, noise removed",
        "the mean rating, shrunk to the overall mean as far as single ratings are noise",
    ),
    "no_negatives": ("Negatives dropped", "this release's weights without those below 0"),
    "ones": ("All weights 1", "every reference counts the same, as in BLEU with several references"),
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
        return self.is_scheme or self.name == "shrunken"

    @property
    def reason(self) -> str:
        """Return why the scheme has no weights; empty if it has."""
        return self.moved.alternative.reason

    @property
    def n_reversed(self) -> int:
        return int(self.moved.reversed_sign.sum())

    @property
    def n_to_or_from_zero(self) -> int:
        return int(self.moved.to_or_from_zero.sum())

    @property
    def n_best_changed(self) -> int:
        return int(self.moved.best_changed.sum())

    @property
    def n_lost(self) -> int:
        return int(self.moved.lost_positive.sum())

    @property
    def n_gained(self) -> int:
        return int(self.moved.gained_positive.sum())


def comparisons(release: Release) -> list[Comparison]:
    """Compare every scheme and variant with the release; imported weights only with variants of themselves."""
    return [_comparison(release, one) for one in SENSITIVITY.of(release)]


def _compute(release: Release) -> list[Movement]:
    columns, behind = release_columns(release), judged(release)
    table, low, high = (None, np.nan, np.nan) if behind is None else (behind.table, behind.low, behind.high)
    others = alternatives(table, low, high, columns.weight)
    return [movement(columns.weight, other, columns.item, columns.n_items) for other in others]


def _as_tree(moved: list[Movement]) -> list[dict[str, Any]]:
    return [{**vars(one), "alternative": dict(vars(one.alternative))} for one in moved]


def _from_tree(tree: list[dict[str, Any]]) -> list[Movement]:
    return [Movement(**{**one, "alternative": Alternative(**one["alternative"])}) for one in tree]


SENSITIVITY = Figures(FiguresPart.SENSITIVITY, _compute, _as_tree, _from_tree)


def _comparison(release: Release, moved: Movement) -> Comparison:
    name, parameters = moved.alternative.name, moved.alternative.parameters
    scheme = SCHEMES.get(name)
    label, about = (scheme.label, scheme.about) if scheme else VARIANTS[name]
    words = {parameter.name: parameter.words for parameter in scheme.parameters} if scheme else VARIANT_PARAMETERS
    listed = ", ".join(f"{words[key]} {value:.3g}" for key, value in parameters.items())
    chosen = {key: value for key, value in release.parameters.items() if key in parameters}
    return Comparison(name, label, about, listed, name == release.method and chosen == dict(parameters), moved)


def changed(release: Release, chosen: Comparison, what: str) -> IntArray:
    """Return the indices, in the release's columns, of the references that a list of changes shows.

    Of an item whose best changes: those that are best on either side. Of one that loses or gains its positive weights:
    those that are positive on either side.
    """
    columns, moved = release_columns(release), chosen.moved
    other = moved.alternative.weights
    either = (columns.weight > 0) | (np.nan_to_num(other) > 0)
    found: dict[str, BoolArray] = {
        "sign": moved.reversed_sign,
        "zero": moved.to_or_from_zero,
        "best": moved.best_changed[columns.item] & _best_of_either(columns.weight, other, columns.item),
        "lost": moved.lost_positive[columns.item] & either,
        "gained": moved.gained_positive[columns.item] & either,
        "gone": np.isfinite(columns.weight) & ~np.isfinite(other),
    }
    return np.flatnonzero(found[what])


def _best_of_either(own: FloatArray, other: FloatArray, item: IntArray) -> BoolArray:
    n_items = int(item.max(initial=-1)) + 1
    found: BoolArray = is_best(own, item, n_items) | is_best(other, item, n_items)
    return found


SCHEME_COLUMNS = (
    "scheme",
    "parameters",
    "is_own",
    "compared",
    "without_weight",
    "mean_change",
    "max_change",
    "rank_correlation",
    "signs_turned",
    "to_or_from_zero",
    "items_best_changed",
    "items_lost_positive",
    "items_gained_positive",
    "items_tied",
    "reason",
)


def scheme_row(one: Comparison) -> tuple[Any, ...]:
    moved = one.moved
    return (
        one.name,
        dict(moved.alternative.parameters),
        one.is_own,
        moved.n_compared,
        moved.n_gone,
        moved.mean_change,
        moved.max_change,
        moved.rank_correlation,
        one.n_reversed,
        one.n_to_or_from_zero,
        one.n_best_changed,
        one.n_lost,
        one.n_gained,
        moved.n_tied,
        one.reason or moved.rank_reason,
    )
