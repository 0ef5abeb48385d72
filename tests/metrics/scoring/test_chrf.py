from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from metrics.scoring.chrf import Chrf, ChrfPreparation
from metrics.scoring.metric import Workspace
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample
from tests.metrics.scoring.sacrebleu_oracle import join
from tests.metrics.scoring.scored import scored

SAMPLE = dstc7_sample()

OPTIONS = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 7),
        "word_order": st.integers(0, 3),
        "beta": st.integers(0, 3),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
)


def expected(hypotheses: list[str], references: list[list[str]], **options: object) -> float:
    # sacrebleu takes one stream per reference position; None fills the gaps.
    return CHRF(**options).corpus_score(hypotheses, list(zip_longest(*references))).score / 100


def with_words(corpus: Corpus) -> tuple[list[str], list[list[str]]]:
    """As strings, with capitals and punctuation at the ends of words, for what depends on them."""
    written = {"a": "Abe,", "b": "(bac", "c": "cab", "é": "Été.", "猫": "猫", "🙂": "🙂"}
    hypotheses = [[written[word] for word in text] for text in corpus.hypotheses]
    references = [[[written[word] for word in text] for text in segment] for segment in corpus.references]
    return join(hypotheses), [join(segment) for segment in references]


@given(corpora(), OPTIONS)
@settings(deadline=None)
def test_it_is_sacrebleus_chrf_with_any_options_and_numbers_of_references(
    corpus: Corpus, options: dict[str, object]
) -> None:
    hypotheses, references = with_words(corpus)
    statistics = scored(Chrf(**options), hypotheses, references)
    system_score = statistics.system_scores().item()
    wanted = expected(hypotheses, references, **options)
    assert system_score == pytest.approx(wanted, abs=1e-9) or (np.isnan(system_score) and wanted < 1e-9)
    for index, score in enumerate(statistics.sentence_scores[0]):
        wanted = CHRF(**options).sentence_score(hypotheses[index], references[index]).score / 100
        assert score == pytest.approx(wanted, abs=1e-9) or (np.isnan(score) and not hypotheses[index])


@pytest.mark.parametrize("options", [{}, {"word_order": 2}, {"beta": 1, "lowercase": True}, {"eps_smoothing": True}])
def test_it_is_sacrebleus_chrf_on_real_conversations(options: dict[str, object]) -> None:
    metric = Chrf(**options)
    workspace = Workspace(Segments(list(SAMPLE.outputs.values()), SAMPLE.weighted), [metric])
    wanted = [expected(hypotheses, SAMPLE.weighted, **options) for hypotheses in SAMPLE.outputs.values()]
    np.testing.assert_allclose(workspace.statistics(metric).system_scores(), wanted, rtol=0, atol=1e-9)


def test_a_subset_of_the_references_is_scored_as_if_there_were_no_others() -> None:
    mask = np.random.default_rng(5).random(sum(map(len, SAMPLE.weighted))) < 0.6
    flags = iter(mask)
    fewer = [[text for text in texts if next(flags)] for texts in SAMPLE.weighted]
    hypotheses = SAMPLE.outputs["TeamA"]
    masked = scored(Chrf(), hypotheses, SAMPLE.weighted, mask=mask)
    removed = scored(Chrf(), hypotheses, fewer)
    np.testing.assert_array_equal(masked.packed, removed.packed)
    np.testing.assert_array_equal(masked.valid[0], [bool(texts) for texts in fewer])
    with_some = [index for index, texts in enumerate(fewer) if texts]
    wanted = expected([hypotheses[index] for index in with_some], [fewer[index] for index in with_some])
    assert masked.system_scores().item() == pytest.approx(wanted, abs=1e-9)


def test_of_equally_good_references_the_first_counts_as_in_sacrebleu() -> None:
    """Without any match every F is 0; which reference's n-grams enter the corpus's sums is then a matter of order."""
    hypotheses, references = ["xyz", "a b c"], [["longer than that", "pq"], ["a b d"]]
    for ordering in (references, [references[0][::-1], references[1]]):
        assert scored(Chrf(), hypotheses, ordering).system_scores().item() == pytest.approx(
            expected(hypotheses, ordering)
        )
    assert expected(hypotheses, references) != expected(hypotheses, [references[0][::-1], references[1]])


def test_empty_texts() -> None:
    statistics = scored(Chrf(), ["", "", "word", "word"], [["word"], [""], [""], []])
    np.testing.assert_array_equal(statistics.sentence_scores, [[0.0, np.nan, 0.0, np.nan]])
    np.testing.assert_array_equal(statistics.valid, [[True, True, True, False]])


def test_tokens_are_texts_with_spaces_between() -> None:
    tokens = scored(Chrf(word_order=2), [["a", "bc"]], [[["a", "bd"]]])
    assert tokens.system_scores() == scored(Chrf(word_order=2), ["a bc"], [["a bd"]]).system_scores()


def test_one_preparation_serves_chrf_and_chrf_with_words() -> None:
    merged = Chrf().preparation().joined(Chrf(char_order=4, word_order=2, beta=1).preparation())
    assert merged == ChrfPreparation(6, 2, lowercase=False, whitespace=False)
    assert Chrf().preparation().joined(Chrf(lowercase=True).preparation()) is None
    segments = Segments([["a b c"]], [["a b d", "a c"]])
    shared = Workspace(segments, [Chrf(), Chrf(char_order=4, word_order=2)])
    for metric in (Chrf(), Chrf(char_order=4, word_order=2)):
        np.testing.assert_array_equal(
            shared.statistics(metric).packed, Workspace(segments, [metric]).statistics(metric).packed
        )
