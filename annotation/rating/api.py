"""The API of the log of ratings, and of the texts that raters wrote."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.campaigns.api.campaigns import CampaignSerializer, OfCampaign
from annotation.campaigns.api.lists import DraftingViewSet
from annotation.campaigns.selectors import with_system
from annotation.core.api import AnswerSerializer
from annotation.models import Criterion, Rater, Rating, System, WrittenText
from annotation.rating.selectors.written import texts_page
from annotation.rating.services.publishing import written_rate

# Without the texts of the joined rows, which would be most of a page.
LOG_COLUMNS = (
    "response__item__external_id",
    "presentation__source_row",
    "rater__pseudonym",
    "criterion__name",
    "rated_as__name",
    "campaign",
    "turn",
    "value",
    "cannot_judge",
    "position",
    "revision",
    "extra",
    "sent_at",
    "created_at",
)


class RatingSerializer(AnswerSerializer):
    item = serializers.CharField(source="response.item.external_id", read_only=True)
    rater: serializers.SlugRelatedField[Rater] = serializers.SlugRelatedField(slug_field="pseudonym", read_only=True)
    criterion: serializers.SlugRelatedField[Criterion] = serializers.SlugRelatedField(slug_field="name", read_only=True)
    system = serializers.CharField(
        read_only=True, allow_null=True, help_text="What gave the response: systems, or kinds of other sources."
    )
    rated_as: serializers.SlugRelatedField[System] = serializers.SlugRelatedField(slug_field="name", read_only=True)
    source_row = serializers.IntegerField(source="presentation.source_row", read_only=True, allow_null=True)

    class Meta:
        model = Rating
        fields = (
            "id",
            "item",
            "response",
            "presentation",
            "rater",
            "criterion",
            "turn",
            "value",
            "cannot_judge",
            "position",
            "revision",
            "extra",
            "system",
            "rated_as",
            "source_row",
            "sent_at",
            "created_at",
        )


@extend_schema_view(
    list=extend_schema(
        parameters=[
            OpenApiParameter("rater", str, description="Pseudonym of a rater."),
            OpenApiParameter("item", str, description="External id of an item."),
        ]
    )
)
class RatingsViewSet(mixins.ListModelMixin, OfCampaign):
    """The raw log: every rating, corrections and late ratings included. Raters appear by pseudonym."""

    queryset = Rating.objects.all()
    serializer_class = RatingSerializer

    def get_queryset(self) -> QuerySet[Rating]:
        shown = self.campaign.ratings.select_related("response__item", "presentation", "rater", "criterion", "rated_as")
        ratings = with_system(shown.only(*LOG_COLUMNS))
        if rater := self.parameter("rater"):
            ratings = ratings.filter(rater__pseudonym=rater)
        if item := self.parameter("item"):
            ratings = ratings.filter(response__item__external_id=item)
        return ratings


class WrittenTextSerializer(AnswerSerializer):
    item = serializers.CharField(source="presentation.unit.item.external_id", read_only=True)
    rater: serializers.SlugRelatedField[Rater] = serializers.SlugRelatedField(slug_field="pseudonym", read_only=True)
    response = serializers.IntegerField(
        source="source.response_id", read_only=True, default=None, help_text="In the data set, once it was added there."
    )

    class Meta:
        model = WrittenText
        fields = ("id", "item", "rater", "text", "given", "remarks", "pasted", "response", "sent_at")


class WrittenTextsViewSet(mixins.ListModelMixin, DraftingViewSet, OfCampaign):
    """What raters wrote: the latest text of each item that counts, without excluded raters."""

    queryset = WrittenText.objects.all()
    serializer_class = WrittenTextSerializer
    ordering = "-pk"

    def get_queryset(self) -> QuerySet[WrittenText]:
        return texts_page(self.campaign)

    @extend_schema(request=None, responses={201: CampaignSerializer})
    @action(detail=False, methods=["post"])
    def rate(self, request: Request, **_: Any) -> ApiResponse:
        """Add the texts to the data set as references, and create a draft in which other raters rate them."""
        return self.drafted(written_rate(campaign=self.campaign, by=self.user))
