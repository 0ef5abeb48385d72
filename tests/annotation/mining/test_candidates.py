"""Invariants over made-up corpora, cases with known ends, and the real corpus of the demo.

The fake index ranks by shared words, computed here; the demo's files are read by the csv module, not by the product.
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
    """Ranks by the words that two texts share, ties by number."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        self.triples = triples

    def triple(self, number: int) -> Triple:
        return self.triples[number]

    def search(self, message: str, response: str, *, n: int, alpha: float, epsilon: float) -> list[Hit]:
        hits = []
        for number, triple in enumerate(self.triples):
            on_message, on_response = (
                float(len({*one.split()} & {*other.split()}))
                for one, other in ((message, triple.message), (response, triple.response))
            )
            score = on_message * (alpha * on_response + (1 - alpha) * epsilon)
            if score > 0:
                hits.append(Hit(number, score, on_message, on_response))
        return sorted(hits, key=lambda hit: (-hit.score, hit.number))[:n]

    def random_numbers(self, n: int, rng: np.random.Generator) -> list[int]:
        numbers: list[int] = rng.permutation(len(self.triples))[:n].tolist()
        return numbers


GOAL = Seed(1, "goal", ("Did you see it?",), "what a goal", "it was offside")


def told(candidates: Sequence[Candidate]) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(each.label, each.text, each.fate, each.reasons) for each in candidates]


# --- Cases with known ends --------------------------------------------------------------------------------------------


