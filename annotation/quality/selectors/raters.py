"""The raters of a campaign and the rules' results about them, now or as of a moment in the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Exists, Max, OuterRef, Q

from annotation import models
from annotation.campaigns.selectors import WorkRow, rater_rows
from annotation.core.caching import cached
from annotation.quality.selectors.checks import check_log, quality_log, second_halves
from annotation.quality.selectors.measures import MEASURES, WITHOUT_ANSWERS, Measure, measures_of
from annotation.rating.selectors.ratings import rating_columns
from annotation.weighting.checks import CheckLog
from annotation.weighting.exclusion.applying import judge_raters
from annotation.weighting.exclusion.listed import ExcludeRaters
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.others import OthersAgreement, agreement_of_others
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import Evidence, ExclusionRule
from annotation.weighting.quality import RaterQuality, rater_quality
from annotation.weighting.table import RatingTable

CACHE_SECONDS = 3600
APPLIED = "rules.apply"  # verb of the audit log


class Moment(NamedTuple):
    """A position in a campaign's append-only logs: ids of the newest rating, answer to a check, and decision."""

    rating: int
    check: int
    decision: int

    @property
    def version(self) -> str:
        return "-".join(map(str, self))


@dataclass(frozen=True)
class Verdict:
    """A rule's result for a rater."""

    rater: models.Rater
    action: str  # exclude or flag
    number: int  # of the rule, from 1
    sentence: str
    evidence: Evidence

    @property
    def is_unclear(self) -> bool:
        """Return whether the interval of what was measured reaches the threshold, though the estimate is below it."""
        return isnan(self.evidence.pvalue) and self.evidence.high >= self.evidence.threshold


@dataclass(frozen=True)
class RaterRow:
    rater: models.Rater
    participation: models.Participation | None
    measures: dict[str, Measure]
    work: WorkRow | None  # counts of the units shown to the rater

    @property
    def state(self) -> str:
        joined = self.participation
        if joined is None:
            return "imported"
        return "excluded" if joined.excluded_at else "flagged" if joined.flagged_at else str(joined.stage)


def moment(campaign: models.Campaign) -> Moment:
    """Return where the campaign's logs end now."""
    logs = (campaign.ratings, campaign.check_answers, campaign.decisions)
    return Moment(*(rows.aggregate(last=Max("id"))["last"] or 0 for rows in logs))


def current_rules(campaign: models.Campaign) -> models.QualityRules | None:
    """Return the newest version of the rules."""
    return models.QualityRules.objects.filter(campaign=campaign).order_by("-version").first()


def excluded_as_of(campaign: models.Campaign, decision: int, key: str = "rater__pseudonym") -> list[Any]:
    """Return the pseudonyms, or another key, of the raters whom the decisions up to one left excluded."""
    actions = [models.DecisionAction.EXCLUDE, models.DecisionAction.INCLUDE]
    rows = models.RaterDecision.objects.filter(campaign=campaign, pk__lte=decision, action__in=actions)
    latest = dict(rows.order_by("pk").values_list(key, "action"))
    return sorted(rater for rater, action in latest.items() if action == models.DecisionAction.EXCLUDE)


def campaign_log(campaign: models.Campaign, at: Moment) -> RatingLog:
    """Return what the rules read, as of a moment: counted ratings, one per choice, and answers to checks."""
    criteria = list(models.Criterion.objects.filter(campaign=campaign))
    ratings = rating_columns([campaign], up_to=at.rating)
    ratings = ratings.select(~second_halves(ratings, criteria))
    return quality_log(ratings, criteria, check_log([campaign], criteria, up_to=at.check))


def verdicts(campaign: models.Campaign, rules: Sequence[ExclusionRule], at: Moment) -> list[Verdict]:
    """Judge raters by the rules as of a moment, without those excluded by then: they are in no mean."""
    log = campaign_log(campaign, at)
    excluded = excluded_as_of(campaign, at.decision)
    before: list[ExclusionRule] = [ExcludeRaters(raters=tuple(excluded))] if excluded else []
    results = [result for result in judge_raters([*before, *rules], log) if result.rule >= len(before)]
    names = {str(result.rater) for result in results}
    rows = models.Rater.objects.filter(project=campaign.project_id, pseudonym__in=names)
    raters = {rater.pseudonym: rater for rater in rows}
    return [
        Verdict(
            rater=raters[str(result.rater)],
            action=result.action,
            number=result.rule - len(before) + 1,
            sentence=rules[result.rule - len(before)].sentence,
            evidence=result.evidence,
        )
        for result in results
    ]


@dataclass(frozen=True)
class Replay:
    """An application of rules, judged again on the log as it was then."""

    entry: models.AuditEntry
    then: list[list[Any]]  # rater id, action, number of the rule
    again: list[list[Any]]

    @property
    def same(self) -> bool:
        return self.then == self.again


def applications(campaign: models.Campaign) -> list[models.AuditEntry]:
    """Return the times that rules were applied, the latest first."""
    return list(
        models.AuditEntry.objects.filter(campaign=campaign, verb=APPLIED).select_related("actor").order_by("-pk")
    )


def replay(entry: models.AuditEntry) -> Replay:
    """Judge again as of the moment, and by the version of the rules, that the entry names."""
    data = entry.data
    rules = models.QualityRules.objects.select_related("campaign").get(
        campaign=entry.campaign_id, version=data["rules"]
    )
    again = verdicts(rules.campaign, rules_from_data(rules.rules), Moment(**data["as_of"]))
    return Replay(entry, data["verdicts"], verdict_record(again))


