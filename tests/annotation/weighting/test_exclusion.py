import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.weighting.exclusion import (
    RULE_NAMES,
    ExcludeExtra,
    ExcludeRaters,
    ExcludeRatings,
    MinRatingsPerRater,
    MinSecondsPerRating,
    RatingLog,
    apply_rules,
    rule_from_dict,
    rules_from_data,
)

EVERY_RULE = [
    ExcludeRaters(("r1", "r2")),
    ExcludeRatings((4, 5)),
    MinSecondsPerRating(1.5),
    MinRatingsPerRater(3),
    ExcludeExtra(),
]


def test_every_rule_survives_json():
    assert {rule.name for rule in EVERY_RULE} == set(RULE_NAMES)
    assert rules_from_data(json.loads(json.dumps([rule.to_dict() for rule in EVERY_RULE]))) == EVERY_RULE


def test_rules_see_what_earlier_rules_left_and_count_what_they_took():
    log = RatingLog(
        ["a", "a", "a", "b", "b", "c"],
        rating=[1, 2, 3, 4, 5, 6],
        seconds=[9, 0.4, np.nan, 9, 9, 9],
        extra=[0, 0, 0, 0, 1, 0],
    )
    rules = [MinSecondsPerRating(1), ExcludeExtra(), MinRatingsPerRater(2), ExcludeRatings((3, 6))]
    outcome = apply_rules(rules, log)
    # a keeps two (one of unknown time), b is left with one, c had one: both fall to the third rule.
    assert outcome.counts == (1, 1, 2, 1)
    assert outcome.keep.tolist() == [True, False, False, False, False, False]


@pytest.mark.parametrize("column", [[7, 8, 7], ["7", "8", "7"]])
@pytest.mark.parametrize("named", [(7,), ("7",)])
def test_raters_match_whether_numbers_or_text(column, named):
    assert apply_rules([ExcludeRaters(named)], RatingLog(column)).keep.tolist() == [False, True, False]


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.integers(1, 5))
def test_counts_and_kept_ratings_add_up(raters, minimum):
    log = RatingLog(np.asarray(raters, dtype=str))
    outcome = apply_rules([ExcludeRaters(("a",)), MinRatingsPerRater(minimum)], log)
    assert sum(outcome.counts) + outcome.keep.sum() == len(raters)
    kept = log.rater[outcome.keep].tolist()
    assert all(kept.count(rater) == raters.count(rater) >= minimum for rater in kept)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"rule": "bogus", "version": 1}, "field 'rule' is 'bogus'; accepted: exclude_raters, "),
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
    ],
)
def test_a_bad_record_is_refused_with_its_place_rule_and_field(record, message):
    with pytest.raises(ValueError, match=message):
        rule_from_dict(record)
    with pytest.raises(ValueError, match=r"^rule 2 of 2: "):
        rules_from_data([{"rule": "exclude_extra", "version": 1}, record])


def test_a_rule_says_which_column_it_lacks():
    with pytest.raises(ValueError, match="'min_seconds_per_rating' needs the column 'seconds'"):
        apply_rules([MinSecondsPerRating(1)], RatingLog(["a"]))


def test_columns_of_a_log_must_align():
    with pytest.raises(ValueError, match=r"seconds has shape \(1,\); accepted: \(2,\)"):
        RatingLog(["a", "b"], seconds=[1])
