"""The result of a dry run, from what simulated raters did. The sandbox's tables are read as those of any campaign."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from annotation.core import sql
from annotation.dry_runs.services.extent import Extent, checks_per_unit
from annotation.dry_runs.services.walking import Answered, Journal
from annotation.dry_runs.simulation.answers import latent_quality
from annotation.dry_runs.simulation.arrivals import Workload, duration_forecast
from annotation.dry_runs.simulation.forecast import cost_forecast, detection_forecast
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.dry_runs.specification import DryRunSpecification
from annotation.models import Campaign, Criterion, Participation, Presentation, PresentationOutcome, Purpose, Stage
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

# Rules for a campaign that registered none: one for each kind of check that it mixes in.
DEFAULT_RULES: dict[str, dict[str, Any]] = {
    "gold": {"rule": "gold_accuracy_below", "action": "exclude", "accuracy": 0.6, "after": 5},
    "attention": {"rule": "attention_accuracy_below", "action": "exclude", "accuracy": 0.7, "after": 2},
    "anchor": {"rule": "anchor_accuracy_below", "action": "exclude", "accuracy": 0.5, "after": 4},
    "repeat": {"rule": "self_consistency_below", "action": "exclude", "share": 0.6, "after": 5},
    "degraded": {"rule": "degraded_not_lower", "action": "flag", "p": 0.05, "after": 10},
}


def default_rules(campaign: Campaign) -> list[dict[str, Any]]:
    mix = campaign.quality.get("mix", {}) if campaign.quality.get("every") else {}
    return [{"version": 1, **rule} for kind, rule in DEFAULT_RULES.items() if kind in mix]


@dataclass(frozen=True)
class PlayedRun:
    """A dry run whose raters have finished. Raters are named by their index in ``raters``."""

    original: Campaign
    sandbox: Campaign
    raters: Sequence[SimulatedRater]
    journal: Journal
    specification: DryRunSpecification
    extent: Extent

    @property
    def answered(self) -> list[Answered]:
        return self.journal.answered

    @cached_property
    def work(self) -> list[Answered]:
        return [answer for answer in self.answered if answer.purpose == Purpose.WORK]

    @cached_property
    def after_training(self) -> list[Answered]:
        return [answer for answer in self.answered if answer.purpose not in BEFORE_WORK]

    @cached_property
    def filling(self) -> set[int]:
        """Return the presentations whose answers fill a slot."""
        submitted = Presentation.objects.filter(
            campaign=self.sandbox, purpose=Purpose.WORK, outcome=PresentationOutcome.SUBMITTED
        )
        return set(submitted.values_list("pk", flat=True))

    @cached_property
    def failed(self) -> set[int]:
        """Return the raters who failed the qualification test."""
        participations = Participation.objects.filter(pk__in=self.journal.participations.values(), stage=Stage.FAILED)
        failed = set(participations.values_list("pk", flat=True))
        return {rater for rater, pk in self.journal.participations.items() if pk in failed}

    @cached_property
    def spammers(self) -> set[int]:
        return {index for index, rater in enumerate(self.raters) if rater.is_spammer}

    def raters_by_pseudonym(self) -> dict[str, int]:
        participations = Participation.objects.filter(pk__in=self.journal.participations.values())
        names = dict(participations.values_list("pk", "rater__pseudonym"))
        return {names[pk]: rater for rater, pk in self.journal.participations.items()}


def shift_times(journal: Journal) -> None:
    """Write the raters' simulated times into the sandbox's records, counted from now on."""
    sql.execute(
        """
        UPDATE annotation_presentation p
        SET shown_at = statement_timestamp() + make_interval(secs => t.shown),
            ended_at = statement_timestamp() + make_interval(secs => t.sent)
        FROM unnest(%s::bigint[], %s::float8[], %s::float8[]) AS t(id, shown, sent)
        WHERE p.id = t.id
        """,
        [[getattr(answer, name) for answer in journal.answered] for name in ("presentation", "shown", "sent")],
    )


def dry_run_result(played: PlayedRun) -> dict[str, Any]:
    """Return the result of a dry run as JSON holds it."""
    original, sandbox, journal = played.original, played.sandbox, played.journal
    registered = current_rules(original)
    rules = rules_from_data(registered.rules if registered else default_rules(original))
    now = moment(sandbox)
    results = verdicts(sandbox, rules, now) if played.filling else []
    by_pseudonym = played.raters_by_pseudonym()
    struck = {by_pseudonym[str(result.rater)] for result in results}
    excluded = [str(result.rater) for result in results if result.action == "exclude"]
    places = sandbox.slots.count()
    units = Counter(answer.rater for answer in played.work)
    return {
        "version": RESULT_VERSION,
        "currency": original.payment_currency,
        "paid": bool(original.payment_per_unit),
        "ratings_per_unit": original.ratings_per_unit,
        "units": played.extent.units,
        "places": played.extent.places,
        "simulated": {
            "share": played.extent.share,
            "units": sandbox.units.count(),
            "places": places,
            "filled": len(played.filling),
            "screens": len(played.answered),
            "by_purpose": dict(Counter(str(answer.purpose) for answer in played.answered)),
            "raters": len(played.raters),
            "arrived": journal.arrived,
            "worked": len(units),
            "left": journal.left,
            "hours": journal.hours,
        },
        "forecast": _forecast(played, struck) if played.filling else None,
        "test": _test_result(played) if original.qualification.get("test") else None,
        "certainty": [
            _certainty(played, criterion, excluded)
            for criterion in Criterion.objects.filter(campaign=sandbox).order_by("position", "id")
        ],
        "rules": {
            "source": "registered" if registered else "default" if rules else "none",
            "version": registered.version if registered else None,
            "checks": bool(original.quality.get("every")),
            "sentences": _rule_rows(rules, results, campaign_log(sandbox, now) if played.filling else None),
        },
        "raters": _rater_rows(played, {by_pseudonym[str(result.rater)]: result for result in reversed(results)}),
        "screens_per_rater": _screens_per_rater(played),
        "without_code": sum(n < original.min_units_per_rater for n in units.values()),
        "findings": [asdict(problem) for problem in journal.findings],
        "curve": _curve(played, places),
    }


# --- Parts ------------------------------------------------------------------------------------------------------------


def _forecast(played: PlayedRun, struck: Collection[int]) -> dict[str, Any]:
    """Forecast cost, duration and detection of the whole campaign."""
    original, specification = played.original, played.specification
    qualification = original.qualification
    tries = [answer.rater for answer in played.answered if answer.purpose in BEFORE_WORK]
    is_tested = bool(qualification.get("training") or qualification.get("test"))
    checks, most_screens = checks_per_unit(original), original.max_units_per_rater
    workload = Workload(
        played.extent.units,
        original.ratings_per_unit,
        # Units of work among the most screens that a rater may answer, checks included.
        max_units_per_rater=None if most_screens is None else max(1, round(most_screens / (1 + checks))),
        checks_per_unit=checks,
        screens_before_work=len(tries) / len(set(tries)) if is_tested and tries else 0.0,
        lease_seconds=float(original.lease_seconds),
        seconds_between_units=float(original.seconds_between_units),
    )
    duration = duration_forecast(
        workload,
        played.raters,
        arrivals_per_hour=specification.arrivals_per_hour,
        rng=np.random.default_rng(specification.seed),
        qualifies=[index not in played.failed for index in range(len(played.raters))],
    )
    cost = cost_forecast(
        paid_screens=len(played.answered),
        paid_seconds=float(np.array([answer.sent - answer.shown for answer in played.answered]).sum()),
        filled=sum(answer.presentation in played.filling for answer in played.answered),
        places=workload.slots,
        payment_per_unit=original.payment_per_unit,
        fee_percent=original.payment_fee_percent,
        duration=duration,
    )
    # Only raters who did work: no rule has to catch those who failed the test.
    working = [answer.rater for answer in played.after_training]
    detection = detection_forecast(spammers=played.spammers, struck=struck, worked=working)
    forecasts = {"cost": cost, "duration": duration, "detection": detection}
    return {part: {name: _plain(value) for name, value in vars(numbers).items()} for part, numbers in forecasts.items()}


def _certainty(played: PlayedRun, criterion: Criterion, excluded: Collection[str]) -> dict[str, Any]:
    """Return how wide the weights' intervals would be, and how close mean ratings come to the true quality."""
    sandbox, target = played.sandbox, played.specification.target
    table = judgement_table([sandbox], criteria=[criterion.name])
    participations = Participation.objects.filter(campaign=sandbox, rater__pseudonym__in=excluded)
    excluded_ids = list(set(participations.values_list("rater_id", flat=True)))
    responses, response = np.unique(table.response_id, return_inverse=True)
    _, rater = np.unique(table.rater_id, return_inverse=True)
    ratings = RatingTable(response, rater, table.value)
    truth = latent_quality(responses.tolist(), played.specification.seed)
    ends = (table.low, table.high) if math.isfinite(table.low) else (-math.log(10.0), math.log(10.0))
    ks = sorted({*FOR_K, sandbox.ratings_per_unit})
    row: dict[str, Any] = {"criterion": criterion.name, "responses": len(responses), "target": target, "reason": ""}
    for suffix, counted in (("_kept", ratings.select(~np.isin(table.rater_id, excluded_ids))), ("", ratings)):
        enough = sufficiency(counted, *ends, target=target, k=ks) if len(counted) else None
        row |= {
            f"half_width{suffix}": _plain(enough.half_width) if enough else None,
            f"needed{suffix}": enough.needed if enough else None,
            f"expected{suffix}": [[k, _plain(half)] for k, half in enough.expected] if enough else [],
            f"recovery{suffix}": _recovery(counted, truth),
            "reason": enough.reason if enough else "no rater rated anything",
        }
    return row


