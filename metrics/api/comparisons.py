"""Pairs of a run's systems, and disagreements between the metric and the raters."""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.exports import object_rows
from annotation.core.numbers import finite_or_none
from annotation.models import JobState
from metrics.api.runs import IndexPages, InRunViewSet
from metrics.models import ScoreRun
from metrics.selectors.comparisons import PAIR_FIELDS, comparisons_of
from metrics.selectors.disagreements import DISAGREEMENT_COLUMNS, MOST_DOWNLOADED, disagreements_of, load_texts


class PairSerializer(serializers.Serializer[Any]):
    better = serializers.CharField(help_text="The system with the better score.")
    worse = serializers.CharField()
    better_score = serializers.FloatField(allow_null=True)
    worse_score = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Of the range of 95% of resamples of the difference.")
    high = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True, help_text="Paired bootstrap, two-sided, of this pair alone.")
    p_corrected = serializers.FloatField(allow_null=True, help_text="The same, corrected for all pairs of the run.")
    differs = serializers.BooleanField(help_text="Whether the two differ significantly at 5%, corrected for all pairs.")
    undefined_reason = serializers.CharField(allow_blank=True)
    shared_items = serializers.IntegerField(
        allow_null=True,
        help_text="If systems lack scores of different items: the number of items that both have, over which the "
        "difference is computed; each score is over all of its system's items. Null if all systems have the same.",
    )


class DisagreementSerializer(serializers.Serializer[Any]):
    list = serializers.ChoiceField(choices=["metric_high_raters_low", "raters_high_metric_low"])
    item = serializers.CharField()
    systems = serializers.ListField(child=serializers.CharField())
    output = serializers.CharField(allow_blank=True)
    score = serializers.FloatField()
    metric_rank = serializers.FloatField(help_text="From 0, the worst of the outputs compared, to 1, the best.")
    mean_rating = serializers.FloatField()
    rater_rank = serializers.FloatField()
    gap = serializers.FloatField(help_text="metric_rank less rater_rank.")
    judgements = serializers.IntegerField()
    spread = serializers.FloatField(help_text="Standard deviation of the judgements.")


class ComparisonsViewSet(InRunViewSet):
    """All pairs of systems on the same resamples, the better first; none if the run has no resamples."""

    queryset = ScoreRun.objects.none()
    serializer_class = PairSerializer
    pagination_class = IndexPages

    def list(self, request: Request, **_: Any) -> ApiResponse:
        if self.run.state != JobState.DONE:
            return self.page([])
        rows = object_rows(comparisons_of(self.run).pairs, PAIR_FIELDS)
        return self.page([dict(zip(PAIR_FIELDS, map(_plain, row), strict=True)) for row in rows])


class DisagreementsViewSet(InRunViewSet):
    """Outputs that the metric and the raters rank most differently, where raters agree: `spread` is the largest
    standard deviation at which they do, in units of the scale (a quarter of its range by default)."""

    queryset = ScoreRun.objects.none()
    serializer_class = DisagreementSerializer
    pagination_class = IndexPages

    def list(self, request: Request, **_: Any) -> ApiResponse:
        spread = self._spread()
        if self.run.state != JobState.DONE:
            return self.page([])
        disagreements = disagreements_of(self.run, spread=spread, n=MOST_DOWNLOADED)
        load_texts(self.run, disagreements)
        rows = object_rows(disagreements.outputs, DISAGREEMENT_COLUMNS)
        return self.page([dict(zip(DISAGREEMENT_COLUMNS, row, strict=True)) for row in rows])

    def _spread(self) -> float | None:
        text = self.parameter("spread")
        if not text:
            return None
        try:
            spread = float(text)
        except ValueError:
            spread = -1.0
        if not 0 <= spread < 1e6:
            raise ValidationError({"spread": [f"Found {text[:40]!r}; accepted: a number of 0 or more."]})
        return spread


def _plain(value: object) -> object:
    return finite_or_none(value) if isinstance(value, float) else value
