import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.explain import explain_segment
from tests.metrics.scoring.corpora import Corpus, corpora


@given(corpora(), st.integers(1, 4), st.sampled_from(["galley2015", "sacrebleu2018"]))
def test_contributions_add_up_to_the_statistics(corpus: Corpus, max_order: int, semantics: str) -> None:
    hypothesis, references, weights = corpus.hypotheses[0], corpus.references[0], corpus.weights[0]
    options = {"max_order": max_order, "semantics": semantics}
    parts = explain_segment(hypothesis, references, weights, **options)
    score = corpus_delta_bleu([hypothesis], [references], [weights], **options)
    for order in range(1, max_order + 1):
        own = [part for part in parts if part.order == order]
        assert sum(part.contribution for part in own) == pytest.approx(score.numerators[order - 1], abs=1e-12)
        assert sum(part.ceiling for part in own) == pytest.approx(score.denominators[order - 1], abs=1e-12)
        assert sorted(start for part in own for start in part.positions) == list(range(len(hypothesis) - order + 1))


def test_it_names_the_reference_that_won() -> None:
    # For "a": max(.9 * 1, .5 * 2) is the second reference's; for "b" only the bad one has it; "c" nobody has.
    a, b, c = explain_segment("a a b c", ["a", "a a", "b"], [0.9, 0.5, -0.4], max_order=1)
    assert (a.reference, a.weight, a.clipped, a.contribution, a.positions) == (1, 0.5, 2, 1.0, (0, 1))
    assert (b.reference, b.weight, b.clipped, b.contribution) == (2, -0.4, 1, -0.4)
    assert (c.reference, c.weight, c.clipped, c.contribution, c.ceiling) == (None, None, 0, 0.0, 0.9)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="references: found no reference; accepted: one or more"):
        explain_segment("a", [])
    with pytest.raises(ValueError, match="weights: found 1; accepted: 2, one per reference"):
        explain_segment("a", ["a", "b"], [1.0])
