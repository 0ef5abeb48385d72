"""Imports of weights that were made elsewhere, as jobs."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet
from annotation.datasets.api.imports import RowErrorSerializer
from annotation.models import Dataset, WeightsImport
from annotation.references.releases.selectors.releases import release_name
from annotation.references.tasks import weights_import_execute


class RefusalSerializer(serializers.Serializer[Any]):
    """The row errors of a refused file, the first hundred of ``total``."""

    errors = RowErrorSerializer(many=True, required=False)  # type: ignore[assignment]  # not Serializer.errors
    total = serializers.IntegerField(required=False)


class WeightsImportSerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(help_text="As score runs and studies name it; set when done.")
    release_url = serializers.SerializerMethodField()
    report = RefusalSerializer(read_only=True)

    class Meta:
        model = WeightsImport
        fields = ("id", *JOB_FIELDS, "filename", "options", "dataset", "release", "release_url", "report")

    def get_release(self, job: WeightsImport) -> str | None:
        return release_name(job.release) if job.release else None

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_release_url(self, job: WeightsImport) -> str | None:
        if job.release is None:
            return None
        kwargs = {
            "project_slug": job.project.slug,
            "reference_set_slug": job.release.reference_set.slug,
            "release_number": job.release.number,
        }
        url: str = reverse("api:release-detail", kwargs=kwargs, request=self.context["request"])
        return url


class WeightsImportsViewSet(JobViewSet):
    queryset = WeightsImport.objects.all()
    serializer_class = WeightsImportSerializer
    lookup_url_kwarg = "weights_import_pk"
    task = weights_import_execute

    def get_queryset(self) -> QuerySet[WeightsImport]:
        jobs = self.project.weights_imports.select_related("project", "dataset", "requested_by")
        return jobs.select_related("release__reference_set").defer("content")
