"""Settings that depart from those that a reader presumes of a metric's name."""

import pytest
import sacrebleu

from metrics.scoring.parameters import parameters_of
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.settings import departures, with_settings

WITH_USUAL = [name for name, metric in METRICS.items() if metric.usual]


@pytest.mark.parametrize("name", WITH_USUAL)
def test_usual_settings_are_of_the_metric_and_need_no_words(name: str) -> None:
    metric = METRICS[name]
    assert set(metric.usual) <= {parameter.name for parameter in parameters_of(metric)}
    assert departures(get_metric(name, **metric.usual).signature()) == []
    assert with_settings(metric.label, get_metric(name, **metric.usual).signature()) == metric.label


def test_the_usual_settings_of_bleu_are_sacrebleus_and_each_other_value_is_named() -> None:
    """``sacrebleu.BLEU`` has these defaults (Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018)."""
    theirs = sacrebleu.BLEU()
    usual = dict(METRICS["bleu"].usual)
    assert usual == {
        "max_order": theirs.max_ngram_order,
        "tokenize": theirs.tokenizer.signature(),
        "lowercase": theirs.lowercase,
        "smoothing": theirs.smooth_method,
    }
    for change, words in (
        ({"max_order": 2}, "order 2"),
        ({"tokenize": "none"}, "tokens as they are"),
        ({"tokenize": "char"}, "char tokens"),
        ({"lowercase": True}, "lowercase"),
        ({"smoothing": "none"}, "unsmoothed"),
        ({"smoothing": "add-one"}, "smooth add-one"),
    ):
        assert departures(get_metric("bleu", **usual | change).signature()) == [words]


def test_metrics_without_a_usual_setting_or_from_elsewhere_stay_as_they_are() -> None:
    assert with_settings("chrF", get_metric("chrf").signature()) == "chrF"
    assert with_settings("Mine", "not_here|order:2|version:1") == "Mine"
