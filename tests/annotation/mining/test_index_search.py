"""Scores checked with the formula, two other implementations and one example by hand; and the best n."""

import tempfile
from collections import Counter
from contextlib import contextmanager
from math import log
from pathlib import Path

import bm25s
import numpy as np
import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.mining.index import reading
from annotation.mining.index.building import build_index
from annotation.mining.index.parameters import IndexParameters
from annotation.mining.index.reading import TripleIndex
from annotation.mining.triples import Triple

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "é", "好"]), max_size=6).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=25)


@contextmanager
def index_of(pairs, **parameters):
    with tempfile.TemporaryDirectory() as folder:
        triples = [Triple((f"before {i}",), message, response) for i, (message, response) in enumerate(pairs)]
        build_index(triples, Path(folder) / "index", parameters=IndexParameters(**parameters))
        with TripleIndex.open(Path(folder) / "index") as index:
            yield index


def bm25(query, texts, k1=1.2, b=0.75):
    """Robertson and Zaragoza (2009), eq. 3.15, with Lucene's idf; word by word, in plain Python."""
    texts = [text.split() for text in texts]
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        counts, score = Counter(text), 0.0
        for word in query.split():
            df = sum(word in document for document in texts)
            if counts[word]:
                idf = log(1 + (len(texts) - df + 0.5) / (df + 0.5))
                score += idf * counts[word] / (counts[word] + k1 * (1 - b + b * len(text) / mean))
        scores.append(score)
    return scores


def zipf_texts(seed, count, vocabulary=60, mean=9):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, vocabulary + 1)
    return [
        " ".join(f"w{word}" for word in rng.choice(vocabulary, size=1 + rng.poisson(mean - 1), p=share / share.sum()))
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def corpus():
    return list(zip(zipf_texts(1, 600), zipf_texts(2, 600), strict=True))


@pytest.fixture(scope="module")
def index(corpus):
    with index_of(corpus) as opened:
        yield opened


@pytest.fixture(scope="module")
def forty_triples():
    with index_of([("a", "b")] * 40) as opened:
        yield opened


def test_scores_by_hand():
    """N = 3, mean length 5/3, df(b) = 2: idf = ln 1.6 = 0.470004; "a b": x 1 / (1 + 1.38), "b b": x 2 / (2 + 1.38)."""
    with index_of([("a b", "x"), ("a", "x"), ("b b", "x")]) as index:
        hits = index.search("b", "x", n=9)
    assert [hit.number for hit in hits] == [2, 0]
    assert [hit.message_score for hit in hits] == pytest.approx([0.278109, 0.197481], abs=1e-6)
    # "x" is in all three, each of mean length: ln(1 + 0.5 / 3.5) / (1 + 1.2) = 0.133531 / 2.2
    assert [hit.response_score for hit in hits] == pytest.approx([0.060696] * 2, abs=1e-6)
    assert [hit.score for hit in hits] == pytest.approx(
        [0.5 * 0.278109 * 0.060696, 0.5 * 0.197481 * 0.060696], abs=1e-7
    )


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (2.0, 0.0), (0.0, 1.0), (0.9, 0.4)])
def test_scores_are_those_of_bm25s_own_index(corpus, k1, b):
    """Only the index builder is ours: the library's holds everything in memory."""
    with index_of(corpus, k1=k1, b=b) as index:
        for side in (0, 1):
            texts = [pair[side] for pair in corpus]
            library = bm25s.BM25(method="lucene", k1=k1, b=b)
            library.index([text.split() for text in texts], show_progress=False)
            for query in texts[:20]:
                scores = index._scores(side, query)
                np.testing.assert_allclose(scores, library.get_scores(query.split()), rtol=1e-6)


