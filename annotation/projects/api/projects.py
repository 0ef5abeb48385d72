"""Projects: those the caller belongs to, and who else does."""

from typing import Any

from django.db.models import F, QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from annotation.core.access import get_project_or_404
from annotation.core.api import ReadViewSet, Strict
from annotation.models import Membership, Project, Role
from annotation.projects.services.projects import (
    member_add,
    member_change,
    member_remove,
    project_create,
    project_update,
)


class ProjectSerializer(serializers.ModelSerializer):
    role = serializers.ChoiceField(choices=Role.choices, read_only=True, help_text="Yours in this project.")

    class Meta:
        model = Project
        fields = ("slug", "name", "description", "role", "created_at")
        read_only_fields = fields


class ProjectRequestSerializer(Strict, serializers.ModelSerializer):
    class Meta:
        model = Project
        fields = ("name", "description")


class ProjectsViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet):
    queryset = Project.objects.all()
    serializer_class = ProjectSerializer
    ordering = "pk"
    lookup_field = "slug"
    lookup_url_kwarg = "project_slug"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[Project]:
        return Project.objects.visible_to(self.request.user).annotate(role=F("memberships__role"))

    def _answer(self, project: Project, code: int) -> Response:
        return Response(self.get_serializer(self.get_queryset().get(pk=project.pk)).data, status=code)

    @extend_schema(request=ProjectRequestSerializer, responses={201: ProjectSerializer})
    def create(self, request: Request) -> Response:
        """A new project, owned by the caller."""
        asked = ProjectRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        project = project_create(by=request.user, **asked.validated_data)
        return self._answer(project, status.HTTP_201_CREATED)

    @extend_schema(request=ProjectRequestSerializer)
    def partial_update(self, request: Request, project_slug: str, **_: Any) -> Response:
        """Name and description; the address stays."""
        project = get_project_or_404(request.user, project_slug, role=Role.OWNER)
        asked = ProjectRequestSerializer(data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        kept = {"name": project.name, "description": project.description}
        return self._answer(project_update(project=project, **(kept | asked.validated_data)), status.HTTP_200_OK)


class MemberSerializer(Strict, serializers.ModelSerializer):
    username = serializers.CharField(source="user.username", max_length=150)

    class Meta:
        model = Membership
        fields = ("username", "role", "created_at")
        read_only_fields = ("created_at",)


class RoleSerializer(Strict, serializers.ModelSerializer):
    class Meta:
        model = Membership
        fields = ("role",)


class MembersViewSet(ReadViewSet):
    """Who belongs to a project. Every member may see it; changing it is the owner's."""

    queryset = Membership.objects.all()
    serializer_class = MemberSerializer
    write_role = Role.OWNER
    lookup_field = "user__username"
    lookup_url_kwarg = "username"

    def get_queryset(self) -> QuerySet[Membership]:
        return self.project.memberships.select_related("user")

    def get_object(self) -> Membership:
        if "\x00" in self.kwargs[self.lookup_url_kwarg]:  # the database has no such text, and refuses to be asked
            raise Http404("No such member in this project.")
        return super().get_object()

    @extend_schema(request=MemberSerializer, responses={201: MemberSerializer})
    def create(self, request: Request, **_: Any) -> Response:
        """Add somebody who has an account here."""
        asked = self.asked(MemberSerializer)
        member = member_add(project=self.project, username=asked["user"]["username"], role=Role(asked["role"]))
        return Response(self.get_serializer(member).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=RoleSerializer)
    def partial_update(self, request: Request, **_: Any) -> Response:
        """Give a member another role; a project keeps an owner."""
        member = self.get_object()
        role = Role(self.asked(RoleSerializer)["role"])
        return Response(self.get_serializer(member_change(membership=member, role=role)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, **_: Any) -> Response:
        """Take somebody out; a project keeps an owner."""
        member_remove(membership=self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)