def _recovery(ratings: RatingTable, truth: np.ndarray) -> float | None:
    """Return Spearman's correlation of mean ratings with the true quality; None if it is undefined."""
    n = np.bincount(ratings.response, minlength=ratings.n_responses)
    some = n > 0
    if some.sum() < 3:
        return None
    total = np.bincount(ratings.response, ratings.value, minlength=ratings.n_responses)
    means = total[some] / n[some]
    if np.ptp(means) == 0 or np.ptp(truth[some]) == 0:
        return None
    return float(scipy.stats.spearmanr(means, truth[some]).statistic)


def _test_result(played: PlayedRun) -> dict[str, int]:
    tested = {answer.rater for answer in played.answered if answer.purpose == Purpose.TEST}
    groups = {"spammers": tested & played.spammers, "honest": tested - played.spammers}
    counts = {name: len(group) for name, group in groups.items()}
    return counts | {f"{name}_failed": len(group & played.failed) for name, group in groups.items()}


def _rule_rows(
    rules: Sequence[ExclusionRule], results: Sequence[Verdict], log: RatingLog | None
) -> list[dict[str, Any]]:
    """Return for each rule how many raters it excludes or flags, and how many answered enough to be judged."""
    rows = []
    for number, rule in enumerate(rules, start=1):
        judged = None
        if isinstance(rule, MeasuredRule) and log is not None:
            all_ratings = Standing(np.ones(len(log), dtype=np.bool_), np.zeros(len(log.raters), dtype=np.bool_))
            judged = int((rule.measured(log, all_ratings).n >= rule.after_answers).sum())
        struck = sum(result.number == number for result in results)
        rows.append({"sentence": rule.sentence, "struck": struck, "judged": judged})
    return rows


