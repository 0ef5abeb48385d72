"""Random corpora for the invariants, and the real sample."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from hypothesis import strategies as st

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "dstc7_sample" / "items.jsonl"

# Few words, so that they repeat and match; accents, CJK and an emoji among them.
WORDS = ["a", "b", "c", "é", "猫", "🙂"]


# A strategy is looked through anew whenever it is made: each is made once.
@cache
def token_lists(min_size: int = 0, max_size: int = 7) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(WORDS), min_size=min_size, max_size=max_size)


@cache
def reference_lists(min_tokens: int) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(token_lists(min_tokens), min_size=1, max_size=5)


@cache
def weight_lists(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-10, 10), min_size=size, max_size=size)


@dataclass(frozen=True)
class Corpus:
    hypotheses: list[list[str]]
    references: list[list[list[str]]]
    tenths: list[list[int]]

    @property
    def weights(self) -> list[list[float]]:
        return [[tenth / 10 for tenth in segment] for segment in self.tenths]

    @property
    def unit_weights(self) -> list[list[float]]:
        return [[1.0] * len(segment) for segment in self.tenths]


@st.composite
def corpora(draw: st.DrawFn, min_tokens: int = 0) -> Corpus:
    """Up to 5 segments with up to 5 references each; at least one weight above 0 per segment."""
    size = draw(st.integers(1, 5))
    hypotheses = [draw(token_lists(min_tokens)) for _ in range(size)]
    references = [draw(reference_lists(min_tokens)) for _ in range(size)]
    tenths = []
    for texts in references:
        weights = draw(weight_lists(len(texts)))
        weights[draw(st.integers(0, len(texts) - 1))] = draw(st.integers(1, 10))
        tenths.append(weights)
    return Corpus(hypotheses, references, tenths)


@dataclass(frozen=True)
class Sample:
    """Real conversations: outputs by system, gold responses and weighted responses per item."""

    outputs: dict[str, list[str]]
    gold: list[list[str]]
    weighted: list[list[str]]
    weights: list[list[float]]

    @property
    def gold_texts(self) -> list[str]:
        """Of all items."""
        return list(chain.from_iterable(self.gold))


def dstc7_sample() -> Sample:
    items = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    raters = ("Human", "TeamB", "TeamF", "Random")
    return Sample(
        outputs={name: [item["responses"][name] for item in items] for name in ("TeamA", "TeamCE", "TeamD", "TeamG")},
        gold=[item["gold"] for item in items],
        weighted=[[item["responses"][name] for name in raters] for item in items],
        weights=[[2 * (item["mean_ratings"][name] - 1) / 4 - 1 for name in raters] for item in items],
    )
