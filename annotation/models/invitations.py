"""Invitations to a project by link."""

from typing import Self

from django.db import models
from django.db.models.functions import Now
from django.utils.functional import cached_property

from annotation.models.accounts import SURVIVES_USER, Membership, Project, Role, User


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def running(self) -> Self:
        """Return those that are neither revoked nor expired; all may have been used."""
        return self.filter(revoked_at=None, expires_at__gt=Now())

    def with_standing(self) -> Self:
        """Read ``is_by_owner`` of all rows with the query."""
        owners = Membership.objects.filter(role=Role.OWNER, user__is_active=True)
        of_maker = owners.filter(project=models.OuterRef("project"), user=models.OuterRef("created_by"))
        return self.annotate(is_by_owner=models.Exists(of_maker))


class Invitation(models.Model):
    """A link by which people with an account join a project. Only the hash of its token is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    most_uses = models.PositiveSmallIntegerField(default=1)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, null=True, **SURVIVES_USER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(condition=models.Q(most_uses__gte=1), name="invitation_for_at_least_one"),
        ]

    def __str__(self) -> str:
        return f"{self.get_role_display()}, to {self.project}"

    @cached_property
    def is_by_owner(self) -> bool:
        """Return whether who made it is still an owner, with an active account: else it admits nobody."""
        return bool(Invitation.objects.with_standing().get(pk=self.pk).is_by_owner)


class InvitationUse(models.Model):
    """A person who joined by an invitation."""

    invitation = models.ForeignKey(Invitation, on_delete=models.CASCADE, related_name="uses")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    used_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=["invitation", "user"], name="invitation_used_once_by_a_person")]

    def __str__(self) -> str:
        return f"{self.user} by {self.invitation}"
