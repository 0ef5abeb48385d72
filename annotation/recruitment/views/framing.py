"""Raters' pages inside a frame of the provider's: who may frame them, where their last form may go, which cookies live.

A browser refuses to send cookies of ordinary make to a page in somebody else's frame. Here they are therefore
``SameSite=None; Secure; Partitioned``: kept apart for each site that shows the frame, so that they follow nobody.
Only browsers that came through a provider that shows frames are treated so, and only below the raters' address.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from annotation.recruitment.providers import PROVIDERS, Provider
from annotation.recruitment.providers.base import Capability
from annotation.recruitment.services.accounts import provider_of

GetResponse = Callable[[HttpRequest], HttpResponse]
PATH = "/r/"
COOKIE = "assay_frame"


def embeds(provider: str) -> bool:
    """Tell whether this is a provider that shows raters' pages in a frame."""
    return provider in PROVIDERS and Capability.EMBEDDED in PROVIDERS[provider].capabilities


def framed_by(response: HttpResponse, provider: str, *, keep: bool) -> None:
    """This response may be shown in the provider's frame; with ``keep``, so may those that follow in this browser."""
    if not embeds(provider):
        return
    response.framed_by = provider  # type: ignore[attr-defined]
    if keep:
        response.set_cookie(
            COOKIE, provider, path=PATH, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
        )


class FramedRaters:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith(PATH):
            provider = getattr(response, "framed_by", "") or request.COOKIES.get(COOKIE, "")
            if embeds(provider):
                _let_frame(response, provider_of(provider))
        return response


def _let_frame(response: HttpResponse, provider: Provider) -> None:
    policy = settings.CONTENT_SECURITY_POLICY
    policy = policy.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(provider.frame_ancestors)}")
    policy = policy.replace("form-action 'self'", f"form-action 'self' {' '.join(provider.form_targets)}")
    response.headers["Content-Security-Policy"] = policy
    del response.headers["X-Frame-Options"]
    if settings.SESSION_COOKIE_SECURE:  # without TLS no browser takes such cookies
        for name, cookie in response.cookies.items():
            if name == settings.SESSION_COOKIE_NAME:
                continue  # raters have none; somebody signed in keeps the one they have
            cookie["samesite"] = "None; Partitioned"  # http.cookies knows Partitioned from Python 3.14 on
            cookie["secure"] = True
