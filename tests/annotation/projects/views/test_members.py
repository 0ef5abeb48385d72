"""Two owners on the page of members at once: the second reads what the first changed, and overwrites nothing unseen."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.core.errors import Overtaken
from annotation.models import AuditEntry, Invitation, Membership, Project, Role, User
from annotation.projects.services.editing import columns_of, version_of
from annotation.projects.services.invitations import invitation_accept, invitation_create
from annotation.projects.services.projects import CHANGED, member_add, member_change, member_remove
from scripts.fuzz.forms import Page
from tests.conftest import _member
from tests.races import race

AsUser = Callable[[User], Client]


def forms_of(client: Client, project: Project) -> dict[str, dict[str, Any]]:
    """Return what the forms of the page of members would send, untouched, by their addresses."""
    url = reverse("annotation:project-members", args=[project.slug])
    page = Page(url, fills=False)
    page.feed(client.get(url).content.decode())
    return {form.address: dict(form.pairs) for form in page.forms}


def urls_of(member: Membership) -> tuple[str, str]:
    """Return the addresses that change and that remove a member."""
    args = [member.project.slug, member.pk]
    return tuple(reverse(f"annotation:project-members-{act}", args=args) for act in ("change", "remove"))


def test_the_second_owner_reads_what_the_first_changed_and_removed(
    project: Project, owner: User, viewer: User, as_user: AsUser
) -> None:
    first, second = as_user(_member(project, "ada", Role.OWNER)), as_user(owner)
    member = Membership.objects.get(user=viewer)
    change, remove = urls_of(member)

    theirs, mine = forms_of(first, project), forms_of(second, project)
    first.post(change, theirs[change] | {"role": "manager"})
    for url, sent in ((change, mine[change] | {"role": "owner"}), (remove, mine[remove])):
        page = second.post(url, sent, follow=True).content.decode()
        assert "ada changed this meanwhile to “manager”." in page
        member.refresh_from_db()
        assert member.role == "manager"
    mine = forms_of(second, project)  # the page after the refusal shows the role as it is
    second.post(change, mine[change] | {"role": "owner"})
    member.refresh_from_db()
    assert member.role == "owner"

    theirs, mine = forms_of(first, project), forms_of(second, project)
    first.post(remove, theirs[remove])
    for url in (change, remove):
        page = second.post(url, mine[url], follow=True).content.decode()
        assert f"ada removed {viewer.username} meanwhile." in page
    entries = AuditEntry.objects.filter(project=project, verb__startswith="member.").order_by("pk")
    assert [(entry.verb, entry.actor.username, entry.summary) for entry in entries] == [
        ("member.change", "ada", f"Made {viewer.username} manager, before viewer."),
        ("member.change", owner.username, f"Made {viewer.username} owner, before manager."),
        ("member.remove", "ada", f"Removed {viewer.username}, who was owner."),
    ]


def test_the_api_answers_409_to_a_role_of_what_another_owner_changed(
    project: Project, owner: User, viewer: User, as_user: AsUser
) -> None:
    first, second = as_user(_member(project, "ada", Role.OWNER)), as_user(owner)
    url = f"/api/v1/projects/{project.slug}/members/{viewer.username}/"
    version = second.get(url).json()["version"]

    def patch(client: Client, **change: str) -> Any:
        return client.patch(url, change, content_type="application/json")

    changed = patch(first, role="manager", version=version).json()
    assert changed == second.get(url).json()
    refused = patch(second, role="owner", version=version)
    assert (refused.status_code, refused.json()["fields"]["role"]) == (
        409,
        ["ada changed this meanwhile to “manager”."],
    )
    assert patch(second, role="owner", version=changed["version"]).json()["role"] == "owner"
    assert patch(second, version=changed["version"]).status_code == 400, "without a role"


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_of_a_member_at_the_same_moment_the_second_is_refused(
    project: Project, owner: User, manager: User, viewer: User
) -> None:
    def member_of(user: User) -> Membership:
        return Membership.objects.get(user=user)

    member, seen = member_of(viewer), version_of(columns_of(member_of(viewer), CHANGED))
    _, second = race(
        lambda: member_change(membership=member_of(viewer), role=Role.MANAGER, by=owner, seen=seen),
        lambda: member_change(membership=member, role=Role.OWNER, by=owner, seen=seen),
    )
    assert isinstance(second, Overtaken), second
    _, second = race(
        lambda: member_remove(membership=member_of(viewer), by=owner),
        lambda: member_change(membership=member, role=Role.OWNER, by=owner),
    )
    assert str(second) == f"You removed {viewer.username} meanwhile."

    member_change(membership=member_of(manager), role=Role.OWNER)
    demoted, mine = member_of(manager), member_of(owner)
    _, second = race(  # each owner takes the other's role: the one who came second is no owner any more
        lambda: member_change(membership=demoted, role=Role.VIEWER, by=owner),
        lambda: member_change(membership=mine, role=Role.VIEWER, by=manager),
    )
    assert "You are no longer an owner" in str(second)
    _, second = race(
        lambda: member_remove(membership=demoted, by=owner),
        lambda: invitation_create(project=project, by=manager, role=Role.OWNER),
    )
    assert "You are no longer an owner" in str(second)
    assert not Invitation.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_who_joins_in_two_ways_at_the_same_moment_is_a_member_once(
    project: Project, owner: User, outsider: User
) -> None:
    first, second = (invitation_create(project=project, by=owner, role=role)[0] for role in (Role.VIEWER, Role.MANAGER))
    joined, again = race(
        lambda: invitation_accept(invitation=first, user=outsider),
        lambda: invitation_accept(invitation=second, user=outsider),
    )
    assert joined == again, again
    assert Membership.objects.get(project=project, user=outsider).role == Role.VIEWER
    assert second.uses.count() == 0
    member_remove(membership=joined, by=owner)
    added, accepted = race(
        lambda: member_add(project=project, username=outsider.username, role=Role.VIEWER, by=owner),
        lambda: invitation_accept(invitation=second, user=outsider),
    )
    assert added == accepted, accepted
