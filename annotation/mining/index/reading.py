"""Search an index on disk for triples with a similar message and response."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import bm25s
import numpy as np
import pyarrow as pa

from annotation.hygiene.refusal import check_number, check_whole
from annotation.mining.index.files import (
    DATA,
    FIELDS,
    INDICES,
    INDPTR,
    PARAMETERS,
    TRIPLES,
    WORD_ENDS,
    WORDS,
    UnreadableIndex,
    read_header,
)
from annotation.mining.index.files import verify_contents as verify
from annotation.mining.index.parameters import TOKENIZERS, IndexParameters
from annotation.mining.triples import Triple, TripleFile

SCORE_FILES: Mapping[str, type[np.generic]] = {DATA: np.float32, INDICES: np.int32, INDPTR: np.int64}
# Neither paper prints its values. If epsilon is 0, both texts must be similar, and alpha only scales the scores.
ALPHA, EPSILON = 0.5, 0.0
MAX_HITS, MAX_EPSILON = 2**31 - 1, 1000
BLOCKS_PER_HIT, SHORTEST_BLOCK = 64, 16
CACHED_WORDS = 1 << 14
ROUNDING_MARGIN = np.float32(1 - 1e-5)


class Hit(NamedTuple):
    """A triple's number, its score, and the two BM25 scores from which it is computed."""

    number: int
    score: float
    message_score: float
    response_score: float


