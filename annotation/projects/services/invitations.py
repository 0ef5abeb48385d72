"""Invitations by link: made and revoked by owners, accepted by people with an account."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.core.limits import Limit, limit_count, limit_uncount
from annotation.models import Invitation, InvitationUse, Membership, Project, Role, User
from annotation.projects.services.audit import audit_record
from annotation.projects.services.projects import owner_check

TOKEN_BYTES = 32
MOST_USES, MOST_DAYS = 100, 90
MOST_OPEN = 100  # invitations of a project that can still be used
UNKNOWN_LINKS = Limit("invitation-address", most=30, seconds=900, uses="wrong invitation links from your address")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def invitation_create(
    *, project: Project, by: User, role: Role, days: int = 7, most_uses: int = 1
) -> tuple[Invitation, str]:
    """Make an invitation; return it with its token, which is stored only as a hash."""
    for name, found, most in (("days", days, MOST_DAYS), ("most_uses", most_uses, MOST_USES)):
        if not 1 <= found <= most:
            raise AnnotationError.at(name, f"Found {found}; accepted: 1 to {most}.")
    owner_check(project=project, by=by)
    if project.invitations.running().count() >= MOST_OPEN:
        raise AnnotationError(f"Found {MOST_OPEN} invitations that can be used; accepted: fewer. Revoke some first.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        token_hash=_hash(token),
        most_uses=most_uses,
        expires_at=timezone.now() + timedelta(days=days),
        created_by=by,
    )
    people = "one person" if most_uses == 1 else f"up to {most_uses} people"
    audit_record(
        verb="invitation.create",
        summary=f"Invited {people} by link, as {role.label.lower()}, for {days} days.",
        project=project,
        by=by,
        data={"invitation": invitation.pk, "role": role.value, "most_uses": most_uses, "days": days},
    )
    return invitation, token


@transaction.atomic
def invitation_revoke(*, invitation: Invitation, by: User) -> Invitation:
    """End an invitation; who has joined stays. A second call changes nothing."""
    owner_check(project=invitation.project, by=by)
    fresh = _locked(invitation.pk)
    if fresh.revoked_at is None:
        fresh.revoked_at = timezone.now()
        fresh.save(update_fields=["revoked_at"])
        audit_record(
            verb="invitation.revoke",
            summary=f"Revoked an invitation by link, as {fresh.get_role_display().lower()}.",
            project=fresh.project,
            by=by,
            data={"invitation": fresh.pk},
        )
    return fresh


def invitation_by_token(*, token: str, address: str) -> Invitation | None:
    """Return the invitation of a link, or None. Wrong links from an address are limited."""
    limit_count(limit=UNKNOWN_LINKS, subject=address)
    invitation = Invitation.objects.select_related("project", "created_by").filter(token_hash=_hash(token)).first()
    if invitation is not None:
        limit_uncount(limit=UNKNOWN_LINKS, subject=address)
    return invitation


def why_closed(invitation: Invitation, user: User | None = None) -> str:
    """Return why an invitation cannot be used any more, or not by this user; an empty text if it can be."""
    if invitation.revoked_at is not None:
        return "was revoked"
    if invitation.expires_at <= timezone.now():
        return "has expired"
    if not invitation.is_by_owner:
        return "was made by someone who is no longer an owner of the project"
    if invitation.uses.count() >= invitation.most_uses:
        return "has been used" if invitation.most_uses == 1 else "has been used by as many people as it was made for"
    if user is not None and invitation.uses.filter(user=user).exists():
        return "admits each person once, and you were a member before"
    return ""


@transaction.atomic
def invitation_accept(*, invitation: Invitation, user: User) -> Membership:
    """Make the user a member. A member stays as is; the invitation is not used then. Each link admits a person once."""
    Project.objects.select_for_update(no_key=True).get(pk=invitation.project_id)  # who else changes its members waits
    fresh = _locked(invitation.pk)
    known = Membership.objects.filter(project=fresh.project, user=user).first()
    if known is not None:
        return known
    if reason := why_closed(fresh, user):
        raise AnnotationError(f"This invitation {reason}.")
    membership = Membership.objects.create(project=fresh.project, user=user, role=fresh.role)
    InvitationUse.objects.create(invitation=fresh, user=user)
    audit_record(
        verb="invitation.accept",
        summary=f"{user.get_username()} joined by an invitation, as {fresh.get_role_display().lower()}.",
        project=fresh.project,
        by=user,
        data={"invitation": fresh.pk, "role": fresh.role},
    )
    return membership


def _locked(pk: int) -> Invitation:
    return Invitation.objects.select_for_update(of=("self",)).select_related("project").get(pk=pk)
