"""The API of the log of ratings."""

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers

from annotation.campaigns.api.campaigns import OfCampaign
from annotation.core.api import AnswerSerializer
from annotation.models import Criterion, Rater, Rating, System

# Without the texts of the joined rows, which would be most of a page.
LOG_COLUMNS = (
    "response__item__external_id",
    "presentation__source_row",
    "rater__pseudonym",
    "criterion__name",
    "rated_as__name",
    "campaign",
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
            "value",
            "cannot_judge",
            "position",
            "revision",
            "extra",
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
        ratings = shown.only(*LOG_COLUMNS)
        if rater := self.parameter("rater"):
            ratings = ratings.filter(rater__pseudonym=rater)
        if item := self.parameter("item"):
            ratings = ratings.filter(response__item__external_id=item)
        return ratings
