from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from metrics.scoring import ter
from metrics.scoring.metric import Workspace
from metrics.scoring.segments import Segments
from metrics.scoring.ter import Ter, count_edits, word_edit_distance
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists
from tests.metrics.scoring.sacrebleu_oracle import join
from tests.metrics.scoring.scored import scored

SAMPLE = dstc7_sample()
FLAGS = ("normalized", "no_punct", "asian_support", "case_sensitive")
OPTIONS = st.fixed_dictionaries(dict.fromkeys(FLAGS, st.booleans()))


def expected(hypotheses: list[str], references: list[list[str]], **options: bool) -> float:
    # sacrebleu takes one stream per reference position; None fills the gaps.
    return TER(**options).corpus_score(hypotheses, list(zip_longest(*references))).score / 100


def with_words(corpus: Corpus) -> tuple[list[str], list[list[str]]]:
    """As strings, with what the options look at: capitals, punctuation, escapes, Asian characters."""
    written = {"a": "A,", "b": "a", "c": "it's", "é": "3.5-x.", "猫": "猫と。", "🙂": "&amp;"}
    hypotheses = [[written[word] for word in text] for text in corpus.hypotheses]
    references = [[[written[word] for word in text] for text in segment] for segment in corpus.references]
    return join(hypotheses), [join(segment) for segment in references]


@given(corpora(), OPTIONS)
@settings(deadline=None)
def test_it_is_sacrebleus_ter_with_any_options_and_numbers_of_references(
    corpus: Corpus, options: dict[str, bool]
) -> None:
    hypotheses, references = with_words(corpus)
    statistics = scored(Ter(**options), hypotheses, references)
    system_score = statistics.system_scores().item()
    wanted = expected(hypotheses, references, **options)
    # Where there is no word at all sacrebleu says 0, as if all were right.
    assert system_score == pytest.approx(wanted, abs=1e-9) or (np.isnan(system_score) and wanted == 0)
    for index, score in enumerate(statistics.sentence_scores[0]):
        wanted = TER(**options).sentence_score(hypotheses[index], references[index]).score / 100
        assert score == pytest.approx(wanted, abs=1e-9) or (np.isnan(score) and wanted == 0)


@pytest.mark.parametrize("options", [{}, {"normalized": True, "case_sensitive": True}])
def test_it_is_sacrebleus_ter_on_real_conversations(options: dict[str, bool]) -> None:
    metric = Ter(**options)
    outputs = [hypotheses[:60] for hypotheses in SAMPLE.outputs.values()]
    references = SAMPLE.weighted[:60]
    workspace = Workspace(Segments(outputs, references), [metric])
    wanted = [expected(hypotheses, references, **options) for hypotheses in outputs]
    np.testing.assert_allclose(workspace.statistics(metric).system_scores(), wanted, rtol=0, atol=1e-9)


@given(token_lists(max_size=12), token_lists(max_size=12))
@settings(deadline=None)
def test_edits_are_sacrebleus_where_the_search_is_left_out(hypothesis: list[str], reference: list[str]) -> None:
    assert count_edits(hypothesis, reference) == translation_edit_rate(hypothesis, reference)[0]


def test_it_is_the_example_of_the_paper() -> None:
    """Snover et al. (2006), section 3.1. The docstring of `pyter.ter` (H. Tanaka) prints '0.308' of the same pair."""
    reference = "saudi arabia denied this week information published in the american new york times"
    hypothesis = "this week the saudis denied information published in the new york times"
    score = scored(Ter(), [hypothesis], [[reference]]).system_scores().item()
    assert f"{score:.3f}" == "0.308"
    assert (
        count_edits(hypothesis.split(), reference.split())
        == translation_edit_rate(hypothesis.split(), reference.split())[0]
    )


def test_the_closest_reference_counts_over_the_mean_length_of_those_in_the_subset() -> None:
    references = [["a b c d e f", "a b", "x y z"]]
    assert scored(Ter(), ["a b c"], references).system_scores() == pytest.approx(1 / (11 / 3))
    assert scored(Ter(), ["a b c"], references, mask=[True, False, True]).system_scores() == pytest.approx(3 / 4.5)


def test_empty_texts() -> None:
    statistics = scored(Ter(), ["", "", "two words", "word"], [["word"], [""], [""], []])
    np.testing.assert_array_equal(statistics.sentence_scores, [[1.0, np.nan, 1.0, np.nan]])
    np.testing.assert_array_equal(statistics.valid, [[True, True, True, False]])
    assert statistics.system_scores() == 3.0


@given(token_lists(max_size=9), token_lists(max_size=9))
def test_the_word_edit_distance_is_that_of_the_textbook(left: list[str], right: list[str]) -> None:
    costs = {(0, j): j for j in range(len(right) + 1)} | {(i, 0): i for i in range(len(left) + 1)}
    for i, word in enumerate(left, start=1):
        for j, other_word in enumerate(right, start=1):
            substituted = costs[i - 1, j - 1] + (word != other_word)
            costs[i, j] = min(substituted, costs[i - 1, j] + 1, costs[i, j - 1] + 1)
    assert word_edit_distance(left, right) == costs[len(left), len(right)]


def test_long_pairs_are_compared_without_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    hypothesis, reference = ["d", "a", "b", "c"], ["a", "b", "c", "d"]
    assert count_edits(hypothesis, reference) == 1
    monkeypatch.setattr(ter, "LONGEST_SEARCH", 15)
    assert count_edits(hypothesis, reference) == 2
