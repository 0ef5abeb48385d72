"""What all pages of raters share: the campaign, the language, and a part of the page for scripts."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import ngettext
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.cache import never_cache

from annotation.core.errors import LimitReached
from annotation.core.markdown import markdown
from annotation.models import Campaign
from annotation.rating.languages import LANGUAGES, SOURCE, supported
from annotation.rating.selectors.screens import keys_of
from annotation.rating.views.access import campaign_or_404

LANGUAGE_COOKIE = "assay_rater_language"
PART = "X-Rater-Part"  # sent by rater-send.js: one request returns the next screen
SHOWN_AT = "X-Rater-Url"  # the address of the whole page
GO = "X-Rater-Go"

View = Callable[..., HttpResponse]


def rater_view(view: View) -> View:
    """Pass the campaign to the view, and run it in the rater's language. All other pages are in English."""

    @wraps(view)
    def wrapped(request: HttpRequest, link_token: UUID, **kwargs: Any) -> HttpResponse:
        campaign = campaign_or_404(link_token)
        language = language_of(request, campaign)
        with translation.override(language):
            response = view(request, campaign, **kwargs)
        response.headers["Content-Language"] = translation.to_locale(language).replace("_", "-")
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response

    return never_cache(wrapped)


def link_gone(request: HttpRequest) -> HttpResponse:
    """Tell a rater, in the rater's language, that a link leads to no campaign, perhaps no longer."""
    with translation.override(language_of(request)):
        return render(request, "annotation/rating/link_gone.html", status=404)


def language_of(request: HttpRequest, campaign: Campaign | None = None) -> str:
    """Return the campaign's language, else the rater's choice, else the browser's language."""
    chosen = [campaign.rater_language if campaign else "", request.COOKIES.get(LANGUAGE_COOKIE, "")]
    accepted = [code for code, _ in parse_accept_lang_header(request.headers.get("Accept-Language", ""))]
    return next(filter(None, map(supported, [*chosen, *accepted])), SOURCE.code)


def wants_part(request: HttpRequest) -> bool:
    return PART in request.headers


def page(
    request: HttpRequest,
    campaign: Campaign,
    template: str,
    context: Mapping[str, object],
    *,
    room: str = "rating",
    status: int = 200,
    shown_at: str = "",
) -> HttpResponse:
    """Return a page, or for a script only what changes from item to item."""
    part = wants_part(request)
    context = {
        "campaign": campaign,
        "instructions": "" if part else markdown(campaign.instructions),
        "part": part,
        "keys": keys_of(campaign),
        "languages": [] if part or supported(campaign.rater_language) else LANGUAGES.values(),
        **context,
    }
    response = render(request, f"annotation/{room}/{template}.html", context, status=status)
    if part:
        response.headers[SHOWN_AT] = shown_at or request.get_full_path()
    return response


def crowd_message(refusal: LimitReached) -> str:
    """Return what a rater reads if too many people have come from the same address."""
    return ngettext(
        "Many people have come from your network just now. Please try again in %(n)s second.",
        "Many people have come from your network just now. Please try again in %(n)s seconds.",
        refusal.seconds,
    ) % {"n": refusal.seconds}


def as_limit_refusal(response: HttpResponse, refusal: LimitReached) -> HttpResponse:
    """Give a page the status and headers of a limit that was reached."""
    response.status_code = 429
    response.headers["Retry-After"] = str(refusal.seconds)
    return response


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect; a script gets the address in a header."""
    if not wants_part(request):
        return redirect(url)
    response = HttpResponse(status=204)
    response.headers[GO] = url
    return response


def address(campaign: Campaign, name: str) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])
