"""What holds for every metric of the registry, those of other packages included."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce, update_wrapper
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metrics.scoring.metric import GROUPS, CorpusState, Metric, MetricStatistics, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text
from tests.metrics.scoring.cast import CAST, Models, train
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists

WITH_REFERENCES = [name for name in CAST if METRICS[name].needs_references]
WITHOUT_REFERENCES = [name for name in CAST if not METRICS[name].needs_references]

# Of equally good references chrF counts the n-grams of the first, as sacrebleu does: the sums depend on the order then.
ORDER_OF_REFERENCES_MATTERS = {"chrf"}
# These average over the references (TER over their lengths): a reference that comes twice counts twice.
HOW_OFTEN_A_REFERENCE_COMES_MATTERS = {"ter", "cider"}

few = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_metric = pytest.mark.parametrize("name", CAST)
every_metric_with_references = pytest.mark.parametrize("name", WITH_REFERENCES)


def each_of(names: list[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Hold each of these metrics to a law on every drawn world: worlds are drawn once for all of them."""

    def held(law: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(law)
        kept = [parameter for key, parameter in signature.parameters.items() if key != "name"]
        others = signature.replace(parameters=kept)

        def every_name(*values: Any, **named: Any) -> None:
            drawn = others.bind(*values, **named).arguments
            broken = []
            for name in names:
                try:
                    law(name=name, **drawn)
                except AssertionError as error:
                    error.add_note(f"This is {name}.")
                    broken.append(error)
            if broken:
                raise ExceptionGroup(f"{law.__name__}: of {len(names)} metrics {len(broken)} break it", broken)

        update_wrapper(every_name, law)
        every_name.__signature__ = others  # type: ignore[attr-defined]
        return every_name

    return held


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return train(ModelStore([tmp_path_factory.mktemp("models")]))


@cache
def corpora_of(min_tokens: int, min_segments: int) -> st.SearchStrategy[Corpus]:
    return corpora(min_tokens).filter(lambda drawn: len(drawn.hypotheses) >= min_segments)


@st.composite
def worlds(draw: st.DrawFn, min_tokens: int = 0, min_segments: int = 1) -> tuple[Segments, list[float]]:
    """Segments with sources and one or two systems, and a weight for each reference."""
    corpus: Corpus = draw(corpora_of(min_tokens, min_segments))
    systems: list[list[Text]] = [[" ".join(text) for text in corpus.hypotheses]]
    if draw(st.booleans()):
        systems.append([" ".join(draw(token_lists(min_tokens))) for _ in corpus.hypotheses])
    references = [[" ".join(text) for text in texts] for texts in corpus.references]
    sources = [" ".join(draw(token_lists(min_tokens))) for _ in references]
    return Segments(systems, references, sources), list(chain.from_iterable(corpus.weights))


def orders(segments: Segments) -> st.SearchStrategy[list[list[int]]]:
    """Of the references of each segment."""
    return st.tuples(*(st.permutations(range(len(texts))) for texts in segments.references)).map(list)


def subsets(segments: Segments) -> st.SearchStrategy[list[bool]]:
    """Of all references."""
    return st.lists(st.booleans(), min_size=segments.n_references, max_size=segments.n_references)


def cuts(segments: Segments) -> st.SearchStrategy[int]:
    """How many segments the first of two parts has."""
    return st.integers(1, segments.n_segments - 1)


@st.composite
def worlds_and(
    draw: st.DrawFn, more: Callable[[Segments], st.SearchStrategy[Any]], min_segments: int = 1
) -> tuple[Segments, list[float], Any]:
    segments, weights = draw(worlds(min_segments=min_segments))
    return segments, weights, draw(more(segments))


def in_range(metric: Metric, scores: Any) -> bool:
    defined = np.asarray(scores)[~np.isnan(scores)]
    return bool(np.all(defined >= metric.low - 1e-9) and np.all(defined <= metric.high + 1e-9))


def assert_equal_scores(first: MetricStatistics, second: MetricStatistics, tolerance: float = 1e-12) -> None:
    np.testing.assert_array_equal(first.valid, second.valid)
    np.testing.assert_allclose(first.sentence_scores, second.sentence_scores, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(first.system_scores(), second.system_scores(), rtol=tolerance, atol=tolerance)


def regrouped(segments: Segments, weights: list[float], positions: list[list[int]]) -> tuple[Segments, list[float]]:
    """Each segment with the references at these positions of its list."""
    starts = segments.reference_offsets
    references = [
        [texts[position] for position in chosen] for texts, chosen in zip(segments.references, positions, strict=True)
    ]
    moved = [weights[starts[index] + position] for index, chosen in enumerate(positions) for position in chosen]
    return replace(segments, references=references), moved


@pytest.mark.parametrize("name", METRICS)
def test_it_says_what_it_is(name: str) -> None:
    metric = METRICS[name]
    assert metric.name == name
    assert metric.label
    assert metric.summary.endswith(".")
    assert metric.group in GROUPS
    assert metric.low < metric.high
    # What reads the outputs alone describes them; it does not judge them.
    assert metric.judges_quality == (metric.group != "text")
    keys = [parameter.key for parameter in metric.parameter_list()]
    assert len(set(keys)) == len(keys)
    assert all(parameter.label for parameter in metric.parameter_list())


def other_values(parameter: Parameter) -> list[Any]:
    match parameter.kind:
        case "flag":
            return [not parameter.default]
        case "choice":
            return list(parameter.choices)
        case "whole" | "real":
            finite = [value for value in (parameter.low, parameter.high) if np.isfinite(value)]
            return [int(value) if parameter.kind == "whole" else value for value in finite]
        case _:
            return []


@every_metric
def test_its_parameters_and_signature_tell_it_apart_and_build_it_again(models: Models, name: str) -> None:
    metric = models.metric(name)
    variants = [metric] + [
        varied
        for parameter in metric.parameter_list()
        for value in other_values(parameter)
        if (varied := accepted(models, name, parameter.name, value)) is not None
    ]
    for variant in variants:
        rebuilt = get_metric(name, **variant.parameters())
        assert rebuilt == variant
        assert hash(rebuilt) == hash(variant)
        assert rebuilt.signature() == variant.signature()
        assert variant.signature().startswith(f"{name}|")
        assert "|version:" in variant.signature()
    assert len({variant.signature() for variant in variants}) == len(set(variants))


def accepted(models: Models, name: str, parameter: str, value: Any) -> Metric | None:
    try:
        return models.metric(name, **{parameter: value})
    except ValueError:
        return None  # it does not go with the others' defaults


@every_metric
def test_it_refuses_what_it_does_not_know_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: found parameter 'nonsense'"):
        get_metric(name, nonsense=1)
    for parameter in METRICS[name].parameter_list():
        with pytest.raises(ValueError, match=f"{parameter.name}: found "):
            get_metric(name, **{parameter.name: object()})


@given(world=worlds())
@few
@each_of(CAST)
def test_scores_keep_to_the_published_range(models: Models, name: str, world: tuple[Segments, list[float]]) -> None:
    segments, weights = world
    metric = models.metric(name)
    statistics = models.score(metric, segments, weights)
    assert in_range(metric, statistics.sentence_scores)
    assert in_range(metric, statistics.system_scores())
    assert statistics.packed.shape == (*segments.rows.shape, statistics.aggregate.width)
    assert statistics.valid.shape == statistics.sentence_scores.shape == segments.rows.shape
    assert not statistics.packed[~statistics.valid].any()
    assert np.isnan(statistics.sentence_scores[~statistics.valid]).all()


@given(drawn=worlds_and(orders))
@few
@each_of(WITH_REFERENCES)
def test_the_order_of_references_does_not_matter(
    models: Models, name: str, drawn: tuple[Segments, list[float], list[list[int]]]
) -> None:
    segments, weights, positions = drawn
    metric = models.metric(name)
    shuffled, moved = regrouped(segments, weights, positions)
    original, reordered = models.score(metric, segments, weights), models.score(metric, shuffled, moved)
    if name in ORDER_OF_REFERENCES_MATTERS:
        np.testing.assert_allclose(original.sentence_scores, reordered.sentence_scores, atol=1e-12)
    else:
        assert_equal_scores(original, reordered)


@given(drawn=worlds_and(subsets))
@few
@each_of(WITH_REFERENCES)
def test_a_subset_scores_as_if_there_were_no_other_references(
    models: Models, name: str, drawn: tuple[Segments, list[float], list[bool]]
) -> None:
    segments, weights, chosen_references = drawn
    metric = models.metric(name)
    mask = np.array(chosen_references, dtype=bool)
    starts = segments.reference_offsets
    positions = [
        [position for position in range(len(texts)) if mask[starts[i] + position]]
        for i, texts in enumerate(segments.references)
    ]
    fewer, fewer_weights = regrouped(segments, weights, positions)
    before = mask.copy(), list(weights)
    masked, removed = models.score(metric, segments, weights, mask), models.score(metric, fewer, fewer_weights)
    assert_equal_scores(masked, removed)
    assert not masked.valid[:, [index for index, chosen in enumerate(positions) if not chosen]].any()
    np.testing.assert_array_equal(mask, before[0])
    assert weights == before[1]


@given(world=worlds())
@few
@each_of(WITH_REFERENCES)
def test_every_reference_twice_changes_nothing(models: Models, name: str, world: tuple[Segments, list[float]]) -> None:
    segments, weights = world
    metric = models.metric(name)
    doubled, doubled_weights = regrouped(segments, weights, [[*range(len(texts))] * 2 for texts in segments.references])
    assert_equal_scores(models.score(metric, segments, weights), models.score(metric, doubled, doubled_weights), 1e-9)


@given(world=worlds())
@few
@each_of(WITH_REFERENCES)
def test_one_reference_twice_changes_nothing_where_the_best_counts(
    models: Models, name: str, world: tuple[Segments, list[float]]
) -> None:
    segments, weights = world
    metric = models.metric(name)
    more, moved = regrouped(segments, weights, [[0, *range(len(texts))] for texts in segments.references])
    if name not in HOW_OFTEN_A_REFERENCE_COMES_MATTERS:
        assert_equal_scores(models.score(metric, segments, weights), models.score(metric, more, moved))


@pytest.mark.parametrize("name", sorted(HOW_OFTEN_A_REFERENCE_COMES_MATTERS & set(CAST)))
def test_one_reference_twice_counts_twice_where_a_mean_counts(models: Models, name: str) -> None:
    metric = models.metric(name)
    once = Segments([["a b c d", "b"]], [["a b c", "a d e f g"], ["c"]])
    twice = Segments([["a b c d", "b"]], [["a b c", "a b c", "a d e f g"], ["c"]])
    assert models.score(metric, once).system_scores() != models.score(metric, twice).system_scores()


@given(drawn=worlds_and(cuts, min_segments=2), n_ranges=st.integers(1, 3))
@few
@each_of(CAST)
def test_parts_of_a_corpus_add_up(
    models: Models, name: str, drawn: tuple[Segments, list[float], int], n_ranges: int
) -> None:
    segments, weights, cut = drawn
    metric = models.metric(name)
    full = models.score(metric, segments, weights)
    parts = [part_of(segments, weights, slice(None, cut)), part_of(segments, weights, slice(cut, None))]
    if not full.sums:
        for part, indices in zip(parts, (range(cut), range(cut, segments.n_segments)), strict=True):
            scores = full.system_scores(list(indices))
            np.testing.assert_allclose(scores, models.score(metric, *part).system_scores(), atol=1e-12)
    prepared = [Workspace(part, [metric], models.store).prepared(metric) for part, _ in parts]
    states = [
        metric.corpus_state(prepared_part, weights=np.array(part_weights))
        for prepared_part, (_, part_weights) in zip(prepared, parts, strict=True)
    ]
    if not full.sums and states[0] is None:
        return  # a pool that is not put together from parts
    scored = [
        metric.statistics(
            prepared_part, weights=np.array(part_weights), state=whole_state(states, prepared_part, n_ranges)
        )
        for prepared_part, (_, part_weights) in zip(prepared, parts, strict=True)
    ]
    if not full.sums and not scored[0].means:
        for part in scored:
            np.testing.assert_array_equal(part.system_scores(), full.system_scores())
    np.testing.assert_allclose(np.concatenate([part.packed for part in scored], axis=1), full.packed, atol=1e-9)
    assert {part.aggregate for part in scored} == {full.aggregate}
    if full.sums or full.means:
        sums = sum(part.packed.sum(axis=1) for part in scored)
        np.testing.assert_allclose(full.aggregate(sums), full.system_scores(), atol=1e-9)


def whole_state(states: list[CorpusState | None], prepared: object, n_ranges: int) -> CorpusState | None:
    """The states of two parts joined range by range, each in two pieces, as far as these texts read them."""

    def joined(parts: list[CorpusState]) -> CorpusState:
        return reduce(lambda known, more: known.joined(more), parts)

    if any(state is None for state in states):
        return None
    ranges = []
    for index in range(n_ranges):
        range_parts = [part for state in states if (part := state.ranged(index, n_ranges)) is not None]
        pieces = [
            [piece_state for part in range_parts if (piece_state := part.ranged(piece, 2 * n_ranges)) is not None]
            for piece in (2 * index, 2 * index + 1)
        ]
        if settled := [joined(piece).settled() for piece in pieces if piece]:
            ranges.append(joined(settled).of_texts(prepared))
    return joined(ranges)


def part_of(segments: Segments, weights: list[float], chosen: slice) -> tuple[Segments, list[float]]:
    starts = segments.reference_offsets
    first, last, _ = chosen.indices(segments.n_segments)
    assert segments.sources is not None
    part = Segments(
        [system[chosen] for system in segments.systems], segments.references[chosen], segments.sources[chosen]
    )
    return part, weights[starts[first] : starts[last]]


@given(world=worlds())
@few
@each_of(CAST)
def test_systems_scored_together_score_as_each_alone(
    models: Models, name: str, world: tuple[Segments, list[float]]
) -> None:
    segments, weights = world
    metric = models.metric(name)
    together = models.score(metric, segments, weights)
    for index, system in enumerate(segments.systems):
        alone = models.score(metric, replace(segments, systems=[system]), weights)
        np.testing.assert_allclose(alone.sentence_scores[0], together.sentence_scores[index], atol=1e-12)
        np.testing.assert_allclose(alone.system_scores(), together.system_scores()[[index]], atol=1e-12)


@given(world=worlds(), scale=st.sampled_from((0.5, 2, 10)))
@few
@each_of(CAST)
def test_a_common_scale_of_all_weights_does_not_matter(
    models: Models, name: str, world: tuple[Segments, list[float]], scale: float
) -> None:
    segments, weights = world
    metric = models.metric(name)
    scaled = [weight * scale for weight in weights]
    original, rescaled = models.score(metric, segments, weights), models.score(metric, segments, scaled)
    np.testing.assert_allclose(original.system_scores(), rescaled.system_scores(), atol=1e-9)
    np.testing.assert_allclose(original.sentence_scores, rescaled.sentence_scores, atol=1e-9)


@given(world=worlds(), order=st.integers(1, 4))
@few
def test_delta_bleu_with_unit_weights_is_bleu(models: Models, world: tuple[Segments, list[float]], order: int) -> None:
    segments, weights = world
    bleu = models.score(models.metric("bleu", max_order=order), segments)
    delta = models.score(models.metric("delta_bleu", max_order=order), segments, [1.0] * len(weights))
    assert_equal_scores(bleu, delta)


@every_metric_with_references
def test_a_hypothesis_that_is_its_reference_scores_the_published_best(models: Models, name: str) -> None:
    metric = models.metric(name)
    texts = ["the cat sat on the mat", "yes we can talk about the weather", "a dog sat down by the door"]
    others = ["it rains cats and dogs in the street"] * 3
    segments = Segments([texts, others], [[text] for text in texts], ["é"] * 3)
    best = metric.high if metric.higher_is_better else metric.low
    if name == "ibleu":
        best = 0.9
    statistics = models.score(metric, segments)
    np.testing.assert_allclose(statistics.sentence_scores[0], best, atol=1e-9)
    same, different = statistics.system_scores()
    assert same == pytest.approx(best)
    assert different < same if metric.higher_is_better else different > same


@given(world=worlds())
@few
@each_of(WITHOUT_REFERENCES)
def test_metrics_without_references_read_none(models: Models, name: str, world: tuple[Segments, list[float]]) -> None:
    segments, _ = world
    metric = models.metric(name)
    bare = Segments(segments.systems, [[]] * segments.n_segments, segments.sources)
    assert_equal_scores(models.score(metric, segments), models.score(metric, bare))


LONG = " ".join(f"word{number % 700}" for number in range(10_000))
EDGES = {
    "empty hypothesis": ("", ["the cat sat"]),
    "empty reference": ("the cat sat", [""]),
    "both empty": ("", [""]),
    "one reference of two empty": ("the cat sat", ["", "the cat"]),
    "no reference": ("the cat sat", []),
    "nothing but space": (" \t\n ", [" \u00a0 "]),
    "one word": ("yes", ["yes"]),
    "one word against another": ("yes", ["no"]),
    "10,000 words against one": (LONG, ["word1"]),
    "one word against 10,000": ("word1", [LONG]),
    "10,000 words against as many": (LONG, [" ".join(reversed(LONG.split()))]),
    "emoji": ("🙂 👨‍👩‍👧 👍🏽", ["🙂 👍🏽"]),
    "combining marks": ("e\u0301te\u0301 n\u0303", ["été ñ", "e\u0301te\u0301"]),
    "right to left": ("مرحبا بالعالم", ["مرحبا يا عالم", "שלום עולם"]),
    "Chinese": ("猫坐在垫子上。", ["猫在垫子上坐着。"]),
    "a zero byte and other control characters": ("a\x00b \x1b[0m", ["a\x00b"]),
    "no letters at all": ("?! ... --", ["?!"]),
}


@every_metric
@pytest.mark.parametrize("edge", EDGES)
def test_odd_texts_have_a_score_in_range_or_none(models: Models, name: str, edge: str) -> None:
    metric = models.metric(name)
    hypothesis, references = EDGES[edge]
    usual = ("a dog sat down by the door", ["a dog sat by the door"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for hypotheses, lists in (
            ([hypothesis], [references]),
            ([hypothesis, usual[0]], [references, usual[1]]),
        ):
            statistics = models.score(metric, Segments([hypotheses], lists, [""] * len(lists)))
            assert in_range(metric, statistics.sentence_scores)
            assert in_range(metric, statistics.system_scores())
    if metric.needs_references and not references:
        assert not statistics.valid[0, 0]


@pytest.mark.parametrize(
    ("name", "tokenize"),
    [
        (name, tokenize)
        for name in CAST
        for parameter in METRICS[name].parameter_list()
        if parameter.name == "tokenize"
        for tokenize in parameter.choices
    ],
)
def test_chinese_and_all_odd_texts_go_through_every_tokeniser(models: Models, name: str, tokenize: str) -> None:
    metric = models.metric(name, tokenize=tokenize)
    short = [edge for edge in EDGES if "10,000" not in edge]
    segments = Segments([[EDGES[edge][0] for edge in short]], [EDGES[edge][1] for edge in short], [""] * len(short))
    statistics = models.score(metric, segments)
    assert in_range(metric, statistics.sentence_scores)
    assert in_range(metric, statistics.system_scores())
    if tokenize in ("zh", "char") and metric.group in ("overlap", "weighted"):
        chinese = statistics.sentence_scores[0, short.index("Chinese")]
        assert 0 < chinese < metric.high


@pytest.mark.parametrize("name", [name for name in CAST if METRICS[name].needs_sources or METRICS[name].needs_prompts])
def test_a_metric_that_needs_sources_is_refused_without_them(models: Models, name: str) -> None:
    with pytest.raises(ValueError, match="sources: found None"):
        models.score(models.metric(name), Segments([["a"]], [["a"]]))


@pytest.mark.parametrize("name", [name for name in CAST if METRICS[name]().needs_weights])
def test_a_metric_that_needs_weights_is_refused_without_them(models: Models, name: str) -> None:
    metric = models.metric(name)
    workspace = Workspace(Segments([["a"]], [["a"]]), [metric], models.store)
    with pytest.raises(ValueError, match="weights: found None"):
        workspace.statistics(metric)


@every_metric
def test_it_scores_real_conversations(models: Models, name: str) -> None:
    sample = dstc7_sample()
    metric = models.metric(name)
    systems = [outputs[:20] for outputs in sample.outputs.values()]
    segments = Segments(systems, sample.weighted[:20], sample.outputs["TeamG"][:20])
    statistics = models.score(metric, segments, list(chain.from_iterable(sample.weights[:20])))
    scores = statistics.system_scores()
    assert scores.shape == (len(systems),)
    assert np.isfinite(scores).all()
    assert len(set(scores.tolist())) > 1
    assert in_range(metric, scores)
