"""One text scored at once: a hypothesis against references with weights, and the account of its score."""

import time
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import ProjectViewSet, Strict
from annotation.core.numbers import finite_or_none
from annotation.models import Role
from metrics.forms.playground import (
    MOST_CHARACTERS,
    MOST_REFERENCES,
    MOST_WORDS_TOGETHER,
    n_words,
    too_long,
)
from metrics.models import ScoreRun
from metrics.scoring.explain.case import SegmentExplanation
from metrics.scoring.explain.fm import FluencyExplanation
from metrics.scoring.explain.ngrams import NgramExplanation
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS
from metrics.services.scored_texts import Adequacy, ScorableText, ScoredText, text_metric, text_score

SHOWN_PAIRS = 10


def _text(**options: Any) -> serializers.CharField:
    return serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=MOST_CHARACTERS, **options)


class WeightedReferenceSerializer(Strict, serializers.Serializer[Any]):
    text = _text()
    weight = serializers.FloatField(default=1.0, min_value=-1, max_value=1, help_text="Read by metrics with weights.")


class TextRequestSerializer(Strict, serializers.Serializer[Any]):
    metric = serializers.ChoiceField(choices=[name for name in METRICS if name != External.name])
    parameters = serializers.DictField(
        required=False, default=dict, help_text="As a score run's; those left out have their defaults."
    )
    hypothesis = _text(help_text=f"All texts together: at most {MOST_WORDS_TOGETHER:,} words.")
    references = serializers.ListField(
        child=WeightedReferenceSerializer(), required=False, default=list, max_length=MOST_REFERENCES
    )
    message = _text(required=False, default="", help_text="What the hypothesis answers.")


class ReferenceAccountSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="From 1, in the request's order.")
    weight = serializers.FloatField()
    score_alone = serializers.FloatField(allow_null=True, help_text="The score with this reference as the only one.")
    is_score = serializers.BooleanField(help_text="Whether that is the score.")
    values = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="What else the metric knows of it, such as `Edits`."
    )


class AccountSerializer(serializers.Serializer[Any]):
    references = ReferenceAccountSerializer(many=True)
    rule = serializers.CharField(
        allow_blank=True, help_text="How the score comes from the references: best, mean, one, parts; or empty."
    )
    formula = serializers.CharField(allow_blank=True, help_text="The parts put together, in numbers.")
    parts = serializers.ListField(child=serializers.DictField(), help_text="`label`, `value`, `reference`.")
    orders = serializers.ListField(child=serializers.DictField(), help_text="BLEU's family: each order's precision.")
    ngrams = serializers.ListField(
        child=serializers.DictField(), help_text="BLEU's family: each n-gram and what it adds, and by which reference."
    )
    brevity_penalty = serializers.FloatField(allow_null=True, help_text="BLEU's family.")
    word_pairs = serializers.ListField(
        child=serializers.DictField(), help_text="Adequacy: the pairs of words that add most to the cosine."
    )
    words = serializers.ListField(
        child=serializers.DictField(), help_text="Fluency: each word's probability after the words before it."
    )
    note = serializers.CharField(allow_blank=True, help_text="Why single references are not explained.")


class ScoredTextSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    score = serializers.FloatField(allow_null=True)
    undefined_reason = serializers.CharField(allow_blank=True)
    better = serializers.CharField(help_text="Which direction is better: higher, lower or neither.")
    signature = serializers.CharField()
    account = AccountSerializer()
    milliseconds = serializers.IntegerField()