def test_every_text_looked_at_is_told_with_its_fate() -> None:
    index = FakeIndex(
        [
            Triple(("Did you see it?",), "what a goal", "it was offside"),  # the seed's own
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
    assert told(candidates) == [
        ("mined 1", "it was offside", "duplicate", ("the seed's own triple",)),
        ("mined 2", "it  was offside", "duplicate", ("same as seed",)),
        ("mined 3", "it was clearly offside", "kept", ()),
        ("mined 4", "it was clearly offside ", "duplicate", ("same as mined 3",)),
        ("mined 5", "offside , it was !", "kept", ()),
        ("parrot 1", "what a goal", "kept", ()),
    ]
    found = candidates[2]
    assert (found.triple, found.source_message, found.score) == (2, "what a goal", 3 * 0.5 * 3)
    assert (found.message_score, found.response_score) == (3.0, 3.0)
    assert found.text_key == text_key("it was clearly offside")
    # By hand: " it was offside " has 14 shingles, " it was clearly offside " 22, and they share 13; 13 / 23.
    assert found.near_duplicate == "seed"
    assert missing(candidates, specification) == []
    deeper = mine(GOAL, index, replace(specification, n=4))
    assert told(deeper)[5] == (
        "mined 6",
        "offside <user> darn",
        "dropped",
        ("mask_handles: 1 masked", "blocklist: darn"),
    )
    assert deeper[5].raw_text == "offside @anna darn"
    assert missing(deeper, replace(specification, n=4)) == [
        Missing("mined", 2, "only 6 triples are similar in message and response")
    ]


def test_the_ranking_is_read_no_deeper_than_was_asked() -> None:
    index = FakeIndex([Triple((), "what a goal", "it was offside") for _ in range(40)])
    specification = MiningSpecification(n=2, depth=5, parrot=False)
    candidates = mine(GOAL, index, specification)
    assert [each.rank for each in candidates] == list(range(1, 11))
    assert {each.reasons for each in candidates} == {("same as seed",)}
    assert missing(candidates, specification) == [Missing("mined", 2, "looked at 10, the depth of the search")]


def test_the_parrot_comes_once_and_only_if_it_is_a_text_of_its_own() -> None:
    echo = FakeIndex([Triple((), "what a goal", "what a goal it was")])
    only = MiningSpecification(n=1, near_duplicate=1)
    assert told(mine(GOAL, echo, only))[-1] == ("parrot 1", "what a goal", "kept", ())
    assert mine(replace(GOAL, response="what a goal"), echo, only)[-1].reasons == ("same as seed",)
    same = replace(GOAL, message="what a goal it was")
    assert mine(same, echo, only)[-1].reasons == ("same as mined 1",)
    silent = mine(replace(GOAL, message=" "), echo, only)
    assert told(silent) == [("parrot 1", " ", "dropped", ("empty",))]
    assert missing(silent, only) == [
        Missing("mined", 1, "only 0 triples are similar in message and response"),
        Missing("parrot", 1, "empty"),
    ]
    masked = mine(replace(GOAL, message="@anna what a goal"), echo, replace(only, hygiene=(MaskHandles(),)))[-1]
    assert (masked.text, masked.raw_text) == ("<user> what a goal", "@anna what a goal")


def test_conversations_that_are_shown_are_masked_as_candidates_are() -> None:
    triple = Triple(("I am a@b.example",), "what a goal @anna", "offside , see https://x.example/1")
    steps = (MaskUrls(), MaskEmails(), MaskHandles())
    found = mine(GOAL, FakeIndex([triple]), MiningSpecification(n=1, hygiene=steps))[0]
    assert (found.source_context, found.source_message) == (("I am <email>",), "what a goal <user>")
    assert (found.text, found.raw_text) == ("offside , see <url>", triple.response)


def test_texts_that_masks_make_equal_are_duplicates() -> None:
    index = FakeIndex([Triple((), "what a goal", f"offside @{name}") for name in ("anna", "ben")])
    seed = replace(GOAL, response="offside @cem")
    specification = MiningSpecification(n=2, parrot=False)
    assert [each.fate for each in mine(seed, index, specification)] == ["kept", "kept"]
    masked = mine(seed, index, replace(specification, hygiene=(MaskHandles(),)))
    assert [each.reasons[0] for each in masked] == ["same as seed", "same as seed"]


def test_a_random_text_that_equals_a_kept_one_is_drawn_again_and_told() -> None:
    index = FakeIndex([Triple((), "what a goal", "offside")] * 3 + [Triple((), "hm", f"text {i}") for i in range(3)])
    specification = MiningSpecification(n=1, parrot=False, negatives=3)
    candidates = [each for each in mine(GOAL, index, specification) if each.kind == "random"]
    assert [each.rank for each in candidates] == list(range(1, len(candidates) + 1))
    kept = {each.text for each in candidates if each.fate == "kept"}
    assert kept == {"text 0", "text 1", "text 2"}
    assert {each.reasons for each in candidates if each.fate != "kept"} <= {("same as mined 1",)}
    more = replace(specification, negatives=5)
    candidates = mine(GOAL, index, more)
    assert missing(candidates, more) == [Missing("random", 2, "the corpus has only 6 triples")]
    assert Counter(each.fate for each in candidates if each.kind == "random") == {"kept": 3, "duplicate": 3}


def test_random_texts_depend_on_the_item_and_the_seed_alone() -> None:
    index = FakeIndex([Triple((), "hm", f"text {i}") for i in range(1000)])
    specification = MiningSpecification(n=0, parrot=False, negatives=5)

    def drawn(item: Seed, **changed: int) -> list[int | None]:
        return [each.triple for each in mine(item, index, replace(specification, **changed))]

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
def test_no_two_kept_texts_are_the_same_and_every_text_looked_at_is_told_once(
    seed: Seed, triples: list[Triple], specification: MiningSpecification
) -> None:
    index = FakeIndex(triples)
    candidates = mine(seed, index, specification)
    asked = {"mined": specification.n, "parrot": int(specification.parrot), "random": specification.negatives}
    kept = [each for each in candidates if each.fate == "kept"]
    keys = [each.text_key for each in kept] + [text_key(seed.response, specification.normalisation)]
    assert len(set(keys)) == len(keys)
    assert Counter(each.kind for each in kept) <= Counter(asked)
    for kind, wanted in asked.items():
        looked_at = [each for each in candidates if each.kind == kind]
        assert [each.rank for each in looked_at] == list(range(1, len(looked_at) + 1))
        numbers = [each.triple for each in looked_at if each.triple is not None]
        assert len(set(numbers)) == len(numbers)
        assert len(looked_at) <= max(1, wanted * specification.depth) * bool(wanted)
    # Mined texts are a beginning of the ranking, and stop at the n-th that is kept.
    ranking = index.search(seed.message, seed.response, n=999, alpha=specification.alpha, epsilon=specification.epsilon)
    mined = [each for each in candidates if each.kind == "mined"]
    assert [each.triple for each in mined] == [hit.number for hit in ranking[: len(mined)]]
    if sum(each.fate == "kept" for each in mined) == specification.n:
        assert mined[-1].fate == "kept"
    else:
        assert len(mined) == min(len(ranking), specification.n * specification.depth)
    short = {each.kind: each.number for each in missing(candidates, specification)}
    counts = Counter(each.kind for each in kept)
    assert short == {kind: wanted - counts[kind] for kind, wanted in asked.items() if wanted > counts[kind]}


@given(SEEDS, TRIPLES, SPECIFICATIONS)
def test_what_was_not_kept_says_why_and_what_it_names_is_there(
    seed: Seed, triples: list[Triple], specification: MiningSpecification
) -> None:
    candidates = mine(seed, FakeIndex(triples), specification)
    kept = {"seed": seed.response} | {each.label: each.text for each in candidates if each.fate == "kept"}
    for each in candidates:
        assert (each.fate == "kept") or each.reasons
        if each.fate == "duplicate" and each.reasons[0].startswith("same as ") and each.reasons[0] != "same as seed":
            other = kept[each.reasons[0].removeprefix("same as ")]
            assert each.text_key == text_key(other, specification.normalisation)
        if each.near_duplicate:
            assert each.fate == "kept"
            one, other_shingles = near.shingles(each.text), near.shingles(kept[each.near_duplicate])
            assert near.resemblance(one, other_shingles) >= specification.near_duplicate
        if each.triple is not None:
            assert (each.raw_text or each.text) == triples[each.triple].response


@given(st.lists(SEEDS, max_size=6), TRIPLES, SPECIFICATIONS, st.randoms())
def test_neither_order_nor_shards_change_what_is_mined(
    seeds: list[Seed], triples: list[Triple], specification: MiningSpecification, random: object
) -> None:
    index = FakeIndex(triples)
    whole = [(seed, mine(seed, index, specification)) for seed in seeds]
    random.shuffle(seeds)  # type: ignore[attr-defined]
    again = [(seed, mine(seed, FakeIndex(triples), specification)) for seed in seeds]
    assert sorted(whole, key=repr) == sorted(again, key=repr)


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
    seeds = [Seed(at, name, (), messages[name], texts[0]) for at, (name, texts) in enumerate(gold) if texts][:60]
    folder = tmp_path_factory.mktemp("corpus") / "index"
    assert build_index(iter(triples), folder).n_triples == 35_161  # as the publisher says
    return Demo(triples, seeds, folder)


REAL = MiningSpecification(negatives=3, hygiene=(MaskUrls(), MaskEmails(), MaskHandles(), Language(), Length(1, 50)))


def test_a_real_corpus_is_mined_for_real_seeds(demo: Demo) -> None:
    with TripleIndex.open(demo.folder) as index:
        assert index.n == len(demo.triples) == 35_161
        mined = {seed.external_id: mine(seed, index, REAL) for seed in demo.seeds}
    own_first = own_message = kept_mined = complete = 0
    for seed in demo.seeds:
        candidates = mined[seed.external_id]
        kept = [each for each in candidates if each.fate == "kept"]
        keys = {text_key(seed.response)} | {each.text_key for each in kept}
        assert len(keys) == len(kept) + 1
        ranked = [each for each in candidates if each.kind == "mined"]
        scores = [each.score or 0.0 for each in ranked]
        assert scores == sorted(scores, reverse=True)
        assert all((each.message_score or 0) > 0 and (each.response_score or 0) > 0 for each in ranked)
        for each in candidates:
            assert each.triple is None or (each.raw_text or each.text) == demo.triples[each.triple].response
        # The seed was taken from the corpus, so it is found again.
        assert any("the seed's own triple" in each.reasons for each in ranked)
        own_first += "the seed's own triple" in ranked[0].reasons
        assert Counter(each.kind for each in kept)["random"] == 3
        complete += Counter(each.kind for each in kept)["mined"] == 15
        kept_mined += Counter(each.kind for each in kept)["mined"]
        own_message += sum(
            demo.triples[each.triple or 0].message == seed.message for each in kept if each.kind == "mined"
        )
    assert own_first >= 0.95 * len(demo.seeds)
    assert complete >= 0.95 * len(demo.seeds)
    # 35 gold responses answer one message on average; they are more alike in the message than any other.
    assert own_message > 0.6 * kept_mined


def test_without_cleaning_the_first_is_the_seed_itself_with_the_highest_score(demo: Demo) -> None:
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
    kept = Counter(each.kind for each in namespace["candidates"] if each.fate == "kept")
    assert kept == {"mined": 15, "parrot": 1, "random": 2}
    assert MiningSpecification().signature() in page
