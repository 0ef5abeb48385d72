"""What raters say of systems: means or strengths with intervals, ranks, differences, and the sentence on top."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Criterion
from annotation.ranking import bradley_terry, bradley_terry_certainty, clusters, rank_ranges, standardised, system_means
from annotation.ranking.bradley_terry import BradleyTerry, Certainty
from annotation.ranking.family import ALPHA
from annotation.ranking.standardised import furthest_mean
from annotation.rating.selectors.duplicates import Groups, as_one
from annotation.rating.selectors.outputs import comparisons
from annotation.rating.selectors.ratings import campaign_criteria, scale_groups
from annotation.results.selectors.counted import CountedRatings, LeftOut, counted_ratings
from annotation.results.selectors.met import SEED, Met, codes, met_in_pairs, shown_ties
from annotation.results.selectors.sentences import verdict_sentence

FORMAT = 4  # of what is stored
ENOUGH_RATERS = 5  # with fewer, how much raters differ is known roughly
ROUNDED = 1e-9  # what is nearer to 0 is 0 but for rounding
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SystemVerdict:
    """A system on a criterion. ``estimate`` is its mean rating, or its strength; ``share`` is of comparisons won.

    Of two texts that were rated on one screen, the one with the higher rating won. ``standardised`` is the mean of
    ratings in standard deviations of their rater. NaN is undefined; no raters are raters who are not known.
    """

    name: str
    estimate: float
    low: float
    high: float
    first_rank: int
    last_rank: int
    cluster: int
    ratings: int
    raters: int
    items: int
    standardised: float = nan
    standardised_low: float = nan
    standardised_high: float = nan
    share: float = nan
    share_low: float = nan
    share_high: float = nan
    wins: int = 0
    ties: int = 0
    losses: int = 0
    identical: float = 0.0  # ties of identical texts, which no rater saw; weighed as in the share
    values: list[tuple[float, int]] = field(default_factory=list)  # how often each value was given
    same: list[str] = field(default_factory=list)  # systems of these outputs, if they are several

    @property
    def names(self) -> list[str]:
        """Return the systems that this is."""
        return self.same or [self.name]

    @property
    def shown_ties(self) -> str:
        return shown_ties(self.ties, self.identical)

    @property
    def ranks(self) -> str:
        return str(self.first_rank) if self.first_rank == self.last_rank else f"{self.first_rank}–{self.last_rank}"


@dataclass(frozen=True)
class PairVerdict:
    """Two systems on a criterion, the better first.

    ``p`` is over raters and items, not corrected, and ``adjusted`` by Holm over all pairs. The interval is corrected,
    too: it holds 0 if and only if ``adjusted`` is above 0.05. ``single_low`` and ``single_high``
    are of the interval without the correction. ``permutation`` and ``wilcoxon`` are over items alone.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    items: int
    permutation: float = nan
    wilcoxon: float = nan
    wins: int = 0  # of the first, in comparisons that raters made
    ties: int = 0
    losses: int = 0
    identical: float = 0.0  # ties of identical texts, which no rater saw; weighed as in the share
    single_low: float = nan
    single_high: float = nan

    @property
    def shown_ties(self) -> str:
        return shown_ties(self.ties, self.identical)

    @property
    def is_certain(self) -> bool:
        """Return whether new samples of raters and items should show it again."""
        return self.adjusted <= ALPHA

    @property
    def is_compared(self) -> bool:
        """Return whether there is a difference: means need an item that both have, strengths a way through others."""
        return not isnan(self.difference)

    @property
    def is_equal(self) -> bool:
        """Return whether both have the same ratings on each item, as systems with identical outputs have."""
        return max(abs(self.difference), abs(self.low), abs(self.high)) < ROUNDED


@dataclass(frozen=True)
class CriterionVerdict:
    """All systems on a criterion, best first, and all pairs, furthest apart first.

    ``reason`` says why strengths are undefined, ``parts`` which systems can be compared then.
    """

    criterion: str
    question: str
    kind: str
    ranked: str
    of_means: str
    sentence: str
    systems: list[SystemVerdict]
    pairs: list[PairVerdict]
    reason: str = ""
    parts: list[list[str]] = field(default_factory=list)
    tie: float = nan
    order: float = nan
    order_low: float = nan
    order_high: float = nan
    identical: int = 0
    by_turn: bool = False  # each output has the mean of its turns' ratings
    raters: int = 0  # who rated it; 0 if they are not known one by one
    scale_low: float = nan  # ends of the scale of means; NaN without ends
    scale_high: float = nan

    @property
    def is_rough(self) -> bool:
        """Return whether too few raters rated to know well how far raters differ."""
        return 0 < self.raters < ENOUGH_RATERS

    @property
    def by_means(self) -> bool:
        return self.ranked == "means"

    @property
    def by_pairs(self) -> bool:
        """Return whether raters saw two texts at a time, so that there are comparisons won, tied and lost."""
        return any(not isnan(each.share) for each in self.systems)

    @property
    def n_compared(self) -> int:
        return sum(pair.is_compared for pair in self.pairs)

    def pair(self, first: str, second: str) -> PairVerdict | None:
        return next((pair for pair in self.pairs if {pair.first, pair.second} == {first, second}), None)


