"""A campaign's statistics: the basis of its datasheet and its methods paragraph."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet

from annotation.core import sql
from annotation.models import (
    Campaign,
    Criterion,
    DecisionAction,
    Participation,
    Presentation,
    PresentationOutcome,
    RaterDecision,
    Stage,
    Submission,
)
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.handout import ANSWERED
from annotation.rating.selectors.questions import AnswerCounts, answer_counts
from annotation.rating.selectors.ratings import RatingColumns, current_ratings, rating_columns, turn_columns
from annotation.rating.selectors.written import current_texts
from annotation.records.selectors.payment import Payment, payment
from annotation.weighting.agreement import AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.intervals import wilson_interval
from annotation.weighting.table import RatingTable


@dataclass(frozen=True)
class Share:
    """``hits`` of ``n`` with Wilson's 95% interval; all NaN if n is 0."""

    hits: int
    n: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, hits: int, n: int) -> "Share":
        low, high = wilson_interval(hits, n)
        return cls(hits, n, hits / n if n else float("nan"), float(low), float(high))


@dataclass(frozen=True, eq=False)
class CriterionFacts:
    """Statistics of the ratings that count: current, not extra, with a value, by raters who are not excluded."""

    criterion: Criterion
    n_ratings: int
    n_cannot_judge: int
    mean: float
    sd: float
    alpha: AlphaResult
    icc: IccResult
    repeated: Share  # answers to repeats that are exactly the first one
    repeat_difference: float  # mean absolute, in points; NaN without repeats


@dataclass(frozen=True)
class Screens:
    """Screens of one purpose: answered, and by how many raters."""

    purpose: str
    answered: int
    raters: int
    within: Share | None  # answers inside the accepted range, if there is one


@dataclass(frozen=True, eq=False)
class Facts:
    campaign: Campaign
    items: int
    units: int
    slots: int
    responses: int
    systems: dict[str, int]  # name -> responses of the plan that it gave
    judgements: int  # screens of work whose answers count
    late: int
    replaced: int
    ratings: int  # every row of the log
    superseded: int
    raters_joined: int
    raters_counted: int  # with at least one rating that counts
    raters_failed: int
    raters_flagged: int
    excluded: int
    excluded_by_rules: int
    excluded_answers: int  # of raters who are excluded now
    excluded_ratings: int  # in these answers, without corrected ones
    per_rater: tuple[int, float, int]  # fewest, median, most judgements of a rater that counts
    median_seconds: float  # on a screen of work, of raters who count
    first_at: datetime | None
    last_at: datetime | None
    comments: int
    criteria: list[CriterionFacts]
    screens: dict[str, Screens] = field(default_factory=dict)
    providers: list[str] = field(default_factory=list)  # that sent raters; before the first rater, that will
    by_link: bool = False  # whether raters came otherwise
    rules_versions: int = 0
    rules_before_launch: bool = False
    amendments: list[tuple[int, str]] = field(default_factory=list)  # number, kind as people read it
    payment: Payment | None = None
    about_raters: list[AnswerCounts] = field(default_factory=list)
    written: int = 0  # texts by raters that count


def campaign_facts(campaign: Campaign) -> Facts:
    excluded = excluded_rater_ids([campaign])
    participations = Participation.objects.filter(campaign=campaign)
    every = rating_columns([campaign], timed=False)
    counted = every.select(~np.isin(every.rater_id, excluded))
    rules = campaign.rule_versions.order_by("version")
    return Facts(
        campaign=campaign,
        **_plan(campaign),
        **_log(campaign),
        raters_joined=participations.count() or campaign.presentations.values("rater").distinct().count(),
        raters_counted=len(np.unique(counted.rater_id)),
        raters_failed=participations.filter(stage=Stage.FAILED).count(),
        raters_flagged=participations.filter(flagged_at__isnull=False).count(),
        excluded=len(excluded),
        excluded_by_rules=_excluded_by_rules(campaign, excluded),
        excluded_answers=_answered_work(campaign).filter(rater__in=excluded).count(),
        excluded_ratings=int(np.isin(every.rater_id, excluded).sum()),
        per_rater=_per_rater(counted),
        comments=campaign.comments.exclude(text="").values("presentation").distinct().count(),
        criteria=_criteria(campaign, counted, excluded),
        screens=_screens(campaign),
        **_recruited(campaign),
        rules_versions=rules.count(),
        rules_before_launch=rules.filter(before_launch=True).exists(),
        amendments=[(each.number, each.get_kind_display()) for each in campaign.amendments.order_by("number")],
        payment=payment(campaign),
        about_raters=answer_counts(campaign),
        written=current_texts(campaign).count() if campaign.writing else 0,
    )


def _recruited(campaign: Campaign) -> dict[str, Any]:
    sent = Submission.objects.filter(recruitment__campaign=campaign, rater__isnull=False)
    participations = Participation.objects.filter(campaign=campaign)
    recruitments = campaign.recruitments.order_by("provider")
    if participations.exists():
        recruitments = recruitments.filter(submissions__rater__isnull=False)
    return {
        "providers": list(recruitments.values_list("provider", flat=True).distinct()),
        "by_link": participations.exclude(rater__in=sent.values("rater")).exists(),
    }


