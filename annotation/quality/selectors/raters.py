"""Raters of a campaign as their answers show them, and what rules say of them, now or as of a moment in the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.core.cache import cache
from django.db.models import Max, Q

from annotation.campaigns.selectors import RaterRow as WorkRow
from annotation.campaigns.selectors import rater_rows
from annotation.models import (
    AuditEntry,
    Campaign,
    Criterion,
    DecisionAction,
    Participation,
    QualityRules,
    Rater,
    RaterDecision,
)
from annotation.quality.selectors.checks import check_log, quality_log, second_halves
from annotation.rating.selectors.ratings import rating_columns
from annotation.weighting.checks import CheckLog
from annotation.weighting.exclusion.applying import judge_raters
from annotation.weighting.exclusion.listed import ExcludeRaters
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import Evidence, ExclusionRule
from annotation.weighting.quality import RaterQuality, rater_quality
from annotation.weighting.table import RatingTable

KEPT_SECONDS = 3600
APPLIED = "rules.apply"  # verb of the audit log


class Moment(NamedTuple):
    """A place in a campaign's append-only logs: the newest rating, answer to a check, and decision."""

    rating: int
    check: int
    decision: int

    @property
    def version(self) -> str:
        return "-".join(map(str, self))


@dataclass(frozen=True)
class Verdict:
    """What a rule says of a rater."""

    rater: Rater
    action: str  # exclude or flag
    number: int  # of the rule, from 1
    sentence: str
    evidence: Evidence


@dataclass(frozen=True)
class Measure:
    """One figure of one rater; NaN with a reason where undefined."""

    name: str
    label: str
    estimate: float
    low: float
    high: float
    n: int
    reason: str
    of: str  # what is counted

    @property
    def is_defined(self) -> bool:
        return bool(np.isfinite(self.estimate))


@dataclass(frozen=True)
class RaterRow:
    """A rater of a campaign: where they stand and how they do."""

    rater: Rater
    participation: Participation | None
    measures: dict[str, Measure]
    work: WorkRow | None  # what became of the units they were shown

    @property
    def state(self) -> str:
        who = self.participation
        if who is None:
            return "imported"
        return "excluded" if who.excluded_at else "flagged" if who.flagged_at else str(who.stage)


def moment(campaign: Campaign) -> Moment:
    """Where the campaign's logs end now."""
    newest = [
        rows.aggregate(last=Max("id"))["last"] or 0
        for rows in (campaign.ratings, campaign.check_answers, campaign.decisions)
    ]
    return Moment(*newest)


def current_rules(campaign: Campaign) -> QualityRules | None:
    """The newest version that was registered."""
    return QualityRules.objects.filter(campaign=campaign).order_by("-version").first()


def excluded_as_of(campaign: Campaign, decision: int) -> list[str]:
    """Pseudonyms of the raters whom the decisions up to one left excluded."""
    rows = RaterDecision.objects.filter(
        campaign=campaign, pk__lte=decision, action__in=[DecisionAction.EXCLUDE, DecisionAction.INCLUDE]
    )
    latest = dict(rows.order_by("pk").values_list("rater__pseudonym", "action"))
    return sorted(name for name, action in latest.items() if action == DecisionAction.EXCLUDE)


def campaign_log(campaign: Campaign, at: Moment) -> RatingLog:
    """What the rules look at, as of a moment: ratings that count, one per choice, and answers to checks."""
    criteria = list(Criterion.objects.filter(campaign=campaign))
    read = rating_columns([campaign], up_to=at.rating)
    read = read.select(~second_halves(read, criteria))
    return quality_log(read, criteria, check_log([campaign], criteria, up_to=at.check))


def verdicts(campaign: Campaign, rules: Sequence[ExclusionRule], at: Moment) -> list[Verdict]:
    """Whom the rules strike, as of a moment; who was excluded by then is in no mean and not judged again."""
    log = campaign_log(campaign, at)
    out = excluded_as_of(campaign, at.decision)
    before: list[ExclusionRule] = [ExcludeRaters(raters=tuple(out))] if out else []
    found = [one for one in judge_raters([*before, *rules], log) if one.rule >= len(before)]
    names = {str(one.rater) for one in found}
    raters = {
        rater.pseudonym: rater for rater in Rater.objects.filter(project=campaign.project_id, pseudonym__in=names)
    }
    return [
        Verdict(
            rater=raters[str(one.rater)],
            action=one.action,
            number=one.rule - len(before) + 1,
            sentence=rules[one.rule - len(before)].sentence,
            evidence=one.evidence,
        )
        for one in found
    ]


