"""Endpoints of data sets, their items and responses. Imports create them: see ``imports``."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import AnswerSerializer, ReadViewSet
from annotation.core.exports import CONTENT_TYPES, file_response
from annotation.core.refusals import checked
from annotation.datasets.selectors.datasets import dataset_facts, datasets_of
from annotation.datasets.services.datasets import DESCRIBED, dataset_update
from annotation.datasets.services.export import dataset_chunks, dataset_hash
from annotation.models import Dataset, Item, Response, ResponseSource, System
from annotation.projects.api.versions import EditSerializer, VersionField

# --- Answers ----------------------------------------------------------------------------------------------------------


class DatasetSerializer(AnswerSerializer):
    n_items = serializers.IntegerField(read_only=True)
    n_systems = serializers.IntegerField(read_only=True)
    version = VersionField(DESCRIBED)

    class Meta:
        model = Dataset
        fields: tuple[str, ...] = ("slug", *DESCRIBED, "version", "normalisation", "n_items", "n_systems", "created_at")


class SystemSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(source="system.name")
    outputs = serializers.IntegerField()
    shared = serializers.IntegerField(help_text="Outputs that are identical to another system's.")


class FactsSerializer(serializers.Serializer[Any]):
    items = serializers.IntegerField()
    responses = serializers.IntegerField(help_text="Distinct texts: identical texts of an item are one response.")
    outputs = serializers.IntegerField()
    references = serializers.IntegerField()
    systems = SystemSerializer(many=True)


class DatasetDetailSerializer(DatasetSerializer):
    facts = serializers.SerializerMethodField()
    content_hash = serializers.SerializerMethodField(help_text="SHA-256 of the export: equal wherever the content is.")

    class Meta(DatasetSerializer.Meta):
        fields = (*DatasetSerializer.Meta.fields, "content_hash", "facts")

    def get_content_hash(self, dataset: Dataset) -> str:
        return dataset.content_hash or dataset_hash(dataset)

    @extend_schema_field(FactsSerializer)
    def get_facts(self, dataset: Dataset) -> dict[str, Any]:
        return FactsSerializer(dataset_facts(dataset)).data


class DatasetRequestSerializer(EditSerializer):
    class Meta:
        model = Dataset
        fields = (*DESCRIBED, "version")


class SourceSerializer(AnswerSerializer):
    system: serializers.SlugRelatedField[System] = serializers.SlugRelatedField(slug_field="name", read_only=True)

    class Meta:
        model = ResponseSource
        fields = ("kind", "system", "rank", "score", "source_context", "source_message", "raw_text")


class ResponseSerializer(AnswerSerializer):
    item: serializers.SlugRelatedField[Item] = serializers.SlugRelatedField(slug_field="external_id", read_only=True)
    sources = SourceSerializer(many=True, read_only=True)
    turns = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()),
        read_only=True,
        allow_null=True,
        help_text="Of a dialogue: objects with speaker and text, which the text joins; else null.",
    )

    class Meta:
        model = Response
        fields = ("id", "item", "text", "turns", "sources")


class ItemSerializer(AnswerSerializer):
    class Meta:
        model = Item
        fields = ("id", "external_id", "position", "context", "message", "meaning_representation", "split")


# --- Endpoints --------------------------------------------------------------------------------------------------------


class DatasetsViewSet(ReadViewSet):
    queryset = Dataset.objects.all()
    serializer_class = DatasetSerializer
    lookup_field = "slug"
    lookup_url_kwarg = "dataset_slug"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[Dataset]:
        return datasets_of(self.project)

    @extend_schema(responses=DatasetDetailSerializer)
    def retrieve(self, request: Request, **_: Any) -> ApiResponse:
        return ApiResponse(DatasetDetailSerializer(self.get_object()).data)

    @extend_schema(request=DatasetRequestSerializer, responses=DatasetSerializer)
    def partial_update(self, request: Request, **_: Any) -> ApiResponse:
        """Change the description of the data set; its items and responses stay as they are."""
        dataset = self.get_object()
        values = checked(DatasetRequestSerializer(data=request.data, partial=True))
        return self.answer(dataset_update(dataset=dataset, by=self.user, **values))

    @extend_schema(responses={(200, "application/jsonl"): bytes})
    @action(detail=True, methods=["get"])
    def export(self, request: Request, **_: Any) -> HttpResponseBase:
        """Stream the data set as JSON Lines, as an import takes it; its SHA-256 is ``content_hash``."""
        dataset = self.get_object()
        return file_response(dataset_chunks(dataset), CONTENT_TYPES["jsonl"], f"{dataset.slug}.jsonl")


class InDatasetViewSet(ReadViewSet):
    dataset: Dataset

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.dataset = get_in_project_or_404(Dataset.objects.all(), self.project, slug=kwargs["dataset_slug"])


@extend_schema_view(
    list=extend_schema(
        parameters=[
            OpenApiParameter("item", str, description="External id of an item."),
            OpenApiParameter("system", str, description="Name of a system: only its outputs."),
        ]
    )
)
class ResponsesViewSet(InDatasetViewSet):
    queryset = Response.objects.all()
    serializer_class = ResponseSerializer
    lookup_url_kwarg = "response_pk"

    def get_queryset(self) -> QuerySet[Response]:
        sources = Prefetch("sources", ResponseSource.objects.select_related("system").order_by("pk"))
        responses = Response.objects.filter(item__dataset=self.dataset).select_related("item").prefetch_related(sources)
        if item := self.parameter("item"):
            responses = responses.filter(item__external_id=item)
        if system := self.parameter("system"):
            outputs = ResponseSource.objects.filter(system__dataset=self.dataset, system__name=system)
            responses = responses.filter(pk__in=outputs.values("response_id"))
        return responses