@dataclass(frozen=True)
class Results:
    """The verdict of some campaigns' raters, by criterion."""

    criteria: list[CriterionVerdict]
    left_out: LeftOut
    ratings: int
    raters: int
    items: int
    raters_known: bool
    shared_outputs: int  # texts that several systems gave
    same: list[list[str]] = field(default_factory=list)  # systems with the same outputs, which are one here


def compute_results(campaigns: Sequence[Campaign], filters: Mapping[str, Any] | None = None) -> Results:
    """Return what the raters of these campaigns say; raise ``AnnotationError`` if they have no criterion in common."""
    rated = counted_ratings(campaigns, filters)
    outputs, names, groups = as_one(rated.outputs, rated.names)
    rated = replace(rated, outputs=outputs, names=names)
    raters = np.unique(rated.ratings.rater_id)
    items = np.unique(rated.outputs.item[np.isin(rated.outputs.response, rated.ratings.response_id)])
    repeated = rated.outputs.response[1:] == rated.outputs.response[:-1]
    given = np.unique(rated.outputs.response[1:][repeated])
    verdicts = [_with_same(_criterion(rated, criteria, campaigns), groups) for criteria in shared_criteria(campaigns)]
    shown = {system.name for verdict in verdicts for system in verdict.systems}
    return Results(
        verdicts,
        rated.left_out,
        int(rated.ratings.rating_id.size),
        int(raters.size) if rated.raters_known else 0,
        int(items.size),
        rated.raters_known,
        int(np.isin(given, rated.ratings.response_id).sum()),
        [same for name, same in groups.items() if name in shown],
    )


def _with_same(verdict: CriterionVerdict, groups: Groups) -> CriterionVerdict:
    return replace(verdict, systems=[replace(each, same=groups.get(each.name, [])) for each in verdict.systems])


def shared_criteria(campaigns: Sequence[Campaign]) -> Iterator[list[Criterion]]:
    """Yield the criteria of each name that all campaigns have, on one scale."""
    criteria = campaign_criteria(campaigns) if len(campaigns) == 1 else _criteria_of(campaigns)
    names = dict.fromkeys(criterion.name for criterion in criteria)
    for name in names:
        of_name = [criterion for criterion in criteria if criterion.name == name]
        if len({criterion.campaign_id for criterion in of_name}) < len(campaigns):
            continue
        if len({criterion.scope for criterion in of_name}) > 1:
            raise AnnotationError(f"Some campaigns ask for {name!r} of each turn, some of the whole; choose one kind.")
        if len(scale_groups(of_name)) > 1 or len({criterion.kind for criterion in of_name}) > 1:
            raise AnnotationError(f"The campaigns ask for {name!r} on different scales; choose some with one scale.")
        yield of_name


def _criteria_of(campaigns: Sequence[Campaign]) -> list[Criterion]:
    rows = Criterion.objects.filter(campaign__in=campaigns).order_by("position", "id")
    return list(rows)


def _criterion(rated: CountedRatings, criteria: Sequence[Criterion], campaigns: Sequence[Campaign]) -> CriterionVerdict:
    ranked = {"means": _by_means, "comparisons": _by_comparisons}[criteria[0].scale.ranked]
    return ranked(rated, criteria, campaigns)


def _named(systems: IntArray, names: Mapping[int, str]) -> tuple[list[str], IntArray]:
    """Return the names of systems, and each system as a code: systems of two data sets with one name are one."""
    distinct = sorted({names[pk] for pk in np.unique(systems).tolist()})
    code = {name: number for number, name in enumerate(distinct)}
    return distinct, np.array([code[names[pk]] for pk in systems.tolist()], dtype=np.int64)