@dataclass(frozen=True)
class Replay:
    """An application of rules, judged again on the log as it stood then."""

    entry: AuditEntry
    then: list[list[Any]]  # rater id, action, number of the rule
    again: list[list[Any]]

    @property
    def same(self) -> bool:
        return self.then == self.again


def applications(campaign: Campaign) -> list[AuditEntry]:
    """Times that rules were applied, the latest first."""
    return list(AuditEntry.objects.filter(campaign=campaign, verb=APPLIED).select_related("actor").order_by("-pk"))


def replay(entry: AuditEntry) -> Replay:
    """Judge again, as of the moment that the entry names, by the version of the rules that it names."""
    data = entry.data
    rules = QualityRules.objects.select_related("campaign").get(campaign=entry.campaign_id, version=data["rules"])
    found = verdicts(rules.campaign, rules_from_data(rules.rules), Moment(**data["as_of"]))
    return Replay(entry, data["verdicts"], verdict_record(found))


def verdict_record(found: Sequence[Verdict]) -> list[list[Any]]:
    """Verdicts as they are written down."""
    return [[one.rater.pk, one.action, one.number] for one in found]


# --- Measures ---------------------------------------------------------------------------------------------------------


def rater_quality_rows(campaign: Campaign, at: Moment | None = None) -> list[RaterRow]:
    """Everybody who joined or rated, with all measures; kept until an answer or a decision arrives."""
    at = at or moment(campaign)
    key = f"campaign-raters-by-id-{campaign.pk}-{at.version}"
    measured: dict[int, dict[str, Measure]] | None = cache.get(key)
    if measured is None:
        named = _measured(campaign, at)
        ids = Rater.objects.filter(project=campaign.project_id, pseudonym__in=named).values_list("pk", "pseudonym")
        measured = {pk: named[name] for pk, name in ids}  # an erasure may rename a rater meanwhile, and keeps no name
        cache.set(key, measured, KEPT_SECONDS)
    joined = {one.rater_id: one for one in Participation.objects.filter(campaign=campaign).select_related("rater")}
    others = Rater.objects.filter(pk__in=measured).exclude(pk__in=joined)
    everybody = [*(one.rater for one in joined.values()), *others]
    work = {row.rater_id: row for row in rater_rows(campaign)}
    return [
        RaterRow(rater, joined.get(rater.pk), measured.get(rater.pk) or NOTHING, work.get(rater.pk))
        for rater in sorted(everybody, key=lambda rater: rater.pk)
    ]


def _measured(campaign: Campaign, at: Moment) -> dict[str, dict[str, Measure]]:
    log = campaign_log(campaign, at)
    names = log.raters.astype(np.str_)
    out = np.isin(names, excluded_as_of(campaign, at.decision))
    if not len(names):
        return {}
    found = _quality(log, ~out[log.code])
    measured = {name: _measures(found, place) for place, name in enumerate(names.tolist())}
    if out.any():  # who is excluded is compared with everybody
        found = _quality(log, np.ones(len(log), dtype=np.bool_))
        measured |= {names[place]: _measures(found, place) for place in np.flatnonzero(out).tolist()}
    return measured


def _quality(log: RatingLog, keep: np.ndarray) -> RaterQuality:
    checks = (
        log.need_checks("quality") if log.checks is not None and len(log.checks) else CheckLog([], kind=[], value=[])
    )
    _, response = np.unique(log.need("response", "quality")[keep], return_inverse=True)
    table = RatingTable(response, log.code[keep], log.need("value", "quality")[keep], n_raters=len(log.raters))
    criterion = log.need("criterion", "quality").astype(np.str_)[keep]
    return rater_quality(table, checks=checks, seconds=log.need("seconds", "quality")[keep], criterion=criterion)


