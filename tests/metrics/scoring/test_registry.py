from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from metrics.scoring.bleu import Bleu, corpus_bleu, sentence_bleu
from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.metric import Workspace
from metrics.scoring.ngrams import build_match_table
from metrics.scoring.parameters import choice
from metrics.scoring.registry import get_metric, without_references
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import dstc7_sample

TEXT = {"tokenize": "13a", "lowercase": True}
FAMILY = ("bleu", "sbleu", "delta_bleu")


def test_the_bleu_family_agrees_with_its_functions_on_real_conversations() -> None:
    sample = dstc7_sample()
    references = sample.weighted
    workspace = Workspace(Segments(list(sample.outputs.values()), references))
    weights = [weight for segment_weights in sample.weights for weight in segment_weights]

    scores = {
        name: workspace.statistics(get_metric(name, **TEXT), weights=weights).system_scores().tolist()
        for name in FAMILY
    }

    for index, hypotheses in enumerate(sample.outputs.values()):
        sentences = [sentence_bleu(h, texts, **TEXT) for h, texts in zip(hypotheses, references, strict=True)]
        delta = corpus_delta_bleu(hypotheses, references, sample.weights, on_no_positive="drop", **TEXT)
        assert scores["bleu"][index] == pytest.approx(corpus_bleu(hypotheses, references, **TEXT).score, abs=1e-12)
        assert scores["sbleu"][index] == pytest.approx(np.mean(sentences), abs=1e-12)
        assert scores["delta_bleu"][index] == pytest.approx(delta.score, abs=1e-12)
        assert 0 < delta.score < 1


def test_a_segment_without_references_in_the_subset_counts_for_nothing() -> None:
    table = build_match_table([["a b", "a"]], [["a b"], ["c"]])
    for name in FAMILY:
        statistics = get_metric(name).statistics(table, weights=[1.0, 1.0], reference_mask=[True, False])
        assert statistics.valid.tolist() == [[True, False]]
        assert statistics.packed[0, 1].tolist() == [0.0] * statistics.aggregate.width
        assert statistics.system_scores().tolist() == [1.0]
        assert np.isnan(statistics.sentence_scores[0, 1])


@pytest.mark.parametrize("name", FAMILY)
def test_parameters_build_the_same_metric_again(name: str) -> None:
    metric = get_metric(name, max_order=3, **TEXT)
    assert get_metric(name, **metric.parameters()) == metric
    assert get_metric(name, **metric.parameters()).signature() == metric.signature()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rouge", {}, r"metric: found 'rouge'; accepted: 'bleu', 'sbleu', 'delta_bleu"),
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


def test_metrics_with_equal_tokens_share_one_table_of_the_longest_order() -> None:
    two, four, lowercased = (
        get_metric("bleu", max_order=2),
        get_metric("delta_bleu", max_order=4),
        get_metric("bleu", lowercase=True),
    )
    workspace = Workspace(Segments([["a b"]], [["a b"]]), [two, four, lowercased])

    assert workspace.prepared(two) is workspace.prepared(four)
    assert workspace.prepared(two).max_order == 4
    assert workspace.prepared(lowercased) is not workspace.prepared(two)


def test_a_metric_that_was_not_announced_widens_what_is_there() -> None:
    workspace = Workspace(Segments([["a b c"]], [["a b c"]]))
    short = workspace.prepared(get_metric("bleu", max_order=1))

    assert short.max_order == 1
    assert workspace.prepared(get_metric("bleu", max_order=3)).max_order == 3
    assert workspace.statistics(get_metric("bleu", max_order=1)).system_scores().tolist() == [1.0]


def test_parts_of_a_corpus_add_up_where_they_share_its_state() -> None:
    """Tenths in one part, thousandths in the other: alone, each would be counted in units of its own."""
    hypotheses, references = ["a b c", "a c"], [["a b", "b c"], ["a d", "c"]]
    weights = np.array([0.5, -0.1, 0.625, 0.3])
    metric = get_metric("delta_bleu")
    expected = Workspace(Segments([hypotheses], references)).statistics(metric, weights=weights)
    parts = [
        Workspace(Segments([hypotheses[index : index + 1]], references[index : index + 1])).prepared(metric)
        for index in (0, 1)
    ]
    first, second = (metric.corpus_state(part, weights=w) for part, w in zip(parts, np.split(weights, 2), strict=True))
    state = first.joined(second)

    scored = [
        metric.statistics(part, weights=part_weights, state=state)
        for part, part_weights in zip(parts, np.split(weights, 2), strict=True)
    ]

    np.testing.assert_array_equal(np.concatenate([part.packed for part in scored], axis=1), expected.packed)
    assert {part.aggregate for part in scored} == {expected.aggregate}


def test_a_choice_that_goes_with_others_only_is_no_way_to_do_without_references() -> None:
    @dataclass(frozen=True)
    class Particular(Bleu):
        name: ClassVar[str] = "particular"
        against: str = choice("references", ("references", "sources"), label="Against", key="against")

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.against == "sources" and self.max_order != 1:
                raise ValueError("against: found 'sources'; accepted with max_order=1 only")

    assert without_references(Particular) == {}
