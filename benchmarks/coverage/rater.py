"""Intervals and tests of one rater: checks, repeats, degraded texts, agreement, variety, time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from annotation.weighting.checks import CheckLog, check_accuracy, self_consistency
from annotation.weighting.degraded import DegradedTest, degraded_test
from annotation.weighting.exclusion.applying import judge_raters
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.others import agreement_of_others
from annotation.weighting.exclusion.suspected import Measures, rules_for
from annotation.weighting.raters import summarise_raters
from annotation.weighting.table import RatingTable
from benchmarks.coverage.case import WIDER, Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import HIGH, LOW, Floats, qualities, raters

RATERS = 200  # at once
TRIALS = 8
CROWD = 20  # other raters of each response, for agreement
PACE = 7.4  # seconds that the middle rater takes
CAMPAIGNS = 400  # simulated one by one
ENDLESS = 4000  # ratings of each rater for the truth


def columns(n: int, answers: int) -> np.ndarray:
    return np.repeat(np.arange(n), answers)


def accuracy(rng: np.random.Generator, *, n: int) -> Hits:
    truth = rng.uniform(0.5, 1, RATERS)
    right = rng.random((RATERS, n)) < truth[:, None]
    low = np.full(RATERS * n, 4.0)
    checks = CheckLog(columns(RATERS, n), kind=["gold"] * low.size, value=np.where(right, 5, 1).ravel(), low=low)
    result = check_accuracy(checks, "gold", RATERS)
    return held(result.low, truth, result.high)


def repeated(rng: np.random.Generator, n: int, noise: Floats) -> tuple[Floats, Floats]:
    quality = qualities(RATERS * n, rng).reshape(RATERS, n)
    first, second = (np.rint(quality + noise[:, None] * rng.normal(size=quality.shape)).clip(LOW, HIGH) for _ in "12")
    return first, second


def consistency(rng: np.random.Generator, *, measure: str, n: int) -> Hits:
    noise = rng.uniform(0.3, 1.0, RATERS)

    def measured(answers: int) -> object:
        first, second = repeated(rng, answers, noise)
        kind = ["repeat"] * first.size
        checks = CheckLog(columns(RATERS, answers), kind=kind, value=second.ravel(), first=first.ravel())
        return self_consistency(checks, RATERS)

    truth, result = getattr(measured(ENDLESS), measure), measured(n)
    return held(getattr(result, f"{measure}_low"), truth, getattr(result, f"{measure}_high"))


def degraded(rng: np.random.Generator, *, n: int, others: int, lower: float) -> tuple[DegradedTest, Floats]:
    """Return the test of raters who find degraded texts lower by so many points, and the true probability."""
    noise = rng.uniform(0.4, 1.2, RATERS)

    def answers(count: int, shift: float) -> Floats:
        quality = qualities(RATERS * count, rng).reshape(RATERS, count) - shift
        return np.rint(quality + noise[:, None] * rng.normal(size=quality.shape)).clip(LOW, HIGH)

    checks = CheckLog(columns(RATERS, n), kind=["degraded"] * RATERS * n, value=answers(n, lower).ravel())
    result = degraded_test(checks, columns(RATERS, others), answers(others, 0.0).ravel(), RATERS)
    many, few = answers(ENDLESS, 0.0), answers(ENDLESS, lower)
    truth = (many > few).mean(axis=1) + (many == few).mean(axis=1) / 2
    return result, truth


def degraded_interval(rng: np.random.Generator, *, n: int) -> Hits:
    result, truth = degraded(rng, n=n, others=40, lower=1.5)
    return held(result.auc_low, truth, result.auc_high)


def degraded_null(rng: np.random.Generator, *, n: int) -> Hits:
    return rejected(degraded(rng, n=n, others=40, lower=0.0)[0].pvalue)


def honest_flagged(rng: np.random.Generator, *, n: int) -> Hits:
    """Return whether the default rule flags honest raters, who find degraded texts two points lower."""
    pvalue = degraded(rng, n=n, others=40, lower=2.0)[0].pvalue
    return np.asarray(pvalue >= 0.05, np.float64)


def summary(rng: np.random.Generator, *, measure: str, n: int) -> Hits:
    crowd = raters(RATERS, rng)

    def measured(answers: int) -> object:
        """Each rater rates responses that a crowd of others rates, too."""
        quality = qualities(RATERS * answers, rng)
        own = crowd.answers(quality, columns(RATERS, answers), rng)
        others = np.rint(quality + rng.normal(0, 0.5, quality.shape)).clip(LOW, HIGH)
        response = np.tile(np.arange(quality.size), 2)
        rater = np.concatenate([columns(RATERS, answers), np.full(quality.size, RATERS)])
        seconds = np.exp(rng.normal(2, 0.6, response.size))
        return summarise_raters(RatingTable(response, rater, np.concatenate([own, others])), seconds=seconds)

    truth = np.full(RATERS, np.exp(2.0)) if measure == "seconds" else getattr(measured(ENDLESS), measure)[:RATERS]
    result = measured(n)
    return held(getattr(result, f"{measure}_low")[:RATERS], truth, getattr(result, f"{measure}_high")[:RATERS])


def stand_out(
    rng: np.random.Generator, *, n_raters: int, n: int, last: str = "", noise: float = 1.0, pace: float = PACE
) -> Hits:
    """Return which raters of a campaign stand out before it has rules; ``last`` says how the last of them is careless.

    All rate the same ``n`` responses. ``fast`` answers at random at 0.2 s, ``slow`` at random at the usual pace,
    ``same`` gives one answer throughout.
    """
    crowd = raters(n_raters, rng)
    quality = np.tile(qualities(n, rng), n_raters)
    rater = columns(n_raters, n)
    value = crowd._replace(noise=crowd.noise * noise).answers(quality, rater, rng)
    own_pace = rng.normal(np.log(pace), 0.45, n_raters)
    seconds = np.exp(own_pace[rater] + rng.normal(0, 0.6, rater.size))
    careless = rater == n_raters - 1
    if last in ("fast", "slow"):
        value[careless] = rng.integers(LOW, HIGH + 1, n)
    if last == "fast":
        seconds[careless] = 0.2
    if last == "same":
        value[careless] = HIGH - 1
    return marks(RatingTable(np.tile(np.arange(n), n_raters), rater, value), seconds)


def marks(table: RatingTable, seconds: Floats) -> Hits:
    found = summarise_raters(table, seconds=seconds)
    rules = rules_for(
        seconds=Measures(found.median_seconds, found.n_timed),
        agreement=Measures(found.agreement, found.n_compared),
        entropy=Measures(found.entropy, found.n),
        others=agreement_of_others(table),
    )
    log = RatingLog(table.rater, value=table.value, response=table.response, seconds=seconds)
    marked = {int(result.rater) for result in judge_raters(rules, log)}
    return np.array([index in marked for index in range(table.n_raters)], dtype=np.float64)


def pairs_stand_out(rng: np.random.Generator, *, noise: float, is_careless: bool = True) -> Hits:
    """Return which of four raters of pairs stand out: three at 2.5, 4 and 6 s, one at 1.15 s, at random if careless.

    Of 162 pairs of four systems' outputs for 40 items they answered 45, 30, 25 and 115, each output on five points.
    """
    quality = 3 + np.array([0.4, 0.2, 0.1, -0.6]) + rng.normal(0, 0.6, (40, 4))
    every = [(4 * item + a, 4 * item + b) for item in range(40) for a in range(4) for b in range(a)]
    planned = np.array(every)[rng.permutation(len(every))[:162]]
    answered = (45, 30, 25, 115)
    shown = [planned[rng.permutation(len(planned))[:count]] for count in answered]
    response, rater = np.concatenate(shown).ravel(), np.repeat(np.arange(4), 2 * np.array(answered))
    crowd = raters(4, rng)
    value = crowd._replace(noise=crowd.noise * noise).answers(quality.ravel()[response], rater, rng)
    pace = (2.5, 4.0, 6.0, 1.15 if is_careless else 3.0)
    taken = [middle * np.exp(rng.normal(0, 0.5, count)) for middle, count in zip(pace, answered, strict=True)]
    if is_careless:
        value[rater == 3] = rng.integers(LOW, HIGH + 1, 2 * answered[3])
    return marks(
        RatingTable(np.unique(response, return_inverse=True)[1], rater, value), np.repeat(np.concatenate(taken), 2)
    )


def careful_marked(
    rng: np.random.Generator, *, n_raters: int, n: int, noise: float = 1.0, pace: float = PACE, beside: str = ""
) -> Hits:
    """Return which careful raters are marked, all of them or those ``beside`` a careless one."""
    found = stand_out(rng, n_raters=n_raters, n=n, noise=noise, pace=pace, last=beside)
    return found[:-1] if beside else found


def careful_of_pairs_marked(rng: np.random.Generator, *, noise: float, is_careless: bool) -> Hits:
    found = pairs_stand_out(rng, noise=noise, is_careless=is_careless)
    return found[:-1] if is_careless else found


def careless_of_pairs_marked(rng: np.random.Generator, *, noise: float) -> Hits:
    return pairs_stand_out(rng, noise=noise)[-1:]


def careless_marked(rng: np.random.Generator, *, n_raters: int, n: int, kind: str) -> Hits:
    return stand_out(rng, n_raters=n_raters, n=n, last=kind)[-1:]


def settings(
    trial: Callable[..., Hits], what: str, counts: tuple[int, ...], *, claims: str = "", **options: object
) -> tuple[Setting, ...]:
    return tuple(Setting(f"{n} {what}", partial(trial, n=n, **options), TRIALS, claims) for n in counts)


def campaigns(
    trial: Callable[..., Hits], what: str, sizes: tuple[tuple[int, int], ...], **options: object
) -> tuple[Setting, ...]:
    return tuple(
        Setting(f"{k} raters, {n} answers each, {what}", partial(trial, n_raters=k, n=n, **options), CAMPAIGNS)
        for k, n in sizes
    )


def of_pairs(trial: Callable[..., Hits], what: str, **options: object) -> tuple[Setting, ...]:
    return tuple(
        Setting(f"4 raters of pairs{agree}, {what}", partial(trial, noise=noise, **options), CAMPAIGNS)
        for agree, noise in (("", 1.0), (" who agree little", 1.75))
    )


CHECKS, SUMMARY = "annotation.weighting.checks", "annotation.weighting.raters.summarise_raters"
SUSPECTED = "annotation.weighting.exclusion.suspected.rules_for"
SMALL = ((3, 20), (4, 12), (4, 20), (6, 60))
CONSISTENCY, DEGRADED = f"{CHECKS}.self_consistency", "annotation.weighting.degraded.degraded_test"
CASES = (
    Case(
        "Accuracy on gold, attention checks and anchors; shares of dry runs; share that passed the test",
        f"{CHECKS}.check_accuracy",
        (
            "CheckAccuracy.low",
            "Measurement.low",
            "Evidence.low",
            "DetectionForecast.recall_low",
            "DetectionForecast.false_alarms_low",
        ),
        settings(accuracy, "answers", (5, 10, 30)),
    ),
    Case(
        "Repeats answered the same",
        CONSISTENCY,
        ("SelfConsistency.exact_low",),
        settings(consistency, "repeats", (5, 15), measure="exact"),
    ),
    Case(
        "Repeats within one point",
        CONSISTENCY,
        ("SelfConsistency.within_low",),
        settings(consistency, "repeats", (5, 15), measure="within"),
    ),
    Case(
        "Difference on repeats",
        CONSISTENCY,
        ("SelfConsistency.difference_low",),
        settings(consistency, "repeats", (5,), claims=WIDER, measure="difference")
        + settings(consistency, "repeats", (15,), measure="difference"),
    ),
    Case(
        "κ on repeats",
        CONSISTENCY,
        ("SelfConsistency.kappa_low",),
        settings(consistency, "repeats", (5, 15), measure="kappa"),
    ),
    Case(
        "Undegraded above degraded",
        DEGRADED,
        ("DegradedTest.auc_low",),
        settings(degraded_interval, "degraded texts, 40 others", (5, 10)),
    ),
    Case(
        "Degraded test",
        DEGRADED,
        ("DegradedTest.pvalue", "Measurement.pvalue", "Evidence.pvalue"),
        settings(degraded_null, "degraded texts, 40 others", (5, 10)),
        "p-value",
    ),
    Case(
        "Honest raters whom the rule on degraded texts flags at p of 0.05; by default it waits for ten",
        "annotation.weighting.exclusion.measured.DegradedNotLower",
        (),
        settings(honest_flagged, "degraded texts, 40 others", (5, 10)),
        "flag",
    ),
    Case(
        "Careful raters who stand out before a campaign has rules",
        SUSPECTED,
        (),
        campaigns(careful_marked, "all careful", SMALL)
        + campaigns(careful_marked, "who agree little", SMALL, noise=2.0)
        + campaigns(careful_marked, "in 3 s an item", SMALL, pace=3.0)
        + campaigns(careful_marked, "beside one at random", SMALL, beside="slow")
        + of_pairs(careful_of_pairs_marked, "all careful", is_careless=False)
        + of_pairs(careful_of_pairs_marked, "beside one at random in 1.15 s", is_careless=True),
        "mark",
    ),
    Case(
        "The careless one of a campaign's raters, who stands out before it has rules",
        SUSPECTED,
        (),
        campaigns(careless_marked, "one at random in 0.2 s", SMALL, kind="fast")
        + campaigns(careless_marked, "one at random at the pace of the others", SMALL, kind="slow")
        + campaigns(careless_marked, "one with one answer throughout", SMALL, kind="same")
        + of_pairs(careless_of_pairs_marked, "one at random in 1.15 s"),
        "mark",
    ),
    Case(
        "Mean of a rater", SUMMARY, ("RaterSummary.mean_low",), settings(summary, "ratings", (10, 30), measure="mean")
    ),
    Case(
        "Agreement with the others",
        SUMMARY,
        ("RaterSummary.agreement_low",),
        settings(summary, "ratings", (10, 20, 50), measure="agreement"),
    ),
    Case(
        "Entropy of answers",
        SUMMARY,
        ("RaterSummary.entropy_low",),
        settings(summary, "ratings", (30, 60), measure="entropy"),
        WIDER,
    ),
    Case(
        "Median time",
        SUMMARY,
        ("RaterSummary.seconds_low",),
        settings(summary, "ratings", (6, 10, 30, 100), measure="seconds"),
        WIDER,
    ),
)
