import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.weighting.exclusion.applying import apply_rules
from annotation.weighting.exclusion.listed import (
    ExcludeExtra,
    ExcludeRaters,
    ExcludeRatings,
    MinRatingsPerRater,
    MinSecondsPerRating,
)
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
from annotation.weighting.exclusion.registry import RULES, rule_from_dict, rules_from_data
from annotation.weighting.exclusion.rule import RuleError

EVERY_RULE = [
    ExcludeRaters(("r1", "r2")),
    ExcludeRatings((4, 5)),
    MinSecondsPerRating(1.5),
    MinRatingsPerRater(3),
    ExcludeExtra(),
    GoldAccuracyBelow("exclude", accuracy=0.6, after=5),
    AttentionAccuracyBelow("exclude", accuracy=1, after=2),
    AnchorAccuracyBelow("flag", accuracy=0.5, after=3),
    SelfConsistencyBelow("flag", share=0.7, after=4),
    DegradedNotLower("exclude", p=0.05, after=5),
    FasterThanPercentile("flag", percentile=2, after=10),
    MedianSecondsBelow("exclude", seconds=1.5, after=10),
    AgreementBelow("flag", correlation=0.1, after=20),
    EntropyBelow("exclude", bits=0.5, after=20),
]

FLAG = {"version": 1, "action": "flag", "after": 1}
GOLD = {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 5}


def test_every_rule_survives_json():
    assert {rule.name for rule in EVERY_RULE} == set(RULES)
    assert rules_from_data(json.loads(json.dumps([rule.to_dict() for rule in EVERY_RULE]))) == EVERY_RULE


def test_rules_are_serialised_in_the_order_of_their_fields():
    assert list(GoldAccuracyBelow("exclude", accuracy=0.6, after=5).to_dict().items()) == list(GOLD.items())


def test_every_rule_has_a_sentence():
    sentences = [rule.sentence for rule in EVERY_RULE]
    assert sentences[:5] == [
        "Exclude 2 raters: r1, r2.",
        "Exclude 2 ratings: 4, 5.",
        "Exclude ratings given in less than 1.5 s.",
        "Exclude raters with fewer than 3 ratings.",
        "Exclude late ratings, whose slot had gone to another rater.",
    ]
    assert sentences[5] == "Exclude raters whose gold accuracy is below 0.6, after 5 gold answers."
    assert sentences[10] == "Flag raters whose median time is below percentile 2 of all times, after 10 timed ratings."


def test_rules_apply_in_order_and_count_the_ratings_they_exclude():
    log = RatingLog(
        ["a", "a", "a", "b", "b", "c"],
        rating=[1, 2, 3, 4, 5, 6],
        seconds=[9, 0.4, np.nan, 9, 9, 9],
        extra=[0, 0, 0, 0, 1, 0],
    )
    rules = [MinSecondsPerRating(1), ExcludeExtra(), MinRatingsPerRater(2), ExcludeRatings((3, 6))]
    outcome = apply_rules(rules, log)
    # a keeps two (one of unknown time), b keeps one and c has one: the third rule excludes both.
    assert outcome.counts == (1, 1, 2, 1)
    assert outcome.keep.tolist() == [True, False, False, False, False, False]


