import csv
import io
import json

import pytest
from django.urls import reverse

from annotation.models import Membership, Project, Rater, RaterIdentity, Role, User
from tests.annotation.worlds.datasets import example_dataset


def url(name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=args)


def test_the_list_shows_only_own_projects(as_user, project: Project, viewer: User, outsider: User) -> None:
    page = as_user(viewer).get(url("project-list")).content.decode()
    assert "Chit-chat" in page
    assert "Elsewhere" not in page


def test_the_number_of_raters_is_not_known_of_imported_medians_alone(as_user, project: Project, viewer: User) -> None:
    client, address = as_user(viewer), url("project-list")
    for_many = Rater.objects.create(project=project, pseudonym="median")
    RaterIdentity.objects.create(rater=for_many, project=project, provider="aggregate", external_id="median")

    assert "raters not known" in client.get(address).content.decode()
    assert json.loads(client.get(address, {"format": "json"}).getvalue())[0]["raters"] is None

    Rater.objects.create(project=project, pseudonym="ann")
    assert json.loads(client.get(address, {"format": "json"}).getvalue())[0]["raters"] == 1
    assert "raters not known" not in client.get(address).content.decode()


def test_anonymous_users_are_redirected(client, project: Project) -> None:
    for address in (url("project-list"), url("project-create"), url("project-detail", project.slug)):
        assert client.get(address).status_code == 302


def test_any_user_can_create_a_project_and_owns_it(as_user, outsider: User) -> None:
    answer = as_user(outsider).post(url("project-create"), {"name": "Fresh", "description": ""})
    assert answer.headers["Location"] == url("project-detail", "fresh")
    assert Membership.objects.get(project__slug="fresh").role == Role.OWNER


def test_the_overview_of_an_empty_project_links_to_the_import(as_user, project, viewer, manager) -> None:
    assert (
        url("dataset-import", project.slug)
        in as_user(manager).get(url("project-detail", project.slug)).content.decode()
    )
    assert (
        url("dataset-import", project.slug)
        not in as_user(viewer).get(url("project-detail", project.slug)).content.decode()
    )


def test_the_overview_of_an_empty_project_links_to_a_new_corpus(as_user, project, viewer, manager) -> None:
    corpus, page = url("corpus-create", project.slug), url("project-detail", project.slug)
    assert corpus in as_user(manager).get(page).content.decode()
    assert corpus not in as_user(viewer).get(page).content.decode()
    example_dataset(project)
    assert corpus not in as_user(manager).get(page).content.decode()


def test_only_the_owner_changes_name_and_members(as_user, project: Project, manager: User, viewer: User) -> None:
    member = Membership.objects.get(user=viewer)
    client = as_user(manager)
    assert client.get(url("project-members", project.slug)).status_code == 200
    for address in (
        url("project-edit", project.slug),
        url("project-members", project.slug),
        url("project-members-change", project.slug, member.pk),
        url("project-members-remove", project.slug, member.pk),
    ):
        assert client.post(address, {"name": "x", "role": "owner", "username": "x"}).status_code == 403
    member.refresh_from_db()
    assert member.role == Role.VIEWER


def test_the_owner_adds_changes_and_removes_members(as_user, project: Project, owner: User, outsider: User) -> None:
    client = as_user(owner)
    client.post(url("project-members", project.slug), {"username": "otto-outsider", "role": "viewer"})
    member = Membership.objects.get(project=project, user=outsider)
    client.post(url("project-members-change", project.slug, member.pk), {"role": "manager"})
    member.refresh_from_db()
    assert member.role == Role.MANAGER
    client.post(url("project-members-remove", project.slug, member.pk))
    assert not Membership.objects.filter(pk=member.pk).exists()


def test_refused_changes_are_explained_on_the_page(as_user, project: Project, owner: User) -> None:
    client = as_user(owner)
    unknown = client.post(url("project-members", project.slug), {"username": "nobody", "role": "viewer"})
    assert "found &#x27;nobody&#x27;" in unknown.content.decode()
    mine = Membership.objects.get(user=owner)
    response = client.post(url("project-members-remove", project.slug, mine.pk), follow=True)
    assert "A project needs an owner" in response.content.decode()


def test_a_member_of_another_project_cannot_be_touched(as_user, owner: User, outsider: User, project: Project) -> None:
    theirs = Membership.objects.get(user=outsider)
    assert as_user(owner).post(url("project-members-remove", project.slug, theirs.pk)).status_code == 404


@pytest.mark.parametrize("name", ["project-members-change", "project-members-remove"])
def test_changes_are_post_only(as_user, project: Project, owner: User, name: str) -> None:
    assert as_user(owner).get(url(name, project.slug, 1)).status_code == 405


def test_tables_are_downloadable(as_user, project: Project, owner: User) -> None:
    members = as_user(owner).get(url("project-members", project.slug), {"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(members.getvalue().decode())))
    assert [(row["member"], row["role"]) for row in rows] == [("olga-owner", "owner")]
    projects = as_user(owner).get(url("project-list"), {"format": "json"})
    assert [row["slug"] for row in json.loads(projects.getvalue())] == [project.slug]
