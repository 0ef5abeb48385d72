"""Sentence-embedding cosine: the cosine of two texts' vectors under a model of the sentence-transformers library.

    score(h, r) = cos(e(h), e(r))

Reimers and Gurevych, "Sentence-BERT: sentence embeddings using siamese BERT-networks", EMNLP 2019, section 3, the
library's `util.cos_sim`. Texts go to the model as they are; it cuts off what is longer than it reads. An empty
reference compares with nothing (NaN), an empty hypothesis scores 0, as for word vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.embedding_pairs import EmbeddingMetric, PairScores, cosine_scores, reference_parameter
from metrics.scoring.metric import Preparation
from metrics.scoring.models import sentence_encoder
from metrics.scoring.models.sentence_encoder import SentenceEncoder
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import trained
from metrics.scoring.segments import Segments
from metrics.scoring.texts import as_string


@dataclass(frozen=True)
class SentenceCosine(EmbeddingMetric):
    """Sentence-embedding cosine."""

    name: ClassVar[str] = "sentence_cosine"
    label: ClassVar[str] = "Sentence embeddings"
    summary: ClassVar[str] = "How close a text is to a reference under a neural model of whole sentences."
    measure: ClassVar[str] = "cosine"
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


@dataclass(frozen=True)
class SentenceEmbeddings(Preparation):
    """`PairScores` under a sentence model: each distinct text is encoded once, whatever subset is scored."""

    model: str

    def __call__(self, segments: Segments, models: ModelStore) -> PairScores:
        encoder: SentenceEncoder = models.load(SentenceEncoder.kind, sentence_encoder.located(self.model))
        texts = [as_string(text).strip() for text in (*segments.row_texts, *segments.reference_texts)]
        distinct = sorted(set(filter(None, texts)))
        # The last row, of zeros, is for all empty texts.
        vectors = encoder.encode(distinct) if distinct else np.zeros((0, 1), dtype=np.float32)
        vectors = np.concatenate([vectors, np.zeros_like(vectors, shape=(1, vectors.shape[1]))])
        number = {text: index for index, text in enumerate([*distinct, ""])}
        numbers = np.array([number[text] for text in texts], dtype=np.int64)
        rows, references = numbers[: len(segments.row_texts)], numbers[len(segments.row_texts) :]

        def vectors_of(side: Ints, start: int, stop: int) -> Floats:
            return vectors[side[start:stop]].astype(np.float64)

        sizes = [np.full(side.size, vectors.shape[1]) for side in (rows, references)]
        values = cosine_scores(segments, partial(vectors_of, rows), partial(vectors_of, references), *sizes)
        facts = {
            "hypotheses_without_vector": int(np.count_nonzero(rows == len(distinct))),
            "references_without_vector": int(np.count_nonzero(references == len(distinct))),
        }
        return PairScores(segments.rows, segments.pairs, {SentenceCosine.measure: values}, facts)
