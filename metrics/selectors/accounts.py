"""A segment's score as a page tells it: n-gram by n-gram for BLEU's family, reference by reference for any other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Item, ReleaseWeight, Response
from metrics.models import ScoreRun
from metrics.scoring.explain.case import Part, SegmentExplanation
from metrics.scoring.explain.segment import SharedTokens, explain_segment, shared_tokens
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.models.store import ModelStore
from metrics.scoring.registry import METRICS
from metrics.scoring.rouge_l import RougeL
from metrics.selectors.explanations import release_rows
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
    """One reference as the metric sees it."""

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
class Account:
    """One hypothesis of a run, and its references by falling weight."""

    metric: Metric | None
    references: list[ScoredReference]
    told: SegmentExplanation | None = None
    reason: str = ""  # why nothing is told of single references
    on_request: str = ""  # what it would take
    words: Sequence[Word] = ()  # of the hypothesis, where some are marked
    marked: ScoredReference | None = None  # the reference they are shared with

    @property
    def counted(self) -> list[ScoredReference]:
        return [reference for reference in self.references if reference.counts]

    @property
    def rule(self) -> str:
        return RULES.get(self.told.rule, "") if self.told else ""

    @property
    def formula(self) -> str:
        return self.told.formula if self.told else ""

    @property
    def parts(self) -> list[tuple[Part, ScoredReference | None]]:
        told = self.told.parts if self.told else ()
        return [(part, None if part.reference is None else self.references[part.reference]) for part in told]

    @property
    def reference_columns(self) -> list[str]:
        return [column.label for column in self.told.columns] if self.told else []


def is_bleu(run: ScoreRun) -> bool:
    """Tell whether its metric is of BLEU's family; a metric that is not installed is not."""
    return run.metric in METRICS and METRICS[run.metric].is_bleu


def account_of(
    run: ScoreRun,
    item: Item,
    hypothesis: Response,
    models: ModelStore,
    *,
    asked: bool = False,
    marked: int | None = None,
) -> Account:
    """The account of a segment that the run scored; ``marked`` is the number of the reference compared with."""
    metric = run_metric(run)
    rows = release_rows(run.release, item) if run.release else []
    weights = np.array([row.weight for row in rows], dtype=np.float64)
    is_original = np.array([row.is_original for row in rows], dtype=np.bool_)
    counts = Subset.from_mapping(run.subset).mask(weights, is_original)
    references = [ScoredReference(number, row, bool(counts[number - 1])) for number, row in enumerate(rows, start=1)]
    account = Account(metric, references)
    if metric is None:
        account.reason = f"This installation has no metric “{run.metric}” with these parameters."
    elif metric.name == External.name:
        account.reason = "This score was made elsewhere: how, only its maker can tell."
    elif metric.slow and not asked and not metric.unavailable():
        account.on_request = metric.slow
    else:
        texts = [row.response.text for row in rows]
        try:
            account.told = explain_segment(
                metric, hypothesis.text, texts, weights=weights, counts=counts, source=item.message, models=models
            )
        except (ValueError, OSError) as error:
            account.reason = str(error)
        else:
            _tell(account, account.told, hypothesis, marked)
    return account


def _tell(account: Account, told: SegmentExplanation, hypothesis: Response, marked: int | None) -> None:
    account.reason = told.reason
    if told.alone is None:
        return
    for place, reference in enumerate(account.references):
        reference.alone = _number(told.alone[place])
        reference.values = [
            Value(column.label, _number(column.values[place]), column.digits) for column in told.columns
        ]
        reference.is_chosen = place == told.chosen and told.rule != "parts"
    if isinstance(account.metric, RougeL):
        wanted = told.chosen if marked is None else marked - 1
        _mark(account, account.metric, hypothesis, wanted)


def _mark(account: Account, metric: RougeL, hypothesis: Response, wanted: int | None) -> None:
    """The words of the longest common subsequence, here and in each reference."""
    shared = [
        shared_tokens(
            hypothesis.text, reference.row.response.text, tokenize=metric.tokenize, lowercase=metric.lowercase
        )
        for reference in account.references
    ]
    for reference, one in zip(account.references, shared, strict=True):
        reference.words = _words(one.reference, one.in_reference)
    if wanted is not None and 0 <= wanted < len(shared):
        account.marked = account.references[wanted]
        chosen: SharedTokens = shared[wanted]
        account.words = _words(chosen.hypothesis, chosen.in_hypothesis)


ACCOUNT_COLUMNS = (
    "hypothesis",
    "score",
    "reference",
    "response_id",
    "text",
    "weight",
    "counts",
    "score_alone",
    "is_score",
)
ACCOUNT_TYPES = {"score": "number", "score_alone": "number"}


def account_rows(account: Account, hypothesis: Response, score: float | None) -> Iterator[tuple[Any, ...]]:
    """A row for each reference: the score against it alone, and what else is known of it."""
    for one in account.references:
        row = (hypothesis.text, score, one.number, one.row.response_id, one.row.response.text, one.weight, one.counts)
        yield *row, one.alone, one.is_chosen, *(value.value for value in one.values)


def _words(tokens: Sequence[str], shared: frozenset[int]) -> list[Word]:
    return [Word(token, place in shared) for place, token in enumerate(tokens)]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
