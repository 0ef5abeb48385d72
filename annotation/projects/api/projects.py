"""Endpoints of projects and their members."""

from typing import Any

from django.db.models import F, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse
from rest_framework.viewsets import GenericViewSet

from annotation.core.access import get_project_or_404
from annotation.core.api import AnswerSerializer, ReadViewSet, Strict, UsernameField, user_of
from annotation.core.refusals import checked
from annotation.models import Invitation, InvitationUse, Membership, Project, ProjectDeletion, Role
from annotation.projects import tasks
from annotation.projects.api.versions import EditSerializer, VersionField
from annotation.projects.services import invitations
from annotation.projects.services import projects as services
from annotation.projects.services.deletion import project_deletion_request


class ProjectSerializer(AnswerSerializer):
    role = serializers.ChoiceField(choices=Role.choices, read_only=True, help_text="Yours in this project.")
    version = VersionField(services.DESCRIBED)

    class Meta:
        model = Project
        fields = ("slug", *services.DESCRIBED, "version", "role", "created_at")


class ProjectRequestSerializer(Strict, serializers.ModelSerializer[Any]):
    class Meta:
        model = Project
        fields = services.DESCRIBED


class ProjectEditSerializer(EditSerializer):
    class Meta:
        model = Project
        fields = (*services.DESCRIBED, "version")


class DeletionRequestSerializer(Strict):
    confirmation = serializers.CharField(help_text="The name of the project.", trim_whitespace=True)


class DeletionSerializer(AnswerSerializer):
    class Meta:
        model = ProjectDeletion
        fields = ("name", "slug", "state", "created_at")


class ProjectsViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet[Project]):
    queryset = Project.objects.all()
    serializer_class = ProjectSerializer
    ordering = "pk"
    lookup_field = "slug"
    lookup_url_kwarg = "project_slug"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[Project]:
        return Project.objects.visible_to(user_of(self.request)).annotate(role=F("memberships__role"))

    def _answer(self, project: Project, code: int) -> ApiResponse:
        return ApiResponse(self.get_serializer(self.get_queryset().get(pk=project.pk)).data, status=code)

    @extend_schema(request=ProjectRequestSerializer, responses={201: ProjectSerializer})
    def create(self, request: Request) -> ApiResponse:
        """Create a project; you become its owner."""
        values = checked(ProjectRequestSerializer(data=request.data))
        project = services.project_create(by=user_of(request), **values)
        return self._answer(project, status.HTTP_201_CREATED)

    @extend_schema(request=ProjectEditSerializer)
    def partial_update(self, request: Request, project_slug: str, **_: Any) -> ApiResponse:
        """Change the name and the description; the address stays."""
        project = get_project_or_404(user_of(request), project_slug, role=Role.OWNER)
        values = checked(ProjectEditSerializer(data=request.data, partial=True))
        changed = services.project_update(project=project, by=user_of(request), **values)
        return self._answer(changed, status.HTTP_200_OK)

    @extend_schema(
        operation_id="projects_delete", request=DeletionRequestSerializer, responses={202: DeletionSerializer}
    )
    @action(detail=True, methods=["post"], url_path="delete")
    def remove(self, request: Request, project_slug: str, **_: Any) -> ApiResponse:
        """Delete a project with everything in it, its name as confirmation. Only owners can.

        It is refused while raters are recruited for it or wait for their pay. From the answer on the project is not
        found. A worker deletes its rows, all or none, and then its files; if it cannot, the project is back.
        """
        project = get_project_or_404(user_of(request), project_slug, role=Role.OWNER)
        confirmation = checked(DeletionRequestSerializer(data=request.data))["confirmation"]
        deletion = project_deletion_request(project=project, confirmation=confirmation, by=user_of(request))
        tasks.project_delete.delay_on_commit(deletion.pk)
        return ApiResponse(DeletionSerializer(deletion).data, status=status.HTTP_202_ACCEPTED)


class MemberSerializer(Strict, serializers.ModelSerializer[Any]):
    username = serializers.CharField(source="user.username", max_length=150)
    version = VersionField(services.CHANGED)

    class Meta:
        model = Membership
        fields = ("username", "role", "version", "created_at")
        read_only_fields = ("created_at",)


