import numpy as np
import pytest

from metrics.scoring.bleu import corpus_bleu, sentence_bleu
from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.ngrams import build_match_table
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.statistics import flat_weights
from tests.metrics.scoring.corpora import dstc7_sample

TEXT = {"tokenize": "13a", "lowercase": True}


def test_every_metric_of_the_registry_agrees_with_its_function_on_real_conversations() -> None:
    sample = dstc7_sample()
    references = sample.weighted
    table = build_match_table(list(sample.outputs.values()), references, **TEXT)
    weights = flat_weights(table, sample.weights)

    scores = {
        name: get_metric(name, **TEXT).statistics(table, weights=weights).system_scores().tolist() for name in METRICS
    }

    for index, hypotheses in enumerate(sample.outputs.values()):
        sentences = [sentence_bleu(h, own, **TEXT) for h, own in zip(hypotheses, references, strict=True)]
        delta = corpus_delta_bleu(hypotheses, references, sample.weights, on_no_positive="drop", **TEXT)
        assert scores["bleu"][index] == pytest.approx(corpus_bleu(hypotheses, references, **TEXT).score, abs=1e-12)
        assert scores["sbleu"][index] == pytest.approx(np.mean(sentences), abs=1e-12)
        assert scores["delta_bleu"][index] == pytest.approx(delta.score, abs=1e-12)
        assert 0 < delta.score < 1


def test_a_segment_without_references_in_the_subset_counts_for_nothing() -> None:
    table = build_match_table([["a b", "a"]], [["a b"], ["c"]])
    for name in METRICS:
        statistics = get_metric(name).statistics(table, weights=[1.0, 1.0], reference_mask=[True, False])
        assert statistics.valid.tolist() == [[True, False]]
        assert statistics.packed[0, 1].tolist() == [0.0] * statistics.aggregate.width
        assert statistics.system_scores().tolist() == [1.0]
        assert np.isnan(statistics.sentence_scores[0, 1])


@pytest.mark.parametrize("name", sorted(METRICS))
def test_parameters_build_the_same_metric_again(name: str) -> None:
    metric = get_metric(name, max_order=3, **TEXT)
    assert get_metric(name, **metric.parameters()) == metric
    assert get_metric(name, **metric.parameters()).signature() == metric.signature()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rouge", {}, r"metric: found 'rouge'; accepted: 'bleu', 'sbleu', 'delta_bleu'"),
        ("bleu", {"semantics": "galley2015"}, r"bleu: found parameter 'semantics'; accepted: max_order, tokenize, "),
        ("sbleu", {"smooth_brevity": 1}, r"smooth_brevity: found 1; accepted: True or False"),
        ("delta_bleu", {"max_order": 0}, r"max_order: found 0; accepted: an integer from 1 to 4"),
        ("delta_bleu", {"semantics": "x"}, r"semantics: found 'x'; accepted: 'galley2015', 'sacrebleu2018'"),
    ],
)
def test_bad_parameters_are_named(name: str, parameters: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_metric(name, **parameters)


def test_a_table_that_contradicts_the_signature_is_refused() -> None:
    table = build_match_table([["a"]], [["a"]], max_order=1)
    with pytest.raises(ValueError, match="table: found tokenize='none'; accepted by this metric: '13a'"):
        get_metric("bleu", tokenize="13a").statistics(table)
    with pytest.raises(ValueError, match="table: found max_order=1; accepted: 2 or more"):
        get_metric("bleu").statistics(table)
    with pytest.raises(ValueError, match="weights: found None; accepted by delta_bleu"):
        get_metric("delta_bleu", max_order=1).statistics(table)
