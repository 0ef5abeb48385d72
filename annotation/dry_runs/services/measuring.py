"""What a finished walk foretells. Everything is read from the sandbox's tables, as for a real campaign."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from django.db import connection
from scipy import stats

from annotation.dry_runs.services.knowing import true_quality
from annotation.dry_runs.services.specification import Extent, Specification, checks_per_unit
from annotation.dry_runs.services.walking import Journal, failed_the_test
from annotation.dry_runs.simulation.arrivals import Workload
from annotation.dry_runs.simulation.forecast import SimulatedLog, detection_forecast, forecast
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.models import Campaign, Criterion, Participation, Presentation, PresentationOutcome, Purpose
from annotation.quality.selectors.raters import Verdict, campaign_log, current_rules, moment, verdicts
from annotation.rating.selectors.ratings import judgement_table
from annotation.weighting.enough import sufficiency
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.measured import MeasuredRule
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import ExclusionRule, Standing
from annotation.weighting.table import RatingTable

RESULT_VERSION = 1
FOR_K = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)
MOST_POINTS = 120  # of the curve
BEFORE_WORK = (Purpose.TRAINING, Purpose.TEST)

# What strikes a rater where no rules are registered: one per kind of check, and only checks.
DEFAULT_RULES: dict[str, dict[str, Any]] = {
    "gold": {"rule": "gold_accuracy_below", "action": "exclude", "accuracy": 0.6, "after": 5},
    "attention": {"rule": "attention_accuracy_below", "action": "exclude", "accuracy": 0.7, "after": 2},
    "anchor": {"rule": "anchor_accuracy_below", "action": "exclude", "accuracy": 0.5, "after": 4},
    "repeat": {"rule": "self_consistency_below", "action": "exclude", "share": 0.6, "after": 5},
    "degraded": {"rule": "degraded_not_lower", "action": "flag", "p": 0.05, "after": 5},
}


def default_rules(campaign: Campaign) -> list[dict[str, Any]]:
    """For the kinds of checks that the campaign mixes in."""
    mix = campaign.quality.get("mix", {}) if campaign.quality.get("every") else {}
    return [{"version": 1, **rule} for kind, rule in DEFAULT_RULES.items() if kind in mix]


def times_shift(journal: Journal) -> None:
    """The raters' own clocks into the sandbox's records, counted from now on: measured times would say nothing."""
    rows = [(one.presentation, one.shown, one.sent) for one in journal.answered]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE annotation_presentation p
            SET shown_at = statement_timestamp() + make_interval(secs => t.shown),
                ended_at = statement_timestamp() + make_interval(secs => t.sent)
            FROM unnest(%s::bigint[], %s::float8[], %s::float8[]) AS t(id, shown, sent)
            WHERE p.id = t.id
            """,
            [[row[at] for row in rows] for at in range(3)],
        )


def measured(
    *,
    original: Campaign,
    sandbox: Campaign,
    raters: Sequence[SimulatedRater],
    journal: Journal,
    specification: Specification,
    extent: Extent,
) -> dict[str, Any]:
    """The result of a dry run, as JSON holds it."""
    filling = set(
        Presentation.objects.filter(
            campaign=sandbox, purpose=Purpose.WORK, outcome=PresentationOutcome.SUBMITTED
        ).values_list("pk", flat=True)
    )
    registered = current_rules(original)
    records = registered.rules if registered else default_rules(original)
    rules = rules_from_data(records)
    people = {pseudonym: place for place, pseudonym in _pseudonyms(journal).items()}
    now = moment(sandbox)
    found = verdicts(sandbox, rules, now) if filling else []
    failed = failed_the_test(journal)
    struck = {people[str(one.rater)] for one in found}
    gone = {people[str(one.rater)] for one in found if one.action == "exclude"}
    certainty = [
        _certainty(sandbox, criterion, specification, {place: name for name, place in people.items()}, gone)
        for criterion in Criterion.objects.filter(campaign=sandbox).order_by("position", "id")
    ]
    places = sandbox.slots.count()
    simulated = {
        "share": extent.share,
        "units": sandbox.units.count(),
        "places": places,
        "filled": len(filling),
        "screens": len(journal.answered),
        "by_purpose": dict(Counter(str(one.purpose) for one in journal.answered)),
        "raters": len(raters),
        "arrived": journal.arrived,
        "worked": len({one.rater for one in journal.answered if one.purpose == Purpose.WORK}),
        "left": journal.left,
        "hours": journal.hours,
    }
    return {
        "version": RESULT_VERSION,
        "currency": original.payment_currency,
        "paid": bool(original.payment_per_unit),
        "ratings_per_unit": original.ratings_per_unit,
        "units": extent.units,
        "places": extent.places,
        "simulated": simulated,
        "forecast": _forecast(original, raters, journal, filling, failed, struck, certainty, specification, extent),
        "test": _test(original, raters, journal, failed),
        "certainty": certainty,
        "rules": {
            "source": "registered" if registered else "default" if rules else "none",
            "version": registered.version if registered else None,
            "checks": bool(original.quality.get("every")),
            "sentences": _rule_rows(rules, found, campaign_log(sandbox, now) if filling else None),
        },
        "raters": _rater_rows(raters, journal, failed, found, people),
        "screens_per_rater": _per_rater(journal),
        "without_code": _without_code(original, journal),
        "findings": [asdict(one) for one in journal.findings],
        "curve": _curve(journal, filling, places),
    }


