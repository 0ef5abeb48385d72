"""The decorators of views check access and pass the object to the view."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.test import RequestFactory

from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.lookups import dataset_or_404
from annotation.models import Dataset, Project, Role, User


@project_view(Role.VIEWER, post=Role.MANAGER)
def project_page(request: MemberRequest, word: str) -> HttpResponse:
    return HttpResponse(f"{request.project.slug} {request.membership.role} {word}")


@object_view(dataset_or_404, Role.MANAGER)
def dataset_page(request: MemberRequest, dataset: Dataset, word: str) -> HttpResponse:
    return HttpResponse(f"{dataset.name} {word}")


def call(view, user, method: str = "get", **address: str) -> HttpResponse:
    request = getattr(RequestFactory(), method)("/somewhere/")
    request.user = user
    return view(request, **address)


def test_a_member_gets_the_page_with_project_and_membership(project: Project, viewer: User) -> None:
    assert call(project_page, viewer, project_slug=project.slug, word="hello").content == b"chit-chat viewer hello"


def test_outsiders_and_unknown_projects_are_not_found(project: Project, outsider: User, viewer: User) -> None:
    with pytest.raises(Http404):
        call(project_page, outsider, project_slug=project.slug, word="hello")
    with pytest.raises(Http404):
        call(project_page, viewer, project_slug="nowhere", word="hello")


def test_anonymous_users_are_redirected_to_login(project: Project) -> None:
    assert "/login/" in call(project_page, AnonymousUser(), project_slug=project.slug, word="hello").url


def test_a_post_may_need_a_higher_role(project: Project, viewer: User, manager: User) -> None:
    with pytest.raises(PermissionDenied):
        call(project_page, viewer, "post", project_slug=project.slug, word="hello")
    assert call(project_page, manager, "post", project_slug=project.slug, word="hello").status_code == 200


def test_the_object_in_the_url_becomes_an_argument(
    project: Project, manager: User, viewer: User, outsider: User, django_assert_num_queries
) -> None:
    Dataset.objects.create(project=project, name="Chats", slug="chats")
    Dataset.objects.create(project=outsider.memberships.get().project, name="Others", slug="others")
    address = {"project_slug": project.slug, "dataset_slug": "chats", "word": "hello"}

    with django_assert_num_queries(2):
        assert call(dataset_page, manager, **address).content == b"Chats hello"
    with pytest.raises(PermissionDenied):
        call(dataset_page, viewer, **address)
    with pytest.raises(Http404):
        call(dataset_page, manager, **address | {"dataset_slug": "others"})
