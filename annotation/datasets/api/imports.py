"""The API of imports: a worker stores a file or JSON, or refuses it with every row error."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, Strict, user_of
from annotation.core.json_bodies import StrictJSONParser
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.core.rows import FORMATS
from annotation.core.uploads import in_bytes, upload_limit
from annotation.datasets.services.datasets import DESCRIBED
from annotation.datasets.services.imports import dataset_import_create
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import Dataset, DatasetImport


class Upload(NamedTuple):
    """A file, or JSON as the file that it would be."""

    filename: str
    content: bytes
    file_format: str | None


# --- Requests ---------------------------------------------------------------------------------------------------------


class FileSerializer(Strict):
    file = serializers.FileField(
        help_text="JSON Lines, CSV or TSV, in UTF-8.", validators=[upload_limit(write=in_bytes)]
    )
    file_format = serializers.ChoiceField(
        choices=list(FORMATS.items()), required=False, help_text="Needed if the file's name does not end in one."
    )


class DatasetImportRequestSerializer(Strict, serializers.ModelSerializer[Any]):
    normalisation = serializers.ChoiceField(
        choices=list(RULES),
        default=DEFAULT_RULE,
        help_text="The rule under which two texts of an item are one response.",
    )

    class Meta:
        model = Dataset
        fields: tuple[str, ...] = (*DESCRIBED, "normalisation")


class DatasetFileSerializer(FileSerializer, DatasetImportRequestSerializer):
    turn_separator = serializers.CharField(
        required=False, max_length=20, help_text="Separates the turns of a context in CSV and TSV."
    )

    class Meta(DatasetImportRequestSerializer.Meta):
        fields = (*DatasetImportRequestSerializer.Meta.fields, "turn_separator", "file", "file_format")


class DatasetItemsSerializer(DatasetImportRequestSerializer):
    items = serializers.ListField(
        child=serializers.JSONField(),
        help_text="Each like a line of a JSON Lines file; “line” in a report is its number.",
    )

    class Meta(DatasetImportRequestSerializer.Meta):
        fields = (*DatasetImportRequestSerializer.Meta.fields, "items")


def uploaded(data: dict[str, Any]) -> Upload:
    """Take the file and its format out of a request's data."""
    file: UploadedFile[bytes] = data.pop("file")
    return Upload(file.name or "upload", file.read(), data.pop("file_format", None))


def as_lines(name: str, records: Sequence[Mapping[str, Any]]) -> Upload:
    """Return records from a JSON body as a JSON Lines file, so that one reader checks both."""
    lines = "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in records)
    return Upload(f"{name}.jsonl", lines.encode(), "jsonl")


# --- Answers ----------------------------------------------------------------------------------------------------------


class RowErrorSerializer(serializers.Serializer[Any]):
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    found = serializers.CharField()
    accepted = serializers.CharField()


class ReportSerializer(serializers.Serializer[Any]):
    """``counts`` of a finished import; ``errors`` (the first hundred of ``total``) of a failed one."""

    counts = serializers.DictField(child=serializers.IntegerField(), required=False)
    errors = RowErrorSerializer(many=True, required=False)  # type: ignore[assignment] # the report's field of this name
    total = serializers.IntegerField(required=False)
    preview = serializers.JSONField(required=False, help_text="Of an upload in a browser that is not confirmed yet.")


IMPORT_FIELDS = ("id", *JOB_FIELDS, "name", "filename", "file_format", "options", "dataset", "report")


class DatasetImportSerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, help_text="Set when done."
    )
    report = ReportSerializer(read_only=True)

    class Meta:
        model = DatasetImport
        fields = IMPORT_FIELDS


# --- Endpoints --------------------------------------------------------------------------------------------------------


class ImportsViewSet(JobViewSet):
    parser_classes = (MultiPartParser, StrictJSONParser)

    @property
    def is_file(self) -> bool:
        return self.request.content_type.startswith("multipart/")


class DatasetImportsViewSet(ImportsViewSet):
    queryset = DatasetImport.objects.all()
    serializer_class = DatasetImportSerializer
    lookup_url_kwarg = "dataset_import_pk"
    task = dataset_import_execute

    def get_queryset(self) -> QuerySet[DatasetImport]:
        return self.project.dataset_imports.select_related("dataset", "requested_by").defer("content")

    @extend_schema(
        request={"multipart/form-data": DatasetFileSerializer, "application/json": DatasetItemsSerializer},
        responses={202: DatasetImportSerializer},
    )
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a data set from a file or from items in JSON. Poll the import's ``url``."""
        data = self.validated(DatasetFileSerializer if self.is_file else DatasetItemsSerializer)
        upload = uploaded(data) if self.is_file else as_lines("items", data.pop("items"))
        job = dataset_import_create(project=self.project, by=user_of(request), **upload._asdict(), **data)
        self.start(job)
        return self.answer(job, status.HTTP_202_ACCEPTED)
