import pytest

from annotation.core.errors import AnnotationError
from annotation.models import Membership, Project, Role, User
from annotation.projects.services.projects import member_add, member_change, member_remove, project_create


def test_the_creator_of_a_project_is_its_owner(outsider: User) -> None:
    project = project_create(by=outsider, name="Chit-chat!")
    assert (project.slug, project.memberships.get().role) == ("chit-chat", Role.OWNER)


def test_a_taken_slug_gets_a_number(project: Project, outsider: User) -> None:
    assert project_create(by=outsider, name=project.name).slug == "chit-chat-2"


def test_a_member_is_added_once(project: Project, outsider: User) -> None:
    assert member_add(project=project, username="otto-outsider", role=Role.VIEWER).user == outsider
    with pytest.raises(AnnotationError, match="already a member, as viewer"):
        member_add(project=project, username="otto-outsider", role=Role.OWNER)


def test_an_unknown_username_is_refused(project: Project) -> None:
    with pytest.raises(AnnotationError, match="found 'nobody'") as refused:
        member_add(project=project, username="nobody", role=Role.VIEWER)
    assert list(refused.value.fields) == ["username"]


def test_the_last_owner_can_neither_leave_nor_step_down(project: Project, owner: User, manager: User) -> None:
    membership = Membership.objects.get(user=owner)
    with pytest.raises(AnnotationError, match="needs an owner"):
        member_remove(membership=membership)
    with pytest.raises(AnnotationError, match="needs an owner"):
        member_change(membership=membership, role=Role.VIEWER)
    member_change(membership=Membership.objects.get(user=manager), role=Role.OWNER)
    member_remove(membership=membership)
    assert project.memberships.get(role=Role.OWNER).user == manager
