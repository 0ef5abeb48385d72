"""A segment's score explained reference by reference, for metrics other than BLEU's family."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.models import Item, ReleaseWeight, Response
from metrics.models import ScoreRun
from metrics.scoring.explain.case import Part, SegmentExplanation
from metrics.scoring.explain.segment import explain_segment, shared_tokens
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.models.store import ModelStore
from metrics.scoring.registry import METRICS
from metrics.scoring.rouge_l import RougeL
from metrics.selectors.corpus import item_prompt
from metrics.selectors.explanations import run_references
from metrics.selectors.runs import run_metric
from metrics.subsets import Subset

RULES = {
    "best": "The best reference counts.",
    "mean": "The mean over the references counts.",
    "one": "One reference counts.",
    "parts": "Parts of several references enter, so the score is that of no single one.",
}


@dataclass(frozen=True)
class Value:
    label: str
    value: float | None
    digits: int


@dataclass(frozen=True)
class Word:
    text: str
    is_shared: bool


@dataclass
class ScoredReference:
    """A reference and what the metric computes from it."""

    number: int
    row: ReleaseWeight
    counts: bool
    alone: float | None = None
    values: Sequence[Value] = ()
    words: Sequence[Word] = ()
    is_chosen: bool = False

    @property
    def key(self) -> str:
        return f"r{self.number}"

    @property
    def weight(self) -> float:
        return float(self.row.weight)


@dataclass
class ReferenceScores:
    """A hypothesis of a run, and its references by falling weight."""

    metric: Metric | None
    references: list[ScoredReference]
    explanation: SegmentExplanation | None = None
    reason: str = ""  # why there are no scores with single references
    on_request: str = ""  # why they are only computed on request
    words: Sequence[Word] = ()  # of the hypothesis, if some are marked
    marked: ScoredReference | None = None  # the reference that shares them

    @property
    def rule(self) -> str:
        return RULES.get(self.explanation.rule, "") if self.explanation else ""

    @property
    def parts(self) -> list[tuple[Part, ScoredReference | None]]:
        parts = self.explanation.parts if self.explanation else ()
        return [(part, None if part.reference is None else self.references[part.reference]) for part in parts]

    @property
    def reference_columns(self) -> list[str]:
        return [column.label for column in self.explanation.columns] if self.explanation else []


def is_bleu(run: ScoreRun) -> bool:
    """Return whether the metric is of BLEU's family; False for one that is not installed."""
    return run.metric in METRICS and METRICS[run.metric].is_bleu


def reference_scores(
    run: ScoreRun,
    item: Item,
    hypothesis: Response,
    models: ModelStore,
    *,
    requested: bool = False,
    marked: int | None = None,
) -> ReferenceScores:
    """Explain a segment that the run scored.

    Slow metrics are computed if ``requested``; ``marked`` is the number of the reference whose shared words are marked.
    """
    metric = run_metric(run)
    rows = run_references(run, item)
    counts = Subset.from_mapping(run.subset).row_mask(rows)
    references = [
        ScoredReference(number, row, used)
        for number, (row, used) in enumerate(zip(rows, counts.tolist(), strict=True), start=1)
    ]
    scores = ReferenceScores(metric, references)
    if metric is None:
        scores.reason = f"This installation has no metric “{run.metric}” with these parameters."
    elif metric.name == External.name:
        scores.reason = (
            "A model that had not seen this output predicted its rating; the parts of a prediction are not explained."
            if "cross_validated" in run.report
            else "This score was made elsewhere, so Assay cannot explain it."
        )
    elif metric.slow and not requested and not metric.unavailable():
        scores.on_request = metric.slow
    else:
        texts, weights = [row.response.text for row in rows], np.array([row.weight for row in rows], dtype=np.float64)
        given = item_prompt(item) if metric.needs_prompts else item.message
        try:
            explanation = explain_segment(
                metric, hypothesis.text, texts, weights=weights, counts=counts, source=given, models=models
            )
        except (ValueError, OSError) as error:
            scores.reason = str(error)
        else:
            _add(scores, explanation, hypothesis, marked)
    return scores


def _add(scores: ReferenceScores, explanation: SegmentExplanation, hypothesis: Response, marked: int | None) -> None:
    scores.explanation, scores.reason = explanation, explanation.reason
    if explanation.alone is None:
        return
    for i, reference in enumerate(scores.references):
        reference.alone = finite_or_none(explanation.alone[i])
        reference.values = [
            Value(column.label, finite_or_none(column.values[i]), column.digits) for column in explanation.columns
        ]
        reference.is_chosen = i == explanation.chosen and explanation.rule != "parts"
    if isinstance(scores.metric, RougeL):
        _mark(scores, scores.metric, hypothesis, explanation.chosen if marked is None else marked - 1)


def _mark(scores: ReferenceScores, metric: RougeL, hypothesis: Response, marked: int | None) -> None:
    """Mark the words of the longest common subsequence, in the hypothesis and in each reference."""
    for i, reference in enumerate(scores.references):
        text = reference.row.response.text
        shared = shared_tokens(hypothesis.text, text, tokenize=metric.tokenize, lowercase=metric.lowercase)
        reference.words = _words(shared.reference, shared.in_reference)
        if i == marked:
            scores.marked, scores.words = reference, _words(shared.hypothesis, shared.in_hypothesis)


REFERENCE_FIELDS = {
    "reference": "number",
    "response_id": "row.response_id",
    "text": "row.response.text",
    "weight": "weight",
    "counts": "counts",
    "score_alone": "alone",
    "is_score": "is_chosen",
}
REFERENCE_COLUMNS = ("hypothesis", "score", *REFERENCE_FIELDS)
REFERENCE_TYPES = {"score": "number", "score_alone": "number"}


def reference_rows(scores: ReferenceScores, hypothesis: Response, score: float | None) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each reference: the score with it alone, and the metric's other numbers."""
    values = attrgetter(*REFERENCE_FIELDS.values())
    for reference in scores.references:
        yield hypothesis.text, score, *values(reference), *(value.value for value in reference.values)


def _words(tokens: Sequence[str], shared: frozenset[int]) -> list[Word]:
    return [Word(token, i in shared) for i, token in enumerate(tokens)]