def _rater_rows(played: PlayedRun, results: dict[int, Verdict]) -> list[dict[str, Any]]:
    units = Counter(answer.rater for answer in played.work)
    seconds: dict[int, list[float]] = defaultdict(list)
    for answer in played.answered:
        seconds[answer.rater].append(answer.sent - answer.shown)
    rows = []
    for index in sorted(seconds):
        result = results.get(index)
        rows.append(
            {
                "rater": index + 1,
                "spam": played.raters[index].spam,
                "units": units[index],
                "checks": len(seconds[index]) - units[index],
                "seconds": float(np.median(seconds[index])),
                "failed_test": index in played.failed,
                "action": result.action if result else None,
                "why": result.sentence if result else "",
                "evidence": result.evidence.to_dict() if result else None,
            }
        )
    return rows


def _screens_per_rater(played: PlayedRun) -> dict[str, float] | None:
    counts = list(Counter(answer.rater for answer in played.after_training).values())
    if not counts:
        return None
    low, middle, high = np.quantile(counts, [0.1, 0.5, 0.9]).tolist()
    return {"p10": low, "p50": middle, "p90": high, "most": float(max(counts))}


def _curve(played: PlayedRun, places: int) -> list[list[float]]:
    """Return hours since the opening, and the share of slots filled by then."""
    ends = sorted(answer.sent / 3600 for answer in played.answered if answer.presentation in played.filling)
    if not ends:
        return []
    shown = np.unique(np.linspace(0, len(ends) - 1, min(MOST_POINTS, len(ends))).round().astype(int)).tolist()
    return [[0.0, 0.0], *([ends[index], (index + 1) / places] for index in shown)]


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: money as text, None for an undefined number."""
    if isinstance(value, Decimal):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
