"""Endpoints that delete a data set or a campaign."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.mixins import RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import JOB_FIELDS, JobSerializer, ProjectViewSet, Strict
from annotation.models import Campaign, DataDeletion, Dataset, Job, Role
from annotation.removal.services import deletion_request, removal_of
from annotation.removal.tasks import data_delete


class RemovalRequestSerializer(Strict):
    confirmation = serializers.CharField(help_text="The name of what is deleted.", trim_whitespace=True)


class RemovalSerializer(serializers.Serializer[Any]):
    rows = serializers.ListField(child=serializers.CharField(), help_text="What goes, in numbers.")
    names = serializers.ListField(child=serializers.CharField(), help_text="The campaigns, releases and studies.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="What must be done before.")


class DataDeletionSerializer(JobSerializer):
    rows = serializers.ListField(child=serializers.CharField(), help_text="What went with it, in numbers; when done.")

    class Meta:
        model = DataDeletion
        fields = ("id", *JOB_FIELDS, "noun", "name", "rows")

    @extend_schema_field(serializers.URLField())
    def get_url(self, job: Job) -> str:
        slug = self.context["view"].project.slug
        url: str = reverse("api:deletion-detail", args=[slug, job.pk], request=self.context["request"])
        return url


class DeletionsViewSet(RetrieveModelMixin, ProjectViewSet):
    """Deletions of data sets and campaigns."""

    queryset = DataDeletion.objects.all()
    serializer_class = DataDeletionSerializer
    lookup_url_kwarg = "deletion_pk"

    def get_queryset(self) -> QuerySet[DataDeletion]:
        return self.project.data_deletions.select_related("requested_by")


class RemovalViewSet(ProjectViewSet):
    """Base of both; ``lookup`` maps the field that identifies the row to the part of the address that holds it."""

    serializer_class = RemovalRequestSerializer
    read_role = write_role = Role.OWNER
    lookup: ClassVar[Mapping[str, str]]

    def row(self) -> Dataset | Campaign:
        lookup = {field: self.kwargs[part] for field, part in self.lookup.items()}
        row: Dataset | Campaign = get_in_project_or_404(self.get_queryset(), self.project, **lookup)
        return row

    @extend_schema(responses=RemovalSerializer)
    @action(detail=False, methods=["get"], url_path="delete")
    def removal(self, request: Request, **_: Any) -> ApiResponse:
        """Show what goes with it."""
        return ApiResponse(RemovalSerializer(removal_of(self.row())).data)

    @extend_schema(request=RemovalRequestSerializer, responses={202: DataDeletionSerializer})
    @removal.mapping.post
    def remove(self, request: Request, **_: Any) -> ApiResponse:
        """Delete it with everything that depends on it, its name as confirmation: all, or nothing. Only owners can.

        A worker does it: poll the deletion's ``url``.
        """
        confirmation = self.validated(RemovalRequestSerializer)["confirmation"]
        deletion = deletion_request(row=self.row(), confirmation=confirmation, by=self.user)
        data_delete.delay_on_commit(deletion.pk)
        deletion.refresh_from_db()
        answer = DataDeletionSerializer(deletion, context=self.get_serializer_context()).data
        return ApiResponse(answer, status=status.HTTP_202_ACCEPTED, headers={"Location": answer["url"]})


class DatasetRemovalViewSet(RemovalViewSet):
    queryset = Dataset.objects.all()
    lookup = {"slug": "dataset_slug"}


class CampaignRemovalViewSet(RemovalViewSet):
    queryset = Campaign.objects.all()
    lookup = {"pk": "campaign_pk"}