def _answered_work(campaign: Campaign) -> QuerySet[Presentation]:
    """Return work with answers, also if they came late or their slots were given to others."""
    outcomes = [*ANSWERED, PresentationOutcome.IMPORTED]
    return Presentation.objects.filter(campaign=campaign, purpose="work", outcome__in=outcomes)


def _plan(campaign: Campaign) -> dict[str, Any]:
    items, units, slots, responses = sql.row(
        """
        SELECT (SELECT count(DISTINCT item_id) FROM annotation_unit WHERE campaign_id = %(c)s),
               (SELECT count(*) FROM annotation_unit WHERE campaign_id = %(c)s),
               (SELECT count(*) FROM annotation_slot WHERE campaign_id = %(c)s),
               (SELECT count(DISTINCT ur.response_id) FROM annotation_unitresponse ur
                JOIN annotation_unit u ON u.id = ur.unit_id WHERE u.campaign_id = %(c)s)
        """,
        {"c": campaign.pk},
    )
    systems = sql.rows(
        """
        SELECT y.name, count(DISTINCT s.response_id)
        FROM annotation_responsesource s JOIN annotation_system y ON y.id = s.system_id
        WHERE s.response_id IN (SELECT ur.response_id FROM annotation_unitresponse ur
                                JOIN annotation_unit u ON u.id = ur.unit_id WHERE u.campaign_id = %(c)s)
        GROUP BY y.name ORDER BY y.name
        """,
        {"c": campaign.pk},
    )
    return {"items": items, "units": units, "slots": slots, "responses": responses, "systems": dict(systems)}


def _log(campaign: Campaign) -> dict[str, Any]:
    judgements, late, replaced, seconds = sql.row(
        """
        SELECT count(*) FILTER (WHERE outcome IN ('submitted', 'imported')),
               count(*) FILTER (WHERE outcome = 'late'), count(*) FILTER (WHERE outcome = 'replaced'),
               percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - shown_at)::float8)
                   FILTER (WHERE outcome IN ('submitted', 'late', 'replaced') AND rater_id NOT IN (
                       SELECT rater_id FROM annotation_participation
                       WHERE campaign_id = %(c)s AND excluded_at IS NOT NULL))
        FROM annotation_presentation WHERE campaign_id = %(c)s AND purpose = 'work'
        """,
        {"c": campaign.pk},
    )
    ratings, superseded, first, last = sql.row(
        "SELECT count(*), count(*) FILTER (WHERE revision > 0), min(sent_at), max(sent_at) "
        "FROM annotation_rating WHERE campaign_id = %(c)s",
        {"c": campaign.pk},
    )
    return {
        "judgements": judgements,
        "late": late,
        "replaced": replaced,
        "median_seconds": float("nan") if seconds is None else seconds,
        "ratings": ratings,
        "superseded": superseded,  # each correction replaces one row
        "first_at": first,
        "last_at": last,
    }


def _excluded_by_rules(campaign: Campaign, excluded: Sequence[int]) -> int:
    """Count the raters excluded now whose last exclusion names a version of the rules."""
    exclusions = RaterDecision.objects.filter(campaign=campaign, action=DecisionAction.EXCLUDE, rater__in=excluded)
    last = dict(exclusions.order_by("id").values_list("rater_id", "rules_id"))
    return sum(rules is not None for rules in last.values())


def _per_rater(counted: RatingColumns) -> tuple[int, float, int]:
    if len(counted.rater_id) == 0:
        return 0, float("nan"), 0
    screens = np.unique(np.stack([counted.rater_id, counted.presentation_id]), axis=1)
    _, n = np.unique(screens[0], return_counts=True)
    return int(n.min()), float(np.median(n)), int(n.max())


def _criteria(campaign: Campaign, counted: RatingColumns, excluded: Sequence[int]) -> list[CriterionFacts]:
    unjudged = current_ratings([campaign]).filter(value__isnull=True).exclude(rater__in=excluded)
    n_unjudged = Counter(unjudged.values_list("criterion_id", flat=True))
    repeats = _repeats(campaign, excluded)
    units: dict[int, int] = {}
    facts = []
    criteria, by_turn = list(campaign.criteria.all()), counted
    if any(criterion.by_turn for criterion in criteria):  # raters agree on a turn, or not
        columns, turn = turn_columns([campaign], timed=False)
        by_turn = columns._replace(response_id=turn).select(~np.isin(columns.rater_id, excluded))
    for criterion in criteria:
        among = by_turn if criterion.by_turn else counted
        ratings = among.select(among.criterion_id == criterion.pk)
        if criterion.scale.mirrored:
            units = units or dict(Presentation.objects.filter(campaign=campaign).values_list("pk", "unit_id"))
        table = _agreement_table(criterion, ratings, units)
        pairs = repeats.get(criterion.pk, np.zeros((0, 2)))
        equal = int((pairs[:, 0] == pairs[:, 1]).sum())
        facts.append(
            CriterionFacts(
                criterion=criterion,
                n_ratings=len(ratings.value),
                n_cannot_judge=n_unjudged[criterion.pk],
                mean=float(ratings.value.mean()) if len(ratings.value) else float("nan"),
                sd=float(ratings.value.std(ddof=1)) if len(ratings.value) > 1 else float("nan"),
                alpha=krippendorff_alpha(table, level=criterion.scale.level, n_bootstrap=300),
                icc=icc(table),
                repeated=Share.of(equal, len(pairs)),
                repeat_difference=float(np.abs(pairs[:, 0] - pairs[:, 1]).mean()) if len(pairs) else float("nan"),
            )
        )
    return facts


