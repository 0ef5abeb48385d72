"""Rules that measure raters: whom they affect, after how many answers, and with which evidence."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, pearsonr

from annotation.weighting.checks import CheckLog
from annotation.weighting.exclusion.applying import apply_rules, judge_raters
from annotation.weighting.exclusion.listed import ExcludeRaters, ExcludeRatings, MinRatingsPerRater
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.measured import (
    AgreementBelow,
    AnchorAccuracyBelow,
    AttentionAccuracyBelow,
    DegradedNotLower,
    EntropyBelow,
    FasterThanPercentile,
    GoldAccuracyBelow,
    MedianSecondsBelow,
    SelfConsistencyBelow,
)

NAN = np.nan


def crowd(n_raters=6, n_responses=30, seed=0):
    """Return a log of honest raters who recognise degraded texts, and a last one who answers randomly and fast."""
    rng = np.random.default_rng(seed)
    rater = np.repeat(np.arange(n_raters), n_responses)
    response = np.tile(np.arange(n_responses), n_raters)
    quality = rng.integers(1, 6, n_responses)
    honest = rater < n_raters - 1
    value = np.where(honest, quality[response], rng.integers(1, 6, len(rater))).astype(float)
    seconds = np.where(honest, rng.uniform(8, 20, len(rater)), rng.uniform(0.5, 2, len(rater)))
    names = np.array([f"r{number}" for number in range(n_raters)])
    checks = CheckLog(
        np.tile(np.repeat(names, 8), 4),
        kind=np.repeat(["gold", "attention", "repeat", "degraded"], 8 * n_raters),
        value=np.concatenate(
            [
                np.where(np.arange(8 * n_raters) < 8 * (n_raters - 1), 5, 2),
                np.where(np.arange(8 * n_raters) < 8 * (n_raters - 1), 3, 1),
                np.where(np.arange(8 * n_raters) < 8 * (n_raters - 1), 4, 1),
                np.where(np.arange(8 * n_raters) < 8 * (n_raters - 1), 1, 5),
            ]
        ),
        low=np.repeat([4, 3, NAN, NAN], 8 * n_raters),
        high=np.repeat([5, 3, NAN, NAN], 8 * n_raters),
        first=np.repeat([NAN, NAN, 4, NAN], 8 * n_raters),
    )
    return RatingLog(
        names[rater], rating=np.arange(len(rater)), seconds=seconds, response=response, value=value, checks=checks
    )


RULES = [
    GoldAccuracyBelow("exclude", accuracy=0.6, after=5),
    AttentionAccuracyBelow("exclude", accuracy=0.6, after=5),
    SelfConsistencyBelow("exclude", share=0.6, after=5),
    DegradedNotLower("exclude", p=0.05, after=5),
    FasterThanPercentile("exclude", percentile=10, after=5),
    MedianSecondsBelow("exclude", seconds=3, after=5),
    AgreementBelow("exclude", correlation=0.5, after=5),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_excludes_the_rater_who_answers_randomly(rule):
    log = crowd()
    outcome = apply_rules([rule], log)
    [struck] = outcome.struck[0]
    assert struck.rater == "r5"
    assert outcome.counts == (30,)
    assert set(log.rater[outcome.keep]) == {"r0", "r1", "r2", "r3", "r4"}
    assert outcome.flagged == ()
    [verdict] = judge_raters([rule], log)
    assert (verdict.rater, verdict.action, verdict.rule) == ("r5", "exclude", 0)
    assert verdict.evidence.to_dict() == struck.evidence.to_dict()
    assert json.loads(json.dumps(struck.evidence.to_dict(), allow_nan=False))["n"] >= 5


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_rule_applies_before_enough_answers(rule):
    fields = rule.to_dict() | {"after": 1000}
    late_rule = type(rule)(**{key: fields[key] for key in fields if key not in {"rule", "version"}})
    assert judge_raters([late_rule], crowd()) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_flag_excludes_no_rating(rule):
    fields = rule.to_dict() | {"action": "flag"}
    flag_rule = type(rule)(**{key: fields[key] for key in fields if key not in {"rule", "version"}})
    outcome = apply_rules([flag_rule], crowd())
    assert outcome.keep.all()
    assert outcome.counts == (0,)
    assert outcome.flagged == ("r5",)


def test_the_evidence_of_gold_holds_the_share_its_wilson_interval_and_the_threshold():
    checks = CheckLog(["a"] * 10, kind=["gold"] * 10, value=[4] * 5 + [1] * 5, low=[3] * 10, high=[5] * 10)
    [verdict] = judge_raters([GoldAccuracyBelow("exclude", accuracy=0.6, after=10)], RatingLog([], checks=checks))
    evidence = verdict.evidence.to_dict()
    # Wilson 95% interval of 5 of 10: 0.2366, 0.7634 (scipy.stats.binomtest, method="wilson").
    assert evidence == {
        "measure": "gold accuracy",
        "n": 10,
        "estimate": 0.5,
        "low": pytest.approx(0.2366, abs=5e-5),
        "high": pytest.approx(0.7634, abs=5e-5),
        "threshold": 0.6,
        "pvalue": None,
    }


def test_unjudged_golds_do_not_count_but_unjudged_attention_checks_fail():
    checks = CheckLog(
        ["a"] * 6, kind=["gold"] * 3 + ["attention"] * 3, value=[NAN, NAN, 4] * 2, low=[4] * 6, high=[5] * 6
    )
    log = RatingLog([], checks=checks)
    assert judge_raters([GoldAccuracyBelow("flag", accuracy=1, after=1)], log) == []
    [verdict] = judge_raters([AttentionAccuracyBelow("flag", accuracy=1, after=3)], log)
    assert verdict.evidence.estimate == pytest.approx(1 / 3)


def test_anchors_have_their_own_rule():
    checks = CheckLog(["a", "a", "b"], kind=["anchor"] * 3, value=[1, 2, 5], low=[4] * 3, high=[NAN] * 3)
    verdicts = judge_raters([AnchorAccuracyBelow("flag", accuracy=0.5, after=1)], RatingLog(["b"], checks=checks))
    assert [verdict.rater for verdict in verdicts] == ["a"]


def test_a_straight_liner_fails_the_degraded_and_entropy_rules_but_not_agreement():
    checks = CheckLog(["a"] * 3, kind=["degraded"] * 3, value=[3, 3, 3])
    log = RatingLog(
        np.repeat(["a", "b"], 5), response=np.tile(np.arange(5), 2), value=[3] * 5 + [1, 2, 3, 4, 5], checks=checks
    )
    rules = [
        AgreementBelow("flag", correlation=0.9, after=1),
        DegradedNotLower("flag", p=0.05, after=3),
        EntropyBelow("flag", bits=0.1, after=5),
    ]
    verdicts = judge_raters(rules, log)
    assert [(verdict.rater, verdict.rule) for verdict in verdicts] == [("a", 1), ("a", 2)]
    assert verdicts[0].evidence.pvalue == 1


def test_degraded_texts_are_compared_with_the_raters_remaining_ratings_of_the_same_criterion():
    checks = CheckLog(["a"] * 3, kind=["degraded"] * 3, value=[2, 3, 4], criterion=["fluency"] * 3)
    value = [1, 2, 3, 3, 1, 1, 5]
    log = RatingLog(["a"] * 7, rating=range(7), value=value, criterion=["fluency"] * 5 + ["sense"] * 2, checks=checks)
    rules = [ExcludeRatings((4,)), DegradedNotLower("flag", p=0.05, after=3)]
    [verdict] = judge_raters(rules, log)
    oracle = mannwhitneyu([2, 3, 4], [1, 2, 3, 3], alternative="less")
    assert verdict.evidence.pvalue == pytest.approx(oracle.pvalue)
    assert verdict.evidence.estimate == pytest.approx(1 - oracle.statistic / 12)


def test_later_rules_do_not_see_ratings_of_excluded_raters():
    # b agrees with a; c disagrees with both. Without a, b is compared with c alone.
    log = RatingLog(
        np.repeat(["a", "b", "c"], 4), response=np.tile(np.arange(4), 3), value=[1, 2, 4, 5, 1, 2, 4, 5, 5, 4, 3, 1]
    )
    rule = AgreementBelow("flag", correlation=-0.5, after=3)
    assert {verdict.rater for verdict in judge_raters([rule], log)} == {"c"}
    verdicts = judge_raters([ExcludeRaters(("a",)), rule], log)
    assert [(verdict.rater, verdict.action, verdict.rule) for verdict in verdicts] == [
        ("a", "exclude", 0),
        ("b", "flag", 1),
        ("c", "flag", 1),
    ]
    assert verdicts[1].evidence.estimate == pytest.approx(pearsonr([1, 2, 4, 5], [5, 4, 3, 1]).statistic)


def test_raters_are_excluded_once_and_flagged_ones_may_be_excluded_later():
    log = crowd()
    rules = [MedianSecondsBelow("flag", seconds=3, after=5), *RULES]
    outcome = apply_rules(rules, log)
    assert [len(struck) for struck in outcome.struck] == [1, 1, 0, 0, 0, 0, 0, 0]
    assert outcome.flagged == ("r5",)
    assert outcome.counts == (0, 30, 0, 0, 0, 0, 0, 0)


def test_percentiles_are_computed_from_the_remaining_times():
    log = RatingLog(np.repeat(["a", "b", "c"], 3), seconds=[1, 1, 1, 5, 5, 7, 8, NAN, 9])
    rule = FasterThanPercentile("flag", percentile=40, after=2)
    [first] = judge_raters([rule], log)
    assert (first.rater, first.evidence.threshold) == ("a", np.percentile([1, 1, 1, 5, 5, 7, 8, 9], 40))
    [_, second] = judge_raters([ExcludeRaters(("a",)), rule], log)
    assert (second.rater, second.evidence.threshold) == ("b", np.percentile([5, 5, 7, 8, 9], 40))


def test_few_ratings_do_not_exclude_raters_while_a_campaign_runs():
    rules = [MinRatingsPerRater(5)]
    log = RatingLog(["a"])
    assert judge_raters(rules, log) == []
    assert [struck.rater for struck in apply_rules(rules, log).struck[0]] == ["a"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (GoldAccuracyBelow("flag", accuracy=0.5, after=1), "'gold_accuracy_below' needs the answers to checks"),
        (AgreementBelow("flag", correlation=0.5, after=1), "'agreement_below' needs the column 'response'"),
        (EntropyBelow("flag", bits=0.5, after=1), "'entropy_below' needs the column 'value'"),
        (MedianSecondsBelow("flag", seconds=1, after=1), "'median_seconds_below' needs the column 'seconds'"),
    ],
)
def test_a_rule_names_what_it_lacks(rule, message):
    with pytest.raises(ValueError, match=message):
        judge_raters([rule], RatingLog(["a"]))


def test_ratings_and_checks_must_name_raters_alike():
    with pytest.raises(ValueError, match="checks name raters by int64 values and ratings by <U1"):
        RatingLog(["a"], checks=CheckLog([1], kind=["gold"], value=[1]))


def test_an_empty_log_has_no_verdicts():
    empty = RatingLog([], seconds=[], response=[], value=[], checks=CheckLog([], kind=[], value=[]))
    assert judge_raters(RULES, empty) == []
    assert apply_rules(RULES, empty).counts == (0,) * len(RULES)


values = st.one_of(st.just(NAN), st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]))
ratings = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5), values, st.floats(0.1, 60)), max_size=40)
answers = st.lists(
    st.tuples(
        st.sampled_from("abcde"), st.sampled_from(["gold", "attention", "anchor", "repeat", "degraded"]), values, values
    ),
    max_size=40,
)
PAIRS = [  # the stricter, the looser
    (GoldAccuracyBelow, "accuracy", (0.9, 0.4)),
    (AttentionAccuracyBelow, "accuracy", (0.9, 0.4)),
    (AnchorAccuracyBelow, "accuracy", (0.9, 0.4)),
    (SelfConsistencyBelow, "share", (0.9, 0.4)),
    (DegradedNotLower, "p", (0.05, 0.3)),
    (FasterThanPercentile, "percentile", (60, 20)),
    (MedianSecondsBelow, "seconds", (30, 10)),
    (AgreementBelow, "correlation", (0.8, 0.1)),
    (EntropyBelow, "bits", (1.5, 0.5)),
]


def log_of(rating_rows, check_rows):
    rater, response, value, seconds = zip(*rating_rows, strict=True) if rating_rows else ((), (), (), ())
    check_rater, kind, answer, first = zip(*check_rows, strict=True) if check_rows else ((), (), (), ())
    checks = CheckLog(
        np.array(check_rater, dtype=str),
        kind=kind,
        value=answer,
        low=np.full(len(check_rater), 3.0),
        high=np.full(len(check_rater), 5.0),
        first=first,
    )
    return RatingLog(np.array(rater, dtype=str), seconds=seconds, response=response, value=value, checks=checks)


@given(ratings, answers, st.integers(1, 4))
def test_a_looser_threshold_affects_a_subset(rated, checked, after):
    log = log_of(rated, checked)
    for kind, field, (strict, loose) in PAIRS:
        struck = [
            {verdict.rater for verdict in judge_raters([kind("flag", after=after, **{field: threshold})], log)}
            for threshold in (strict, loose)
        ]
        assert struck[1] <= struck[0], kind


@given(ratings, answers)
def test_rules_do_not_change_the_log_and_are_reproducible(rated, checked):
    log = log_of(rated, checked)
    rules = [
        kind(action, after=1, **{field: strict})
        for (kind, field, (strict, _)), action in zip(PAIRS, ["flag", "exclude"] * 5, strict=False)
    ]
    before = [column.copy() for column in (log.rater, log.seconds, log.response, log.value, log.checks.value)]
    first, repeated = judge_raters(rules, log), judge_raters(rules, log_of(rated, checked))
    outcome = apply_rules(rules, log)
    after = [log.rater, log.seconds, log.response, log.value, log.checks.value]
    assert all(
        np.array_equal(old, new, equal_nan=old.dtype.kind == "f") for old, new in zip(before, after, strict=True)
    )

    def records_of(verdicts):
        return [(verdict.rater, verdict.rule, verdict.action, verdict.evidence.to_dict()) for verdict in verdicts]

    assert records_of(first) == records_of(repeated)
    assert [(verdict.rater, verdict.rule) for verdict in first] == [
        (struck.rater, number) for number, group in enumerate(outcome.struck) for struck in group
    ]
    excluded = {verdict.rater for verdict in first if verdict.action == "exclude"}
    assert outcome.keep.tolist() == [rater not in excluded for rater in log.rater.tolist()]
    assert sum(outcome.counts) == int((~outcome.keep).sum())
