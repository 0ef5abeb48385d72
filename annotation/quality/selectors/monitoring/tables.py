"""The monitor's tables as downloads: each column with the attribute that fills it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from annotation.quality.selectors.monitoring.statistics import Statistics


@dataclass(frozen=True)
class Table:
    attributes: Mapping[str, str]  # column -> attribute of an entry
    entries: Callable[[Statistics], Iterable[object]]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.attributes)

    def rows(self, statistics: Statistics) -> list[tuple[Any, ...]]:
        row = attrgetter(*self.attributes.values())
        return [row(entry) for entry in self.entries(statistics)]


def _positions(statistics: Statistics) -> Iterable[object]:
    for test in statistics.positions:
        for position, n, mean in test.means:
            yield SimpleNamespace(test=test, position=position, n=n, mean=mean)


def _stretches(statistics: Statistics) -> Iterable[object]:
    for criterion in statistics.criteria:
        for against, test, stretches in (
            ("hours", criterion.by_hours, criterion.over_hours),
            ("screens", criterion.by_place, criterion.over_places),
        ):
            for stretch in stretches:
                yield SimpleNamespace(criterion=criterion.name, against=against, test=test, stretch=stretch)


def _targets(statistics: Statistics) -> Iterable[object]:
    for certainty in statistics.enough:
        for target in certainty.targets:
            yield SimpleNamespace(certainty=certainty, target=target, needed=target.needed or None)


TABLES = {
    "agreement": Table(
        {
            "criterion": "name",
            "ratings": "n_ratings",
            "cannot_judge": "n_cannot_judge",
            "mean": "mean",
            "responses_with_two_raters": "alpha.n_responses",
            "alpha": "alpha.alpha",
            "alpha_low": "alpha.low",
            "alpha_high": "alpha.high",
            "alpha_level": "alpha.level",
            "alpha_reason": "alpha.reason",
            **{
                name: f"icc.{name}" for name in ("icc_1", "icc_1_low", "icc_1_high", "icc_k", "icc_k_low", "icc_k_high")
            },
            "k": "icc.k",
            "icc_reason": "icc.reason",
            "kappa": "kappa.kappa",
            "kappa_low": "kappa.low",
            "kappa_high": "kappa.high",
            "kappa_pairs": "kappa.n_pairs",
            "kappa_reason": "kappa.reason",
        },
        lambda statistics: statistics.criteria,
    ),
    "places": Table(  # the test concerns the criterion and is repeated in each row of it
        {
            "criterion": "test.criterion",
            "kind": "test.kind",
            "place": "position",
            "ratings": "n",
            "mean": "mean",
            "difference": "test.difference",
            "low": "test.low",
            "high": "test.high",
            "p": "test.pvalue",
            "p_rank": "test.rank_pvalue",
            "n": "test.n",
            "undefined_reason": "test.reason",
        },
        _positions,
    ),
    "drift": Table(
        {
            "criterion": "criterion",
            "against": "against",
            "slope": "test.slope",
            "low": "test.low",
            "high": "test.high",
            "p": "test.pvalue",
            "ratings": "test.n",
            "raters": "test.n_raters",
            "undefined_reason": "test.reason",
            "from": "stretch.start",
            "to": "stretch.end",
            "n": "stretch.n",
            "mean_deviation": "stretch.mean",
            "deviation_low": "stretch.low",
            "deviation_high": "stretch.high",
        },
        _stretches,
    ),
    "enough": Table(
        {
            "weights_of": "certainty.what",
            "scheme": "certainty.scheme",
            "responses": "certainty.n_responses",
            "rated": "certainty.n_rated",
            "half_width_now": "certainty.half_width",
            "half_width_when_all_is_rated": "certainty.at_plan",
            "target": "target.half_width",
            "ratings_per_response": "needed",
            "more_ratings": "target.more",
            "responses_reached": "target.n_reached",
            "undefined_reason": "certainty.reason",
        },
        _targets,
    ),
}
