"""Items, with the ratings of their responses and the newest weights."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.datasets.api.datasets import InDatasetViewSet, ItemSerializer, SourceSerializer
from annotation.datasets.selectors.datasets import items_matching
from annotation.models import Item
from annotation.references.browsing.selectors.items import item_responses


class CriterionMeanSerializer(serializers.Serializer[Any]):
    campaign = serializers.CharField()
    criterion = serializers.CharField()
    mean = serializers.FloatField()
    n = serializers.IntegerField()


class RatedResponseSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="response.pk")
    text = serializers.CharField(source="response.text")
    sources = SourceSerializer(many=True)
    ratings = CriterionMeanSerializer(many=True)
    weight = serializers.FloatField(
        source="weight.weight", default=None, allow_null=True, help_text="Weight in the data set's newest release."
    )


class ItemDetailSerializer(ItemSerializer):
    responses = serializers.SerializerMethodField()

    class Meta(ItemSerializer.Meta):
        fields = (*ItemSerializer.Meta.fields, "responses")  # type: ignore[assignment]  # longer than the parent's

    @extend_schema_field(RatedResponseSerializer(many=True))
    def get_responses(self, item: Item) -> list[dict[str, Any]]:
        return list(RatedResponseSerializer(item_responses(item, item.dataset).all, many=True).data)


@extend_schema_view(
    list=extend_schema(parameters=[OpenApiParameter("search", str, description="Text in the id, context or message.")])
)
class ItemsViewSet(InDatasetViewSet):
    queryset = Item.objects.all()
    serializer_class = ItemSerializer
    ordering = "position"
    lookup_url_kwarg = "item_pk"

    def get_queryset(self) -> QuerySet[Item]:
        return items_matching(self.dataset, self.parameter("search"))

    @extend_schema(responses=ItemDetailSerializer)
    def retrieve(self, request: Request, **_: Any) -> ApiResponse:
        """Return an item with its responses, their mean ratings and newest weights."""
        item = self.get_object()
        item.dataset = self.dataset
        return ApiResponse(ItemDetailSerializer(item).data)
