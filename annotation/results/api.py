"""Results of a campaign, for programs."""

from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.campaigns.api.campaigns import OfCampaign
from annotation.core.access import may_manage
from annotation.models import Campaign
from annotation.quality.selectors.monitoring.stored import plain
from annotation.results.attributes import ATTRIBUTES, FILTER_REFUSED, RATER, filters_from, rater_answers
from annotation.results.selectors.stored import read_results
from annotation.results.selectors.tables import plain_results
from annotation.results.services.snapshots import snapshot_request
from annotation.results.tasks import results_compute

IDENTICAL = "Ties of identical texts, which no rater saw; weighed as in the share."


class SystemResultSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    estimate = serializers.FloatField(allow_null=True, help_text="Mean rating, or Bradley-Terry strength.")
    low = serializers.FloatField(allow_null=True, help_text="95% interval over raters and items.")
    high = serializers.FloatField(allow_null=True)
    first_rank = serializers.IntegerField()
    last_rank = serializers.IntegerField()
    cluster = serializers.IntegerField()
    ratings = serializers.IntegerField()
    raters = serializers.IntegerField()
    items = serializers.IntegerField()
    standardised = serializers.FloatField(allow_null=True, help_text="Mean in standard deviations of each rater.")
    standardised_low = serializers.FloatField(allow_null=True)
    standardised_high = serializers.FloatField(allow_null=True)
    share = serializers.FloatField(allow_null=True, help_text="Of comparisons won, a tie counted as half.")
    share_low = serializers.FloatField(allow_null=True)
    share_high = serializers.FloatField(allow_null=True)
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    identical = serializers.FloatField(help_text=IDENTICAL)
    values = serializers.JSONField(help_text="Pairs of a value and how often it was given.")
    same = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the systems with these outputs, if they are several."
    )


class PairResultSerializer(serializers.Serializer[Any]):
    first = serializers.CharField(help_text="The better of the two.")
    second = serializers.CharField()
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True, help_text="Not corrected.")
    single_low = serializers.FloatField(allow_null=True, help_text="95% interval that is not corrected.")
    single_high = serializers.FloatField(allow_null=True)
    permutation = serializers.FloatField(allow_null=True, help_text="p of the paired permutation test; of means only.")
    wilcoxon = serializers.FloatField(allow_null=True, help_text="p of Wilcoxon's signed-rank test; of means only.")
    adjusted = serializers.FloatField(allow_null=True, help_text="p after Holm's correction over all pairs.")
    items = serializers.IntegerField(help_text="Items that both have.")
    wins = serializers.IntegerField(help_text="Comparisons on one screen that the first won; 0 if texts stood alone.")
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    identical = serializers.FloatField(help_text=IDENTICAL)


class CriterionResultSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    question = serializers.CharField()
    kind = serializers.CharField()
    ranked = serializers.CharField(help_text="By means, or by comparisons.")
    of_means = serializers.CharField()
    sentence = serializers.CharField()
    systems = SystemResultSerializer(many=True)
    pairs = PairResultSerializer(many=True)
    reason = serializers.CharField(help_text="Why strengths are undefined; empty if they are defined.")
    parts = serializers.JSONField(help_text="Systems that can be compared with each other, if not all can.")
    tie = serializers.FloatField(allow_null=True, help_text="Davidson's nu.")
    order = serializers.FloatField(allow_null=True, help_text="Log odds that the first place adds.")
    order_low = serializers.FloatField(allow_null=True)
    order_high = serializers.FloatField(allow_null=True)
    identical = serializers.IntegerField(help_text="Pairs of outputs that are one text, tied without a rater.")
    by_turn = serializers.BooleanField(help_text="Each output has the mean of its turns' ratings.")
    raters = serializers.IntegerField(help_text="Who rated it; 0 if they are not known one by one.")
    scale_low = serializers.FloatField(allow_null=True, help_text="Where the scale of means ends; null without ends.")
    scale_high = serializers.FloatField(allow_null=True)


class ResultsSerializer(serializers.Serializer[Any]):
    campaigns = serializers.JSONField()
    criteria = CriterionResultSerializer(many=True)
    left_out = serializers.JSONField(
        help_text="Ratings that were made and do not count, by reason, and why raters are excluded."
    )
    ratings = serializers.IntegerField()
    raters = serializers.IntegerField()
    items = serializers.IntegerField()
    raters_known = serializers.BooleanField()
    shared_outputs = serializers.IntegerField(help_text="Rated texts that several systems gave.")
    same = serializers.JSONField(help_text="Systems with the same outputs, which are one in the results.")
    paragraph = serializers.CharField()


class ResultsViewSet(OfCampaign):
    queryset = Campaign.objects.all()

    @extend_schema(
        operation_id="projects_campaigns_results_retrieve",
        parameters=[
            *(OpenApiParameter(key, description=entry.label) for key, entry in ATTRIBUTES.items()),
            OpenApiParameter(
                f"{RATER}QUESTION",
                description="Only ratings by raters who gave this answer to the question of this name; for managers.",
            ),
        ],
        responses={200: ResultsSerializer, 202: None},
    )
    @action(detail=False)
    def results(self, request: Request, **_: Any) -> ApiResponse:
        """Return who is better by the raters. 202 while a worker computes them for the first time: ask again."""
        filters = filters_from(request.query_params)
        if rater_answers(filters) and not may_manage(self.project):
            raise PermissionDenied(FILTER_REFUSED)
        read = read_results([self.campaign], filters)
        if read.is_due:
            results_compute.delay_on_commit(snapshot_request(campaigns=[self.campaign], filters=filters).pk)
        if read.results is None:
            return ApiResponse(status=status.HTTP_202_ACCEPTED)
        return ApiResponse(plain_results(read.results, [self.campaign], plain(read.results)))
