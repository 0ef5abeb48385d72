"""API of imported ratings, sent as a file or as JSON."""

from dataclasses import Field, fields
from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.campaigns.fields.table import LONGEST_NAME
from annotation.core.api import JobSerializer, Strict
from annotation.core.refusals import checked
from annotation.datasets.api.imports import (
    IMPORT_FIELDS,
    FileSerializer,
    ImportsViewSet,
    ReportSerializer,
    RowErrorSerializer,
    Upload,
    as_lines,
    uploaded,
)
from annotation.judgements.services.imports import rating_import_create
from annotation.judgements.services.options import RATING_FORMATS, RatingOptions
from annotation.judgements.services.preview import rating_preview
from annotation.judgements.tasks import rating_import_execute
from annotation.models import Campaign, Dataset, RatingImport, User


class RatingOptionsSerializer(Strict, serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {option.name: _option_field(option) for option in fields(RatingOptions)}


def _option_field(option: Field[Any]) -> serializers.Field[Any, Any, Any, Any]:
    about: dict[str, Any] = {"required": False, "help_text": option.metadata["description"]}
    if choices := option.metadata.get("choices"):
        return serializers.ChoiceField(choices=list(choices.items()), allow_blank=True, **about)
    if option.default_factory is dict:
        return serializers.DictField(child=serializers.CharField(), **about)
    if option.default_factory is list:
        return serializers.ListField(child=serializers.CharField(), **about)
    return serializers.IntegerField(**about) if option.default is None else serializers.CharField(**about)


@extend_schema_field(RatingOptionsSerializer)
class RatingOptionsField(serializers.JSONField):
    """An object; in multipart, its JSON text."""

    def to_internal_value(self, data: Any) -> Any:
        return RatingOptions(**checked(RatingOptionsSerializer(data=super().to_internal_value(data))))


class RatingImportRequestSerializer(Strict, serializers.ModelSerializer[RatingImport]):
    name = serializers.CharField(max_length=LONGEST_NAME, help_text="Name of the campaign that receives the ratings.")
    dataset = serializers.SlugField(help_text="Slug of the data set that was rated.")
    options = RatingOptionsField(required=False)

    class Meta:
        model = RatingImport
        fields: tuple[str, ...] = ("dataset", "name", "options")


class RatingFileSerializer(FileSerializer, RatingImportRequestSerializer):
    file = serializers.FileField(help_text="CSV, TSV, JSON Lines, or Label Studio's JSON; in UTF-8.")
    file_format = serializers.ChoiceField(
        choices=list(RATING_FORMATS.items()), required=False, help_text="If the file's name does not show it."
    )

    class Meta(RatingImportRequestSerializer.Meta):
        fields = (*RatingImportRequestSerializer.Meta.fields, "file", "file_format")


class JudgementsSerializer(RatingImportRequestSerializer):
    judgements = serializers.ListField(
        child=serializers.JSONField(),
        help_text="Each like a line of a JSON Lines file; “line” in a report counts them.",
    )

    class Meta(RatingImportRequestSerializer.Meta):
        fields = (*RatingImportRequestSerializer.Meta.fields, "judgements")


class ReadSerializer(serializers.Serializer[Any]):
    """The preview of an import: the file is read and matched with the data set; nothing is stored."""

    sentence = serializers.CharField()
    options = RatingOptionsSerializer(help_text="The given and recognised options: send them with the import.")
    criteria = serializers.ListField(child=serializers.CharField())
    counts = serializers.DictField(child=serializers.IntegerField())
    sample = serializers.ListField(child=serializers.JSONField(), help_text="The first ratings, as read.")
    errors = RowErrorSerializer(many=True)  # type: ignore[assignment] # a field of the answer, which hides errors here
    total = serializers.IntegerField(help_text="Number of errors; the first hundred are listed.")
    partial = serializers.BooleanField(  # type: ignore[assignment] # a field of the answer
        help_text="Whether only the beginning of the file was read."
    )


class RatingImportSerializer(JobSerializer):
    file_format = serializers.ChoiceField(choices=list(RATING_FORMATS.items()), read_only=True)
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaign: serializers.PrimaryKeyRelatedField[Campaign] = serializers.PrimaryKeyRelatedField(
        read_only=True, help_text="Set when done."
    )
    report = ReportSerializer(read_only=True)

    class Meta:
        model = RatingImport
        fields = (*IMPORT_FIELDS, "campaign")


class RatingImportsViewSet(ImportsViewSet):
    queryset = RatingImport.objects.all()
    serializer_class = RatingImportSerializer
    lookup_url_kwarg = "rating_import_pk"
    task = rating_import_execute

    def get_queryset(self) -> QuerySet[RatingImport]:
        return self.project.rating_imports.select_related("dataset", "requested_by").defer("content")

    @extend_schema(
        request={"multipart/form-data": RatingFileSerializer, "application/json": JudgementsSerializer},
        responses={202: RatingImportSerializer},
    )
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Import ratings made elsewhere as a closed campaign. Poll the import's ``url``.

        The answer's options contain what was recognised; ``look/`` shows more, before anything is stored.
        """
        dataset, upload, values = self._uploaded()
        job = rating_import_create(dataset=dataset, by=cast(User, request.user), **upload._asdict(), **values)
        self.start(job)
        return self.answer(job, status.HTTP_202_ACCEPTED)

    @extend_schema(
        request={"multipart/form-data": RatingFileSerializer, "application/json": JudgementsSerializer},
        responses={200: ReadSerializer},
    )
    @action(detail=False, methods=["post"])
    def look(self, request: Request, **_: Any) -> ApiResponse:
        """Preview an import. Nothing is stored."""
        dataset, upload, values = self._uploaded()
        preview = rating_preview(
            dataset=dataset,
            options=values.get("options") or RatingOptions(),
            **upload._asdict(),
        )
        return ApiResponse(ReadSerializer(preview.as_json()).data)

    def _uploaded(self) -> tuple[Dataset, Upload, dict[str, Any]]:
        values = self.validated(RatingFileSerializer if self.is_file else JudgementsSerializer)
        dataset = self.dataset_named(values.pop("dataset"))
        upload = uploaded(values) if self.is_file else as_lines("judgements", values.pop("judgements"))
        return dataset, upload, values
