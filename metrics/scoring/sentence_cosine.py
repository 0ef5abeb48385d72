"""Sentence-embedding cosine: the cosine of two texts' vectors under a model of the sentence-transformers library.

    score(h, r) = cos(e(h), e(r))

Reimers and Gurevych, "Sentence-BERT: sentence embeddings using siamese BERT-networks", EMNLP 2019, section 3, the
library's `util.cos_sim`; in D'Haro et al. 2019, section 4.1.2, skip-thought vectors stand in this place. Range [-1, 1];
of several references the best or the mean; a system's score is the mean over segments. Texts go to the model as they
are, and what is longer than it reads it cuts off. A model makes a vector even of an empty text; yet as in the metrics
on word vectors an empty reference compares with nothing (the segment does not count unless it has another), and an
empty hypothesis scores 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.embedding_pairs import PairScores, cosine_scores, pair_statistics, reference_parameter
from metrics.scoring.metric import Metric, MetricStatistics, Preparation
from metrics.scoring.models import sentence_encoder
from metrics.scoring.models.sentence_encoder import SentenceEncoder
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import trained
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text, as_string

COSINE = "cosine"


@dataclass(frozen=True)
class SentenceCosine(Metric):
    """Sentence-embedding cosine as a metric of the registry."""

    name: ClassVar[str] = "sentence_cosine"
    label: ClassVar[str] = "Sentence embeddings"
    summary: ClassVar[str] = "How close a text is to a reference under a neural model of whole sentences."
    group: ClassVar[str] = "embedding"
    low: ClassVar[float] = -1.0
    slow: ClassVar[str] = "The sentence model is loaded for it, which can take a while."

    model: str = trained(
        SentenceEncoder.kind,
        label="Sentence model",
        key="model",
        hint="A sentence-transformers model: its folder, an installed package that carries it, or its name in the hub.",
    )
    over_references: str = reference_parameter()

    @classmethod
    def unavailable(cls) -> str:
        return sentence_encoder.unavailable()

    def preparation(self) -> SentenceEmbeddings:
        return SentenceEmbeddings(self.model)

    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Statistics (T, S, 2): score and 1, or zeros where no reference can be compared; ``weights`` is not read."""
        return pair_statistics(prepared, COSINE, self.over_references, reference_mask)


@dataclass(frozen=True)
class SentenceEmbeddings(Preparation):
    """`PairScores` under a sentence model: each distinct text is encoded once, whatever subset is scored."""

    model: str

    def __call__(self, segments: Segments, models: ModelStore) -> PairScores:
        encoder: SentenceEncoder = models.load(SentenceEncoder.kind, sentence_encoder.located(self.model))
        texts = [_text(text) for text in (*segments.row_texts, *segments.reference_texts)]
        distinct = sorted(set(filter(None, texts)))
        # Behind the vectors of the texts one of zeros, for all that are empty.
        vectors = encoder.encode(distinct) if distinct else np.zeros((0, 1), dtype=np.float32)
        vectors = np.concatenate([vectors, np.zeros_like(vectors, shape=(1, vectors.shape[1]))])
        number = {text: index for index, text in enumerate([*distinct, ""])}
        places = np.array([number[text] for text in texts], dtype=np.int64)
        rows, references = places[: len(segments.row_texts)], places[len(segments.row_texts) :]

        def vectors_of(own: NDArray[np.int64], start: int, stop: int) -> NDArray[np.float64]:
            return vectors[own[start:stop]].astype(np.float64)

        sizes = [np.full(own.size, vectors.shape[1]) for own in (rows, references)]
        values = cosine_scores(segments, partial(vectors_of, rows), partial(vectors_of, references), *sizes)
        facts = {
            "hypotheses_without_vector": int(np.count_nonzero(rows == len(distinct))),
            "references_without_vector": int(np.count_nonzero(references == len(distinct))),
        }
        return PairScores(segments.rows, segments.pairs, {COSINE: values}, facts)


def _text(text: Text) -> str:
    """What the model reads: a text without spaces around it; tokens with one between them."""
    return as_string(text).strip()
