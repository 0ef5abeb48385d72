"""Selections of seeds in progress."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet
from annotation.models import Dataset, SeedSelecting
from annotation.seeds.tasks import seeds_select_execute


class SeedSelectingSerializer(JobSerializer):
    dataset = serializers.SlugRelatedField[Dataset](slug_field="slug", read_only=True)
    selection = serializers.SerializerMethodField(help_text="Address of the selection; set when done.")
    report = serializers.DictField(read_only=True, help_text="If the selection was refused: messages by field.")

    class Meta:
        model = SeedSelecting
        fields = ("id", *JOB_FIELDS, "dataset", "selection", "report")

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_selection(self, job: SeedSelecting) -> str | None:
        if job.selection_id is None:
            return None
        args = [job.project.slug, job.selection_id]
        url: str = reverse("api:seed-selection-detail", args=args, request=self.context["request"])
        return url


class SeedSelectingsViewSet(JobViewSet):
    queryset = SeedSelecting.objects.all()
    serializer_class = SeedSelectingSerializer
    lookup_url_kwarg = "seed_selecting_pk"
    task = seeds_select_execute

    def get_queryset(self) -> QuerySet[SeedSelecting]:
        return self.project.seed_selectings.select_related("project", "dataset", "requested_by")
