"""The API that adds outputs of systems to a data set."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import ProjectViewSet, Strict
from annotation.core.file_limits import PAGE_BYTES
from annotation.core.json_bodies import StrictJSONParser
from annotation.core.uploads import in_bytes, upload_limit
from annotation.datasets.api.imports import FileSerializer, as_lines, uploaded
from annotation.datasets.services.content import LENGTHS
from annotation.datasets.services.outputs import outputs_add, outputs_preview
from annotation.models import Dataset


class OutputsRequestSerializer(Strict):
    system = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LENGTHS["system"],
        help_text="The system's name, if the outputs do not name theirs.",
    )
    check = serializers.BooleanField(default=False, help_text="Count what would be added, and store nothing.")


class OutputsFileSerializer(FileSerializer, OutputsRequestSerializer):
    file = serializers.FileField(
        help_text="JSON Lines, CSV or TSV in UTF-8: item_id, system, text; or item_id, text; or item_id and a column "
        "for each system.",
        validators=[upload_limit(", or any size by add_outputs", max_bytes=PAGE_BYTES, write=in_bytes)],
    )


class OutputsListSerializer(OutputsRequestSerializer):
    outputs = serializers.ListField(
        child=serializers.DictField(),
        help_text="Each like a line of a JSON Lines file; “line” in a refusal is its number.",
    )


class SystemOutputsSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    is_new = serializers.BooleanField(help_text="Whether the data set had no system of this name.")
    outputs = serializers.IntegerField()
    known = serializers.IntegerField(help_text="Outputs whose text the item had already.")


class AddedOutputsSerializer(serializers.Serializer[Any]):
    outputs = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items with at least one of these outputs.")
    items_of_dataset = serializers.IntegerField()
    new_responses = serializers.IntegerField()
    known_responses = serializers.IntegerField(help_text="Texts that items had already: they have a further source.")
    systems = SystemOutputsSerializer(many=True)


class OutputsViewSet(ProjectViewSet):
    queryset = Dataset.objects.none()
    serializer_class = AddedOutputsSerializer
    parser_classes = (MultiPartParser, StrictJSONParser)

    @extend_schema(
        request={"multipart/form-data": OutputsFileSerializer, "application/json": OutputsListSerializer},
        responses={201: AddedOutputsSerializer, 200: AddedOutputsSerializer},
    )
    def create(self, request: Request, dataset_slug: str, **_: Any) -> ApiResponse:
        """Add outputs of systems to items that the data set has: all, or none. A check answers 200.

        Campaigns that were launched, score runs, studies and releases keep what they read.
        """
        dataset = get_in_project_or_404(Dataset.objects.all(), self.project, slug=dataset_slug)
        is_file = (request.content_type or "").startswith("multipart/")
        values = self.validated(OutputsFileSerializer if is_file else OutputsListSerializer)
        upload = uploaded(values) if is_file else as_lines("outputs", values.pop("outputs"))
        file: dict[str, Any] = {"dataset": dataset, "system": values["system"], **upload._asdict()}
        if values["check"]:
            return ApiResponse(AddedOutputsSerializer(outputs_preview(**file)).data)
        added = outputs_add(**file, by=self.user)
        return ApiResponse(AddedOutputsSerializer(added).data, status=status.HTTP_201_CREATED)