class RoleSerializer(EditSerializer):
    class Meta:
        model = Membership
        fields = ("role", "version")


class MembersViewSet(ReadViewSet):
    """The members of a project. Every member can list them; only owners can change them."""

    queryset = Membership.objects.all()
    serializer_class = MemberSerializer
    write_role = Role.OWNER
    lookup_field = "user__username"
    lookup_value_converter = "str"
    lookup_url_kwarg: str = "username"

    def get_queryset(self) -> QuerySet[Membership]:
        return self.project.memberships.select_related("user")

    @extend_schema(request=MemberSerializer, responses={201: MemberSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Add a user of this server."""
        data = self.validated(MemberSerializer)
        member = services.member_add(
            project=self.project, username=data["user"]["username"], role=Role(data["role"]), by=user_of(request)
        )
        return ApiResponse(self.get_serializer(member).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=RoleSerializer)
    def partial_update(self, request: Request, **_: Any) -> ApiResponse:
        """Change a member's role. The last owner cannot be changed."""
        member = self.get_object()
        data = self.validated(RoleSerializer)
        data["role"] = Role(data["role"])
        changed = services.member_change(membership=member, by=user_of(request), **data)
        return ApiResponse(self.get_serializer(changed).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, **_: Any) -> ApiResponse:
        """Remove a member. The last owner cannot be removed."""
        services.member_remove(membership=self.get_object(), by=user_of(request))
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)


class InvitationUseSerializer(AnswerSerializer):
    username = serializers.CharField(source="user.username")

    class Meta:
        model = InvitationUse
        fields = ("username", "used_at")


class InvitationSerializer(AnswerSerializer):
    created_by = UsernameField()
    uses = InvitationUseSerializer(many=True, read_only=True)
    closed = serializers.SerializerMethodField(help_text="Why it can no longer be used; empty if it can be.")

    class Meta:
        model = Invitation
        fields = ("id", "role", "most_uses", "expires_at", "revoked_at", "created_by", "created_at", "closed", "uses")

    def get_closed(self, invitation: Invitation) -> str:
        return invitations.why_closed(invitation)


class InvitationLinkSerializer(InvitationSerializer):
    link = serializers.URLField(help_text="Shown only now: no more than its hash is stored.")

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "link")  # type: ignore[assignment] # one more


class InvitationRequestSerializer(Strict, serializers.ModelSerializer[Any]):
    most_uses = serializers.IntegerField(default=1, min_value=1, max_value=invitations.MOST_USES)
    days = serializers.IntegerField(
        default=7, min_value=1, max_value=invitations.MOST_DAYS, help_text="How long the link works."
    )

    class Meta:
        model = Invitation
        fields = ("role", "most_uses", "days")


class InvitationsViewSet(ReadViewSet):
    """Invitations by link. Only owners can list, make and revoke them."""

    queryset = Invitation.objects.all()
    serializer_class = InvitationSerializer
    ordering = "-pk"
    read_role = Role.OWNER
    write_role = Role.OWNER
    lookup_url_kwarg = "invitation_pk"

    def get_queryset(self) -> QuerySet[Invitation]:
        return self.project.invitations.with_standing().select_related("created_by").prefetch_related("uses__user")

    @extend_schema(request=InvitationRequestSerializer, responses={201: InvitationLinkSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Make a link by which people with an account join. The answer shows it once."""
        data = self.validated(InvitationRequestSerializer)
        data["role"] = Role(data["role"])
        made, token = invitations.invitation_create(project=self.project, by=user_of(request), **data)
        made.link = reverse("annotation:invitation", args=[token], request=request)  # type: ignore[attr-defined]
        answer = InvitationLinkSerializer(made, context=self.get_serializer_context()).data
        return ApiResponse(answer, status=status.HTTP_201_CREATED, headers={"Location": self.url_of(made)})

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, **_: Any) -> ApiResponse:
        """Revoke an invitation. Who has joined stays a member."""
        invitations.invitation_revoke(invitation=self.get_object(), by=user_of(request))
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)
