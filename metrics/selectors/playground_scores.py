"""The scores of a hypothesis under every metric, with all references and with each alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.core.turns import SLOW_METRICS, one_of
from metrics.models import TrainedModel
from metrics.scoring.explain.case import combined_by
from metrics.scoring.meteor_jar import MeteorFailed, answers_within
from metrics.scoring.metric import GROUPS, Metric, Workspace
from metrics.scoring.models.kinds import KINDS
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS
from metrics.scoring.segments import Segments
from metrics.scoring.ter import Ter
from metrics.scoring.texts import tokenize_texts
from metrics.scoring.word_embeddings import NLG_EVAL, WordEmbeddingMetric
from metrics.selectors.explanations import Reading
from metrics.selectors.ranges import range_words

# TER tries shifts: pairs of words that it compares between two key presses, and in seconds.
TER_AT_ONCE, TER_AT_ALL = 2_000, 50_000
PATIENCE = 30.0  # seconds for METEOR's program, which takes some to start
SLOW_AT_ONCE = 2  # for all users together: METEOR's program takes up to 2 GB
BUSY = f"The server is computing such a score for {SLOW_AT_ONCE} others: try again in half a minute."


@dataclass(frozen=True)
class Trial:
    """The texts and settings to score."""

    hypothesis: str
    references: tuple[str, ...]
    weights: tuple[float, ...]
    source: str
    reading: Reading
    k: int
    lm_order: int
    balance: float
    models: Mapping[str, TrainedModel | None]  # by kind
    versus: int | None = None  # number of the reference that AM and FM are shown against; the best by default
    requested: str = ""  # the slow metric to compute

    @property
    def parameters(self) -> dict[str, Any]:
        """Return values for parameters by name, for metrics that have them and accept the value."""
        reading, same = self.reading, ("max_order", "semantics", "tokenize", "lowercase")
        values = {name: getattr(reading, name) for name in same} | {"case_sensitive": not reading.lowercase}
        return values | {"k": self.k, "balance": self.balance}

    @property
    def ter_pairs(self) -> int:
        return len(self.hypothesis.split()) * sum(len(text.split()) for text in self.references)


@dataclass(frozen=True)
class Alone:
    """The score with one reference alone; None if it is undefined."""

    number: int
    value: float | None
    is_chosen: bool


@dataclass
class MetricLine:
    """A metric with its score, or the reason why there is none."""

    metric: type[Metric]
    built: Metric | None = None
    score: float | None = None
    reason: str = ""
    lacking: str = ""  # the kind of model to train first
    on_request: str = ""
    alone: list[Alone] = field(default_factory=list)
    rule: str = ""
    caution: str = ""  # why the score may mislead

    @property
    def signature(self) -> str:
        return self.built.signature(weights="typed") if self.built else ""

    @property
    def rule_text(self) -> str:
        """Return how the score comes from those with single references, if this is not obvious."""
        if self.rule == "parts":
            return f"together: {self.metric.together}"
        return "their mean" if self.rule == "mean" else ""

    @property
    def range(self) -> str:
        return range_words(self.metric.low, self.metric.high)


@dataclass(frozen=True)
class Group:
    label: str
    lines: list[MetricLine]

    @property
    def cautions(self) -> list[str]:
        """Return each caution once: several metrics can have the same."""
        return list(dict.fromkeys(line.caution for line in self.lines if line.caution))


def score_groups(trial: Trial, models: ModelStore) -> list[Group]:
    """Score the texts with every metric that is computed here."""
    lines = [_line(metric, trial, models) for metric in METRICS.values() if metric.group != "external"]
    computed = [line.built for line in lines if line.built is not None]
    segments = Segments([[trial.hypothesis]], [trial.references], [trial.source])
    workspace = Workspace(segments, computed, models)
    for line in lines:
        if line.built is not None:
            _score(line, line.built, trial, workspace)
    groups = [Group(label, [line for line in lines if line.metric.group == name]) for name, label in GROUPS.items()]
    return [group for group in groups if group.lines]


def _line(metric: type[Metric], trial: Trial, models: ModelStore) -> MetricLine:
    """Return a metric's line before anything is computed."""
    line = MetricLine(metric)
    if metric.no_lone_score:
        line.reason = metric.no_lone_score
    elif reason := metric.unavailable():
        line.reason = reason
    elif (metric.needs_sources or metric.needs_prompts) and not trial.source.strip():
        line.reason = "It reads the message, and there is none."
    elif metric.needs_references and not trial.references:
        line.reason = "It compares with references, and there is none."
    else:
        _build(line, trial, models)
    return line


