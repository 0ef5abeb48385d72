"""A campaign's results with the help of a metric, for programs."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.campaigns.api.campaigns import OfCampaign
from annotation.core.parameters import is_whole
from annotation.models import Campaign
from correlations.selectors.helped import COLUMNS, PARTS, helped_results, helping_run, rated_systems, table_rows


class HelpedRowSerializer(serializers.Serializer[Any]):
    """A system's mean rating, or the difference of two, from the ratings alone and with the scores; 95% intervals."""

    criterion = serializers.CharField()
    of = serializers.CharField(help_text="system or difference.")
    name = serializers.CharField()
    rated = serializers.IntegerField(help_text="Outputs with scores and ratings.")
    scored = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    with_scores = serializers.FloatField(allow_null=True)
    with_scores_low = serializers.FloatField(allow_null=True)
    with_scores_high = serializers.FloatField(allow_null=True)
    ratings_saved = serializers.FloatField(allow_null=True, help_text="As a share of the ratings.")
    undefined_reason = serializers.CharField()


class HelpedSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField(allow_null=True, help_text="The score run; null if the data set has none.")
    sentence = serializers.CharField(help_text="Whether the metric helps.")
    rows = HelpedRowSerializer(many=True)


class HelpedViewSet(OfCampaign):
    queryset = Campaign.objects.all()

    @extend_schema(
        parameters=[
            OpenApiParameter("run", int, description="By default the newest run that judges quality."),
            OpenApiParameter(
                "every",
                int,
                enum=[1, *PARTS],
                description="If all outputs are rated: as if raters had seen only one item in so many.",
            ),
        ],
        responses=HelpedSerializer,
    )
    @action(detail=False, url_path="with-metric", url_name="with-metric")
    def with_metric(self, request: Request, **_: Any) -> ApiResponse:
        """Return systems' mean ratings and their differences with the help of a score run."""
        number = self.request.query_params.get("run", "")
        rated = rated_systems(self.campaign)
        run = helping_run(self.campaign, int(number), rated) if is_whole(number) else None
        if number and run is None:
            raise Http404(f"No finished run {number[:20]} with scores of this campaign's outputs.")
        run = run or helping_run(self.campaign, None, rated)
        if run is None:
            return ApiResponse({"run": None, "sentence": "", "rows": []})
        every = self.request.query_params.get("every") or "1"
        if every != "1" and (rated.have_unrated_outputs or every not in map(str, PARTS)):
            accepted = "where all outputs are rated: " + ", ".join(map(str, PARTS))
            raise ValidationError({"every": [f"Found {every[:20]!r}; accepted: 1 or, {accepted}."]})
        found = helped_results(self.campaign, run, int(every))
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in table_rows(found)]
        return ApiResponse(HelpedSerializer({"run": run.number, "sentence": found.sentence, "rows": rows}).data)