def _agreement_table(criterion: Criterion, ratings: RatingColumns, units: dict[int, int]) -> RatingTable:
    """Return values by rater and response; by pair for mirrored answers, which are stored for both responses."""
    value, rater, rated = criterion.scale.weighed(ratings.value), ratings.rater_id, ratings.response_id
    if criterion.scale.mirrored:
        order = np.lexsort((ratings.response_id, ratings.presentation_id))
        first = order[np.r_[True, np.diff(ratings.presentation_id[order]) != 0][: len(order)]]
        value, rater = value[first], rater[first]
        rated = np.array([units[number] for number in ratings.presentation_id[first].tolist()], dtype=np.int64)
    _, response = np.unique(rated, return_inverse=True)
    _, code = np.unique(rater, return_inverse=True)
    return RatingTable(response, code, value)


def _repeats(campaign: Campaign, excluded: Sequence[int]) -> dict[int, np.ndarray]:
    """Return per criterion (first value, value when shown again) of every answer to a repeat; latest revisions."""
    mirrored = [criterion.pk for criterion in campaign.criteria.all() if criterion.scale.mirrored]
    rows = sql.rows(
        """
        SELECT a.criterion_id, g.value, a.value
        FROM (SELECT DISTINCT ON (presentation_id, number, criterion_id, turn) *
              FROM annotation_checkanswer WHERE campaign_id = %(c)s AND NOT rater_id = ANY(%(x)s)
              ORDER BY presentation_id, number, criterion_id, turn, revision DESC) a
        JOIN annotation_presentation p ON p.id = a.presentation_id AND p.purpose = 'repeat'
        JOIN annotation_criterion c ON c.id = a.criterion_id AND (c.id <> ALL(%(mirrored)s) OR a.number = 0)
        JOIN annotation_unitresponse ur ON ur.unit_id = p.unit_id AND ur.number = a.number
        JOIN LATERAL (SELECT value FROM annotation_rating
                      WHERE presentation_id = p.repeats_id AND response_id = ur.response_id
                        AND criterion_id = a.criterion_id AND turn IS NOT DISTINCT FROM a.turn
                      ORDER BY revision DESC LIMIT 1) g ON true
        WHERE a.value IS NOT NULL AND g.value IS NOT NULL
        """,
        {"c": campaign.pk, "x": list(excluded), "mirrored": mirrored},
    )
    pairs = defaultdict(list)
    for criterion, *values in rows:
        pairs[criterion].append(values)
    return {criterion: np.array(values) for criterion, values in pairs.items()}


def _screens(campaign: Campaign) -> dict[str, Screens]:
    answered = (
        Presentation.objects.filter(campaign=campaign, outcome__in=["submitted", "late"])
        .exclude(purpose="work")
        .order_by()
        .values_list("purpose")
        .annotate(n=Count("id"), raters=Count("rater", distinct=True))
    )
    within = _within(campaign)
    return {purpose: Screens(purpose, n, raters, within.get(purpose)) for purpose, n, raters in answered}


def _within(campaign: Campaign) -> dict[str, Share]:
    """Return per purpose the share of answers inside their accepted range, of those that have one."""
    rows = sql.rows(
        """
        SELECT kind, count(*) FILTER (WHERE value >= (accepted ->> 0)::float8
                                        AND value <= (accepted ->> 1)::float8), count(*)
        FROM (SELECT DISTINCT ON (a.presentation_id, a.number, a.criterion_id) p.purpose AS kind, a.value,
                     k.texts -> a.number::int -> 'expected' -> c.name AS accepted
              FROM annotation_checkanswer a
              JOIN annotation_presentation p ON p.id = a.presentation_id
              JOIN annotation_checkunit k ON k.id = p.check_unit_id
              JOIN annotation_criterion c ON c.id = a.criterion_id
              WHERE a.campaign_id = %s
              ORDER BY a.presentation_id, a.number, a.criterion_id, a.revision DESC) latest
        WHERE jsonb_typeof(accepted) = 'array' GROUP BY kind
        """,
        [campaign.pk],
    )
    return {kind: Share.of(hits, n) for kind, hits, n in rows}
