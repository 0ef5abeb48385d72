"""The entry for raters from a provider, and the last pages of raters who are turned away."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.core.errors import LimitReached
from annotation.core.limits import client_address
from annotation.core.markdown import markdown
from annotation.models import Campaign, CampaignState, Rater, Recruitment
from annotation.models.accounts import not_being_deleted
from annotation.rating.selectors.handout import Waiting, participation_of, waiting
from annotation.rating.selectors.screens import criteria_of, preview_screen
from annotation.rating.selectors.welcome import welcome_of
from annotation.rating.services.raters import arrival_count
from annotation.rating.views.access import LinkGone, participation_here, rater_here, rater_of_browser, remember
from annotation.rating.views.pages import address, as_limit_refusal, crowd_message, language_of, page, rater_view
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import Arrival, Completion, Outcome
from annotation.recruitment.providers.errors import ArrivalRefused
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.arrivals import (
    ArrivalPostponed,
    Destination,
    Postponed,
    arrival_admit,
    is_known,
)
from annotation.recruitment.services.endings import stay_decline, submission_end
from annotation.recruitment.views.framing import embeds, framed_by

RETRY_SECONDS = 30  # until a provider that could not be reached is asked again


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
        if not is_known(recruitment=recruitment, arrival=arrival):
            arrival_count(project=campaign.project, address=client_address(request))
        browser = rater_of_browser(request, campaign)
        admission = arrival_admit(recruitment=recruitment, arrival=arrival, browser=browser)
    except ArrivalRefused as refusal:
        return _refused(request, recruitment, refusal.message)
    except ArrivalPostponed as postponed:
        return _postponed(request, recruitment, postponed.why)
    except LimitReached as refusal:
        response = _postponed(request, recruitment, Postponed.CROWDED, crowd_message(refusal))
        return as_limit_refusal(response, refusal)
    if admission.destination == Destination.BEFORE:
        completion = submission_end(submission=admission.submission, outcome=Outcome.SCREENED_OUT)
        return _turned_away(request, recruitment, completion, "before")
    if participation_of(campaign=campaign, rater=admission.rater) is None and _is_finished(campaign, admission.rater):
        completion = submission_end(submission=admission.submission, outcome=Outcome.OUT_OF_WORK)
        return _turned_away(request, recruitment, completion, "nothing")
    is_over = admission.destination == Destination.FINISH
    response = redirect(address(campaign, "finish") if is_over else _first_page(recruitment, arrival, request))
    remember(response, campaign, admission.rater)
    return response


def _turned_away(request: HttpRequest, recruitment: Recruitment, completion: Completion, why: str) -> HttpResponse:
    context = {"recruitment": recruitment, "completion": completion, "why": why}
    return page(request, recruitment.campaign, "provider_turned_away", context, room="recruitment")


def _is_finished(campaign: Campaign, rater: Rater) -> bool:
    """Return whether the campaign has no work for this rater."""
    if campaign.state == CampaignState.CLOSED:
        return True
    return campaign.state == CampaignState.RUNNING and waiting(campaign=campaign, rater=rater) == Waiting.COMPLETE


def _first_page(recruitment: Recruitment, arrival: Arrival, request: HttpRequest) -> str:
    """Return the first page; in a frame, first the page that checks whether the browser keeps cookies there."""
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
    """End the submission of a rater who does not agree; the provider gets only the code."""
    rater = rater_here(request, campaign)
    ended = None
    if rater is not None and participation_here(request, campaign) is None:
        ended = stay_decline(campaign=campaign, rater=rater)
    if ended is None:
        return redirect(address(campaign, "landing"))
    submission, completion = ended
    return _turned_away(request, submission.recruitment, completion, "declined")


def _preview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    context: dict[str, Any] = {
        "criteria": criteria_of(campaign),
        "welcome": welcome_of(campaign=campaign, rater=None),
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


def _postponed(request: HttpRequest, recruitment: Recruitment, why: Postponed, message: str = "") -> HttpResponse:
    """Say why the rater cannot begin now or here, and let them try again: they keep their place at the provider."""
    context = {
        "recruitment": recruitment,
        "why": why,
        "message": message,
        "again": request.get_full_path(),
        "framed": embeds(recruitment.provider),
        "languages": {},
    }
    unreachable = why == Postponed.UNREACHABLE
    status = 503 if unreachable else 409
    response = page(request, recruitment.campaign, "provider_postponed", context, room="recruitment", status=status)
    if unreachable:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _recruitment_or_404(token: UUID) -> Recruitment:
    recruitments = Recruitment.objects.select_related("campaign__project", "campaign__dataset", "account")
    recruitments = recruitments.filter(not_being_deleted("campaign__project"))
    recruitment = recruitments.filter(link_token=token, campaign__imported=False).first()
    if recruitment is None:
        raise LinkGone("No recruitment has this link.")
    return recruitment
