"""The API of imports: a worker stores a file or JSON, or refuses it with every row error."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, Strict, user_of
from annotation.core.errors import ImportRefused
from annotation.core.json_bodies import StrictJSONParser
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.core.problems import Problems, storable_json
from annotation.core.rows import FORMATS, json_document
from annotation.core.uploads import in_bytes, upload_limit
from annotation.datasets.mapping.meanings import MEANINGS
from annotation.datasets.services.datasets import DESCRIBED
from annotation.datasets.services.imports import dataset_import_create, resolve_format
from annotation.datasets.services.looking import has_own_names, look_at
from annotation.datasets.services.records import DATASET_ENDINGS
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import Dataset, DatasetImport
from annotation.models.datasets import DATASET_FORMATS


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


class MappingField(serializers.DictField):
    """An object of fields and meanings; in multipart, its JSON text."""

    child = serializers.CharField()

    def get_value(self, dictionary: Any) -> Any:
        value = dictionary.get(self.field_name, serializers.empty)
        if not isinstance(value, str):
            return value
        problems = Problems("mapping")
        try:
            return json_document(value, problems)
        except ImportRefused:
            return value


class DatasetImportRequestSerializer(Strict, serializers.ModelSerializer[Any]):
    mapping = MappingField(
        required=False,
        help_text="What the file's fields mean, if they do not have Assay's names: "
        f"field → one of {', '.join(MEANINGS)}; output:NAME is the output of system NAME, “*” all fields not named.",
    )
    normalisation = serializers.ChoiceField(
        choices=list(RULES),
        default=DEFAULT_RULE,
        help_text="The rule under which two texts of an item are one response.",
    )

    class Meta:
        model = Dataset
        fields: tuple[str, ...] = (*DESCRIBED, "normalisation", "mapping")


class DatasetFileSerializer(FileSerializer, DatasetImportRequestSerializer):
    file = serializers.FileField(
        help_text="JSON Lines, CSV or TSV in UTF-8, or Parquet.", validators=[upload_limit(write=in_bytes)]
    )
    file_format = serializers.ChoiceField(
        choices=DATASET_FORMATS, required=False, help_text="Needed if the file's name does not end in one."
    )
    turn_separator = serializers.CharField(
        required=False, max_length=20, help_text="Separates the turns of a context in CSV and TSV."
    )

    class Meta(DatasetImportRequestSerializer.Meta):
        fields = (*DatasetImportRequestSerializer.Meta.fields, "turn_separator", "file", "file_format")


class LookRequestSerializer(FileSerializer):
    file = serializers.FileField(
        help_text="JSON Lines, CSV or TSV in UTF-8, or Parquet.", validators=[upload_limit(write=in_bytes)]
    )
    file_format = serializers.ChoiceField(choices=DATASET_FORMATS, required=False)


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


class FileFieldSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.CharField(help_text="Of its values: text, number, texts, objects, object, nothing or other.")
    samples = serializers.ListField(child=serializers.CharField(), help_text="The first values, shortened.")
    meaning = serializers.CharField(help_text="The proposed one.")


class LookSerializer(serializers.Serializer[Any]):
    """The fields of a file and a proposed mapping. Only the beginning of a large file is read; nothing is stored."""

    needs_mapping = serializers.BooleanField(help_text="Whether the fields do not have Assay's names.")
    mapping = serializers.DictField(child=serializers.CharField(), help_text="The proposal; send it with the import.")
    fields = FileFieldSerializer(many=True)  # type: ignore[assignment] # a field of the answer


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

    @extend_schema(request={"multipart/form-data": LookRequestSerializer}, responses={200: LookSerializer})
    @action(detail=False, methods=["post"])
    def look(self, request: Request, **_: Any) -> ApiResponse:
        """Show the fields of a file with a proposed mapping. Nothing is stored."""
        upload = uploaded(self.validated(LookRequestSerializer))
        file_format = resolve_format(upload.filename, upload.file_format, endings=DATASET_ENDINGS)
        look = look_at(upload.content, filename=upload.filename, file_format=file_format, beginning=True)
        answer = {
            "needs_mapping": not has_own_names(upload.content, file_format),
            "mapping": look.mapping,
            "fields": [{**field, "meaning": look.mapping[field["name"]]} for field in look.fields],
        }
        return ApiResponse(LookSerializer(storable_json(answer)).data)

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