class ScoredTextsViewSet(ProjectViewSet):
    queryset = ScoreRun.objects.none()
    serializer_class = ScoredTextSerializer
    write_role = Role.VIEWER  # nothing is stored

    @extend_schema(request=TextRequestSerializer, responses={200: ScoredTextSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Score one hypothesis, and say what its score is made of, as the playground does. Nothing is stored.

        Every member may. A metric that starts a program is given up after 30 seconds, and 429 is the answer while two
        such scores are computed for others. For many texts use a score run.
        """
        began = time.perf_counter()
        values = self.validated(TextRequestSerializer)
        metric = text_metric(project=self.project, name=values["metric"], parameters=values["parameters"])
        references = [each for each in values["references"] if each["text"].strip()]
        text = ScorableText(
            values["hypothesis"],
            [each["text"] for each in references],
            [each["weight"] + 0.0 for each in references],  # no -0.0
            values["message"],
        )
        _check_size(metric, text)
        scored = text_score(metric=metric, text=text)
        milliseconds = round(1000 * (time.perf_counter() - began))
        return ApiResponse(_written(scored, text) | {"milliseconds": milliseconds})


def _check_size(metric: Metric, text: ScorableText) -> None:
    tokenize = str(metric.parameters().get("tokenize", "whitespace"))
    named = {"hypothesis": [text.hypothesis], "message": [text.message], "references": text.references}
    for field, texts in named.items():
        for written in texts:
            if reason := too_long(written, tokenize):
                raise ValidationError({field: [reason]})
    total = sum(n_words(written, tokenize) for written in (text.hypothesis, *text.references))
    if total > MOST_WORDS_TOGETHER:
        message = f"Found {total:,} words in hypothesis and references; accepted: up to {MOST_WORDS_TOGETHER:,}."
        raise ValidationError({"references": [message]})


def _written(scored: ScoredText, text: ScorableText) -> dict[str, Any]:
    return {
        "metric": scored.metric.name,
        "score": finite_or_none(scored.score),
        "undefined_reason": scored.reason,
        "better": scored.metric.better,
        "signature": scored.signature,
        "account": {
            **_of_references(scored.explanation, text),
            **_of_ngrams(scored.ngrams),
            "word_pairs": _word_pairs(scored.adequacy),
            "words": _words(scored.fluency),
        },
    }


def _of_references(explanation: SegmentExplanation | None, text: ScorableText) -> dict[str, Any]:
    references = []
    alone = None if explanation is None else explanation.alone
    for index, weight in enumerate(text.weights):
        values = {}
        if explanation is not None and alone is not None:
            values = {column.label: finite_or_none(column.values[index]) for column in explanation.columns}
        references.append(
            {
                "number": index + 1,
                "weight": weight,
                "score_alone": None if alone is None else finite_or_none(alone[index]),
                "is_score": explanation is not None and explanation.chosen == index and explanation.rule != "parts",
                "values": values,
            }
        )
    if explanation is None:
        return {"references": references, "rule": "", "formula": "", "parts": [], "note": ""}
    parts = [
        {
            "label": part.label,
            "value": finite_or_none(part.value),
            "reference": None if part.reference is None else part.reference + 1,
        }
        for part in explanation.parts
    ]
    return {
        "references": references,
        "rule": explanation.rule,
        "formula": explanation.formula,
        "parts": parts,
        "note": explanation.reason,
    }


def _of_ngrams(ngrams: NgramExplanation | None) -> dict[str, Any]:
    if ngrams is None:
        return {"orders": [], "ngrams": [], "brevity_penalty": None}
    orders = [
        {
            "order": total.order,
            "numerator": total.numerator,
            "denominator": total.denominator,
            "precision": finite_or_none(total.precision),
            "smoothed": finite_or_none(total.smoothed),
        }
        for total in ngrams.totals
    ]
    parts = [
        {
            "ngram": " ".join(part.ngram),
            "order": part.order,
            "count": part.count,
            "matched": part.clipped,
            "reference": None if part.reference is None else part.reference + 1,
            "weight": part.weight,
            "adds": part.contribution,
            "at_most": part.ceiling,
        }
        for part in ngrams.parts
    ]
    return {"orders": orders, "ngrams": parts, "brevity_penalty": finite_or_none(ngrams.brevity_penalty)}


def _word_pairs(adequacy: Adequacy | None) -> list[dict[str, Any]]:
    if adequacy is None:
        return []
    explanation = adequacy.explanation
    return [
        {
            "hypothesis": explanation.hypothesis[pair.hypothesis].text,
            "reference_word": explanation.reference[pair.reference].text,
            "reference": adequacy.reference + 1,
            "adds": pair.amount,
        }
        for pair in explanation.largest(SHOWN_PAIRS)
    ]


def _words(fluency: FluencyExplanation | None) -> list[dict[str, Any]]:
    if fluency is None:
        return []
    return [
        {
            "word": word.text,
            "is_known": word.is_known,
            "order": word.order,
            "log_probability": finite_or_none(word.log_probability),
        }
        for word in fluency.words
    ]