# --- Parts ------------------------------------------------------------------------------------------------------------


def _pseudonyms(journal: Journal) -> dict[int, str]:
    names = dict(
        Participation.objects.filter(pk__in=journal.participations.values()).values_list("pk", "rater__pseudonym")
    )
    return {place: names[pk] for place, pk in journal.participations.items()}


def _forecast(
    original: Campaign,
    raters: Sequence[SimulatedRater],
    journal: Journal,
    filling: Collection[int],
    failed: Collection[int],
    struck: Collection[int],
    certainty: Sequence[dict[str, Any]],
    specification: Specification,
    extent: Extent,
) -> dict[str, Any] | None:
    """Of the whole campaign; None where nobody filled a place."""
    if not filling:
        return None
    qualification = original.qualification
    tries = [one.rater for one in journal.answered if one.purpose in BEFORE_WORK]
    is_tested = bool(qualification.get("training") or qualification.get("test"))
    halves = np.array([row["half_width"] for row in certainty if row["half_width"] is not None])
    result = forecast(
        SimulatedLog(
            [one.rater for one in journal.answered],
            [one.sent - one.shown for one in journal.answered],
            [one.presentation in filling for one in journal.answered],
        ),
        raters,
        workload=Workload(
            extent.units,
            original.ratings_per_unit,
            max_units_per_rater=_most_units(original),
            checks_per_unit=checks_per_unit(original),
            screens_before_work=len(tries) / len(set(tries)) if is_tested and tries else 0.0,
            lease_seconds=float(original.lease_seconds),
            seconds_between_units=float(original.seconds_between_units),
        ),
        struck=struck,
        low=-halves,
        high=halves,
        payment_per_unit=original.payment_per_unit,
        fee_percent=original.payment_fee_percent,
        arrivals_per_hour=specification.arrivals_per_hour,
        seed=specification.seed,
        qualifies=[place not in failed for place in range(len(raters))],
    ).to_dict()
    # Detection is about those who did work: whom the test kept out, no rule had to catch.
    working = [one.rater for one in journal.answered if one.purpose not in BEFORE_WORK]
    spammers = {place for place, rater in enumerate(raters) if rater.is_spammer}
    detected = detection_forecast(spammers=spammers, struck=struck, worked=working)
    result["detection"] = {name: _plain(value) for name, value in asdict(detected).items()}
    del result["width"]  # said by criterion
    return result


def _most_units(original: Campaign) -> int | None:
    """Units of work among the most screens that a rater may answer, checks included."""
    most = original.max_units_per_rater
    return None if most is None else max(1, round(most / (1 + checks_per_unit(original))))


def _certainty(
    sandbox: Campaign,
    criterion: Criterion,
    specification: Specification,
    names: dict[int, str],
    gone: Collection[int],
) -> dict[str, Any]:
    """How wide the weights' intervals would be, and how near the weights come to what the simulation knows."""
    table = judgement_table([sandbox], criteria=[criterion.name])
    excluded = {names[place] for place in gone}
    out = set(
        Participation.objects.filter(campaign=sandbox, rater__pseudonym__in=excluded).values_list("rater_id", flat=True)
    )
    responses, response = np.unique(table.response_id, return_inverse=True)
    _, rater = np.unique(table.rater_id, return_inverse=True)
    ratings = RatingTable(response, rater, table.value)
    kept = ratings.select(~np.isin(table.rater_id, list(out)))
    truth = np.array(true_quality(responses.tolist(), specification.seed))
    ends = (table.low, table.high) if math.isfinite(table.low) else (-math.log(10.0), math.log(10.0))
    ks = sorted({*FOR_K, sandbox.ratings_per_unit})
    everybody = sufficiency(ratings, *ends, target=specification.target, k=ks) if len(ratings) else None
    without = sufficiency(kept, *ends, target=specification.target, k=ks) if len(kept) else None
    return {
        "criterion": criterion.name,
        "responses": len(responses),
        "target": specification.target,
        "half_width": _plain(everybody.half_width if everybody else math.nan),
        "half_width_kept": _plain(without.half_width if without else math.nan),
        "needed": everybody.needed if everybody else None,
        "needed_kept": without.needed if without else None,
        "expected": [[k, _plain(half)] for k, half in everybody.expected] if everybody else [],
        "expected_kept": [[k, _plain(half)] for k, half in without.expected] if without else [],
        "recovery": _recovery(ratings, truth),
        "recovery_kept": _recovery(kept, truth),
        "reason": everybody.reason if everybody else "nobody rated anything",
    }


