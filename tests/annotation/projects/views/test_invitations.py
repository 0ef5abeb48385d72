"""The page of an invitation, and the links on the page of members."""

import re

from django.urls import reverse

from annotation.models import Invitation, Membership, Project, Role, User
from annotation.projects.services import invitations as services


def url(name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=args)


def link_of(client, project: Project, **fields: object) -> str:
    answer = client.post(
        url("invitation-create", project.slug), {"role": "manager", "most_uses": 1, "days": 7, **fields}
    )
    return re.search(r'<code id="invitation-link">http://testserver(\S+)</code>', answer.content.decode())[1]


def test_a_visitor_signs_in_sees_who_invites_and_joins_by_a_post(
    as_user, client, project: Project, owner: User, outsider: User
) -> None:
    link = link_of(as_user(owner), project)
    members = url("project-members", project.slug)
    assert "invitation-link" not in as_user(owner).get(members).content.decode()
    client.logout()
    assert client.get(link).headers["Location"] == f"/accounts/login/?next={link}"
    for page in (client.get(link, follow=True), client.post("/accounts/login/", {"next": link, "username": "x"})):
        text = page.content.decode()  # also after a wrong password
        for part in (f"Sign in to join {project.name}", owner.username, "Manager: you may read everything", link):
            assert part in text

    client = as_user(outsider)
    shown = client.get(link).content.decode()
    for text in (project.name, owner.username, "you may read everything, download, import data", "Join as manager"):
        assert text in shown
    assert not Membership.objects.filter(project=project, user=outsider).exists()
    answer = client.post(link)
    assert answer.headers["Location"] == url("project-detail", project.slug)
    assert Membership.objects.get(project=project, user=outsider).role == Role.MANAGER
    assert "You are a member already" in client.get(link).content.decode()

    late = User.objects.create_user("late")
    answer = as_user(late).get(link)
    assert answer.status_code == 410
    assert "This invitation has been used" in answer.content.decode()
    assert project.name not in answer.content.decode()
    assert as_user(late).post(link).status_code == 410
    listed = as_user(owner).get(members).content.decode()
    assert "1 of 1" in listed
    assert outsider.username in listed


def test_a_revoked_link_says_so_and_an_unknown_one_is_not_found(
    as_user, client, project, owner, manager, outsider
) -> None:
    link = link_of(as_user(owner), project, role="viewer")
    revoke = url("invitation-revoke", project.slug, Invitation.objects.get().pk)
    assert as_user(manager).post(revoke).status_code == 403
    assert "no longer works" in as_user(owner).post(revoke, follow=True).content.decode()
    answer = as_user(outsider).get(link)
    assert (answer.status_code, "This invitation was revoked" in answer.content.decode()) == (410, True)
    assert as_user(outsider).get(url("invitation", "guess")).status_code == 404
    sign_in = client.get(link, follow=True).content.decode()
    assert "The invitation that you opened was revoked" in sign_in
    assert project.name not in sign_in
    for elsewhere in (url("invitation", "guess"), "/p/x/", "//evil.example/join/x/", ""):
        assert "invitation" not in client.get("/accounts/login/", {"next": elsewhere}).content.decode()


def test_who_joined_after_the_page_was_shown_is_named_when_a_link_is_revoked(as_user, project, owner, outsider) -> None:
    link = link_of(as_user(owner), project, most_uses=5)
    revoke = url("invitation-revoke", project.slug, Invitation.objects.get().pk)
    as_user(outsider).post(link)
    page = as_user(owner).post(revoke, follow=True).content.decode()
    assert f"Joined by it before: {outsider.username}." in page


def test_a_link_that_is_revoked_while_one_accepts_says_so(as_user, project, owner, outsider, monkeypatch) -> None:
    link = link_of(as_user(owner), project)
    read_before = Invitation.objects.get()
    as_user(owner).post(url("invitation-revoke", project.slug, read_before.pk))
    monkeypatch.setattr(services, "invitation_by_token", lambda **_: read_before)

    answer = as_user(outsider).post(link)

    assert (answer.status_code, "This invitation was revoked" in answer.content.decode()) == (410, True)
    assert not Membership.objects.filter(project=project, user=outsider).exists()


def test_only_owners_see_and_make_links(as_user, project: Project, owner: User, manager: User) -> None:
    link_of(as_user(owner), project)
    client = as_user(manager)
    assert client.post(url("invitation-create", project.slug), {"role": "owner"}).status_code == 403
    page = client.get(url("project-members", project.slug)).content.decode()
    assert "Invite by link" not in page
    assert "Managers also import data" in page
    assert as_user(owner).get(url("project-members", project.slug)).text.count("Managers also import data") == 1


def test_a_wrong_number_is_named_at_its_field_and_nothing_is_made(as_user, project: Project, owner: User) -> None:
    data = {"role": "viewer", "most_uses": 1000, "days": 7}
    page = as_user(owner).post(url("invitation-create", project.slug), data).content.decode()
    assert "less than or equal to 100" in page
    assert 'value="1000"' in page
    assert not Invitation.objects.exists()
