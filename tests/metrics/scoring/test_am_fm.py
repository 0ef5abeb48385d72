"""AM, FM and AM-FM: their parts, how references count, and what the paper prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

from metrics.scoring.adequacy_fluency import AdequacyFluencyPreparation
from metrics.scoring.adequacy_fluency_text import cleaned
from metrics.scoring.am import Am
from metrics.scoring.am_fm import AmFm
from metrics.scoring.fm import Fm
from metrics.scoring.metric import Metric, MetricStatistics, Workspace
from metrics.scoring.models import lsa
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import dstc7_sample

KNOWN = ("i", "you", "think", "the", "a", "it", "was", "not", "good", "one", "first")
few = settings(max_examples=40, deadline=None)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelStore, str, str]:
    """A store, and what its space and its language model are called."""
    corpus = [*dstc7_sample().gold_texts, " ".join(KNOWN), *KNOWN]
    store = ModelStore([tmp_path_factory.mktemp("models")])
    return (
        store,
        store.add(LsaModel.train(corpus, components=30)),
        store.add(LanguageModel.train(corpus, order=3)),
    )


class Scorer:
    def __init__(self, trained: tuple[ModelStore, str, str]) -> None:
        self.store, self.space, self.language_model = trained

    def am(self, **parameters: Any) -> Am:
        return Am(model=self.space, **parameters)

    def fm(self, **parameters: Any) -> Fm:
        return Fm(model=self.language_model, **parameters)

    def am_fm(self, **parameters: Any) -> AmFm:
        return AmFm(am_model=self.space, fm_model=self.language_model, **parameters)

    def all(self) -> list[Metric]:
        return [
            *(self.am(references=over) for over in ("max", "mean", "centroid", "weighted")),
            *(self.fm(references=over) for over in ("max", "mean", "weighted")),
            self.fm(form="absolute"),
            *(
                self.am_fm(references=over, combine=c)
                for over in ("max", "mean", "weighted")
                for c in ("parts", "pairs")
            ),
        ]

    def score(self, metric: Metric, segments: Segments, **options: Any) -> MetricStatistics:
        if metric.needs_weights:
            options.setdefault("weights", np.ones(segments.n_references))
        return Workspace(segments, [metric], self.store).statistics(metric, **options)


@pytest.fixture(scope="module")
def scorer(trained: tuple[ModelStore, str, str]) -> Scorer:
    return Scorer(trained)


texts = st.lists(st.sampled_from((*KNOWN, "zzzq")), max_size=6).map(" ".join)
known_texts = st.lists(st.sampled_from(KNOWN), min_size=1, max_size=6).map(" ".join)


@st.composite
def worlds(draw: st.DrawFn) -> Segments:
    size = draw(st.integers(1, 3))
    references = [draw(st.lists(texts, min_size=1, max_size=4)) for _ in range(size)]
    return Segments([[draw(texts) for _ in range(size)] for _ in range(2)], references)


# What the paper prints ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("am", "fm", "combined"),
    [(0.817, 0.962, 0.846), (0.081, 0.194, 0.104), (0.917, 0.891, 0.912), (0.154, 0.460, 0.215), (0.792, 0.912, 0.816)],
)
def test_parts_are_combined_as_in_the_papers_table_4(am: float, fm: float, combined: float) -> None:
    assert AmFm().combined(am, fm) == pytest.approx(combined, abs=6e-4)


def test_defaults_are_the_papers_final_setting() -> None:
    assert (Am().k, Fm().order, AmFm().balance) == (10, 2, 0.8)
    assert (Am().references, Fm().references, AmFm().references) == ("max", "max", "max")


# AM ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 10])
def test_am_is_the_cosine_of_scikit_learn(tmp_path: Path, k: int) -> None:
    sample = dstc7_sample()
    corpus = [text for texts in sample.gold for text in texts if cleaned(text)]
    store = ModelStore([tmp_path])
    metric = Am(k=k, model=store.add(LsaModel.train(corpus, components=20)))
    segments = Segments([sample.outputs["TeamA"]], sample.weighted)
    scores = Workspace(segments, [metric], store).statistics(metric).sentence_scores[0]

    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", preprocessor=cleaned)
    space = TruncatedSVD(n_components=k, algorithm="arpack", random_state=0)
    space.fit(counter.fit_transform(corpus).astype(float))

    def vector(text: str) -> np.ndarray:
        return np.asarray(space.transform(counter.transform([text]).astype(float))[0])

    def cosine(first: str, second: str) -> float:
        a, b = vector(first), vector(second)
        norms = np.linalg.norm(a) * np.linalg.norm(b)
        return max(0.0, float(a @ b / norms)) if norms > 1e-12 else 0.0

    expected = [
        max(cosine(text, reference) for reference in texts)
        for text, texts in zip(sample.outputs["TeamA"], sample.weighted, strict=True)
    ]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_am_against_the_centroid_is_the_cosine_with_the_mean_vector(scorer: Scorer) -> None:
    sample = dstc7_sample()
    segments = Segments([sample.outputs["TeamA"], sample.outputs["TeamD"]], sample.weighted)
    mask = np.arange(segments.n_references) % 3 != 0
    scores = scorer.score(scorer.am(references="centroid"), segments, reference_mask=mask).sentence_scores
    model = scorer.store.load("lsa", scorer.space)
    vectors = model.vectors(segments.reference_texts, 10)
    for system, outputs in enumerate(segments.systems):
        for index in range(0, segments.n_segments, 7):
            kept_vectors = vectors[mask & (segments.reference_segment == index)]
            centroid, [vector] = kept_vectors.mean(axis=0), model.vectors([outputs[index]], 10)
            norms = np.linalg.norm(centroid) * np.linalg.norm(vector)
            expected = max(0.0, centroid @ vector / norms) if norms else 0.0
            assert scores[system, index] == pytest.approx(expected, abs=1e-9)


def test_a_text_of_unknown_words_has_an_am_of_nothing_even_with_itself(scorer: Scorer) -> None:
    segments = Segments([["zzzq qqqz", "zzzq", "the"]], [["zzzq qqqz"], ["the"], ["zzzq"]])
    for over in ("max", "mean", "centroid", "weighted"):
        np.testing.assert_array_equal(scorer.score(scorer.am(references=over), segments).sentence_scores, [[0, 0, 0]])


def test_a_sweep_over_dimensions_is_computed_once(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    once = lsa.products
    monkeypatch.setattr("metrics.scoring.adequacy_fluency.products", lambda *a: calls.append(a[3]) or once(*a))
    sweep = [scorer.am(k=k) for k in (1, 5, 10, 20)] + [scorer.am_fm(k=5, balance=b) for b in (0.0, 0.5, 1.0)]
    segments = Segments([["i think", "a good one"]], [["you think so"], ["the first"]])
    workspace = Workspace(segments, sweep, scorer.store)
    together = [workspace.statistics(metric).system_scores() for metric in sweep]
    assert calls == [(1, 5, 10, 20)]
    alone = [scorer.score(metric, segments).system_scores() for metric in sweep]
    np.testing.assert_allclose(together, alone, atol=1e-12)


# FM ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_fm_is_the_smaller_probability_over_the_larger(scorer: Scorer, order: int) -> None:
    pairs = [("i think", "you think it was good"), ("zzzq", "the"), ("the first one", "a")]
    model = scorer.store.load("language_model", scorer.language_model)

    def probability(text: str) -> float:
        words = text.split()
        logs = 0.0
        for position, word in enumerate([*words, "</s>"]):
            index = model.words.index(word) if word in model.words else 0
            logs += np.log(model.distribution((["<s>", *words[:position]])[-(order - 1) :] if order > 1 else [])[index])
        return float(np.exp(logs / len(words)))

    segments = Segments([[hypothesis for hypothesis, _ in pairs]], [[reference] for _, reference in pairs])
    scores = scorer.score(scorer.fm(order=order), segments).sentence_scores[0]
    probabilities = [(probability(hypothesis), probability(reference)) for hypothesis, reference in pairs]
    np.testing.assert_allclose(scores, [min(pair) / max(pair) for pair in probabilities])
    absolute = scorer.score(scorer.fm(order=order, form="absolute"), segments).sentence_scores[0]
    np.testing.assert_allclose(absolute, [hypothesis for hypothesis, _ in probabilities])


def test_absolute_fm_reads_no_references(scorer: Scorer) -> None:
    alone, beside = (Segments([["i think"]], [texts]) for texts in ([], ["a good one"]))
    metric = scorer.fm(form="absolute")
    assert scorer.score(metric, alone).system_scores() == scorer.score(metric, beside).system_scores() > 0
    assert not scorer.fm(form="absolute", references="weighted").needs_weights
    assert (metric.needs_references, scorer.fm().needs_references, Fm.needs_references) == (False, True, True)
    assert "|refs:" not in metric.signature()


def test_two_texts_that_cannot_be_are_equally_fluent_and_one_is_not(tmp_path: Path) -> None:
    # A model without <unk> mass and without back-off from <s>, as only another program would make it.
    (tmp_path / "model.arpa").write_text(
        "\\data\\\nngram 1=4\n\n\\1-grams:\n-99 <unk>\n-99 <s>\n-0.3 </s>\n-0.3 a\n\n\\end\\\n"
    )
    metric = Fm(order=1, model=str(tmp_path / "model.arpa"))
    segments = Segments([["z", "z"]], [["y"], ["a"]])
    statistics = Workspace(segments, [metric], ModelStore()).statistics(metric)
    np.testing.assert_array_equal(statistics.sentence_scores, [[1, 0]])


# Over references ---------------------------------------------------------------------------------------------------


def test_parts_may_come_from_two_references_and_pairs_from_one(scorer: Scorer) -> None:
    sample = dstc7_sample()
    segments = Segments([sample.outputs["TeamA"]], sample.weighted)
    prepared = scorer.am_fm().preparation()(segments, scorer.store)
    am, fm = prepared.cosines(scorer.space, 10), prepared.ratios(scorer.language_model, 2)
    parts, pairs = (
        scorer.score(scorer.am_fm(combine=combine), segments).sentence_scores[0] for combine in ("parts", "pairs")
    )
    best = segments.pairs.best
    np.testing.assert_allclose(parts, 0.8 * best(am) + 0.2 * best(fm))
    np.testing.assert_allclose(pairs, best(0.8 * am + 0.2 * fm))
    assert (parts >= pairs - 1e-12).all()
    assert (parts > pairs + 1e-6).any()
    means = [scorer.score(scorer.am_fm(references="mean", combine=combine), segments) for combine in ("parts", "pairs")]
    np.testing.assert_allclose(means[0].sentence_scores, means[1].sentence_scores)


def test_all_am_and_all_fm_are_the_ends_of_am_fm(scorer: Scorer) -> None:
    segments = Segments([["i think", "it was"]], [["you think so", "good"], ["the first"]])
    for balance, part in ((1.0, scorer.am()), (0.0, scorer.fm())):
        for combine in ("parts", "pairs"):
            scores = scorer.score(scorer.am_fm(balance=balance, combine=combine), segments).sentence_scores
            np.testing.assert_allclose(scores, scorer.score(part, segments).sentence_scores)


def test_weights_lower_what_is_near_to_bad_references(scorer: Scorer) -> None:
    segments = Segments([["i think", "the first"]], [["i think", "it was not good"], ["the first"]])
    metric = scorer.am(references="weighted")
    liked = scorer.score(metric, segments, weights=[1.0, 0.2, 0.3]).sentence_scores[0]
    np.testing.assert_allclose(liked, [1, 1])
    plain = scorer.score(scorer.am(references="max"), segments, reference_mask=np.array([False, True, True]))
    disliked = scorer.score(metric, segments, weights=[-1.0, 0.2, 0.3]).sentence_scores[0]
    np.testing.assert_allclose(disliked, plain.sentence_scores[0])


def test_without_a_positive_weight_there_is_no_score(scorer: Scorer) -> None:
    segments = Segments([["i think", "the first"]], [["i think"], ["the first"]])
    for metric in (scorer.am(references="weighted"), scorer.fm(references="weighted")):
        statistics = scorer.score(metric, segments, weights=[-0.5, 0.5])
        np.testing.assert_array_equal(statistics.valid, [[False, True]])


@pytest.mark.parametrize("weights", [[1.0], [np.nan, 1.0]])
def test_weights_that_do_not_fit_are_refused(scorer: Scorer, weights: list[float]) -> None:
    segments = Segments([["a", "a"]], [["a"], ["a"]])
    with pytest.raises(ValueError, match="weights: found"):
        scorer.score(scorer.am(references="weighted"), segments, weights=weights)


# Invariants --------------------------------------------------------------------------------------------------------


@given(world=worlds())
@few
def test_scores_are_from_0_to_1(scorer: Scorer, world: Segments) -> None:
    for metric in scorer.all():
        statistics = scorer.score(metric, world)
        assert statistics.valid.all()
        assert (statistics.sentence_scores >= 0).all()
        assert (statistics.sentence_scores <= 1 + 1e-12).all()


@given(world=worlds(), data=st.data())
@few
def test_the_order_of_references_does_not_matter(scorer: Scorer, world: Segments, data: st.DataObject) -> None:
    shuffled = Segments(world.systems, [data.draw(st.permutations(texts)) for texts in world.references])
    for metric in scorer.all():
        original, reordered = scorer.score(metric, world), scorer.score(metric, shuffled)
        np.testing.assert_allclose(original.sentence_scores, reordered.sentence_scores, atol=1e-9)


@given(hypotheses=st.lists(known_texts, min_size=1, max_size=3), others=st.lists(texts, max_size=3))
@few
def test_a_text_that_is_a_reference_scores_one(scorer: Scorer, hypotheses: list[str], others: list[str]) -> None:
    segments = Segments([hypotheses], [[*others, text] for text in hypotheses])
    for metric in (scorer.am(), scorer.fm(), scorer.am_fm(), scorer.am_fm(combine="pairs")):
        np.testing.assert_allclose(scorer.score(metric, segments).sentence_scores, 1, atol=1e-9)
    alone = Segments([hypotheses], [[text] for text in hypotheses])
    for metric in (scorer.am(references="centroid"), scorer.fm(references="mean"), scorer.am_fm(references="mean")):
        np.testing.assert_allclose(scorer.score(metric, alone).sentence_scores, 1, atol=1e-9)


@given(world=worlds(), data=st.data())
@few
def test_fewer_references_never_raise_the_maximum(scorer: Scorer, world: Segments, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.booleans(), min_size=world.n_references, max_size=world.n_references))
    for metric in (scorer.am(), scorer.fm(), scorer.am_fm(), scorer.am_fm(combine="pairs")):
        full = scorer.score(metric, world).sentence_scores
        reduced = scorer.score(metric, world, reference_mask=np.array(drawn)).sentence_scores
        defined = ~np.isnan(reduced)
        assert (reduced[defined] <= full[defined] + 1e-12).all()


@given(first=worlds(), second=worlds())
@few
def test_segments_put_together_score_their_weighted_mean(scorer: Scorer, first: Segments, second: Segments) -> None:
    systems = [[*a, *b] for a, b in zip(first.systems, second.systems, strict=True)]
    joined = Segments(systems, [*first.references, *second.references])
    for metric in scorer.all():
        parts = [scorer.score(metric, part).system_scores() for part in (first, second)]
        expected = (parts[0] * first.n_segments + parts[1] * second.n_segments) / joined.n_segments
        np.testing.assert_allclose(scorer.score(metric, joined).system_scores(), expected, atol=1e-9)


@given(world=worlds())
@few
def test_a_weighted_maximum_of_equal_weights_is_the_maximum(scorer: Scorer, world: Segments) -> None:
    weights = np.full(world.n_references, 0.7)
    for make in (scorer.am, scorer.fm, scorer.am_fm):
        scores = scorer.score(make(references="weighted"), world, weights=weights).sentence_scores
        np.testing.assert_allclose(scores, scorer.score(make(), world).sentence_scores, atol=1e-12)


# Edges -------------------------------------------------------------------------------------------------------------


def test_a_segment_without_references_has_no_score(scorer: Scorer) -> None:
    segments = Segments([["i think", "a", "the"]], [["i think"], [], ["the"]])
    mask = np.array([True, False])
    for metric in scorer.all():
        if metric == scorer.fm(form="absolute"):
            continue
        statistics = scorer.score(metric, segments, reference_mask=mask)
        np.testing.assert_array_equal(statistics.valid, [[True, False, False]])
        assert statistics.system_scores()[0] == pytest.approx(statistics.sentence_scores[0, 0])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?!",
        "yes",
        "🙂 👍🏽",
        "e\u0301te\u0301",
        "مرحبا بالعالم",
        "猫坐在垫子上。",
        " ".join(["think"] * 10_000),
        "İ ß ﬁ",
    ],
)
def test_odd_texts_are_as_fluent_as_themselves_and_have_scores(scorer: Scorer, text: str) -> None:
    segments = Segments([[text]], [[text, "i think"]])
    for metric in scorer.all():
        assert 0 <= scorer.score(metric, segments).system_scores()[0] <= 1
    assert scorer.score(scorer.fm(), segments).system_scores()[0] == 1


def test_token_lists_are_read_as_their_texts(scorer: Scorer) -> None:
    lists = Segments([[["i", "think"]]], [[["you", "think"]]])
    strings = Segments([["i think"]], [["you think"]])
    for metric in scorer.all():
        assert scorer.score(metric, lists).system_scores() == scorer.score(metric, strings).system_scores()


def test_dimensions_and_orders_that_models_have_not_are_refused(scorer: Scorer) -> None:
    segments = Segments([["a"]], [["a"]])
    with pytest.raises(ValueError, match="k: found 31; accepted: 1 to 30"):
        scorer.score(scorer.am(k=31), segments)
    with pytest.raises(ValueError, match="order: found 4; accepted: 1 to 3"):
        scorer.score(scorer.fm(order=4), segments)


def test_one_preparation_serves_all_and_no_other_metrics(scorer: Scorer) -> None:
    plans = [metric.preparation() for metric in scorer.all()]
    joined = plans[0]
    for plan in plans[1:]:
        merged = joined.joined(plan)
        assert isinstance(merged, AdequacyFluencyPreparation)
        joined = merged
    assert joined == AdequacyFluencyPreparation(((scorer.space, (10,)),), True, ((scorer.language_model, (2,)),))
