"""Endpoints that delete a data set or a campaign."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import ProjectViewSet, Strict
from annotation.models import Campaign, Dataset, Role
from annotation.removal.services import PAGE_ROWS, removal_of, row_remove


class RemovalRequestSerializer(Strict):
    confirmation = serializers.CharField(help_text="The name of what is deleted.", trim_whitespace=True)


class RemovalSerializer(serializers.Serializer[Any]):
    rows = serializers.ListField(child=serializers.CharField(), help_text="What goes, in numbers.")
    names = serializers.ListField(child=serializers.CharField(), help_text="The campaigns, releases and studies.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="What must be done before.")


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

    @extend_schema(request=RemovalRequestSerializer, responses={200: RemovalSerializer})
    @removal.mapping.post
    def remove(self, request: Request, **_: Any) -> ApiResponse:
        """Delete it with everything that depends on it, its name as confirmation: all, or nothing. Only owners can."""
        confirmation = self.validated(RemovalRequestSerializer)["confirmation"]
        removal = row_remove(row=self.row(), confirmation=confirmation, by=self.user, most=PAGE_ROWS)
        return ApiResponse(RemovalSerializer(removal).data)


class DatasetRemovalViewSet(RemovalViewSet):
    queryset = Dataset.objects.all()
    lookup = {"slug": "dataset_slug"}


class CampaignRemovalViewSet(RemovalViewSet):
    queryset = Campaign.objects.all()
    lookup = {"pk": "campaign_pk"}
