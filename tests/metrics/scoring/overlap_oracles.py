"""ROUGE-L and CIDEr by others: pycocoevalcap 1.2 and rouge-score 0.1.2, on tokens settled beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocoevalcap.cider.cider import Cider as CocoCider
from pycocoevalcap.cider.cider_scorer import CiderScorer
from pycocoevalcap.rouge.rouge import Rouge as CocoRouge
from pycocoevalcap.rouge.rouge import my_lcs
from rouge_score.rouge_scorer import RougeScorer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from metrics.scoring.metric import Metric, MetricStatistics, Workspace
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import Corpus, corpora

Tokens = Sequence[str]


class _Spaces:
    """A tokeniser for rouge-score that leaves tokens as they are."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


@st.composite
def masked_corpora(draw: st.DrawFn, min_tokens: int = 0) -> tuple[Corpus, NDArray[np.bool_]]:
    """A corpus and some of its references."""
    corpus = draw(corpora(min_tokens))
    size = sum(map(len, corpus.references))
    return corpus, np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=np.bool_)


def kept_references(references: Sequence[Sequence[Tokens]], mask: NDArray[np.bool_]) -> list[list[Tokens]]:
    flags = iter(mask.tolist())
    return [[reference for reference in texts if next(flags)] for texts in references]


def statistics(
    metric: Metric,
    hypotheses: Sequence[Tokens],
    references: Sequence[Sequence[Tokens]],
    mask: NDArray[np.bool_] | None = None,
) -> MetricStatistics:
    return Workspace(Segments([hypotheses], references)).statistics(metric, reference_mask=mask)


def segment_scores(
    metric: Metric,
    hypotheses: Sequence[Tokens],
    references: Sequence[Sequence[Tokens]],
    mask: NDArray[np.bool_] | None = None,
) -> list[float]:
    return list(statistics(metric, hypotheses, references, mask).sentence_scores[0].tolist())


def lcs(left: Tokens, right: Tokens) -> int:
    return int(my_lcs(list(left), list(right)))


def coco_rouge_l(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> tuple[float, list[float]]:
    score, scores = CocoRouge().compute_score(*_coco(hypotheses, references))
    return float(score), list(scores)


def coco_cider(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> tuple[float, list[float]]:
    score, scores = CocoCider().compute_score(*_coco(hypotheses, references))
    return float(score), list(scores)


def coco_cider_unpenalised(
    hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]
) -> tuple[float, list[float]]:
    scorer = CiderScorer(n=4, sigma=1e12)
    for hypothesis, texts in zip(hypotheses, references, strict=True):
        scorer += (" ".join(hypothesis), [" ".join(reference) for reference in texts])
    score, scores = scorer.compute_score()
    return float(score), list(scores)


def best_rouge_l(hypothesis: Tokens, references: Sequence[Tokens]) -> float:
    scorer = RougeScorer(["rougeL"], use_stemmer=False, tokenizer=_Spaces())
    scores = scorer.score_multi([" ".join(reference) for reference in references], " ".join(hypothesis))
    return float(scores["rougeL"].fmeasure)


def plain_cider(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> list[float]:
    """Equations 1 to 3 by scikit-learn: counts and cosines; times 10."""
    scores = np.zeros(len(hypotheses))
    for order in range(1, 5):

        def grams(texts: list[Tokens], order: int = order) -> list[tuple[str, ...]]:
            return [tuple(text[i : i + order]) for text in texts for i in range(len(text) - order + 1)]

        one_each = [[text] for segment_references in references for text in segment_references] + [
            [text] for text in hypotheses
        ]
        try:
            counter = CountVectorizer(analyzer=grams).fit(one_each)
        except ValueError:  # no n-gram of this order in any text
            continue
        n_holding = np.asarray((counter.transform(references) > 0).sum(axis=0)).ravel()
        idf = np.log(len(references) / np.maximum(n_holding, 1))
        for segment, (hypothesis, segment_references) in enumerate(zip(hypotheses, references, strict=True)):
            left = counter.transform([[hypothesis]]).multiply(idf)
            right = counter.transform([[text] for text in segment_references]).multiply(idf)
            scores[segment] += cosine_similarity(left, right).mean()
    return list(10 * scores / 4)


def _coco(
    hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    gold = {segment: [" ".join(reference) for reference in texts] for segment, texts in enumerate(references)}
    return gold, {segment: [" ".join(hypothesis)] for segment, hypothesis in enumerate(hypotheses)}
