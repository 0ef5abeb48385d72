"""For one seed, every text that was looked at and what became of it.

Nothing here depends on the order of seeds, on shards or on the process: the same index, specification and seed give the
same list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple, Protocol

import numpy as np

from annotation.core.normalisation import text_key
from annotation.hygiene.near import nearest, shingles
from annotation.hygiene.steps import clean, mask
from annotation.mining.specification import MiningSpecification
from annotation.mining.triples import Triple

MINED, PARROT, RANDOM = "mined", "parrot", "random"
KEPT, DUPLICATE, DROPPED = "kept", "duplicate", "dropped"
SEED = "seed"
OWN_TRIPLE = "the seed's own triple"


class Found(Protocol):
    """A hit of the index."""

    @property
    def number(self) -> int: ...
    @property
    def score(self) -> float: ...
    @property
    def message_score(self) -> float: ...
    @property
    def response_score(self) -> float: ...


class Searched(Protocol):
    """What ``mine`` asks of an index; ``annotation.mining.index.TripleIndex`` is one."""

    def triple(self, number: int) -> Triple: ...
    def search(self, message: str, response: str, *, n: int, alpha: float, epsilon: float) -> Sequence[Found]: ...
    def random_numbers(self, n: int, rng: np.random.Generator) -> list[int]: ...


@dataclass(frozen=True)
class Seed:
    """An item with its original response. ``external_id``, its name in the outside world, decides its random draws."""

    item_id: int
    external_id: str
    context: tuple[str, ...]
    message: str
    response: str


@dataclass(frozen=True)
class Candidate:
    """A text for a seed.

    ``rank`` counts within ``kind`` from 1: for mined texts the place in the ranking, for random ones the draw.
    ``text`` is what hygiene made of it; ``raw_text`` is the corpus's own, where that differs, and empty where not.
    ``reasons`` say why it was not kept, what was masked and what could not be told. ``near_duplicate`` names the text
    before it that it is almost the same as: ``seed``, or kind and rank, ``mined 3``.
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
    """How many texts of a kind there are fewer than asked for, and why."""

    kind: str
    number: int
    reason: str


def mine(seed: Seed, index: Searched, specification: MiningSpecification) -> list[Candidate]:
    """Every text looked at for one seed, with its fate: mined ones, best first, then the parrot, then random ones.

    Parameters
    ----------
    seed : Seed
    index : TripleIndex
    specification : MiningSpecification
        The ranking is read down to the n-th text that is kept, or to ``depth * n``; random draws likewise.

    Returns
    -------
    list of Candidate
        At most ``n`` mined ones, one parrot and ``negatives`` random ones are kept, no two with one key, none with the
        seed's. ``missing`` says what there is too little of.

    Notes
    -----
    A text equal to the seed's under the named normalisation is a duplicate of the seed, whether its triple is the
    seed's own or another one; a text equal to a kept one is a duplicate of that, the better ranked. Texts are compared
    as hygiene left them, and the seed's both as it is and cleaned.
    """
    gathering = _Gathering(seed, specification)
    for place, (hit, triple) in enumerate(_ranking(seed, index, specification), start=1):
        candidate = _candidate(MINED, place, triple, hit.number, specification)
        scored = replace(candidate, score=hit.score, message_score=hit.message_score, response_score=hit.response_score)
        gathering.add(scored, triple)
        if gathering.kept_of(MINED) == specification.n:
            break
    if specification.parrot:
        gathering.add(_candidate(PARROT, 1, Triple((), "", seed.message), None, specification))
    for place, number in enumerate(_draws(seed, index, specification), start=1):
        triple = index.triple(number)
        gathering.add(_candidate(RANDOM, place, triple, number, specification), triple)
        if gathering.kept_of(RANDOM) == specification.negatives:
            break
    return gathering.candidates


def missing(candidates: Sequence[Candidate], specification: MiningSpecification) -> list[Missing]:
    """What ``mine`` kept less of than was asked for, and why; empty where there is all of it."""
    asked = {MINED: specification.n, PARROT: int(specification.parrot), RANDOM: specification.negatives}
    found = []
    for kind, wanted in asked.items():
        of_kind = [candidate for candidate in candidates if candidate.kind == kind]
        number = wanted - sum(candidate.fate == KEPT for candidate in of_kind)
        if not number:
            continue
        if kind == PARROT:
            reason = "; ".join(of_kind[0].reasons)
        elif len(of_kind) == wanted * specification.depth:
            reason = f"looked at {len(of_kind):,}, as deep as was asked"
        elif kind == MINED:
            reason = f"only {len(of_kind):,} triples are similar in message and response"
        else:
            reason = f"the corpus has only {len(of_kind):,} triples"
        found.append(Missing(kind, number, reason))
    return found


def _ranking(seed: Seed, index: Searched, specification: MiningSpecification) -> Iterator[tuple[Found, Triple]]:
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


def _draws(seed: Seed, index: Searched, specification: MiningSpecification) -> list[int]:
    """Numbers of random triples: the specification's seed and the item's own name decide, and nothing else."""
    if not specification.negatives:
        return []
    digest = sha256(f"{specification.seed}\n{seed.external_id}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest))
    return index.random_numbers(specification.depth * specification.negatives, rng)


def _candidate(
    kind: str, rank: int, triple: Triple, number: int | None, specification: MiningSpecification
) -> Candidate:
    """One text, cleaned, before it is compared with others."""
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
class _Gathering:
    """What was looked at so far, and the keys and shingles of what was kept."""

    seed: Seed
    specification: MiningSpecification
    candidates: list[Candidate] = field(default_factory=list)

    def __post_init__(self) -> None:
        cleaned = clean(self.seed.response, self.specification.hygiene).text
        self.keys = {self._key(text): SEED for text in (self.seed.response, cleaned)}
        self.labels, self.shingles = [SEED], [shingles(self.seed.response)]
        self.counts = {MINED: 0, PARROT: 0, RANDOM: 0}

    def kept_of(self, kind: str) -> int:
        return self.counts[kind]

    def add(self, candidate: Candidate, triple: Triple | None = None) -> None:
        """Keep it, unless it is equal to a kept text, was dropped, or says nothing."""
        same = self.keys.get(candidate.text_key)
        if same is not None:
            reason = OWN_TRIPLE if triple is not None and self._is_own(triple) else f"same as {same}"
            self.candidates.append(replace(candidate, fate=DUPLICATE, reasons=(reason, *candidate.reasons)))
            return
        if not candidate.text.strip():
            candidate = replace(candidate, fate=DROPPED, reasons=(*candidate.reasons, "empty"))
        if candidate.fate == KEPT:
            candidate = self._keep(candidate)
        self.candidates.append(candidate)

    def _keep(self, candidate: Candidate) -> Candidate:
        found = shingles(candidate.text)
        near = nearest(found, self.shingles, threshold=self.specification.near_duplicate)
        if near is not None:
            candidate = replace(candidate, near_duplicate=self.labels[near.position])
        self.keys[candidate.text_key] = candidate.label
        self.labels.append(candidate.label)
        self.shingles.append(found)
        self.counts[candidate.kind] += 1
        return candidate

    def _is_own(self, triple: Triple) -> bool:
        """The very conversation that the seed is: its context, message and response, under the normalisation."""
        own = (*self.seed.context, self.seed.message, self.seed.response)
        other = (*triple.context, triple.message, triple.response)
        return len(own) == len(other) and all(
            self._key(one) == self._key(another) for one, another in zip(own, other, strict=True)
        )

    def _key(self, text: str) -> str:
        return text_key(text, self.specification.normalisation)