def _measures(found: RaterQuality, at: int) -> dict[str, Measure]:
    s, r, d = found.summary, found.repeats, found.degraded
    few, twice = "fewer answers than this takes", "repeats judged both times"
    rows: list[tuple[Any, ...]] = [
        ("n", float(s.n[at]), np.nan, np.nan, s.n[at], "", "ratings"),
        (
            "agreement",
            s.agreement[at],
            s.agreement_low[at],
            s.agreement_high[at],
            s.n_compared[at],
            s.agreement_reason[at],
            "ratings of responses that others rated too",
        ),
        *(
            (name, one.share[at], one.low[at], one.high[at], one.n[at], one.reason[at], counted)
            for name, one, counted in (
                ("gold", found.gold, "answers with a known range"),
                ("attention", found.attention, "attention checks"),
                ("anchor", found.anchor, "human references"),
            )
        ),
        ("repeats", r.within[at], r.within_low[at], r.within_high[at], r.n[at], r.reason[at], twice),
        ("kappa", r.kappa[at], r.kappa_low[at], r.kappa_high[at], r.n[at], r.kappa_reason[at], twice),
        ("degraded", d.auc[at], d.auc_low[at], d.auc_high[at], d.n_degraded[at], d.reason[at], "degraded texts"),
        ("degraded_p", d.pvalue[at], np.nan, np.nan, d.n_degraded[at], d.reason[at], "degraded texts"),
        (
            "seconds",
            s.median_seconds[at],
            s.seconds_low[at],
            s.seconds_high[at],
            s.n_timed[at],
            "no time is known",
            "timed ratings",
        ),
        ("mean", s.mean[at], s.mean_low[at], s.mean_high[at], s.n[at], few, "ratings"),
        ("spread", s.spread[at], np.nan, np.nan, s.n[at], few, "ratings"),
        ("entropy", s.entropy[at], s.entropy_low[at], s.entropy_high[at], s.n[at], few, "ratings"),
    ]
    return {
        name: Measure(name, MEASURE_LABELS[name], float(estimate), float(low), float(high), int(n), str(reason), of)
        for name, estimate, low, high, n, reason, of in rows
    }


_NO_ANSWER = "no answer yet"
MEASURE_LABELS = {
    "n": "Ratings",
    "agreement": "Agreement with others",
    "gold": "Gold",
    "attention": "Attention",
    "anchor": "Anchors",
    "repeats": "Repeats within one point",
    "kappa": "κ on repeats",
    "degraded": "Degraded texts rated lower",
    "degraded_p": "Degraded test, p",
    "seconds": "Median seconds",
    "mean": "Mean",
    "spread": "Spread",
    "entropy": "Entropy, bits",
}
NOTHING = {
    name: Measure(name, label, 0.0 if name == "n" else np.nan, np.nan, np.nan, 0, _NO_ANSWER, "")
    for name, label in MEASURE_LABELS.items()
}
LISTED = ("n", "agreement", "gold", "attention", "anchor", "repeats", "degraded", "seconds", "entropy")


def stage_counts(campaign: Campaign) -> dict[str, int]:
    """How many raters are in each stage; who is excluded counts as that."""
    joined = Participation.objects.filter(campaign=campaign)
    out = Q(excluded_at__isnull=False)
    counts = {stage: joined.filter(~out, stage=stage).count() for stage in ("training", "test", "work", "failed")}
    return counts | {"excluded": joined.filter(out).count(), "all": joined.count()}


QUALITY_COLUMNS = (
    "rater",
    "state",
    "joined_at",
    *(f"{name}{suffix}" for name in MEASURE_LABELS if name != "n" for suffix in ("", "_low", "_high", "_n")),
    "ratings",
    "done",
    "late",
    "given_back",
    "lapsed",
    "first_shown_at",
    "last_ended_at",
)


def quality_table(rows: Sequence[RaterRow]) -> list[tuple[Any, ...]]:
    """One row per rater for a download; undefined is empty."""
    return [
        (
            row.rater.pseudonym,
            row.state,
            row.participation.joined_at if row.participation else None,
            *(
                value
                for name in MEASURE_LABELS
                if name != "n"
                for value in (
                    row.measures[name].estimate,
                    row.measures[name].low,
                    row.measures[name].high,
                    row.measures[name].n,
                )
            ),
            row.measures["n"].n,
            *(
                (
                    row.work.done,
                    row.work.late,
                    row.work.given_back,
                    row.work.lapsed,
                    row.work.first_shown,
                    row.work.last_ended,
                )
                if row.work
                else (None,) * 6
            ),
        )
        for row in rows
    ]
