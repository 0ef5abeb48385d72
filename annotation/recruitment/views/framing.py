"""Raters' pages inside a provider's frame: the sites that may frame them, the target of the last form, and cookies.

Browsers send no ordinary cookies to a page in another site's frame. Here they are ``SameSite=None; Secure;
Partitioned``: separate for each framing site, so that they cannot track anyone. This applies only to raters' pages, and
only for browsers that came through a provider that uses frames.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import Capability, Provider
from annotation.recruitment.services.accounts import provider_of

GetResponse = Callable[[HttpRequest], HttpResponse]
PATH = "/r/"
COOKIE = "assay_frame"


def embeds(provider: str) -> bool:
    """Return whether the provider shows raters' pages in a frame."""
    return provider in PROVIDERS and Capability.EMBEDDED in PROVIDERS[provider].capabilities


def framed_by(response: HttpResponse, provider: str, *, keep: bool) -> None:
    """Let the provider's frame show this response and, with ``keep``, the following ones in this browser."""
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
    if settings.SESSION_COOKIE_SECURE:  # without TLS, browsers refuse such cookies
        for name, cookie in response.cookies.items():
            if name != settings.SESSION_COOKIE_NAME:  # raters have none; signed-in users keep theirs
                cookie["samesite"] = "None; Partitioned"  # http.cookies has Partitioned from Python 3.14 on
                cookie["secure"] = True