def test_scores_are_those_of_tantivy(corpus, index):
    """Tantivy keeps the factor k1 + 1 of the original formula, which changes no rank."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("message", tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("number", stored=True)
    schema = builder.build()
    tantivy_index = tantivy.Index(schema)
    writer = tantivy_index.writer(15_000_000, 1)
    for number, (message, _) in enumerate(corpus):
        writer.add_document(tantivy.Document(message=message, number=number))
    writer.commit()
    writer.wait_merging_threads()
    tantivy_index.reload()
    searcher = tantivy_index.searcher()
    for query in zipf_texts(3, 20):
        words = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "message", word)) for word in query.split()]
        hits = searcher.search(tantivy.Query.boolean_query(words), len(corpus)).hits
        expected = {searcher.doc(address)["number"][0]: score / 2.2 for score, address in hits}
        scores = index._scores(0, query)
        assert set(np.flatnonzero(scores)) == set(expected)
        np.testing.assert_allclose([scores[number] for number in expected], list(expected.values()), rtol=1e-5)


def expected_hits(pairs, message, response, n, exclude, alpha, epsilon):
    on_message = bm25(message, [pair[0] for pair in pairs])
    on_response = bm25(response, [pair[1] for pair in pairs])
    scores = {
        number: m * (alpha * r + (1 - alpha) * epsilon)
        for number, (m, r) in enumerate(zip(on_message, on_response, strict=True))
        if number not in exclude
    }
    return sorted(((round(score, 6), -number) for number, score in scores.items() if score > 0), reverse=True)[:n]


@given(
    PAIRS,
    TEXTS,
    TEXTS,
    st.integers(1, 30),
    st.sets(st.integers(-2, 30)),
    st.sampled_from([(0.5, 0.0), (1.0, 0.0), (0.7, 0.3), (0.0, 1.0)]),
)
def test_the_best_n_are_those_of_scoring_everything(pairs, message, response, n, exclude, weights):
    alpha, epsilon = weights
    with index_of(pairs) as index:
        hits = index.search(message, response, n=n, exclude=exclude, alpha=alpha, epsilon=epsilon)
    expected = expected_hits(pairs, message, response, n, exclude, alpha, epsilon)
    # Hits whose scores differ only by rounding may swap; none is missing and none is added.
    assert [hit.score for hit in hits] == pytest.approx([score for score, _ in expected], abs=1e-5)
    all_scores = {-minus: score for score, minus in expected_hits(pairs, message, response, 99, exclude, *weights)}
    for hit in hits:
        assert hit.score == pytest.approx(all_scores[hit.number], abs=1e-5)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.number))
    assert not {hit.number for hit in hits} & exclude


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
@settings(max_examples=30)
def test_the_best_n_of_a_larger_corpus_are_those_of_sorting_everything(corpus, index, seed, n):
    """Long enough for the n-th best to be found through the maxima of blocks."""
    [message], [response] = zipf_texts(seed, 1), zipf_texts(seed + 1, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCKS_PER_HIT", 2)
        patch.setattr(reading, "SHORTEST_BLOCK", 2)
        hits = index.search(message, response, n=n)
    on_message, on_response = (index._scores(side, text).astype(float) for side, text in enumerate((message, response)))
    joint = on_message * on_response / 2
    order = [number for number in np.lexsort((np.arange(joint.size), -joint)) if joint[number] > 0][:n]
    assert [hit.number for hit in hits] == order
    assert [hit.score for hit in hits] == joint[order].tolist()


def test_equal_scores_are_in_the_order_of_numbers_at_the_cut_too():
    pairs = [("a b", "c d")] * 5000 + [("a", "c")] * 2
    with index_of(pairs) as index:
        assert [hit.number for hit in index.search("b", "d", n=4)] == [0, 1, 2, 3]
        assert [hit.number for hit in index.search("b", "d", n=4, exclude=[0, 2, 4999])] == [1, 3, 4, 5]


def test_both_sides_must_be_similar():
    with index_of([("a", "c"), ("a", "z"), ("z", "c"), ("a", "c c")]) as index:
        assert {hit.number for hit in index.search("a", "c", n=9)} == {0, 3}


def test_with_epsilon_a_similar_message_is_enough_and_comes_last():
    with index_of([("a", "z"), ("z", "c"), ("a", "c")]) as index:
        hits = index.search("a", "c", n=9, epsilon=0.01)
    assert [(hit.number, hit.response_score > 0) for hit in hits] == [(2, True), (0, False)]
    assert hits[1].score == pytest.approx(hits[1].message_score * 0.5 * 0.01)


def test_a_word_twice_in_the_query_counts_twice(index):
    once, twice = index.search("w1", "w2", n=600), index.search("w1 w1", "w2", n=600)
    assert {hit.number: hit.message_score for hit in twice} == pytest.approx(
        {hit.number: 2 * hit.message_score for hit in once}
    )


@pytest.mark.parametrize(
    ("message", "response"),
    [("", ""), ("w1", ""), ("", "w1"), ("unheard", "w1"), ("w1", "unheard of"), ("?!", "w1"), ("w", "w11111")],
)
def test_nothing_is_found_for_a_side_without_a_known_word(index, message, response):
    assert index.search(message, response, n=15) == []


def test_a_large_n_returns_every_triple_with_a_score(index, corpus):
    hits = index.search("w0", "w0", n=10_000)
    assert {hit.number for hit in hits} == {
        number for number, pair in enumerate(corpus) if all("w0" in text.split() for text in pair)
    }


def test_a_longer_ranking_begins_with_the_shorter_one(index, corpus):
    for message, response in corpus[:20]:
        assert index.search(message, response, n=60)[:15] == index.search(message, response, n=15)


def test_excluded_triples_do_not_count_towards_n(index, corpus):
    message, response = corpus[5]
    best = index.search(message, response, n=20)
    without = index.search(message, response, n=15, exclude={hit.number for hit in best[:5]})
    assert without == best[5:]


def test_the_same_triples_give_the_same_hits_from_another_folder(corpus, index):
    with index_of(corpus) as other_index:
        for message, response in corpus[:20]:
            assert other_index.search(message, response, n=15) == index.search(message, response, n=15)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n": 0}, "n: found 0; accepted: a whole number from 1"),
        ({"n": 1, "alpha": 1.1}, r"alpha: found 1\.1; accepted: a number from 0 to 1"),
        ({"n": 1, "epsilon": -1}, "epsilon: found -1; accepted: a number from 0 to 1000"),
    ],
)
def test_invalid_search_parameters_are_refused(index, parameters, message):
    with pytest.raises(ValueError, match=message):
        index.search("a", "b", **parameters)


def test_characters_and_bigrams_find_texts_without_spaces():
    pairs = [("你好吗", "我很好"), ("天气好", "下雨了")]
    with index_of(pairs, tokenizer="characters") as index:
        assert [hit.number for hit in index.search("你吗", "很", n=5)] == [0]
    with index_of(pairs, tokenizer="bigrams") as index:
        assert [hit.number for hit in index.search("今天天气", "又下雨", n=5)] == [1]
    with index_of(pairs) as index:
        assert index.search("你吗", "很", n=5) == []


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sets(st.integers(-3, 45)))
@settings(max_examples=60)
def test_random_numbers_are_distinct_and_not_excluded(forty_triples, seed, n, exclude):
    drawn = forty_triples.random_numbers(n, np.random.default_rng(seed), exclude=exclude)
    assert len(drawn) == len(set(drawn)) == min(n, 40 - len(exclude & set(range(40))))
    assert set(drawn) <= set(range(40)) - exclude
    assert drawn == forty_triples.random_numbers(n, np.random.default_rng(seed), exclude=exclude)


def test_every_triple_is_drawn_equally_often(forty_triples):
    rng = np.random.default_rng(7)
    counts = Counter(number for _ in range(4000) for number in forty_triples.random_numbers(5, rng, exclude=[0, 1]))
    assert set(counts) == set(range(2, 40))
    expected = 4000 * 5 / 38
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 69.3  # 99.9% quantile of chi-square with 37 degrees of freedom, R: qchisq(0.999, 37) = 69.35
