"""Invariants on generated corpora, cases with known results, and the real corpus of the demo.

The fake index ranks by shared words, counted in this file; the demo's files are read with the csv module.
"""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.normalisation import RULES, text_key
from annotation.hygiene import near
from annotation.hygiene.steps import Blocklist, Language, Length, MaskEmails, MaskHandles, MaskUrls
from annotation.mining.candidates import Candidate, Missing, Seed, mine, missing
from annotation.mining.index.building import build_index
from annotation.mining.index.reading import Hit, TripleIndex
from annotation.mining.specification import MiningSpecification
from annotation.mining.triples import Triple

DEMO = Path(__file__).parents[3] / "demo" / "dstc7"


class FakeIndex:
    """An index that ranks by the number of shared words, ties by number."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        self.triples = triples

    def triple(self, number: int) -> Triple:
        return self.triples[number]

    def search(self, message: str, response: str, *, n: int, alpha: float, epsilon: float) -> list[Hit]:
        hits = []
        for number, triple in enumerate(self.triples):
            on_message, on_response = (
                float(len({*query.split()} & {*text.split()}))
                for query, text in ((message, triple.message), (response, triple.response))
            )
            score = on_message * (alpha * on_response + (1 - alpha) * epsilon)
            if score > 0:
                hits.append(Hit(number, score, on_message, on_response))
        return sorted(hits, key=lambda hit: (-hit.score, hit.number))[:n]

    def random_numbers(self, n: int, rng: np.random.Generator) -> list[int]:
        numbers: list[int] = rng.permutation(len(self.triples))[:n].tolist()
        return numbers


GOAL = Seed(1, "goal", ("Did you see it?",), "what a goal", "it was offside")


def summaries(candidates: Sequence[Candidate]) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(candidate.label, candidate.text, candidate.fate, candidate.reasons) for candidate in candidates]


# --- Cases with known results -----------------------------------------------------------------------------------------


def test_every_examined_text_is_returned_with_its_fate() -> None:
    index = FakeIndex(
        [
            Triple(("Did you see it?",), "what a goal", "it was offside"),  # the seed's own triple
            Triple((), "what a goal that is", "it  was offside"),  # a copy of its response
            Triple((), "what a goal", "it was clearly offside"),
            Triple((), "what a match", "it was clearly offside "),  # the same as the one before
            Triple((), "what", "offside @anna darn"),
            Triple((), "a goal", "offside , it was !"),
            Triple((), "goal", "nothing alike"),
        ]
    )
    specification = MiningSpecification(n=2, hygiene=(MaskHandles(), Blocklist(("darn",))), near_duplicate=0.5)
    candidates = mine(GOAL, index, specification)
    assert summaries(candidates) == [
        ("mined 1", "it was offside", "duplicate", ("the seed's own triple",)),
        ("mined 2", "it  was offside", "duplicate", ("same as seed",)),
        ("mined 3", "it was clearly offside", "kept", ()),
        ("mined 4", "it was clearly offside ", "duplicate", ("same as mined 3",)),
        ("mined 5", "offside , it was !", "kept", ()),
        ("parrot 1", "what a goal", "kept", ()),
    ]
    third = candidates[2]
    assert (third.triple, third.source_message, third.score) == (2, "what a goal", 3 * 0.5 * 3)
    assert (third.message_score, third.response_score) == (3.0, 3.0)
    assert third.text_key == text_key("it was clearly offside")
    # By hand: " it was offside " has 14 shingles, " it was clearly offside " 22, and they share 13; 13 / 23.
    assert third.near_duplicate == "seed"
    assert missing(candidates, specification) == []
    deeper = mine(GOAL, index, replace(specification, n=4))
    assert summaries(deeper)[5] == (
        "mined 6",
        "offside <user> darn",
        "dropped",
        ("mask_handles: 1 masked", "blocklist: darn"),
    )
    assert deeper[5].raw_text == "offside @anna darn"
    assert missing(deeper, replace(specification, n=4)) == [
        Missing("mined", 2, "only 6 triples are similar in message and response")
    ]


def test_the_ranking_is_read_no_deeper_than_the_depth() -> None:
    index = FakeIndex([Triple((), "what a goal", "it was offside") for _ in range(40)])
    specification = MiningSpecification(n=2, depth=5, parrot=False)
    candidates = mine(GOAL, index, specification)
    assert [candidate.rank for candidate in candidates] == list(range(1, 11))
    assert {candidate.reasons for candidate in candidates} == {("same as seed",)}
    assert missing(candidates, specification) == [Missing("mined", 2, "looked at 10, the depth of the search")]


def test_the_parrot_is_kept_once_and_only_if_it_differs_from_the_others() -> None:
    index = FakeIndex([Triple((), "what a goal", "what a goal it was")])
    specification = MiningSpecification(n=1, near_duplicate=1)
    assert summaries(mine(GOAL, index, specification))[-1] == ("parrot 1", "what a goal", "kept", ())
    assert mine(replace(GOAL, response="what a goal"), index, specification)[-1].reasons == ("same as seed",)
    same_as_mined = replace(GOAL, message="what a goal it was")
    assert mine(same_as_mined, index, specification)[-1].reasons == ("same as mined 1",)
    empty = mine(replace(GOAL, message=" "), index, specification)
    assert summaries(empty) == [("parrot 1", " ", "dropped", ("empty",))]
    assert missing(empty, specification) == [
        Missing("mined", 1, "only 0 triples are similar in message and response"),
        Missing("parrot", 1, "empty"),
    ]
    masked = mine(replace(GOAL, message="@anna what a goal"), index, replace(specification, hygiene=(MaskHandles(),)))[
        -1
    ]
    assert (masked.text, masked.raw_text) == ("<user> what a goal", "@anna what a goal")


def test_source_conversations_are_masked_like_candidates() -> None:
    triple = Triple(("I am a@b.example",), "what a goal @anna", "offside , see https://x.example/1")
    steps = (MaskUrls(), MaskEmails(), MaskHandles())
    mined = mine(GOAL, FakeIndex([triple]), MiningSpecification(n=1, hygiene=steps))[0]
    assert (mined.source_context, mined.source_message) == (("I am <email>",), "what a goal <user>")
    assert (mined.text, mined.raw_text) == ("offside , see <url>", triple.response)


def test_texts_that_are_equal_once_masked_are_duplicates() -> None:
    index = FakeIndex([Triple((), "what a goal", f"offside @{name}") for name in ("anna", "ben")])
    seed = replace(GOAL, response="offside @cem")
    specification = MiningSpecification(n=2, parrot=False)
    assert [candidate.fate for candidate in mine(seed, index, specification)] == ["kept", "kept"]
    masked = mine(seed, index, replace(specification, hygiene=(MaskHandles(),)))
    assert [candidate.reasons[0] for candidate in masked] == ["same as seed", "same as seed"]


def test_a_random_text_that_equals_a_kept_one_is_a_duplicate_and_another_is_drawn() -> None:
    index = FakeIndex([Triple((), "what a goal", "offside")] * 3 + [Triple((), "hm", f"text {i}") for i in range(3)])
    specification = MiningSpecification(n=1, parrot=False, negatives=3)
    candidates = [candidate for candidate in mine(GOAL, index, specification) if candidate.kind == "random"]
    assert [candidate.rank for candidate in candidates] == list(range(1, len(candidates) + 1))
    kept = {candidate.text for candidate in candidates if candidate.fate == "kept"}
    assert kept == {"text 0", "text 1", "text 2"}
    assert {candidate.reasons for candidate in candidates if candidate.fate != "kept"} <= {("same as mined 1",)}
    more_negatives = replace(specification, negatives=5)
    candidates = mine(GOAL, index, more_negatives)
    assert missing(candidates, more_negatives) == [Missing("random", 2, "the corpus has only 6 triples")]
    assert Counter(candidate.fate for candidate in candidates if candidate.kind == "random") == {
        "kept": 3,
        "duplicate": 3,
    }


def test_random_texts_depend_only_on_the_item_and_the_random_seed() -> None:
    index = FakeIndex([Triple((), "hm", f"text {i}") for i in range(1000)])
    specification = MiningSpecification(n=0, parrot=False, negatives=5)

    def drawn(item: Seed, **changed: int) -> list[int | None]:
        return [candidate.triple for candidate in mine(item, index, replace(specification, **changed))]

    assert drawn(GOAL) == drawn(replace(GOAL, item_id=99, message="another"))
    assert drawn(GOAL) != drawn(replace(GOAL, external_id="other"))
    assert drawn(GOAL) != drawn(GOAL, seed=1)


# --- Invariants -------------------------------------------------------------------------------------------------------

WORD = st.sampled_from(["goal", "Goal", "what", "offside", "it", "@anna", "darn", "e\u0301", "é", "!", " "])
WORDS = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
SEEDS = st.builds(Seed, st.integers(1, 9), st.sampled_from("abc"), st.just(()), WORDS, WORDS)
TRIPLES = st.lists(st.builds(Triple, st.just(()), WORDS, WORDS), max_size=25)
SPECIFICATIONS = st.builds(
    MiningSpecification,
    n=st.integers(1, 5),
    parrot=st.booleans(),
    negatives=st.integers(0, 3),
    depth=st.integers(1, 4),
    normalisation=st.sampled_from(sorted(RULES)),
    near_duplicate=st.sampled_from([0.5, 1]),
    hygiene=st.sets(st.sampled_from([MaskHandles(), Length(2, 3), Blocklist(("darn",))])).map(tuple),
)


@given(SEEDS, TRIPLES, SPECIFICATIONS)
def test_no_two_kept_texts_are_the_same_and_every_examined_text_is_returned_once(
    seed: Seed, triples: list[Triple], specification: MiningSpecification
) -> None:
    index = FakeIndex(triples)
    candidates = mine(seed, index, specification)
    requested_counts = {
        "mined": specification.n,
        "parrot": int(specification.parrot),
        "random": specification.negatives,
    }
    kept = [candidate for candidate in candidates if candidate.fate == "kept"]
    keys = [candidate.text_key for candidate in kept] + [text_key(seed.response, specification.normalisation)]
    assert len(set(keys)) == len(keys)
    assert Counter(candidate.kind for candidate in kept) <= Counter(requested_counts)
    for kind, requested in requested_counts.items():
        examined = [candidate for candidate in candidates if candidate.kind == kind]
        assert [candidate.rank for candidate in examined] == list(range(1, len(examined) + 1))
        numbers = [candidate.triple for candidate in examined if candidate.triple is not None]
        assert len(set(numbers)) == len(numbers)
        assert len(examined) <= max(1, requested * specification.depth) * bool(requested)
    # Mined texts are the top of the ranking, down to the n-th kept one.
    ranking = index.search(seed.message, seed.response, n=999, alpha=specification.alpha, epsilon=specification.epsilon)
    mined = [candidate for candidate in candidates if candidate.kind == "mined"]
    assert [candidate.triple for candidate in mined] == [hit.number for hit in ranking[: len(mined)]]
    if sum(candidate.fate == "kept" for candidate in mined) == specification.n:
        assert mined[-1].fate == "kept"
    else:
        assert len(mined) == min(len(ranking), specification.n * specification.depth)
    shortfalls = {candidate.kind: candidate.number for candidate in missing(candidates, specification)}
    counts = Counter(candidate.kind for candidate in kept)
    assert shortfalls == {
        kind: requested - counts[kind] for kind, requested in requested_counts.items() if requested > counts[kind]
    }


@given(SEEDS, TRIPLES, SPECIFICATIONS)
def test_texts_that_were_not_kept_have_a_reason_that_names_a_kept_text(
    seed: Seed, triples: list[Triple], specification: MiningSpecification
) -> None:
    candidates = mine(seed, FakeIndex(triples), specification)
    kept = {"seed": seed.response} | {
        candidate.label: candidate.text for candidate in candidates if candidate.fate == "kept"
    }
    for candidate in candidates:
        assert (candidate.fate == "kept") or candidate.reasons
        if (
            candidate.fate == "duplicate"
            and candidate.reasons[0].startswith("same as ")
            and candidate.reasons[0] != "same as seed"
        ):
            twin = kept[candidate.reasons[0].removeprefix("same as ")]
            assert candidate.text_key == text_key(twin, specification.normalisation)
        if candidate.near_duplicate:
            assert candidate.fate == "kept"
            shingles, other_shingles = near.shingles(candidate.text), near.shingles(kept[candidate.near_duplicate])
            assert near.resemblance(shingles, other_shingles) >= specification.near_duplicate
        if candidate.triple is not None:
            assert (candidate.raw_text or candidate.text) == triples[candidate.triple].response


@given(st.lists(SEEDS, max_size=6), TRIPLES, SPECIFICATIONS, st.randoms())
def test_neither_order_nor_shards_change_what_is_mined(
    seeds: list[Seed], triples: list[Triple], specification: MiningSpecification, random: object
) -> None:
    index = FakeIndex(triples)
    in_order = [(seed, mine(seed, index, specification)) for seed in seeds]
    random.shuffle(seeds)  # type: ignore[attr-defined]
    shuffled = [(seed, mine(seed, FakeIndex(triples), specification)) for seed in seeds]
    assert sorted(in_order, key=repr) == sorted(shuffled, key=repr)


# --- The demo's corpus ------------------------------------------------------------------------------------------------


def demo_rows(name: str) -> list[list[str]]:
    content = gzip.decompress((DEMO / f"dstc7-task2-{name}.tsv.gz").read_bytes()).decode()
    csv.field_size_limit(2**24)
    return list(csv.reader(io.StringIO(content, newline="\n"), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


class Demo(NamedTuple):
    triples: list[Triple]
    seeds: list[Seed]
    folder: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Every gold response with its message; the seeds are the first 60 items, each with its first gold response."""
    messages = {row[0]: row[2] for row in demo_rows("context")}
    gold = [(row[0], [text for text in row[1:] if text.strip()]) for row in demo_rows("gold_responses")]
    triples = [Triple((), messages[name], text) for name, texts in gold for text in texts]
    seeds = [Seed(number, name, (), messages[name], texts[0]) for number, (name, texts) in enumerate(gold) if texts][
        :60
    ]
    folder = tmp_path_factory.mktemp("corpus") / "index"
    assert build_index(iter(triples), folder).n_triples == 35_161  # as the publisher says
    return Demo(triples, seeds, folder)