def _by_means(rated: CountedRatings, criteria: Sequence[Criterion], campaigns: Sequence[Campaign]) -> CriterionVerdict:
    ratings = rated.of([criterion.pk for criterion in criteria])
    scale = criteria[0].scale
    values = ratings.value.copy()
    for criterion in criteria:
        mine = ratings.criterion_id == criterion.pk
        values[mine] = criterion.scale.weighed(ratings.value[mine])
    raters = codes(ratings.rater_id)[1]
    z = standardised(raters, values)
    row, output = rated.outputs.credited(ratings.response_id)
    names, system = _named(rated.outputs.system[output], rated.names)
    item = codes(rated.outputs.item[output])[1]
    who = raters[row] if rated.raters_known else None
    n = len(names)
    means = system_means(system, item, who, values[row], rng=np.random.default_rng(SEED), n_systems=n, ends=scale.ends)
    of_z = _standardised(system, item, raters, z, row, n) if rated.raters_known else np.full((3, n), nan)
    differences = means.differences
    order = np.argsort(-means.mean, kind="stable")
    met = met_in_pairs(rated, ratings, campaigns, names)
    ranges = rank_ranges(differences.adjusted, differences.better)
    groups = clusters(differences.adjusted, differences.better, order)
    systems = [
        SystemVerdict(
            name=names[i],
            estimate=float(means.mean[i]),
            low=float(means.low[i]),
            high=float(means.high[i]),
            first_rank=int(ranges[i][0]),
            last_rank=int(ranges[i][1]),
            cluster=int(groups[i]) + 1,
            ratings=int(means.ratings[i]),
            raters=int(np.unique(ratings.rater_id[row[system == i]]).size) if rated.raters_known else 0,
            items=int(means.items[i]),
            standardised=float(of_z[0][i]),
            standardised_low=float(of_z[1][i]),
            standardised_high=float(of_z[2][i]),
            values=scale.histogram(ratings.value[row[system == i]], ratings.value[row]),
            **met.share(i)._asdict(),
            **met.won(i)._asdict(),
        )
        for i in order.tolist()
    ]
    better_first = (
        (i, j) if differences.mean[i, j] >= 0 else (j, i)
        for rank, i in enumerate(order.tolist())
        for j in order[rank + 1 :].tolist()
    )
    pairs = [
        PairVerdict(
            names[i],
            names[j],
            float(differences.mean[i, j]),
            float(differences.family_low[i, j]),
            float(differences.family_high[i, j]),
            p=float(differences.p_values[i, j]),
            adjusted=float(differences.adjusted[i, j]),
            items=int(differences.items[i, j]),
            permutation=float(differences.permutation_p_values[i, j]),
            wilcoxon=float(differences.wilcoxon_p_values[i, j]),
            single_low=float(differences.low[i, j]),
            single_high=float(differences.high[i, j]),
            **met.won(i, j)._asdict(),
        )
        for i, j in better_first
    ]
    return _verdict(criteria[0], systems, pairs, raters=_n_raters(rated, raters))


def _n_raters(rated: CountedRatings, raters: IntArray) -> int:
    return int(np.unique(raters).size) if rated.raters_known else 0


def _standardised(
    system: IntArray, item: IntArray, raters: IntArray, z: FloatArray, row: IntArray, n_systems: int
) -> FloatArray:
    """Return (3, n) the mean of each system's standardised ratings, and its interval, cut at what is possible.

    ``z`` and ``raters`` are of ratings; ``row`` is the rating of each line of ``system`` and ``item``.
    """
    defined = ~np.isnan(z[row])
    system, item, row = system[defined], item[defined], row[defined]
    rng = np.random.default_rng(SEED)
    means = system_means(system, item, raters[row], z[row], rng=rng, n_systems=n_systems, permutations=1)
    varies = ~np.isnan(z)
    per_item = np.bincount(system * (item.max(initial=0) + 1) + item)
    share = 1 / per_item[system * (item.max(initial=0) + 1) + item]
    low, high = means.low.copy(), means.high.copy()
    for index in np.unique(system).tolist():
        of_system = system == index
        weight = np.bincount(row[of_system], share[of_system] / means.items[index], minlength=z.size)
        furthest = furthest_mean(raters[varies], weight[varies])
        low[index], high[index] = np.clip([low[index], high[index]], -furthest, furthest)
    ends: FloatArray = np.stack([means.mean, low, high])
    return ends


