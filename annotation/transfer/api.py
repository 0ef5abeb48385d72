"""Endpoints of projects that leave and enter."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse
from rest_framework.viewsets import GenericViewSet

from annotation.core.api import JOB_FIELDS, JobSerializer, ProjectViewSet, Strict, user_of
from annotation.core.exports import zip_response
from annotation.core.jobs import job_request_cancel
from annotation.core.refusals import checked
from annotation.core.uploads import in_bytes, upload_limit
from annotation.datasets.api.imports import RowErrorSerializer
from annotation.models import Job, Project, ProjectImport, Role
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create
from annotation.transfer.tasks import project_import_execute


class ProjectExportViewSet(ProjectViewSet):
    """The archive of a project."""

    queryset = Project.objects.none()
    read_role = Role.OWNER

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=False, methods=["get"])
    def export(self, request: Request, **_: Any) -> HttpResponseBase:
        """Stream the project as one archive, which another Assay imports. Only owners can."""
        return zip_response(project_chunks(self.project), f"{self.project.slug}.assay.zip")


class ProjectImportRequestSerializer(Strict):
    file = serializers.FileField(
        help_text="The archive that an export wrote.", validators=[upload_limit(write=in_bytes)]
    )
    name = serializers.CharField(
        max_length=120,
        required=False,
        allow_blank=True,
        help_text="Of the new project; by default the one that it had.",
    )


class ComparedSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField()
    published = serializers.CharField(help_text="SHA-256 where the archive was written.")
    computed = serializers.CharField(help_text="SHA-256 of what was imported.")
    equal = serializers.BooleanField()


class NamedSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField()
    digest = serializers.CharField()


class ProjectImportReportSerializer(serializers.Serializer[Any]):
    """``hashes`` and ``missing`` of a finished import; ``errors`` (the first hundred of ``total``) of a failed one."""

    hashes = ComparedSerializer(many=True, required=False)
    missing = NamedSerializer(many=True, required=False, help_text="What the archive names and does not hold.")
    errors = RowErrorSerializer(many=True, required=False)  # type: ignore[assignment] # the report's field of this name
    total = serializers.IntegerField(required=False)


class ProjectImportSerializer(JobSerializer):
    project: serializers.SlugRelatedField[Project] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, help_text="Set when done; you are its owner."
    )
    report = ProjectImportReportSerializer(read_only=True)

    class Meta:
        model = ProjectImport
        fields = ("id", *JOB_FIELDS, "name", "filename", "project", "report")


class ProjectImportsViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet[ProjectImport]):
    """Your imports of projects, newest first."""

    queryset = ProjectImport.objects.all()
    serializer_class = ProjectImportSerializer
    parser_classes = (MultiPartParser,)
    ordering = "-pk"
    lookup_url_kwarg = "project_import_pk"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[ProjectImport]:
        imports = ProjectImport.objects.defer("content").select_related("project", "requested_by")
        return imports.filter(requested_by=user_of(self.request))

    def url_of(self, job: Job) -> str:
        return reverse("api:project-import-detail", args=[job.pk], request=self.request)

    def _answer(self, job: ProjectImport, code: int) -> ApiResponse:
        fresh = self.get_queryset().get(pk=job.pk)
        headers = {"Location": self.url_of(job)} if code == status.HTTP_202_ACCEPTED else {}
        return ApiResponse(self.get_serializer(fresh).data, status=code, headers=headers)

    @extend_schema(
        request={"multipart/form-data": ProjectImportRequestSerializer}, responses={202: ProjectImportSerializer}
    )
    def create(self, request: Request) -> ApiResponse:
        """Make a project of your own from an archive: whole, or not at all. Poll the import's ``url``."""
        values = checked(ProjectImportRequestSerializer(data=request.data))
        file: UploadedFile[bytes] = values["file"]
        job = project_import_create(
            by=user_of(request),
            filename=file.name or "project.zip",
            content=file.read(),
            name=values.get("name", ""),
        )
        project_import_execute.delay_on_commit(job.pk)
        return self._answer(job, status.HTTP_202_ACCEPTED)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, **_: Any) -> ApiResponse:
        """Cancel a queued import at once, a running one at its next step. A finished import stays as it is."""
        job = self.get_object()
        job_request_cancel(job)
        return self._answer(job, status.HTTP_200_OK)
