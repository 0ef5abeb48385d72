"""An n-gram language model: how probable a sentence is, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from metrics.scoring.adequacy_fluency_text import TOKENIZERS, words_of
from metrics.scoring.arrays import Floats, Ids, Ints
from metrics.scoring.models.files import Content
from metrics.scoring.models.ngrams import arpa
from metrics.scoring.models.ngrams.backoff import Backoff
from metrics.scoring.models.ngrams.counts import (
    END_ID,
    START,
    START_ID,
    UNKNOWN_ID,
    bounded,
    count_ngrams,
    word_numbers,
)
from metrics.scoring.models.ngrams.katz import MAX_COUNTS, MIN_COUNTS, katz, pruned
from metrics.scoring.texts import Text, Tokens, check_choice, check_whole

Progress = Callable[[int], None]

MAX_ORDER = 5
LN_10 = float(np.log(10.0))  # tables hold logarithms of base 10, results natural ones

_LAYOUT = 1
_TEXTS_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """N-grams with Katz's back-off; unknown words count as <unk>.

    Attributes
    ----------
    words : list of V str
        <unk>, <s>, </s>, then the vocabulary, sorted.
    backoff : Backoff
        The probabilities.
    tokenize : str
        How texts are split into words.
    clean : bool
        Whether texts are cleaned first (`metrics.scoring.adequacy_fluency_text`).
    """

    kind: ClassVar[str] = "language_model"

    words: Sequence[str]
    backoff: Backoff
    tokenize: str = "whitespace"
    clean: bool = True

    @classmethod
    def train(
        cls,
        texts: Iterable[Text],
        *,
        order: int = 2,
        prune: float = 0.0,
        tokenize: str = "whitespace",
        clean: bool = True,
        min_counts: Sequence[int] | None = None,
        max_counts: Sequence[int] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Estimate a model as ``ngram-count -unk`` of SRILM does by default.

        Parameters
        ----------
        texts : iterable of strings, a sentence each
            Read once, in parts.
        order : int
            N, 1 to 5. The model serves lower orders as well.
        prune : float
            Threshold of entropy pruning (`katz.pruned`), 0 for none; D'Haro et al. (2019) use 1e-6.
        tokenize : {"whitespace", "13a", "char", "intl", "zh"}
        clean : bool
        min_counts, max_counts : sequences of N int, optional
            For each length: the least count of an n-gram that is listed (1, 1, 2, 2, 2), and the highest that is
            discounted (1, 7, 7, 7, 7).
        progress : callable, optional
            Called with the number of sentences read so far.

        Raises
        ------
        ValueError
            An option is out of range, or there is no text.

        References
        ----------
        Katz 1987 (`good_turing`); Stolcke: SRILM, an extensible language modeling toolkit. ICSLP 2002.
        """
        check_whole("order", order, 1, MAX_ORDER)
        if not 0 <= prune < 1:
            raise ValueError(f"prune: found {prune!r}; accepted: a number from 0 up to 1")
        check_choice("tokenize", tokenize, TOKENIZERS)
        least = _checked_counts("min_counts", MIN_COUNTS[:order] if min_counts is None else min_counts, order)
        most = _checked_counts("max_counts", MAX_COUNTS[:order] if max_counts is None else max_counts, order)
        if list(least) != sorted(least) or least[0] > 1:
            raise ValueError(f"min_counts: found {least}; accepted: numbers from 0 or 1 on that do not fall")
        counts = count_ngrams(words_of(texts, tokenize=tokenize, clean=clean), order, progress)
        if not counts.n_sentences:
            raise ValueError("texts: found none; accepted: at least one")
        model = katz(counts, min_counts=least, max_counts=most)
        return cls(counts.words, pruned(model, prune) if prune else model, tokenize, clean)

    @property
    def order(self) -> int:
        return self.backoff.order

    @property
    def n_ngrams(self) -> tuple[int, ...]:
        """Return how many n-grams of each length are listed; <unk>, <s> and </s> are among the first."""
        return tuple(int(logs.size) for logs in self.backoff.logs)

    @property
    def facts(self) -> dict[str, Any]:
        return {"vocabulary": len(self.words), "order": self.order, "ngrams": list(self.n_ngrams)}

    def check_order(self, order: int) -> None:
        """Raise a ValueError if the model has no n-grams of that order."""
        if not 1 <= order <= self.order:
            raise ValueError(f"order: found {order}; accepted: 1 to {self.order}, the order of the model")

    def log_probabilities(self, texts: Iterable[Text], orders: Iterable[int]) -> tuple[dict[int, Floats], Ints]:
        """Return the probabilities of texts.

        Parameters
        ----------
        texts : iterable of n strings
        orders : iterable of int
            Several cost little more than the highest.

        Returns
        -------
        dict of order to (n,) float
            Natural logarithm of the probability of the words and of the sentence's end; -inf if it is 0.
        (n,) int
            Words, without the end.
        """
        ascending = sorted(set(orders))
        for order in ascending:
            self.check_order(order)
        by_order: dict[int, list[Floats]] = {order: [np.zeros(0)] for order in ascending}
        lengths = [np.zeros(0, dtype=np.int64)]
        rest = words_of(texts, tokenize=self.tokenize, clean=self.clean)
        while batch := list(islice(rest, _TEXTS_AT_ONCE)):
            numbers, length = word_numbers(batch, self._index)
            for order, logs in self.backoff.sentences(bounded(numbers, length), ascending).items():
                by_order[order].append(logs * LN_10)
            lengths.append(length)
        return {order: np.concatenate(logs) for order, logs in by_order.items()}, np.concatenate(lengths)

    def numbers(self, words: Tokens) -> Ids:
        """Return the vocabulary indices (n + 2,) of a sentence's n words, between those of <s> and </s>."""
        return bounded(*word_numbers([words], self._index))

    def per_word(self, texts: Iterable[Text], orders: Iterable[int]) -> dict[int, Floats]:
        """Return the log probability (n,) of each text per word, for each order (D'Haro et al. 2019, eq. 2)."""
        logs, lengths = self.log_probabilities(texts, orders)
        return {order: log / lengths for order, log in logs.items()}

    def distribution(self, history: Sequence[str]) -> Floats:
        """Return the probability (V,) of each word of `words` after these words, of which the last N - 1 count."""
        marked = {**self._index, START: START_ID}
        known = [marked.get(word, UNKNOWN_ID) for word in history][-(self.order - 1) :] if self.order > 1 else []
        rows = np.empty((len(self.words), len(known) + 1), dtype=np.int32)
        rows[:, :-1], rows[:, -1] = known, np.arange(len(self.words))
        return np.asarray(10.0 ** self.backoff.last(rows))

    @cached_property
    def digest(self) -> str:
        return self._content.digest()

    def save(self, path: Path) -> None:
        self._content.save(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote, or an ARPA file (texts are then cleaned and split at whitespace)."""
        if Path(path).is_file():
            return cls.read_arpa(path)
        content = Content.load(path, cls.kind, _LAYOUT)
        header, array = content.header, content.array
        order = int(header["order"])
        backoff = Backoff(
            len(content.words),
            tuple(array(f"keys-{n}") for n in range(2, order + 1)),
            tuple(array(f"logs-{n}") for n in range(1, order + 1)),
            tuple(array(f"weights-{n}") for n in range(1, order)),
        )
        return cls(content.words, backoff, header["tokenize"], header["clean"])

    @classmethod
    def read_arpa(cls, path: Path | str, *, tokenize: str = "whitespace", clean: bool = True) -> Self:
        """Read a model of another program, such as SRILM.

        Parameters
        ----------
        path : path of an ARPA file, perhaps compressed with gzip
        tokenize, clean
            How its training texts were split, and whether they were cleaned as here.
        """
        check_choice("tokenize", tokenize, TOKENIZERS)
        backoff, words = arpa.read_arpa(path)
        return cls(words, backoff, tokenize, clean)

    def write_arpa(self, path: Path | str) -> None:
        """Write the model for other programs."""
        arpa.write_arpa(self.backoff, list(self.words), path)

    @cached_property
    def _index(self) -> dict[str, int]:
        # "<s>" in a text is not the start of a sentence.
        return {word: index for index, word in enumerate(self.words) if index not in (START_ID, END_ID)}

    @property
    def _content(self) -> Content:
        backoff = self.backoff
        header = {"layout": _LAYOUT, "order": self.order, "tokenize": self.tokenize, "clean": self.clean}
        arrays: dict[str, Floats | Ints] = {}
        arrays |= {f"keys-{n}": keys for n, keys in enumerate(backoff.keys, start=2)}
        arrays |= {f"logs-{n}": logs for n, logs in enumerate(backoff.logs, start=1)}
        arrays |= {f"weights-{n}": weights for n, weights in enumerate(backoff.weights, start=1)}
        return Content(self.kind, header, self.words, arrays)


def _checked_counts(name: str, values: Sequence[int], order: int) -> tuple[int, ...]:
    if len(values) != order or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in values):
        raise ValueError(f"{name}: found {values!r}; accepted: {order} whole numbers of 0 or more")
    return tuple(values)
