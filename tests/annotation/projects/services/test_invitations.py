"""Invitations by link: who joins, how often, and until when."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import AnnotationError, LimitReached
from annotation.models import AuditEntry, Invitation, InvitationUse, Membership, Project, Role, User
from annotation.projects.roles import ROLES, rights_of, roles_sentence
from annotation.projects.selectors import invitations as selectors
from annotation.projects.selectors.invitations import invitations_of
from annotation.projects.services import invitations as services
from annotation.projects.services.invitations import (
    invitation_accept,
    invitation_by_token,
    invitation_create,
    invitation_revoke,
    why_closed,
)
from annotation.projects.services.projects import member_change, member_remove


@pytest.fixture
def made(project: Project, owner: User) -> tuple[Invitation, str]:
    return invitation_create(project=project, by=owner, role=Role.MANAGER)


def test_a_link_makes_one_person_a_member_and_is_logged(made, project: Project, outsider: User, owner: User) -> None:
    invitation, token = made
    assert token not in str(Invitation.objects.values().get())
    found = invitation_by_token(token=token, address="192.0.2.1")
    assert found == invitation
    membership = invitation_accept(invitation=invitation, user=outsider)
    assert (membership.project, membership.role) == (project, Role.MANAGER)
    assert InvitationUse.objects.get().user == outsider
    assert why_closed(invitation) == "has been used"
    other = User.objects.create_user("late")
    with pytest.raises(AnnotationError, match="This invitation has been used"):
        invitation_accept(invitation=invitation, user=other)
    assert not Membership.objects.filter(user=other).exists()
    entries = AuditEntry.objects.filter(project=project, verb__startswith="invitation.").order_by("pk")
    assert [(entry.verb, entry.actor) for entry in entries] == [
        ("invitation.create", owner),
        ("invitation.accept", outsider),
    ]


def test_a_link_for_several_people_ends_with_the_last(project: Project, owner: User) -> None:
    invitation, _ = invitation_create(project=project, by=owner, role=Role.VIEWER, most_uses=2)
    for name in ("ann", "bob"):
        assert why_closed(invitation) == ""
        invitation_accept(invitation=invitation, user=User.objects.create_user(name))
    assert why_closed(invitation) == "has been used by as many people as it was made for"


def test_a_member_keeps_the_role_and_uses_nothing_up(made, viewer: User) -> None:
    invitation, _ = made
    assert invitation_accept(invitation=invitation, user=viewer).role == Role.VIEWER
    assert why_closed(invitation) == ""


def test_a_revoked_or_expired_link_admits_nobody(made, project: Project, owner: User, outsider: User) -> None:
    invitation, _ = made
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(AnnotationError, match="has expired"):
        invitation_accept(invitation=invitation, user=outsider)
    revoked, _ = invitation_create(project=project, by=owner, role=Role.VIEWER)
    for _ in range(2):
        invitation_revoke(invitation=revoked, by=owner)
    with pytest.raises(AnnotationError, match="was revoked"):
        invitation_accept(invitation=revoked, user=outsider)
    assert AuditEntry.objects.filter(verb="invitation.revoke").count() == 1


@pytest.mark.parametrize(("wrong", "field"), [({"days": 0}, "days"), ({"most_uses": 101}, "most_uses")])
def test_limits_of_days_and_uses(project: Project, owner: User, wrong: dict[str, int], field: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        invitation_create(project=project, by=owner, role=Role.VIEWER, **wrong)
    assert field in refused.value.fields


def test_a_project_has_a_bounded_number_of_open_links(made, project, owner, monkeypatch) -> None:
    monkeypatch.setattr(services, "MOST_OPEN", 1)
    with pytest.raises(AnnotationError, match="Revoke some first"):
        invitation_create(project=project, by=owner, role=Role.VIEWER)
    invitation_revoke(invitation=made[0], by=owner)
    invitation_create(project=project, by=owner, role=Role.VIEWER)


def test_wrong_links_from_an_address_are_limited_and_right_ones_are_not(made, monkeypatch) -> None:
    limit = services.Limit("invitation-test", most=2, seconds=60, uses="wrong links")
    monkeypatch.setattr(services, "UNKNOWN_LINKS", limit)
    for _ in range(3):
        assert invitation_by_token(token=made[1], address="192.0.2.1") is not None
    for _ in range(2):
        assert invitation_by_token(token="guess", address="192.0.2.1") is None
    with pytest.raises(LimitReached):
        invitation_by_token(token="guess", address="192.0.2.1")
    assert invitation_by_token(token="guess", address="192.0.2.2") is None


def test_every_role_is_explained_and_a_higher_one_may_more() -> None:
    assert [rights.role for rights in ROLES] == sorted(Role, key=lambda role: role.rank)
    assert roles_sentence().startswith("Viewers read everything and download. Managers also import data,")
    assert rights_of(Role.VIEWER) == "read everything and download"
    assert len(rights_of(Role.VIEWER)) < len(rights_of(Role.MANAGER)) < len(rights_of(Role.OWNER))


def test_a_removed_member_does_not_come_back_by_the_same_link(project: Project, owner: User, outsider: User) -> None:
    invitation, _ = invitation_create(project=project, by=owner, role=Role.VIEWER, most_uses=5)
    member_remove(membership=invitation_accept(invitation=invitation, user=outsider), by=owner)
    with pytest.raises(AnnotationError, match="admits each person once, and you were a member before"):
        invitation_accept(invitation=invitation, user=outsider)
    assert why_closed(invitation) == "", "others still join"


@pytest.mark.parametrize("end", ["removed", "demoted", "deactivated"])
def test_a_link_of_someone_who_is_no_longer_an_owner_admits_nobody(
    project: Project, owner: User, outsider: User, end: str
) -> None:
    former = User.objects.create_user("former")
    member = Membership.objects.create(project=project, user=former, role=Role.OWNER)
    _, token = invitation_create(project=project, by=former, role=Role.OWNER)
    if end == "removed":
        member_remove(membership=member, by=owner)
    elif end == "demoted":
        member_change(membership=member, role=Role.MANAGER, by=owner)
    else:
        User.objects.filter(pk=former.pk).update(is_active=False)
    for user in (former, outsider) if end == "removed" else (outsider,):
        with pytest.raises(AnnotationError, match="no longer an owner"):
            invitation_accept(invitation=invitation_by_token(token=token, address="192.0.2.1"), user=user)
    assert [why_closed(row) for row in invitations_of(project)] == [
        "was made by someone who is no longer an owner of the project"
    ]


def test_no_link_that_works_is_hidden_by_newer_ones(project: Project, owner: User, monkeypatch) -> None:
    monkeypatch.setattr(selectors, "LISTED", 3)
    hidden, _ = invitation_create(project=project, by=owner, role=Role.OWNER)
    for _ in range(4):
        newer, _ = invitation_create(project=project, by=owner, role=Role.VIEWER)
        invitation_revoke(invitation=newer, by=owner)
    assert invitations_of(project)[0] == hidden
    assert len(invitations_of(project)) == 3