REAL = MiningSpecification(negatives=3, hygiene=(MaskUrls(), MaskEmails(), MaskHandles(), Language(), Length(1, 50)))


def test_a_real_corpus_is_mined_for_real_seeds(demo: Demo) -> None:
    with TripleIndex.open(demo.folder) as index:
        assert index.n == len(demo.triples) == 35_161
        mined = {seed.external_id: mine(seed, index, REAL) for seed in demo.seeds}
    n_own_first = n_own_message = n_mined = n_complete = 0
    for seed in demo.seeds:
        candidates = mined[seed.external_id]
        kept = [candidate for candidate in candidates if candidate.fate == "kept"]
        keys = {text_key(seed.response)} | {candidate.text_key for candidate in kept}
        assert len(keys) == len(kept) + 1
        ranked = [candidate for candidate in candidates if candidate.kind == "mined"]
        scores = [candidate.score or 0.0 for candidate in ranked]
        assert scores == sorted(scores, reverse=True)
        assert all((candidate.message_score or 0) > 0 and (candidate.response_score or 0) > 0 for candidate in ranked)
        for candidate in candidates:
            assert (
                candidate.triple is None
                or (candidate.raw_text or candidate.text) == demo.triples[candidate.triple].response
            )
        # The seed is from the corpus, so its own triple is in the ranking.
        assert any("the seed's own triple" in candidate.reasons for candidate in ranked)
        n_own_first += "the seed's own triple" in ranked[0].reasons
        assert Counter(candidate.kind for candidate in kept)["random"] == 3
        n_complete += Counter(candidate.kind for candidate in kept)["mined"] == 15
        n_mined += Counter(candidate.kind for candidate in kept)["mined"]
        n_own_message += sum(
            demo.triples[candidate.triple or 0].message == seed.message
            for candidate in kept
            if candidate.kind == "mined"
        )
    assert n_own_first >= 0.95 * len(demo.seeds)
    assert n_complete >= 0.95 * len(demo.seeds)
    # A message has 35 gold responses on average: triples with the same message rank highest.
    assert n_own_message > 0.6 * n_mined


