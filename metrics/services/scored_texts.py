"""One text scored by one metric, with the account of its score; nothing is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.errors import LimitReached
from annotation.core.turns import SLOW_METRICS, one_of
from annotation.models import Project
from metrics.errors import ScoreRunRefused
from metrics.scoring.delta_bleu import weights_digest
from metrics.scoring.explain.am import AmExplanation, explain_am
from metrics.scoring.explain.case import SegmentExplanation
from metrics.scoring.explain.fm import FluencyExplanation, explain_fluency
from metrics.scoring.explain.ngrams import NgramExplanation, explain_hypothesis
from metrics.scoring.explain.segment import explain_segment
from metrics.scoring.meteor_jar import MeteorFailed, answers_within
from metrics.scoring.metric import Metric
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.ter import Ter
from metrics.selectors.playground_scores import BUSY, PATIENCE, SLOW_AT_ONCE, TER_AT_ALL
from metrics.services.models import parameters_with_models
from metrics.services.runs import metric_from
from metrics.services.scoring import model_store

BUSY_SECONDS = 30
NGRAM_PARAMETERS = ("max_order", "semantics", "tokenize", "lowercase", "smooth_brevity")


@dataclass(frozen=True)
class ScorableText:
    """A hypothesis, R references with their weights, and the message that is answered."""

    hypothesis: str
    references: Sequence[str]
    weights: Sequence[float]
    message: str = ""


@dataclass(frozen=True)
class Adequacy:
    """The words that make the hypothesis similar to the nearest reference."""

    reference: int
    explanation: AmExplanation


@dataclass(frozen=True)
class ScoredText:
    """A score and what it is made of.

    ``explanation`` is of single references, ``ngrams`` of BLEU's family, ``adequacy`` and ``fluency`` of metrics that
    read such a model; each is None for other metrics.
    """

    metric: Metric
    signature: str
    score: float
    reason: str
    explanation: SegmentExplanation | None = None
    ngrams: NgramExplanation | None = None
    adequacy: Adequacy | None = None
    fluency: FluencyExplanation | None = None


def text_metric(*, project: Project, name: str, parameters: Mapping[str, Any]) -> Metric:
    """Return the metric with the project's models; ScoreRunRefused names the field that is wrong."""
    metric = metric_from(name, parameters_with_models(project, name, parameters))
    if reason := metric.unavailable():
        raise ScoreRunRefused.at("metric", f"{metric.label} cannot be computed here. {reason}")
    return metric


def text_score(*, metric: Metric, text: ScorableText) -> ScoredText:
    """Score one text.

    Raises
    ------
    ScoreRunRefused
        The metric needs references or the message and there is none, or the texts are too long for it.
    LimitReached
        Other requests compute metrics as slow as this one.
    """
    _check(metric, text)
    signature = _signature(metric, text)
    if metric.no_lone_score:
        return ScoredText(metric, signature, float("nan"), metric.no_lone_score)
    models = model_store()
    try:
        if not metric.slow:
            return _scored(metric, text, signature, models)
        with one_of(SLOW_METRICS, SLOW_AT_ONCE) as is_free:
            if not is_free:
                raise LimitReached(BUSY, seconds=BUSY_SECONDS)
            with answers_within(PATIENCE):
                return _scored(metric, text, signature, models)
    except (ValueError, OSError, MeteorFailed) as error:
        return ScoredText(metric, signature, float("nan"), str(error))


def _check(metric: Metric, text: ScorableText) -> None:
    if metric.needs_references and not text.references:
        raise ScoreRunRefused.at("references", f"{metric.label} compares with references: found none; accepted: one.")
    if (metric.needs_sources or metric.needs_prompts) and not text.message.strip():
        raise ScoreRunRefused.at("message", f"{metric.label} reads the message that is answered, and there is none.")
    pairs = len(text.hypothesis.split()) * sum(len(reference.split()) for reference in text.references)
    if isinstance(metric, Ter) and pairs > TER_AT_ALL:
        raise ScoreRunRefused.at(
            "references",
            f"Found {pairs:,} pairs of a word of the hypothesis and one of a reference; accepted by TER, which tries "
            f"shifts: up to {TER_AT_ALL:,}. A score run takes longer texts.",
        )


def _signature(metric: Metric, text: ScorableText) -> str:
    weights = f"sha256-{weights_digest(np.array(text.weights))}" if metric.needs_weights else "none"
    return metric.signature(weights=weights, references=f"all|nrefs:{len(text.references)}")


def _scored(metric: Metric, text: ScorableText, signature: str, models: ModelStore) -> ScoredText:
    if metric.is_bleu:
        chosen = {name: value for name, value in metric.parameters().items() if name in NGRAM_PARAMETERS}
        weights = text.weights if metric.needs_weights else None
        ngrams = explain_hypothesis(text.hypothesis, text.references, weights, **chosen)
        return ScoredText(metric, signature, ngrams.score, ngrams.reason, ngrams=ngrams)
    explanation = explain_segment(
        metric, text.hypothesis, text.references, weights=text.weights, source=text.message, models=models
    )
    reason = ""
    if np.isnan(explanation.score):
        reason = "these texts have nothing to compare" if text.hypothesis.strip() else "the hypothesis is empty"
    adequacy, fluency = _words(metric, text, models)
    return ScoredText(metric, signature, explanation.score, reason, explanation, adequacy=adequacy, fluency=fluency)


def _words(metric: Metric, text: ScorableText, models: ModelStore) -> tuple[Adequacy | None, FluencyExplanation | None]:
    """Explain word by word what the models that the metric reads make of the hypothesis."""
    adequacy, fluency = None, None
    values = metric.parameters()
    for parameter in metric.parameter_list():
        if parameter.kind != "model":
            continue
        kind, reference = parameter.choices[0], values[parameter.name]
        if kind == LsaModel.kind and text.references:
            space: LsaModel = models.load(kind, reference)
            each = [explain_am(space, text.hypothesis, other, k=values["k"]) for other in text.references]
            best = max(range(len(each)), key=lambda i: each[i].cosine)
            adequacy = Adequacy(best, each[best])
        elif kind == LanguageModel.kind:
            language: LanguageModel = models.load(kind, reference)
            fluency = explain_fluency(language, text.hypothesis, order=values["order"])
    return adequacy, fluency