@dataclass(frozen=True)
class _Comparisons:
    """What comparisons say of each system, and of every two; ``rater`` is of each comparison, None if unknown."""

    names: Sequence[str]
    met: Met
    fit: BradleyTerry
    certainty: Certainty
    rater: IntArray | None

    def systems(self, order: IntArray) -> list[SystemVerdict]:
        fit, certainty, adjusted = self.fit, self.certainty, self.certainty.adjusted
        better = fit.strengths[:, None] > fit.strengths
        ranges, groups = rank_ranges(adjusted, better), clusters(adjusted, better, order)
        return [
            SystemVerdict(
                name=self.names[i],
                estimate=float(fit.strengths[i]),
                low=float(certainty.low[i]),
                high=float(certainty.high[i]),
                first_rank=int(ranges[i][0]),
                last_rank=int(ranges[i][1]),
                cluster=int(groups[i]) + 1,
                ratings=int((judged := self.met.judged(i)).sum()),
                raters=0 if self.rater is None else int(np.unique(self.rater[judged]).size),
                items=int(np.unique(self.met.item[judged]).size),
                **self.met.share(i)._asdict(),
                **self.met.won(i)._asdict(),
            )
            for i in order.tolist()
        ]

    def pairs(self, order: IntArray) -> list[PairVerdict]:
        """Return every two, the one that comes first in this order before the other."""
        certainty = self.certainty
        return [
            PairVerdict(
                self.names[i],
                self.names[j],
                float(self.fit.strengths[i] - self.fit.strengths[j]),
                float(certainty.family_low[i, j]),
                float(certainty.family_high[i, j]),
                p=float(certainty.p_values[i, j]),
                adjusted=float(certainty.adjusted[i, j]),
                items=int(np.unique(self.met.item[self.met.between(i, j)]).size),
                single_low=float(certainty.difference_low[i, j]),
                single_high=float(certainty.difference_high[i, j]),
                **self.met.won(i, j)._asdict(),
            )
            for i, j in combinations(order.tolist(), 2)
        ]


def _by_comparisons(
    rated: CountedRatings, criteria: Sequence[Criterion], campaigns: Sequence[Campaign]
) -> CriterionVerdict:
    ratings = rated.of([criterion.pk for criterion in criteria])
    compared = comparisons(ratings, rated.outputs, rated.names, campaigns)
    names, both = _named(np.concatenate([compared.first, compared.second]), rated.names)
    first, second = both[: compared.first.size], both[compared.first.size :]
    met = Met(first, second, compared, len(names), raters_known=rated.raters_known)
    rater = compared.rater if rated.raters_known else None
    outcome, weight = compared.outcome, compared.weight
    fit = bradley_terry(first, second, outcome, n_systems=len(names), order_effect=True, weight=weight)
    if fit.reason:
        fit = bradley_terry(first, second, outcome, n_systems=len(names), weight=weight)
    certainty = bradley_terry_certainty(fit, first, second, outcome, item=met.item, rater=rater, weight=weight)
    order = np.argsort(-(met.shares[0] if fit.reason else fit.strengths), kind="stable")
    fitted = _Comparisons(names, met, fit, certainty, rater)
    systems, pairs = fitted.systems(order), fitted.pairs(order)
    parts = [[names[i] for i in np.flatnonzero(fit.components == part)] for part in np.unique(fit.components)]
    return _verdict(
        criteria[0],
        systems,
        pairs,
        reason=fit.reason,
        parts=parts if len(parts) > 1 else [],
        tie=fit.tie,
        order=fit.order if np.isfinite(certainty.order_low) else nan,
        order_low=certainty.order_low,
        order_high=certainty.order_high,
        identical=compared.identical,
        raters=_n_raters(rated, compared.rater[compared.rater >= 0]),
    )


def _verdict(
    criterion: Criterion, systems: list[SystemVerdict], pairs: list[PairVerdict], **options: Any
) -> CriterionVerdict:
    pairs = sorted(pairs, key=lambda pair: -np.nan_to_num(pair.difference, nan=-1.0))
    scale = criterion.scale
    verdict = CriterionVerdict(
        criterion.name,
        criterion.question,
        scale.label,
        scale.ranked,
        scale.of_means,
        "",
        systems,
        [_plain(pair) for pair in pairs],
        by_turn=criterion.by_turn,
        scale_low=float(scale.ends[0]) if scale.ranked == "means" else nan,
        scale_high=float(scale.ends[1]) if scale.ranked == "means" else nan,
    )
    plain: dict[str, Any] = {name: float(v) if isinstance(v, np.floating) else v for name, v in options.items()}
    verdict = replace(verdict, **plain)
    return replace(verdict, sentence=verdict_sentence(verdict))


def _plain(pair: PairVerdict) -> PairVerdict:
    numbers = {name: float(getattr(pair, name)) for name in ("difference", "low", "high")}
    return PairVerdict(**{**pair.__dict__, **numbers})
