"""The entry for raters from a provider, and the ends other than the usual last page."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.core.markdown import markdown
from annotation.models import Campaign, CampaignState, Recruitment
from annotation.rating.selectors.handout import Waiting, participation_of, waiting
from annotation.rating.selectors.screens import criteria_of, preview_screen
from annotation.rating.views.access import participation_here, rater_here, remember
from annotation.rating.views.pages import address, language_of, page, rater_view
from annotation.recruitment import services
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import Arrival, Outcome
from annotation.recruitment.providers.errors import ArrivalRefused
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.arrivals import Where
from annotation.recruitment.views.framing import framed_by


@never_cache
@require_GET
def provider_entry(request: HttpRequest, token: UUID) -> HttpResponse:
    """Admit the rater whom the provider names; a preview creates no rater and takes no slot."""
    recruitment = _recruitment_or_404(token)
    with translation.override(language_of(request, recruitment.campaign)):
        response = _enter(request, recruitment)
    framed_by(response, recruitment.provider, keep=response.status_code == 302)
    return response


def _enter(request: HttpRequest, recruitment: Recruitment) -> HttpResponse:
    campaign = recruitment.campaign
    try:
        arrival = provider_of(recruitment.provider).arrival(request.GET.dict())
        if arrival is None:
            return _refused(request, recruitment, "")
        if arrival.is_preview:
            return _preview(request, campaign)
        taken = services.arrival_take(recruitment=recruitment, arrival=arrival)
    except ArrivalRefused as refusal:
        return _refused(request, recruitment, refusal.message)
    if taken.where == Where.BEFORE:
        completion = services.stay_turned_away(submission=taken.submission, outcome=Outcome.SCREENED_OUT)
        context = {"recruitment": recruitment, "completion": completion, "why": "before"}
        return page(request, campaign, "provider_turned_away", context, room="recruitment")
    if participation_of(campaign=campaign, rater=taken.rater) is None and _nothing_left(recruitment, taken):
        completion = services.stay_turned_away(submission=taken.submission, outcome=Outcome.OUT_OF_WORK)
        context = {"recruitment": recruitment, "completion": completion, "why": "nothing"}
        return page(request, campaign, "provider_turned_away", context, room="recruitment")
    to = "finish" if taken.where == Where.FINISH else "landing"
    response = redirect(_checked(recruitment, arrival, request) if to == "landing" else address(campaign, to))
    remember(response, campaign, taken.rater)
    return response


def _nothing_left(recruitment: Recruitment, taken: services.Taken) -> bool:
    campaign = recruitment.campaign
    if campaign.state == CampaignState.CLOSED:
        return True
    return campaign.state == CampaignState.RUNNING and waiting(campaign=campaign, rater=taken.rater) == Waiting.COMPLETE


def _checked(recruitment: Recruitment, arrival: Arrival, request: HttpRequest) -> str:
    """Return the first page; in a frame, the page that checks first whether the browser keeps cookies there."""
    if not arrival.return_to:
        return address(recruitment.campaign, "landing")
    return f"{reverse('annotation:provider-arrived', args=[recruitment.link_token])}?{urlencode(request.GET)}"


@never_cache
@require_GET
def provider_arrived(request: HttpRequest, token: UUID) -> HttpResponse:
    """Continue in the frame, or offer a new tab if the browser keeps no cookies in frames."""
    recruitment = _recruitment_or_404(token)
    campaign = recruitment.campaign
    with translation.override(language_of(request, campaign)):
        if rater_here(request, campaign) is not None:
            response: HttpResponse = redirect(address(campaign, "landing"))
        else:
            entry = reverse("annotation:provider-entry", args=[recruitment.link_token])
            context = {"recruitment": recruitment, "tab_url": f"{entry}?{urlencode(request.GET)}"}
            response = page(request, campaign, "provider_tab", context, room="recruitment")
    framed_by(response, recruitment.provider, keep=False)
    return response


@require_POST
@rater_view
def rater_decline(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """End the submission of a rater who does not agree; the provider gets the code for that, and nothing else."""
    rater = rater_here(request, campaign)
    ended = None
    if rater is not None and participation_here(request, campaign) is None:
        ended = services.stay_decline(campaign=campaign, rater=rater)
    if ended is None:
        return redirect(address(campaign, "landing"))
    submission, completion = ended
    context = {"recruitment": submission.recruitment, "completion": completion, "why": "declined"}
    return page(request, campaign, "provider_turned_away", context, room="recruitment")


def _preview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    context: dict[str, Any] = {
        "criteria": criteria_of(campaign),
        "consent": markdown(campaign.consent),
        "instructions_shown": markdown(campaign.instructions),
        "screen": preview_screen(campaign),
        "wide": campaign.presentation_kind.compares_systems,
        "languages": {},
    }
    return page(request, campaign, "provider_preview", context, room="recruitment")


def _refused(request: HttpRequest, recruitment: Recruitment, message: str) -> HttpResponse:
    context = {
        "recruitment": recruitment,
        "message": message,
        "parameters": ", ".join(PROVIDERS[recruitment.provider].parameters),
        "languages": {},
    }
    return page(request, recruitment.campaign, "provider_refused", context, room="recruitment", status=400)


def _recruitment_or_404(token: UUID) -> Recruitment:
    recruitments = Recruitment.objects.select_related("campaign__project", "campaign__dataset", "account")
    return get_object_or_404(recruitments, link_token=token, campaign__imported=False)
