"""Permission checks before a view runs, the requests that such views get, and messages about what a button did."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django_htmx.middleware import HtmxDetails

from annotation.core.access import get_project_or_404
from annotation.core.errors import AnnotationError
from annotation.models import Membership, Project, Role, User

P = ParamSpec("P")
AnyObject = TypeVar("AnyObject")
View = Callable[..., HttpResponseBase]


class UserRequest(HttpRequest):
    """A request of a signed-in user: what a view behind ``login_required`` gets."""

    user: User
    htmx: HtmxDetails


class MemberRequest(UserRequest):
    """A request of a member of the project that the address names."""

    project: Project
    membership: Membership


def perform(request: MemberRequest, service: Callable[..., object], done: str, **arguments: Any) -> bool:
    """Call a service for the user and show the result or the refusal as a message. Return whether it succeeded."""
    try:
        service(**arguments, by=request.user)
    except AnnotationError as error:
        texts = {name: " ".join(problems) for name, problems in error.fields.items()}
        fields = "; ".join(f"{name}: {text}" for name, text in texts.items() if text not in error.message)
        messages.error(request, f"{error.message} {fields}".strip())
        return False
    messages.success(request, done)
    return True


def project_view(
    role: Role, *, post: Role | None = None
) -> Callable[[Callable[Concatenate[MemberRequest, P], HttpResponseBase]], View]:
    """Admit only members whose role is at least ``role``, or ``post`` for a POST: 404 for outsiders, else 403.

    The address names the project as ``project_slug``; the view finds it as ``request.project``.
    """

    def decorate(view: Callable[Concatenate[MemberRequest, P], HttpResponseBase]) -> View:
        @login_required
        @wraps(view)
        def member_view(request: HttpRequest, project_slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            member = cast(MemberRequest, request)
            needed = post if post and request.method == "POST" else role
            member.project = get_project_or_404(member.user, project_slug, role=needed)
            member.membership = member.project.membership  # type: ignore[attr-defined] # set by the look-up
            return view(member, *args, **kwargs)

        return member_view

    return decorate


def object_view(
    get_or_404: Callable[..., AnyObject], role: Role, *, post: Role | None = None
) -> Callable[[Callable[Concatenate[MemberRequest, AnyObject, P], HttpResponseBase]], View]:
    """Like ``project_view``, for an object within the project, which becomes the view's second argument.

    ``get_or_404`` takes the project and then those parts of the address that its other parameters name.
    """
    names = list(inspect.signature(get_or_404).parameters)[1:]

    def decorate(view: Callable[Concatenate[MemberRequest, AnyObject, P], HttpResponseBase]) -> View:
        @project_view(role, post=post)
        @wraps(view)
        def on_object(request: MemberRequest, /, **kwargs: Any) -> HttpResponseBase:
            instance = get_or_404(request.project, **{name: kwargs.pop(name) for name in names})
            return view(request, instance, **kwargs)  # type: ignore[call-arg] # the rest of the address

        return on_object

    return decorate
