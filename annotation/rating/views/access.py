"""Who is rating: the signed cookie of a browser. Every view of the rater's begins here."""

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.models import Admission, Campaign, Participation, Presentation, Rater
from annotation.rating.selectors.raters import is_recruited
from annotation.rating.services.rater_accounts import rater_of_account
from annotation.rating.services.raters import rater_of_token

COOKIE_SECONDS = 365 * 24 * 3600


def campaign_or_404(link_token: UUID) -> Campaign:
    return get_object_or_404(
        Campaign.objects.select_related("project", "dataset"), link_token=link_token, imported=False
    )


def cookie_name(campaign: Campaign) -> str:
    return f"assay_rater_{campaign.project_id}"


def cookie_path(campaign: Campaign) -> str:
    token = str(campaign.link_token)
    return reverse("annotation:rater-landing", args=[token]).split(token)[0]


def remember(response: HttpResponse, campaign: Campaign, rater: Rater) -> None:
    """This browser is this rater from now on."""
    response.set_signed_cookie(
        cookie_name(campaign),
        str(rater.access_token),
        salt="rater",
        max_age=COOKIE_SECONDS,
        path=cookie_path(campaign),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def rater_here(request: HttpRequest, campaign: Campaign) -> Rater | None:
    """Whom this browser belongs to, whether or not they take part; with accounts, who has signed in.

    Whoever came through a provider needs no account: the provider has said who it is.
    """
    known = rater_of_token(project=campaign.project, access_token=_access_token(request, campaign))
    if campaign.admission != Admission.ACCOUNT or (known is not None and is_recruited(known, campaign)):
        return known
    user = request.user
    return rater_of_account(project=campaign.project, user=user) if user.is_authenticated else None


def participation_here(request: HttpRequest, campaign: Campaign) -> Participation | None:
    token = _access_token(request, campaign)
    if token is None:
        return None
    mine = Participation.objects.select_related("rater").filter(campaign=campaign, rater__access_token=token)
    return mine.first()


def participation_or_404(request: HttpRequest, campaign: Campaign) -> Participation:
    mine = participation_here(request, campaign)
    if mine is None:
        raise Http404("This browser has not joined the campaign.")
    return mine


def own_presentation_or_404(campaign: Campaign, rater: Rater, token: str) -> Presentation:
    try:
        wanted = UUID(token)
    except ValueError as error:
        raise Http404("No such unit.") from error
    own = Presentation.objects.select_related("check_unit__item")
    return get_object_or_404(own, campaign=campaign, rater=rater, token=wanted)


def _access_token(request: HttpRequest, campaign: Campaign) -> UUID | None:
    text = request.get_signed_cookie(cookie_name(campaign), default=None, salt="rater", max_age=COOKIE_SECONDS)
    return UUID(text) if text else None
