from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.scoring import embedding_average, embedding_pairs, greedy_matching
from metrics.scoring.embedding_average import EmbeddingAverage
from metrics.scoring.greedy_matching import GreedyMatching
from metrics.scoring.metric import Metric, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.segments import Segments
from metrics.scoring.vector_extrema import VectorExtrema
from metrics.scoring.word_embeddings import VARIANTS
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample
from tests.metrics.scoring.embedding_oracles import MEASURES, segment_score

CLASSES = {metric.name: metric for metric in (EmbeddingAverage, VectorExtrema, GreedyMatching)}
NAMES = sorted(MEASURES)
# "b" is unknown.
KNOWN = ["a", "c", "é", "猫", "🙂"]
few = settings(max_examples=25, deadline=None)
every_metric = pytest.mark.parametrize("name", NAMES)
every_variant = pytest.mark.parametrize("variant", VARIANTS)


class World:
    """A store with one small model, and its vectors by word."""

    def __init__(self, store: ModelStore, words: list[str], matrix: Any) -> None:
        self.store = store
        self.model = store.add(WordVectors.from_words(words, matrix))
        vectors = np.asarray(matrix, dtype=np.float32).astype(np.float64)
        self.table = dict(zip(words, vectors, strict=True))

    def metric(self, name: str, **parameters: Any) -> Metric:
        return CLASSES[name](**({"model": self.model} | parameters))

    def scores(self, metric: Metric, segments: Segments, mask: Any = None) -> Any:
        statistics = Workspace(segments, [metric], self.store).statistics(metric, reference_mask=mask)
        return statistics.sentence_scores


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    matrix = np.random.default_rng(4).normal(size=(len(KNOWN), 6))
    return World(ModelStore([tmp_path_factory.mktemp("models")]), KNOWN, matrix)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Vectors of real words, a fifth of them unknown."""
    sample = dstc7_sample()
    words = sorted({word for texts in sample.weighted for text in texts for word in text.split()})[::5]
    matrix = np.random.default_rng(5).normal(loc=0.2, size=(len(words), 20))
    return World(ModelStore([tmp_path_factory.mktemp("models")]), words, matrix)


@every_metric
@every_variant
@given(corpus=corpora())
@few
def test_scores_are_those_of_the_equations_word_by_word(world: World, name: str, variant: str, corpus: Corpus) -> None:
    scores = world.scores(world.metric(name, variant=variant), Segments([corpus.hypotheses], corpus.references))
    expected = [
        segment_score(name, hypothesis, references, world.table, variant)
        for hypothesis, references in zip(corpus.hypotheses, corpus.references, strict=True)
    ]
    np.testing.assert_allclose(scores[0], expected, atol=1e-6)


@every_metric
@every_variant
@pytest.mark.parametrize("chunk", [1, 700, 30_000, 2**22])
def test_real_conversations_score_the_same_in_chunks_of_any_size(
    real: World, monkeypatch: pytest.MonkeyPatch, name: str, variant: str, chunk: int
) -> None:
    monkeypatch.setattr(embedding_pairs, "CHUNK", chunk)
    monkeypatch.setattr(greedy_matching, "CHUNK", chunk)
    monkeypatch.setattr(greedy_matching, "AT_ONCE", chunk)
    monkeypatch.setattr(embedding_average, "WORDS_SUMMED", chunk)
    sample = dstc7_sample()
    systems = [outputs[:5] for outputs in sample.outputs.values()]
    references = sample.weighted[:5]
    scores = real.scores(real.metric(name, variant=variant), Segments(systems, references))
    expected = [
        [
            segment_score(name, text.split(), [reference.split() for reference in texts], real.table, variant)
            for text, texts in zip(outputs, references, strict=True)
        ]
        for outputs in systems
    ]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@every_metric
@every_variant
@given(corpus=corpora(min_tokens=1), data=st.data())
@few
def test_a_larger_subset_never_scores_less_and_the_mean_is_no_better_than_the_best(
    world: World, name: str, variant: str, corpus: Corpus, data: st.DataObject
) -> None:
    segments = Segments([corpus.hypotheses], corpus.references)
    size = segments.n_references
    larger = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    smaller = larger & np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    metric = world.metric(name, variant=variant)
    more, less = world.scores(metric, segments, larger), world.scores(metric, segments, smaller)
    assert np.isnan(less[np.isnan(more)]).all()
    assert (more >= less)[~np.isnan(less)].all()
    mean = world.scores(world.metric(name, variant=variant, over_references="mean"), segments, larger)
    np.testing.assert_array_equal(np.isnan(mean), np.isnan(more))
    assert (mean <= more + 1e-12)[~np.isnan(more)].all()


@every_metric
@every_variant
@given(text=st.lists(st.sampled_from(KNOWN), min_size=1, max_size=8), data=st.data())
@few
def test_equal_texts_score_1_in_whatever_order_their_words_come(
    world: World, name: str, variant: str, text: list[str], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(text))
    scores = world.scores(world.metric(name, variant=variant), Segments([[text]], [[shuffled]]))
    np.testing.assert_allclose(scores, 1.0, atol=1e-12)


@every_metric
@every_variant
@given(corpus=corpora())
@few
def test_the_three_measures_do_not_change_when_hypothesis_and_reference_are_exchanged(
    world: World, name: str, variant: str, corpus: Corpus
) -> None:
    texts = [references[0] for references in corpus.references]
    metric = world.metric(name, variant=variant)
    scores = world.scores(metric, Segments([corpus.hypotheses], [[text] for text in texts]))[0]
    exchanged = world.scores(metric, Segments([texts], [[text] for text in corpus.hypotheses]))[0]
    defined = ~np.isnan(scores) & ~np.isnan(exchanged)
    np.testing.assert_allclose(scores[defined], exchanged[defined], atol=1e-12)


@every_metric
@every_variant
def test_a_hypothesis_without_vector_scores_0_and_a_reference_without_one_does_not_count(
    world: World, name: str, variant: str
) -> None:
    segments = Segments([["", "a c", "a c", "", "a"]], [["a"], ["", "a"], [""], [""], []])
    metric = world.metric(name, variant=variant)
    scores = world.scores(metric, segments)[0]
    assert scores[0] == 0.0
    assert scores[1] == pytest.approx(world.scores(metric, Segments([["a c"]], [["a"]]))[0, 0])
    assert np.isnan(scores[2:]).all()


@every_metric
def test_a_text_of_unknown_words_is_the_mean_vector_or_nothing(world: World, name: str) -> None:
    segments = Segments([["b x", "b", "a"]], [["unheard of"], ["a"], ["b"]])
    mean = world.scores(world.metric(name), segments)[0]
    assert mean[0] == pytest.approx(1.0)
    assert 0 < abs(mean[1]) < 1
    assert mean[2] == pytest.approx(mean[1])
    skipped = world.scores(world.metric(name, variant="liu2016"), segments)[0]
    np.testing.assert_array_equal(skipped, [np.nan, 0.0, np.nan])


@every_metric
def test_what_was_unknown_is_counted(world: World, name: str) -> None:
    metric = world.metric(name, variant="liu2016")
    prepared = Workspace(Segments([["a b", "b b"]], [["a", ""], ["c b"]]), [metric], world.store).prepared(metric)
    assert prepared.facts == {
        "words": 7,
        "unknown_words": 4,
        "hypotheses_without_vector": 1,
        "references_without_vector": 1,
    }


def test_words_are_looked_up_once_for_all_three(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = [world.metric(name, over_references=over) for name in NAMES for over in ("best", "mean")]
    apart = world.metric("greedy_matching", variant="liu2016")
    lookups: list[int] = []
    find = WordVectors.find
    monkeypatch.setattr(WordVectors, "find", lambda *args, **options: lookups.append(1) or find(*args, **options))
    workspace = Workspace(Segments([["a c", "é"]], [["a", "c"], ["猫"]]), [*metrics, apart], world.store)
    together = [workspace.statistics(metric).sentence_scores for metric in metrics]
    assert len(lookups) == 1
    workspace.statistics(apart)
    assert len(lookups) == 2
    for metric, scores in zip(metrics, together, strict=True):
        np.testing.assert_array_equal(scores, world.scores(metric, workspace.segments))


@every_metric
def test_lowercasing_and_tokenising_come_before_the_look_up(world: World, name: str) -> None:
    segments = Segments([["A猫!"]], [["a 猫"]])
    assert world.scores(world.metric(name, variant="liu2016"), segments)[0, 0] == 0.0
    scores = world.scores(world.metric(name, variant="liu2016", tokenize="zh", lowercase=True), segments)
    assert scores[0, 0] == pytest.approx(1.0)


@every_metric
@every_variant
def test_vectors_that_cancel_or_are_zero_are_no_vector(tmp_path: Any, name: str, variant: str) -> None:
    world = World(ModelStore([tmp_path]), ["up", "down", "nil"], [[1, 2], [-1, -2], [0, 0]])
    metric = world.metric(name, variant=variant)
    zero = world.scores(metric, Segments([["up", "nil", "up"]], [["nil"], ["up"], ["nil up"]]))[0]
    assert np.isnan(zero[0])
    assert zero[1] == 0.0
    assert zero[2] > 0
    if name == "embedding_average":
        cancelled = world.scores(metric, Segments([["up down", "up"]], [["up"], ["up down"]]))[0]
        np.testing.assert_array_equal(cancelled, [0.0, np.nan])


@every_metric
def test_a_corpus_without_any_reference_or_any_word_has_no_score(world: World, name: str) -> None:
    for segments in (Segments([["a", "c"]], [[], []]), Segments([["", ""]], [[""], []]), Segments([["x"]], [["y"]])):
        assert np.isnan(world.scores(world.metric(name, variant="liu2016"), segments)).all()


@every_metric
def test_what_another_preparation_made_is_refused(world: World, name: str) -> None:
    with pytest.raises(ValueError, match="prepared: found dict"):
        world.metric(name).statistics({})


@every_metric
def test_a_missing_model_is_reported(name: str) -> None:
    metric = CLASSES[name]()
    with pytest.raises(ValueError, match="model: found none; accepted: a vectors model"):
        Workspace(Segments([["a"]], [["a"]]), [metric]).prepared(metric)


@every_metric
def test_the_signature_names_the_vectors_and_the_variant(world: World, name: str) -> None:
    digits = world.model.removeprefix("sha256:")[:12]
    expected = f"{name}|vectors:{digits}|variant:nlg-eval|tok:none|lc:no|multi:best|refs:all|version:"
    assert world.metric(name).signature().startswith(expected)