class TripleIndex:
    """An index from ``build_index``, read-only: any number of processes may have it open."""

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self.folder = folder
        self.n: int = header["n_triples"]
        self.content_hash: str = header["content_hash"]
        self.signature: str = header["signature"]
        self.n_words: int = header["n_words"]
        self.bytes: int = header["bytes"]
        self.parameters = IndexParameters.from_dict(header["parameters"])
        # Most queries share a few frequent words, which are looked up on disk once.
        self._word_number = lru_cache(maxsize=CACHED_WORDS)(_Words(folder).number)
        self._scorers = [_scorer(folder / name, words=self.n_words, texts=self.n) for name in FIELDS]
        self._triples = _triples(folder / TRIPLES, self.n)

    @classmethod
    def open(cls, folder: Path, *, verify_contents: bool = False) -> Self:
        """Open an index whose files have the right length; ``verify_contents`` also checks their hashes.

        Raises
        ------
        UnreadableIndex
            Which file is missing, damaged or of an unknown version.
        """
        folder = Path(folder)
        header = read_header(folder)
        if verify_contents:
            verify(folder, header)
        return cls(folder, header)

    def triple(self, number: int) -> Triple:
        """Read a triple; an ``IndexError`` names the accepted numbers."""
        try:
            return self._triples.read(number)
        except pa.ArrowException as error:
            raise _damaged(self.folder / TRIPLES, str(error)) from error

    def triples(self) -> Iterator[Triple]:
        """Yield all triples in order."""
        try:
            yield from self._triples
        except pa.ArrowException as error:
            raise _damaged(self.folder / TRIPLES, str(error)) from error

    def search(
        self,
        message: str,
        response: str,
        *,
        n: int,
        exclude: Collection[int] = (),
        alpha: float = ALPHA,
        epsilon: float = EPSILON,
    ) -> list[Hit]:
        """Return the n best triples by ``d(message) * (alpha * d(response) + (1 - alpha) * epsilon)``; d is BM25.

        Exact: every triple that shares a word is scored. If ``epsilon`` is 0, a hit shares words with both texts; above
        0, sharing words with the message is enough.

        Parameters
        ----------
        message, response : str
            A word that occurs twice counts twice, as in BM25 without its k3.
        n : int
            1 or more. There are fewer hits if fewer triples score above 0, and none if no word is known.
        exclude : collection of int
            Numbers of triples to leave out.
        alpha : float
            In [0, 1]. The share of the response's similarity.
        epsilon : float
            From 0 to 1000. The value of a response without a shared word.

        Returns
        -------
        list of Hit
            Best first; equal scores in the order of the triples' numbers.

        References
        ----------
        Alessandro Sordoni, Michel Galley, et al., A Neural Network Approach to Context-Sensitive Generation of
        Conversational Responses, NAACL-HLT 2015, section 4.2.
        """
        check_whole("n", n, 1, MAX_HITS)
        check_number("alpha", alpha, 0, 1)
        check_number("epsilon", epsilon, 0, MAX_EPSILON)
        floor = float((1 - alpha) * epsilon)
        on_message, on_response = (self._scores(at, text) for at, text in enumerate((message, response)))
        if len(exclude):
            numbers = np.fromiter(exclude, dtype=np.int64)
            on_message[numbers[(numbers >= 0) & (numbers < self.n)]] = 0
        rough = on_message * on_response if floor == 0 else on_message * (np.float32(alpha) * on_response + floor)
        numbers = _candidates(rough, n)
        # The product of two 24-bit factors has 48 bits: with the default alpha it is exact, and so are ties.
        on_message, on_response = on_message[numbers].astype(np.float64), on_response[numbers].astype(np.float64)
        joint = on_message * (alpha * on_response + floor)
        best = np.argsort(-joint, kind="stable")[:n]
        columns = (part[best].tolist() for part in (numbers, joint, on_message, on_response))
        return [Hit(*row) for row in zip(*columns, strict=True)]

    def random_numbers(self, n: int, rng: np.random.Generator, *, exclude: Collection[int] = ()) -> list[int]:
        """Draw ``n`` different triples in random order, each equally likely, or all if there are fewer."""
        check_whole("n", n, 0, MAX_HITS)
        left_out = {number for number in exclude if 0 <= number < self.n}
        size = min(n, self.n - len(left_out))
        drawn = rng.choice(self.n, size=min(self.n, size + len(left_out)), replace=False).tolist()
        return [number for number in drawn if number not in left_out][:size]

    def _scores(self, field: int, text: str) -> np.ndarray:
        """Return a field's BM25 score of every triple."""
        cut = TOKENIZERS[self.parameters.tokenizer]
        known = [number for word in cut(text) if (number := self._word_number(word)) is not None]
        if not known:
            return np.zeros(self.n, dtype=np.float32)
        try:
            scores: np.ndarray = self._scorers[field].get_scores_from_ids(known)
        except IndexError as error:
            raise _damaged(self.folder / FIELDS[field] / INDICES, str(error)) from error
        return scores

    def close(self) -> None:
        self._triples.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _candidates(rough: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n highest values, in order, and of some lower ones, but never of zeros.

    The maxima of n blocks reach the n-th highest maximum, so at least n values do; clearly lower values are left out.
    ``rough`` is rounded to 24 bits; the margin is far wider than that rounding.
    """
    length = rough.size // (BLOCKS_PER_HIT * n)
    if length < SHORTEST_BLOCK:
        return np.flatnonzero(rough > 0)
    maxima = rough[: rough.size // length * length].reshape(-1, length).max(axis=1)
    limit = np.partition(maxima, maxima.size - n)[maxima.size - n]
    return np.flatnonzero(rough >= limit * ROUNDING_MARGIN if limit > 0 else rough > 0)


class _Words(Sequence[bytes]):
    """The sorted vocabulary, on disk."""

    def __init__(self, folder: Path) -> None:
        self._letters = _array(folder / WORDS, np.uint8)
        self._ends = _array(folder / WORD_ENDS, np.int64)

    def __len__(self) -> int:
        return int(self._ends.size)

    def __getitem__(self, number: Any) -> Any:
        first = int(self._ends[number - 1]) if number else 0
        return self._letters[first : int(self._ends[number])].tobytes()

    def number(self, word: str) -> int | None:
        encoded = word.encode()
        number = bisect_left(self, encoded)
        return number if number < len(self) and self[number] == encoded else None


def _array(path: Path, kind: type[np.generic]) -> np.ndarray:
    try:
        array: np.ndarray = np.load(path, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if array.dtype != kind or array.ndim != 1:
        raise _damaged(path, f"found {array.dtype} in {array.ndim} dimensions")
    return array


def _damaged(path: Path, problem: str) -> UnreadableIndex:
    return UnreadableIndex(f"{path}: damaged, {problem}; build the index again")


def _scorer(folder: Path, *, words: int, texts: int) -> Any:
    arrays = {name: _array(folder / name, kind) for name, kind in SCORE_FILES.items()}
    for name, expected in ((INDPTR, words + 1), (DATA, arrays[INDICES].size), (INDICES, int(arrays[INDPTR][-1]))):
        if (size := arrays[name].size) != expected:
            raise _damaged(folder / name, f"found {size:,} numbers, expected {expected:,}")
    try:
        scorer = bm25s.BM25.load(folder, mmap=True, load_vocab=False)
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(folder / PARAMETERS, str(error)) from error
    if (n := scorer.scores["num_docs"]) != texts:
        raise _damaged(folder / PARAMETERS, f"found {n} texts, expected {texts:,}")
    return scorer


def _triples(path: Path, n: int) -> TripleFile:
    try:
        triples = TripleFile(path)
    except (pa.ArrowInvalid, OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if triples.n != n:
        raise _damaged(path, f"found {triples.n:,} triples, expected {n:,}")
    return triples
