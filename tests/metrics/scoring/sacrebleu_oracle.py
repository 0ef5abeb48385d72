"""sacrebleu's BLEU on this product's terms: scores in [0, 1], any number of references per segment."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import zip_longest

from sacrebleu.metrics import BLEU

logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it advises against what the tests need


def corpus_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    max_order: int,
    *,
    smoothing: str = "none",
    tokenize: str = "none",
    lowercase: bool = False,
) -> float:
    scorer = BLEU(
        max_ngram_order=max_order, smooth_method=smoothing, tokenize=tokenize, lowercase=lowercase, force=True
    )
    # sacrebleu takes one stream per reference position; None fills the gaps.
    return scorer.corpus_score(list(hypotheses), list(zip_longest(*references))).score / 100


def sentence_score(hypothesis: str, references: Sequence[str], max_order: int, effective_order: bool) -> float:
    scorer = BLEU(
        max_ngram_order=max_order,
        smooth_method="add-k",
        smooth_value=1,
        tokenize="none",
        effective_order=effective_order,
        force=True,
    )
    return scorer.sentence_score(hypothesis, list(references)).score / 100


def join(texts: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(tokens) for tokens in texts]
