"""The systems of a run against each other, and the metric against the raters."""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.numbers import finite_or_none
from annotation.models import JobState
from metrics.api.runs import IndexPages, InRunViewSet
from metrics.models import ScoreRun
from metrics.selectors.comparisons import PAIR_COLUMNS, Comparisons, comparisons_of, pair_rows
from metrics.selectors.disagreements import (
    DISAGREEMENT_COLUMNS,
    MOST_DOWNLOADED,
    Disagreements,
    disagreement_rows,
    disagreements_of,
)


class PairSerializer(serializers.Serializer[Any]):
    better = serializers.CharField(help_text="The system with the better score.")
    worse = serializers.CharField()
    better_score = serializers.FloatField(allow_null=True)
    worse_score = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Of the difference's 95% interval.")
    high = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True, help_text="Paired bootstrap, two-sided, of this pair alone.")
    p_holm = serializers.FloatField(allow_null=True, help_text="The same among all pairs of the run, by Holm.")
    differs = serializers.BooleanField(help_text="Whether the two can be told apart at 5%, all pairs considered.")
    undefined_reason = serializers.CharField(allow_blank=True)
    shared_items = serializers.IntegerField(
        allow_null=True,
        help_text="Where systems lack scores of different items: how many both have, which the difference is over; the "
        "two scores are each over a system's own. Null where all systems have the same.",
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
    """All pairs of systems on the same resamples, the better first; none where a run has no resamples."""

    queryset = ScoreRun.objects.none()
    serializer_class = PairSerializer
    pagination_class = IndexPages

    def list(self, request: Request, **_: Any) -> Response:
        is_done = self.run.state == JobState.DONE
        found = comparisons_of(self.run) if is_done else Comparisons([], [], [])
        rows = [dict(zip(PAIR_COLUMNS, map(_plain, row), strict=True)) for row in pair_rows(found)]
        indices = self.paginate_queryset(range(len(rows))) or []
        return self.get_paginated_response(self.get_serializer([rows[index] for index in indices], many=True).data)


class DisagreementsViewSet(InRunViewSet):
    """Outputs that the metric and the raters rank most differently, where raters agree: `spread` is the largest
    standard deviation at which they do, in units of the scale (a quarter of its range by default)."""

    queryset = ScoreRun.objects.none()
    serializer_class = DisagreementSerializer
    pagination_class = IndexPages

    def list(self, request: Request, **_: Any) -> Response:
        is_done = self.run.state == JobState.DONE
        spread = self._spread()
        found = disagreements_of(self.run, spread=spread, n=MOST_DOWNLOADED) if is_done else Disagreements([], [])
        rows = [dict(zip(DISAGREEMENT_COLUMNS, row, strict=True)) for row in disagreement_rows(self.run, found)]
        indices = self.paginate_queryset(range(len(rows))) or []
        return self.get_paginated_response(self.get_serializer([rows[index] for index in indices], many=True).data)

    def _spread(self) -> float | None:
        written = self.parameter("spread")
        if not written:
            return None
        try:
            spread = float(written)
        except ValueError:
            spread = -1.0
        if not 0 <= spread < 1e6:
            raise ValidationError({"spread": [f"Found {written[:40]!r}; accepted: a number of 0 or more."]})
        return spread


def _plain(value: object) -> object:
    return finite_or_none(value) if isinstance(value, float) else value