@pytest.mark.parametrize("column", [[7, 8, 7], ["7", "8", "7"]])
@pytest.mark.parametrize("named", [(7,), ("7",)])
def test_rater_ids_match_as_numbers_or_text(column, named):
    assert apply_rules([ExcludeRaters(named)], RatingLog(column)).keep.tolist() == [False, True, False]


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.integers(1, 5))
def test_counts_and_kept_ratings_add_up(raters, minimum):
    log = RatingLog(np.asarray(raters, dtype=str))
    outcome = apply_rules([ExcludeRaters(("a",)), MinRatingsPerRater(minimum)], log)
    assert sum(outcome.counts) + outcome.keep.sum() == len(raters)
    raters_kept = log.rater[outcome.keep].tolist()
    assert all(raters_kept.count(rater) == raters.count(rater) >= minimum for rater in raters_kept)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"rule": "bogus", "version": 1}, "field 'rule' is 'bogus'; accepted: gold_accuracy_below, "),
        ({"rule": "exclude_extra", "version": 2}, "'exclude_extra': field 'version' is 2; accepted: 1"),
        ({"rule": "exclude_extra"}, "'exclude_extra': field 'version' is None"),
        ({"rule": "exclude_raters", "version": 1}, "'exclude_raters': field 'raters' is missing"),
        ({"rule": "exclude_extra", "version": 1, "why": "x"}, "'exclude_extra': field 'why' is unknown"),
        ({"rule": "exclude_raters", "version": 1, "raters": []}, "field 'raters' is "),
        ({"rule": "exclude_raters", "version": 1, "raters": "ann"}, "field 'raters' is 'ann'"),
        ({"rule": "exclude_raters", "version": 1, "raters": ["a", 1]}, "all text or all whole numbers"),
        ({"rule": "min_seconds_per_rating", "version": 1, "seconds": 0}, "field 'seconds' is 0"),
        ({"rule": "min_seconds_per_rating", "version": 1, "seconds": "2"}, "field 'seconds' is '2'"),
        ({"rule": "min_ratings_per_rater", "version": 1, "ratings": 1.5}, "field 'ratings' is 1.5"),
        (GOLD | {"action": "ban"}, "'gold_accuracy_below': field 'action' is 'ban'; accepted: exclude, flag"),
        (GOLD | {"action": ["flag"]}, r"field 'action' is \['flag'\]"),
        (GOLD | {"accuracy": 0}, "field 'accuracy' is 0; accepted: a share, above 0 and at most 1"),
        (GOLD | {"accuracy": float("nan")}, "field 'accuracy' is nan"),
        (GOLD | {"accuracy": True}, "field 'accuracy' is True"),
        (GOLD | {"after": 10**400}, r"accepted: a whole number, at most 1,000,000,000"),
        ({"rule": "min_seconds_per_rating", "version": 1, "seconds": 10**400}, r"above 0, at most 1,000,000,000"),
        (GOLD | {"after": 0}, "field 'after' is 0; accepted: a whole number, 1 or more"),
        ({key: GOLD[key] for key in GOLD if key != "action"}, "'action' is missing; accepted: rule, version, action"),
        (FLAG | {"rule": "self_consistency_below", "share": 1.1}, "field 'share' is 1.1"),
        (FLAG | {"rule": "degraded_not_lower", "p": 1}, "field 'p' is 1; accepted: a probability"),
        (FLAG | {"rule": "faster_than_percentile", "percentile": 100}, "field 'percentile' is 100"),
        (FLAG | {"rule": "median_seconds_below", "seconds": -1}, "field 'seconds' is -1"),
        (FLAG | {"rule": "agreement_below", "correlation": -1}, "field 'correlation' is -1"),
        (FLAG | {"rule": "entropy_below", "bits": 0}, "field 'bits' is 0"),
    ],
)
def test_an_invalid_record_is_refused_with_number_rule_and_field(record, message):
    with pytest.raises(ValueError, match=message):
        rule_from_dict(record)
    with pytest.raises(RuleError, match=r"^rule 2 of 2: ") as caught:
        rules_from_data([{"rule": "exclude_extra", "version": 1}, record])
    assert caught.value.number == 2
    assert f"field {caught.value.field!r}" in str(caught.value)


def test_a_rule_names_the_column_it_lacks():
    with pytest.raises(ValueError, match="'min_seconds_per_rating' needs the column 'seconds'"):
        apply_rules([MinSecondsPerRating(1)], RatingLog(["a"]))


def test_columns_of_a_log_must_align():
    with pytest.raises(ValueError, match=r"seconds has shape \(1,\); accepted: \(2,\)"):
        RatingLog(["a", "b"], seconds=[1])
