"""Files on their way in: uploaded whole or sent as JSON, checked and stored by a worker, refused with every bad row."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, Strict
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.core.rows import FORMATS
from annotation.datasets.services.imports import dataset_import_create
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import Dataset, DatasetImport


class Upload(NamedTuple):
    """What the import services read, whichever way it came."""

    filename: str
    content: bytes
    file_format: str | None


# --- What is asked ----------------------------------------------------------------------------------------------------


class FileSerializer(Strict, serializers.Serializer):
    file = serializers.FileField(help_text="JSON Lines, CSV or TSV, in UTF-8.")
    file_format = serializers.ChoiceField(
        choices=list(FORMATS.items()), required=False, help_text="Where the file's name does not say it."
    )

    def validate_file(self, file: UploadedFile) -> UploadedFile:
        if file.size is not None and file.size > settings.UPLOAD_MAX_BYTES:
            raise serializers.ValidationError(
                f"Found {file.size} bytes; accepted: at most {settings.UPLOAD_MAX_BYTES}."
            )
        return file


class DatasetImportRequestSerializer(Strict, serializers.ModelSerializer):
    normalisation = serializers.ChoiceField(
        choices=list(RULES), default=DEFAULT_RULE, help_text="When two texts of an item are one response."
    )

    class Meta:
        model = Dataset
        fields = ("name", "description", "language", "licence", "attribution", "normalisation")


class DatasetFileSerializer(FileSerializer, DatasetImportRequestSerializer):
    turn_separator = serializers.CharField(
        required=False, max_length=20, help_text="Between turns of a context, in CSV and TSV."
    )

    class Meta(DatasetImportRequestSerializer.Meta):
        fields = (*DatasetImportRequestSerializer.Meta.fields, "turn_separator", "file", "file_format")


class DatasetItemsSerializer(DatasetImportRequestSerializer):
    items = serializers.ListField(
        child=serializers.JSONField(), help_text="Each as a line of a JSON Lines file; “line” in a report counts them."
    )

    class Meta(DatasetImportRequestSerializer.Meta):
        fields = (*DatasetImportRequestSerializer.Meta.fields, "items")


def uploaded(asked: dict[str, Any]) -> Upload:
    file: UploadedFile = asked.pop("file")
    return Upload(file.name or "upload", file.read(), asked.pop("file_format", None))


def as_lines(name: str, records: Sequence[Mapping[str, Any]]) -> Upload:
    """Records from a JSON body, as the file they would be: the reader of files stays the one that checks them."""
    lines = "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in records)
    return Upload(f"{name}.jsonl", lines.encode(), "jsonl")


# --- What is shown ----------------------------------------------------------------------------------------------------


class BadRowSerializer(serializers.Serializer):
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    found = serializers.CharField()
    accepted = serializers.CharField()


class ReportSerializer(serializers.Serializer):
    """``counts`` of what was found once it is done; ``errors`` (the first hundred of ``total``) where it failed."""

    counts = serializers.DictField(child=serializers.IntegerField(), required=False)
    errors = BadRowSerializer(many=True, required=False)
    total = serializers.IntegerField(required=False)
    preview = serializers.JSONField(required=False, help_text="Of an upload by a browser that nobody has confirmed.")


IMPORT_FIELDS = ("id", *JOB_FIELDS, "name", "filename", "file_format", "options", "dataset", "report")


class DatasetImportSerializer(JobSerializer):
    dataset = serializers.SlugRelatedField(slug_field="slug", read_only=True, help_text="Set when done.")
    report = ReportSerializer(read_only=True)

    class Meta:
        model = DatasetImport
        fields = IMPORT_FIELDS
        read_only_fields = fields


# --- Endpoints --------------------------------------------------------------------------------------------------------


class ImportsViewSet(JobViewSet):
    parser_classes = (MultiPartParser, JSONParser)
    lookup_value_converter = "int"
    lookup_field = "pk"

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
    def create(self, request: Request, **_: Any) -> Response:
        """A new data set, from a file or from items in JSON. Poll the import's ``url``."""
        asked = self.asked(DatasetFileSerializer if self.is_file else DatasetItemsSerializer)
        upload = uploaded(asked) if self.is_file else as_lines("items", asked.pop("items"))
        job = dataset_import_create(project=self.project, by=request.user, **upload._asdict(), **asked)
        self.start(job)
        return self.answer(job, status.HTTP_202_ACCEPTED)
