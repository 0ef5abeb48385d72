"""What the endpoints of both kinds of studies share: fields, serializers, actions."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import JOB_FIELDS, Conflict, JobSerializer, JobViewSet, ReadViewSet, Strict
from annotation.core.exports import file_response
from annotation.references.releases.selectors.releases import release_name
from correlations.models import ParameterStudy, Study
from correlations.services.reports import FILES
from correlations.specification import LAST_RATING, NOT_REQUESTED, SCHEMA, StudySpecification


class NamesField(serializers.ListField):
    child = serializers.CharField()


class StudySpecificationSerializer(Strict, serializers.Serializer[Any]):
    """Missing fields take their defaults. The answer lists every field, and can be sent again unchanged."""

    release = serializers.CharField(required=False, allow_blank=True)
    campaigns = NamesField()
    systems = NamesField()
    criteria = NamesField(required=False)
    bootstrap = serializers.IntegerField(required=False)
    seed = serializers.IntegerField(required=False)
    named = serializers.DictField(required=False)

    SPECIFICATION: ClassVar[type[StudySpecification]] = StudySpecification

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add what a stored specification holds besides, and what each field means."""
        found = super().get_fields() | {
            LAST_RATING: serializers.IntegerField(required=False, write_only=True, allow_null=True),
            SCHEMA: serializers.CharField(required=False, write_only=True, allow_blank=True),
        }
        meanings = self.SPECIFICATION.MEANINGS | NOT_REQUESTED
        for name, each in found.items():
            each.help_text = each.help_text or meanings.get(name)
        return found


class StudyJobSerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(help_text="As `reference-set/v2`; empty without one.")
    campaigns: Any = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)

    class Meta:
        fields: tuple[str, ...] = (
            *("id", *JOB_FIELDS, "name", "dataset", "release", "campaigns", "specification", "signature"),
        )

    def get_release(self, study: Study | ParameterStudy) -> str:
        return release_name(study.release) if study.release else ""


class StudyViewSet(JobViewSet):
    request_serializer: ClassVar[type[serializers.Serializer[Any]]]
    create_study: ClassVar[Any]
    prefetched: ClassVar[tuple[str, ...]] = ("campaigns",)

    def get_queryset(self) -> QuerySet[Any]:
        studies = super().get_queryset().filter(project=self.project)
        studies = studies.select_related("dataset", "release__reference_set", "requested_by")
        return studies.prefetch_related(*self.prefetched).defer("result", "release__report")

    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a study (201), or return the existing one with the same specification (200). Poll its ``url``."""
        validated = self.validated(self.request_serializer)
        study, created = self.create_study(project=self.project, by=self.user, **validated)
        if not created:
            return self.answer(study)
        self.start(study)
        return self.answer(study, status.HTTP_201_CREATED)

    def finished(self) -> Any:
        study = self.get_object()
        if study.result is None:
            state = study.get_state_display().lower()
            raise Conflict(f"The study is {state}; its result is available when it is done.")
        return study

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def result(self, request: Request, **_: Any) -> ApiResponse:
        """Return everything that the report shows."""
        return ApiResponse(self.finished().result)


class ReportFiles(ReadViewSet):
    """The report of a finished study as files."""

    def report_content(self, ending: str) -> tuple[bytes, str]:
        """Return a file of ``FILES``, and the study's name in the file's."""
        raise NotImplementedError

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def report(self, request: Request, **_: Any) -> HttpResponseBase:
        """Return the JSON report: specification, hashes and whole result; `manage.py study verify` reads it."""
        return self._report("json")

    @extend_schema(responses={(200, "application/pdf"): OpenApiTypes.BINARY})
    @action(detail=True, url_path="report.pdf", url_name="report-pdf")
    def report_pdf(self, request: Request, **_: Any) -> HttpResponseBase:
        """Return the report as PDF."""
        return self._report("pdf")

    @extend_schema(responses={(200, "text/html"): OpenApiTypes.STR})
    @action(detail=True, url_path="report.html", url_name="report-html")
    def report_html(self, request: Request, **_: Any) -> HttpResponseBase:
        """Return the report as one HTML file, to be read offline."""
        return self._report("html")

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=True, url_path="report.zip", url_name="report-latex")
    def report_latex(self, request: Request, **_: Any) -> HttpResponseBase:
        """Return the report as LaTeX: the whole, each table alone, and charts as PDF."""
        return self._report("zip")

    def _report(self, ending: str) -> HttpResponseBase:
        content, name = self.report_content(ending)
        return file_response(content, FILES[ending].content_type, f"{self.project.slug}-{name}-report.{ending}")
