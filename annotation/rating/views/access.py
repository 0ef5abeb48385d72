"""Recognise a rater by the signed cookie of the browser."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from annotation.models import Admission, Campaign, Participation, Presentation, Rater
from annotation.rating.selectors.arrivals import campaign_of_link, participation_of_token, presentation_of_token
from annotation.rating.selectors.raters import is_recruited
from annotation.rating.services.rater_accounts import rater_of_account
from annotation.rating.services.raters import rater_of_token


class LinkGone(Http404):
    """A rater's link that leads to no campaign, perhaps no longer."""


COOKIE_SECONDS = 365 * 24 * 3600


def campaign_or_404(link_token: UUID) -> Campaign:
    """Return the campaign of a link; raters read a page of their own if it leads to none."""
    campaign = campaign_of_link(link_token)
    if campaign is None:
        raise LinkGone("No campaign has this link.")
    return campaign


def cookie_name(campaign: Campaign) -> str:
    return f"assay_rater_{campaign.project_id}"


def cookie_options(campaign: Campaign) -> dict[str, Any]:
    """Return the options of cookies, which browsers send to the pages of raters alone."""
    token = str(campaign.link_token)
    path = reverse("annotation:rater-landing", args=[token]).split(token)[0]
    secure = settings.SESSION_COOKIE_SECURE
    return {"max_age": COOKIE_SECONDS, "path": path, "secure": secure, "httponly": True, "samesite": "Lax"}


def remember(response: HttpResponse, campaign: Campaign, rater: Rater) -> None:
    """Store in the browser which rater it belongs to."""
    name, token = cookie_name(campaign), str(rater.access_token)
    response.set_signed_cookie(name, token, salt="rater", **cookie_options(campaign))


def rater_of_browser(request: HttpRequest, campaign: Campaign) -> Rater | None:
    return rater_of_token(project=campaign.project, access_token=_access_token(request, campaign))


def rater_here(request: HttpRequest, campaign: Campaign) -> Rater | None:
    """Return the rater of this browser, in the campaign or not; if accounts are required, the signed-in rater.

    A rater from a provider needs no account: the provider vouches for the identity.
    """
    rater = rater_of_browser(request, campaign)
    if campaign.admission != Admission.ACCOUNT or (rater is not None and is_recruited(rater, campaign)):
        return rater
    user = request.user
    return rater_of_account(project=campaign.project, user=user) if user.is_authenticated else None


def participation_here(request: HttpRequest, campaign: Campaign) -> Participation | None:
    token = _access_token(request, campaign)
    if token is None:
        return None
    return participation_of_token(campaign, token)


def participation_or_404(request: HttpRequest, campaign: Campaign) -> Participation:
    participation = participation_here(request, campaign)
    if participation is None:
        raise Http404("This browser has not joined the campaign.")
    return participation


def presentation_or_404(campaign: Campaign, rater: Rater, token: str) -> Presentation:
    try:
        uuid = UUID(token)
    except ValueError as error:
        raise Http404("No such unit.") from error
    presentation = presentation_of_token(campaign, rater, uuid)
    if presentation is None:
        raise Http404("No such unit.")
    return presentation


def _access_token(request: HttpRequest, campaign: Campaign) -> UUID | None:
    text = request.get_signed_cookie(cookie_name(campaign), default=None, salt="rater", max_age=COOKIE_SECONDS)
    return UUID(text) if text else None
