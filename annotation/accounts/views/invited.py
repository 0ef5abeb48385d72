"""The invitation that a page to sign in leads to."""

from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve

from annotation.core.errors import LimitReached
from annotation.core.limits import client_address
from annotation.models import Invitation
from annotation.projects.services.invitations import invitation_by_token


def invitation_behind(request: HttpRequest, to: str) -> Invitation | None:
    """Return the invitation whose page ``to`` is, or None."""
    try:
        match = resolve(urlsplit(to).path)
        if match.view_name != "annotation:invitation":
            return None
        return invitation_by_token(token=match.kwargs["token"], address=client_address(request))
    except (Resolver404, LimitReached):
        return None
