import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.bleu import Bleu
from metrics.scoring.ibleu import IBleu
from metrics.scoring.metric import Workspace
from metrics.scoring.segments import Segments
from tests.metrics.scoring import sacrebleu_oracle
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists
from tests.metrics.scoring.sacrebleu_oracle import join
from tests.metrics.scoring.scored import scored

SAMPLE = dstc7_sample()


@given(corpora(min_tokens=1), st.data(), st.integers(1, 4), st.floats(0, 1), st.sampled_from(("none", "exp")))
def test_it_is_the_difference_of_two_of_sacrebleus_scores(
    corpus: Corpus, data: st.DataObject, max_order: int, alpha: float, smoothing: str
) -> None:
    sources = [data.draw(token_lists(min_size=1)) for _ in corpus.hypotheses]
    metric = IBleu(max_order=max_order, alpha=alpha, smoothing=smoothing)
    scores = scored(metric, corpus.hypotheses, corpus.references, sources).system_scores()
    against = [
        sacrebleu_oracle.corpus_score(join(corpus.hypotheses), references, max_order, smoothing=smoothing)
        for references in ([join(texts) for texts in corpus.references], [[" ".join(source)] for source in sources])
    ]
    assert scores == pytest.approx(alpha * against[0] - (1 - alpha) * against[1], abs=1e-9)


@given(corpora(min_tokens=1), st.data())
def test_a_segments_score_is_the_difference_of_two_smoothed_sentence_scores(
    corpus: Corpus, data: st.DataObject
) -> None:
    sources = [data.draw(token_lists(min_size=1)) for _ in corpus.hypotheses]
    scores = scored(IBleu(alpha=0.8), corpus.hypotheses, corpus.references, sources).sentence_scores[0]
    for hypothesis, texts, source, score in zip(corpus.hypotheses, corpus.references, sources, scores, strict=True):
        adequate, copied = (
            sacrebleu_oracle.sentence_score(" ".join(hypothesis), join(references), 2, effective_order=False)
            for references in (texts, [source])
        )
        assert score == pytest.approx(0.8 * adequate - 0.2 * copied, abs=1e-9)


def test_with_all_weight_on_the_references_it_is_bleu() -> None:
    hypotheses, sources = SAMPLE.outputs["TeamA"], SAMPLE.outputs["TeamG"]
    bleu = scored(Bleu(tokenize="13a"), hypotheses, SAMPLE.weighted)
    ibleu = scored(IBleu(tokenize="13a", alpha=1), hypotheses, SAMPLE.weighted, sources)
    np.testing.assert_array_equal(ibleu.system_scores(), bleu.system_scores())


def test_repeating_the_source_costs_a_tenth() -> None:
    score = scored(IBleu(), ["a b c"], [["a b c"]], ["a b c"]).system_scores().item()
    assert score == pytest.approx(0.9 - 0.1)
    assert scored(IBleu(), ["a b c"], [["x y z"]], ["a b c"]).system_scores().item() == pytest.approx(-0.1)


def test_empty_texts_and_an_empty_subset() -> None:
    hypotheses, references = ["", "", "a", "a"], [["b"], [""], ["a"], []]
    statistics = scored(IBleu(), hypotheses, references, ["", "a", "", "a"])
    np.testing.assert_array_equal(statistics.sentence_scores, [[0.0, np.nan, 0.9, np.nan]])
    np.testing.assert_array_equal(statistics.valid, [[True, True, True, False]])
    assert not statistics.packed[0, 3].any()


def test_without_sources_it_is_refused() -> None:
    workspace = Workspace(Segments([["a"]], [["a"]]))
    with pytest.raises(ValueError, match="sources: found None; accepted by ibleu: one text per segment"):
        workspace.statistics(IBleu())


def test_one_preparation_serves_all_alphas_and_orders() -> None:
    merged = IBleu(max_order=1).preparation().joined(IBleu(max_order=3, alpha=0.7).preparation())
    assert merged == IBleu(max_order=3).preparation()
    assert IBleu().preparation().joined(Bleu().preparation()) is None
    assert IBleu().preparation().joined(IBleu(lowercase=True).preparation()) is None
