"""Mine candidates for one seed: every text that was looked at, with its fate.

The same index, specification and seed give the same list, in any order of seeds and in any process.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple, Protocol

import numpy as np

from annotation.core.normalisation import text_key
from annotation.hygiene.near import nearest, shingles
from annotation.hygiene.steps import clean, mask
from annotation.mining.index.reading import Hit
from annotation.mining.specification import MiningSpecification
from annotation.mining.triples import Triple

MINED, PARROT, RANDOM = "mined", "parrot", "random"
KEPT, DUPLICATE, DROPPED = "kept", "duplicate", "dropped"
SEED = "seed"
OWN_TRIPLE = "the seed's own triple"


class Index(Protocol):
    """The functions of ``annotation.mining.index.reading.TripleIndex`` that ``mine`` needs."""

    def triple(self, number: int) -> Triple: ...
    def search(self, message: str, response: str, *, n: int, alpha: float, epsilon: float) -> Sequence[Hit]: ...
    def random_numbers(self, n: int, rng: np.random.Generator) -> list[int]: ...


@dataclass(frozen=True)
class Seed:
    """An item with its original response. Its random draws depend on ``external_id``."""

    item_id: int
    external_id: str
    context: tuple[str, ...]
    message: str
    response: str


@dataclass(frozen=True)
class Candidate:
    """A text for a seed.

    ``rank`` counts within ``kind`` from 1: by score for mined texts, by draw for random ones. ``text`` is the text
    after hygiene, ``raw_text`` the text of the corpus if that differs, else empty. ``reasons`` say why the text was not
    kept, what was masked and what could not be checked. ``near_duplicate`` names the earlier text that it nearly
    repeats: ``seed``, or kind and rank, such as ``mined 3``.
    """

    kind: str
    rank: int
    score: float | None
    message_score: float | None
    response_score: float | None
    text: str
    text_key: str
    raw_text: str
    triple: int | None
    source_context: tuple[str, ...]
    source_message: str
    fate: str
    reasons: tuple[str, ...] = ()
    near_duplicate: str = ""

    @property
    def label(self) -> str:
        return f"{self.kind} {self.rank}"


class Missing(NamedTuple):
    """The number of texts of a kind that are missing, and why."""

    kind: str
    number: int
    reason: str


def mine(seed: Seed, index: Index, specification: MiningSpecification) -> list[Candidate]:
    """Return every text looked at for a seed: mined ones, best first, then the parrot, then random ones.

    Parameters
    ----------
    seed : Seed
    index : TripleIndex
    specification : MiningSpecification
        The ranking is read until ``n`` texts are kept, or to ``depth * n``; random draws likewise.

    Returns
    -------
    list of Candidate
        At most ``n`` mined texts, one parrot and ``negatives`` random texts are kept; their keys differ from each other
        and from the seed's. ``missing`` tells which are too few.

    Notes
    -----
    A text equal to the seed's under the named normalisation is a duplicate of the seed, whatever its triple; a text
    equal to a kept one is a duplicate of that one, which is better ranked. Texts are compared after hygiene, and the
    seed's both before and after.
    """
    collection = _Collection(seed, specification)
    for rank, (hit, triple) in enumerate(_ranking(seed, index, specification), start=1):
        candidate = _candidate(MINED, rank, triple, hit.number, specification)
        scored = replace(candidate, score=hit.score, message_score=hit.message_score, response_score=hit.response_score)
        collection.add(scored, triple)
        if collection.counts[MINED] == specification.n:
            break
    if specification.parrot:
        collection.add(_candidate(PARROT, 1, Triple((), "", seed.message), None, specification))
    for rank, number in enumerate(_draws(seed, index, specification), start=1):
        triple = index.triple(number)
        collection.add(_candidate(RANDOM, rank, triple, number, specification), triple)
        if collection.counts[RANDOM] == specification.negatives:
            break
    return collection.candidates


def missing(candidates: Sequence[Candidate], specification: MiningSpecification) -> list[Missing]:
    """Return the kinds of which ``mine`` kept fewer texts than requested, with the reasons."""
    requested = {MINED: specification.n, PARROT: int(specification.parrot), RANDOM: specification.negatives}
    lacking = []
    for kind, n in requested.items():
        of_kind = [candidate for candidate in candidates if candidate.kind == kind]
        number = n - sum(candidate.fate == KEPT for candidate in of_kind)
        if not number:
            continue
        if kind == PARROT:
            reason = "; ".join(of_kind[0].reasons)
        elif len(of_kind) == n * specification.depth:
            reason = f"looked at {len(of_kind):,}, the depth of the search"
        elif kind == MINED:
            reason = f"only {len(of_kind):,} triples are similar in message and response"
        else:
            reason = f"the corpus has only {len(of_kind):,} triples"
        lacking.append(Missing(kind, number, reason))
    return lacking


def _ranking(seed: Seed, index: Index, specification: MiningSpecification) -> Iterator[tuple[Hit, Triple]]:
    if not specification.n:
        return
    hits = index.search(
        seed.message,
        seed.response,
        n=specification.depth * specification.n,
        alpha=specification.alpha,
        epsilon=specification.epsilon,
    )
    for hit in hits:
        yield hit, index.triple(hit.number)


def _draws(seed: Seed, index: Index, specification: MiningSpecification) -> list[int]:
    """Draw random triples; they depend only on the specification's random seed and the item's external id."""
    if not specification.negatives:
        return []
    digest = sha256(f"{specification.seed}\n{seed.external_id}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest))
    return index.random_numbers(specification.depth * specification.negatives, rng)


def _candidate(
    kind: str, rank: int, triple: Triple, number: int | None, specification: MiningSpecification
) -> Candidate:
    """Return a cleaned text, not yet compared with others."""
    cleaned = clean(triple.response, specification.hygiene)
    return Candidate(
        kind=kind,
        rank=rank,
        score=None,
        message_score=None,
        response_score=None,
        text=cleaned.text,
        text_key=text_key(cleaned.text, specification.normalisation),
        raw_text="" if cleaned.text == triple.response else triple.response,
        triple=number,
        source_context=tuple(mask(turn, specification.hygiene) for turn in triple.context),
        source_message=mask(triple.message, specification.hygiene),
        fate=DROPPED if cleaned.dropped else KEPT,
        reasons=cleaned.reasons,
    )


@dataclass
class _Collection:
    """The candidates so far, and the keys and shingles of those that were kept."""

    seed: Seed
    specification: MiningSpecification
    candidates: list[Candidate] = field(default_factory=list)

    def __post_init__(self) -> None:
        cleaned = clean(self.seed.response, self.specification.hygiene).text
        self.keys = {self._key(text): SEED for text in (self.seed.response, cleaned)}
        self.labels, self.shingles = [SEED], [shingles(self.seed.response)]
        self.counts = {MINED: 0, PARROT: 0, RANDOM: 0}

    def add(self, candidate: Candidate, triple: Triple | None = None) -> None:
        """Add a candidate; keep it unless it is a duplicate, was dropped, or is empty."""
        same = self.keys.get(candidate.text_key)
        if same is not None:
            reason = OWN_TRIPLE if triple is not None and self._is_of_seed(triple) else f"same as {same}"
            self.candidates.append(replace(candidate, fate=DUPLICATE, reasons=(reason, *candidate.reasons)))
            return
        if not candidate.text.strip():
            candidate = replace(candidate, fate=DROPPED, reasons=(*candidate.reasons, "empty"))
        if candidate.fate == KEPT:
            candidate = self._keep(candidate)
        self.candidates.append(candidate)

    def _keep(self, candidate: Candidate) -> Candidate:
        parts = shingles(candidate.text)
        near = nearest(parts, self.shingles, threshold=self.specification.near_duplicate)
        if near is not None:
            candidate = replace(candidate, near_duplicate=self.labels[near.position])
        self.keys[candidate.text_key] = candidate.label
        self.labels.append(candidate.label)
        self.shingles.append(parts)
        self.counts[candidate.kind] += 1
        return candidate

    def _is_of_seed(self, triple: Triple) -> bool:
        """Return whether the triple is the seed's conversation, under the normalisation."""
        seed_turns = (*self.seed.context, self.seed.message, self.seed.response)
        turns = (*triple.context, triple.message, triple.response)
        return [*map(self._key, seed_turns)] == [*map(self._key, turns)]

    def _key(self, text: str) -> str:
        return text_key(text, self.specification.normalisation)