def _recovery(ratings: RatingTable, truth: np.ndarray) -> float | None:
    """Spearman's correlation of the responses' mean ratings with their true quality; None where undefined."""
    n = np.bincount(ratings.response, minlength=ratings.n_responses)
    some = n > 0
    if some.sum() < 3:
        return None
    total = np.bincount(ratings.response, ratings.value, minlength=ratings.n_responses)
    means = total[some] / n[some]
    if np.ptp(means) == 0 or np.ptp(truth[some]) == 0:
        return None
    return float(stats.spearmanr(means, truth[some]).statistic)


def _test(
    original: Campaign, raters: Sequence[SimulatedRater], journal: Journal, failed: Collection[int]
) -> dict[str, int] | None:
    """Whom the qualification test kept out; None without one."""
    if not original.qualification.get("test"):
        return None
    tested = {one.rater for one in journal.answered if one.purpose == Purpose.TEST}
    spammers = {place for place in tested if raters[place].is_spammer}
    return {
        "spammers": len(spammers),
        "spammers_failed": len(spammers & set(failed)),
        "honest": len(tested - spammers),
        "honest_failed": len((tested - spammers) & set(failed)),
    }


def _rule_rows(rules: Sequence[ExclusionRule], found: Sequence[Verdict], log: RatingLog | None) -> list[dict[str, Any]]:
    """Per rule, how many raters it struck, and how many had given enough answers to be judged by it."""
    rows = []
    for number, rule in enumerate(rules, start=1):
        judged = None
        if isinstance(rule, MeasuredRule) and log is not None:
            everybody = Standing(np.ones(len(log), dtype=np.bool_), np.zeros(len(log.raters), dtype=np.bool_))
            judged = int((rule.measured(log, everybody).n >= rule.after_answers).sum())
        struck = sum(one.number == number for one in found)
        rows.append({"sentence": rule.sentence, "struck": struck, "judged": judged})
    return rows


def _rater_rows(
    raters: Sequence[SimulatedRater],
    journal: Journal,
    failed: Collection[int],
    found: Sequence[Verdict],
    people: dict[str, int],
) -> list[dict[str, Any]]:
    screens: Counter[int] = Counter(one.rater for one in journal.answered)
    units: Counter[int] = Counter(one.rater for one in journal.answered if one.purpose == Purpose.WORK)
    seconds: dict[int, list[float]] = {}
    for one in journal.answered:
        seconds.setdefault(one.rater, []).append(one.sent - one.shown)
    verdict = {people[str(one.rater)]: one for one in reversed(found)}
    rows = []
    for place, rater in enumerate(raters):
        if place not in screens:
            continue
        struck = verdict.get(place)
        rows.append(
            {
                "rater": place + 1,
                "spam": rater.spam,
                "units": units[place],
                "checks": screens[place] - units[place],
                "seconds": float(np.median(seconds[place])),
                "failed_test": place in failed,
                "action": struck.action if struck else None,
                "why": struck.sentence if struck else "",
                "evidence": struck.evidence.to_dict() if struck else None,
            }
        )
    return rows


def _per_rater(journal: Journal) -> dict[str, float] | None:
    counts = Counter(one.rater for one in journal.answered if one.purpose not in BEFORE_WORK)
    if not counts:
        return None
    found = np.array(list(counts.values()))
    low, middle, high = np.quantile(found, [0.1, 0.5, 0.9]).tolist()
    return {"p10": low, "p50": middle, "p90": high, "most": float(found.max())}


def _without_code(original: Campaign, journal: Journal) -> int:
    """Raters who did some work, but less than earns the completion code."""
    units = Counter(one.rater for one in journal.answered if one.purpose == Purpose.WORK)
    return sum(n < original.min_units_per_rater for n in units.values())


def _curve(journal: Journal, filling: Collection[int], places: int) -> list[list[float]]:
    """Hours since the opening, and the share of places filled by then."""
    ends = sorted(one.sent / 3600 for one in journal.answered if one.presentation in filling)
    if not ends:
        return []
    at = np.unique(np.linspace(0, len(ends) - 1, min(MOST_POINTS, len(ends))).round().astype(int)).tolist()
    return [[0.0, 0.0], *([ends[place], (place + 1) / places] for place in at)]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