def verdict_record(results: Sequence[Verdict]) -> list[list[Any]]:
    """Return verdicts as the audit log stores them."""
    return [[result.rater.pk, result.action, result.number] for result in results]


# --- Measures ---------------------------------------------------------------------------------------------------------


def rater_quality_rows(campaign: models.Campaign, at: Moment | None = None) -> list[RaterRow]:
    """Return all who joined or rated, with all measures, which are cached until an answer or a decision arrives."""
    at = at or moment(campaign)
    key = f"campaign-raters-by-id-{campaign.pk}-{at.version}"
    measured = cached(key, lambda: _measured(campaign, at), CACHE_SECONDS)
    participations = models.Participation.objects.filter(campaign=campaign).select_related("rater")
    joined = {participation.rater_id: participation for participation in participations}
    others = models.Rater.objects.filter(pk__in=measured).exclude(pk__in=joined)
    raters = [*(participation.rater for participation in joined.values()), *others]
    work = {row.rater_id: row for row in rater_rows(campaign)}
    return [
        RaterRow(rater, joined.get(rater.pk), measured.get(rater.pk) or WITHOUT_ANSWERS, work.get(rater.pk))
        for rater in sorted(raters, key=lambda rater: rater.pk)
    ]


def _measured(campaign: models.Campaign, at: Moment) -> dict[int, dict[str, Measure]]:
    """Return measures by the id of the rater: an erasure may rename a rater, and no former name may be stored."""
    log = campaign_log(campaign, at)
    names = log.raters.astype(np.str_)
    excluded = np.isin(names, excluded_as_of(campaign, at.decision))
    if not len(names):
        return {}
    quality = _quality(log, ~excluded[log.code])
    measured = {name: measures_of(quality, index) for index, name in enumerate(names.tolist())}
    if excluded.any():  # an excluded rater is compared with all others
        quality = _quality(log, np.ones(len(log), dtype=np.bool_))
        measured |= {names[index]: measures_of(quality, index) for index in np.flatnonzero(excluded).tolist()}
    raters = models.Rater.objects.filter(project=campaign.project_id, pseudonym__in=measured)
    return {pk: measured[name] for pk, name in raters.values_list("pk", "pseudonym")}


def _quality(log: RatingLog, keep: np.ndarray) -> RaterQuality:
    has_checks = log.checks is not None and len(log.checks)
    checks = log.need_checks("quality") if has_checks else CheckLog([], kind=[], value=[])
    table, criterion = _table(log, keep)
    seconds, screen, points = (log.need(name, "quality")[keep] for name in ("seconds", "screen", "points"))
    return rater_quality(table, checks=checks, seconds=seconds, criterion=criterion, screen=screen, points=points)


def _table(log: RatingLog, keep: np.ndarray) -> tuple[RatingTable, np.ndarray]:
    """Return the ratings that are kept, and their criteria."""
    _, response = np.unique(log.need("response", "quality")[keep], return_inverse=True)
    table = RatingTable(response, log.code[keep], log.need("value", "quality")[keep], n_raters=len(log.raters))
    return table, log.need("criterion", "quality").astype(np.str_)[keep]


def others_agreement(campaign: models.Campaign, at: Moment, raters: Sequence[str]) -> OthersAgreement:
    """Return how far the others agree without each of these raters, by pseudonym; a cost for each rater."""
    log = campaign_log(campaign, at)
    names = log.raters.astype(np.str_)
    table, criterion = _table(log, ~np.isin(names, excluded_as_of(campaign, at.decision))[log.code])
    found = agreement_of_others(table, criterion=criterion)
    index = {name: number for number, name in enumerate(names.tolist())}
    undefined = (float("nan"), float("nan"))
    pairs = [(found.correlation[index[each]], found.n[index[each]]) if each in index else undefined for each in raters]
    return OthersAgreement(*np.array(pairs).reshape(-1, 2).T)


def stage_counts(campaign: models.Campaign) -> dict[str, int]:
    """Count the raters in each stage, excluded raters apart, all who joined, and those of all who have rated."""
    is_out = Q(excluded_at__isnull=False)
    stages = {name: Count("pk", filter=~is_out & Q(stage=name)) for name in ("training", "test", "work", "failed")}
    joined = models.Participation.objects.filter(campaign=campaign)
    rated = Exists(models.Rating.objects.filter(campaign=campaign, rater=OuterRef("rater")))
    return joined.aggregate(
        **stages, excluded=Count("pk", filter=is_out), all=Count("pk"), rated=Count("pk", filter=rated)
    )


# --- Downloads --------------------------------------------------------------------------------------------------------

IN_FILES = [name for name in MEASURES if name != "n"]
WORK = {  # column -> attribute of the row of ``rater_rows``
    "done": "done",
    "late": "late",
    "given_back": "given_back",
    "lapsed": "lapsed",
    "first_shown_at": "first_shown",
    "last_ended_at": "last_ended",
}
QUALITY_COLUMNS = (
    *("rater", "state", "joined_at"),
    *(f"{name}{suffix}" for name in IN_FILES for suffix in ("", "_low", "_high", "_n")),
    *("ratings", *WORK),
)


def quality_table(rows: Sequence[RaterRow]) -> list[tuple[Any, ...]]:
    """Return a row per rater for a download; undefined values are empty."""
    numbers, work = attrgetter("estimate", "low", "high", "n"), attrgetter(*WORK.values())
    return [
        (
            row.rater.pseudonym,
            row.state,
            row.participation.joined_at if row.participation else None,
            *(value for name in IN_FILES for value in numbers(row.measures[name])),
            row.measures["n"].n,
            *(work(row.work) if row.work else (None,) * len(WORK)),
        )
        for row in rows
    ]