def test_without_cleaning_the_seeds_own_triple_ranks_first(demo: Demo) -> None:
    with TripleIndex.open(demo.folder) as index:
        for seed in demo.seeds[:10]:
            best = mine(seed, index, MiningSpecification(n=1))[0]
            assert best.reasons == ("the seed's own triple",)
            assert demo.triples[best.triple or 0] == Triple((), seed.message, seed.response)


PROGRAM = """
import sys
from pathlib import Path
from annotation.mining.candidates import Seed, mine
from annotation.mining.index.reading import TripleIndex
from annotation.mining.specification import MiningSpecification

index = TripleIndex.open(Path(sys.argv[1]))
for number in (8, 3):
    triple = index.triple(number)
    print(mine(Seed(0, str(number), (), triple.message, triple.response), index, MiningSpecification(n=5, negatives=5)))
"""


def test_another_process_mines_the_same(demo: Demo) -> None:
    root = Path(__file__).parents[3]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(demo.folder)],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    with TripleIndex.open(demo.folder) as index:
        specification = MiningSpecification(n=5, negatives=5)
        lines = []
        for number in (8, 3):
            triple = demo.triples[number]
            lines.append(f"{mine(Seed(0, str(number), (), triple.message, triple.response), index, specification)}\n")
    assert outputs == {"".join(lines)}


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"message": f"what a goal {i}", "response": f"was it offside? {i}"} for i in range(20)]
    (tmp_path / "talk.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    page = (DEMO.parents[1] / "docs" / "mining.md").read_text()
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    kept = Counter(candidate.kind for candidate in namespace["candidates"] if candidate.fate == "kept")
    assert kept == {"mined": 15, "parrot": 1, "random": 2}
    assert MiningSpecification().signature() in page