def _build(line: MetricLine, trial: Trial, models: ModelStore) -> None:
    values: dict[str, Any] = {}
    for parameter in line.metric.parameter_list():
        if parameter.kind == "model":
            kind = parameter.choices[0]
            model = trial.models.get(kind)
            if model is None:
                line.reason, line.lacking = f"No {KINDS[kind].label} in this project.", kind
                return
            values[parameter.name] = model.reference
        elif parameter.name == "order" and line.metric.group == "adequacy-fluency":
            values["order"] = trial.lm_order
        elif parameter.name in trial.parameters and _fits(parameter, trial.parameters[parameter.name]):
            values[parameter.name] = trial.parameters[parameter.name]
    line.on_request = _slow(line.metric, trial)
    if line.on_request and trial.requested != line.metric.name:
        return
    line.on_request = ""
    if line.metric is Ter and trial.ter_pairs > TER_AT_ALL:
        line.reason = "These texts are too long to try TER’s shifts while you wait: score a data set instead."
        return
    try:
        for parameter in line.metric.parameter_list():
            if parameter.kind == "model" and not line.metric.slow:
                models.load(parameter.choices[0], values[parameter.name])
        line.built = line.metric(**values)
    except (ValueError, OSError) as error:
        line.reason = str(error)


def _fits(parameter: Parameter, value: object) -> bool:
    try:
        parameter.check(value)
    except ValueError:
        return False
    return True


def _slow(metric: type[Metric], trial: Trial) -> str:
    if metric is Ter and TER_AT_ONCE < trial.ter_pairs <= TER_AT_ALL:
        return "With texts this long, TER tries shifts for up to ten seconds."
    return metric.slow


def _score(line: MetricLine, metric: Metric, trial: Trial, workspace: Workspace) -> None:
    if not metric.slow:
        _score_now(line, metric, trial, workspace)
        return
    with one_of(SLOW_METRICS, SLOW_AT_ONCE) as is_free:
        if is_free:
            _score_now(line, metric, trial, workspace)
        else:
            line.reason = BUSY


def _score_now(line: MetricLine, metric: Metric, trial: Trial, workspace: Workspace) -> None:
    weights = np.array(trial.weights) if metric.needs_weights else None

    def score(prepared: Any, mask: np.ndarray | None = None) -> float:
        statistics = metric.statistics(prepared, weights=weights, reference_mask=mask)
        return float(statistics.sentence_scores[0, 0])

    n = len(trial.references)
    try:
        with answers_within(PATIENCE):
            prepared = workspace.prepared(metric)
        whole = score(prepared)
        each = np.array([score(prepared, np.arange(n) == i) for i in range(n if metric.needs_references else 0)])
    except (ValueError, OSError, MeteorFailed) as error:
        line.reason = str(error)
        return
    line.score = None if math.isnan(whole) else whole
    if line.score is None:
        line.reason = _undefined(metric, trial)
    if each.size and not metric.pools:
        line.rule, chosen = combined_by(whole, each, higher_is_better=metric.higher_is_better)
        line.alone = [
            Alone(i + 1, None if math.isnan(value) else float(value), i == chosen)
            for i, value in enumerate(each.tolist())
        ]
    if isinstance(metric, WordEmbeddingMetric) and metric.variant == NLG_EVAL and line.score is not None:
        line.caution = _texts_of_unknown_words(metric, trial, workspace.models)


def _texts_of_unknown_words(metric: WordEmbeddingMetric, trial: Trial, models: ModelStore) -> str:
    """Name the texts without a known word: nlg-eval takes each of their words for the mean of all words."""
    vectors: WordVectors = models.load(WordVectors.kind, metric.model)
    texts = [trial.hypothesis, *trial.references]
    split = tokenize_texts(texts, tokenize=metric.tokenize, lowercase=metric.lowercase)
    names = ["the hypothesis", *(f"reference {number}" for number in range(1, len(texts)))]
    unknown = [
        name for name, words in zip(names, map(list, split), strict=True) if words and (vectors.find(words) < 0).all()
    ]
    if not unknown:
        return ""
    listed = " or ".join(filter(None, (", ".join(unknown[:-1]), unknown[-1])))
    return (
        f"No word of {listed} has a vector: such a text counts as the mean of all words, and two of them score 1, "
        "whatever they say."
    )


def _undefined(metric: Metric, trial: Trial) -> str:
    if metric.needs_weights and not any(weight > 0 for weight in trial.weights):
        return "no reference has a positive weight"
    return "these texts have nothing to compare" if trial.hypothesis.strip() else "the hypothesis is empty"
