"""What a rater meets: a landing page, one unit after the other, a last page. No account: a signed cookie."""

import re
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.errors import AnnotationError
from annotation.markdown import markdown
from annotation.models import Campaign, CampaignState, Presentation, PresentationKind, Rater
from annotation.selectors import handout as selectors
from annotation.selectors import screens
from annotation.services.handout import unit_request, unit_return
from annotation.services.raters import participation_start, rater_create, rater_of_token
from annotation.services.ratings import SubmissionRefused, ratings_submit

COOKIE_SECONDS = 365 * 24 * 3600
FIELD = re.compile(r"r(\d{1,3})-([^.]+)(?:\.([0-9a-f]{8}))?")  # the end names the unit; see form_field


def _campaign_or_404(link_token: UUID) -> Campaign:
    return get_object_or_404(
        Campaign.objects.select_related("project", "dataset"), link_token=link_token, imported=False
    )


def _cookie_name(campaign: Campaign) -> str:
    return f"assay_rater_{campaign.project_id}"


def _rater(request: HttpRequest, campaign: Campaign) -> Rater | None:
    text = request.get_signed_cookie(_cookie_name(campaign), default=None, salt="rater", max_age=COOKIE_SECONDS)
    return rater_of_token(project=campaign.project, access_token=UUID(text) if text else None)


def _participant_or_404(request: HttpRequest, campaign: Campaign) -> Rater:
    rater = _rater(request, campaign)
    if rater is None or selectors.participation_of(campaign=campaign, rater=rater) is None:
        raise Http404("This browser has not joined the campaign.")
    return rater


def _own_presentation_or_404(campaign: Campaign, rater: Rater, token: str) -> Presentation:
    try:
        wanted = UUID(token)
    except ValueError as error:
        raise Http404("No such unit.") from error
    return get_object_or_404(Presentation, campaign=campaign, rater=rater, token=wanted)


@never_cache
@require_GET
def rater_landing(request: HttpRequest, link_token: UUID) -> HttpResponse:
    campaign = _campaign_or_404(link_token)
    rater = _rater(request, campaign)
    return _landing(request, campaign, rater)


def _landing(request: HttpRequest, campaign: Campaign, rater: Rater | None, error: str = "") -> HttpResponse:
    joined = selectors.participation_of(campaign=campaign, rater=rater) is not None
    context = {
        "campaign": campaign,
        "rater": rater,
        "joined": joined,
        "open": campaign.state == CampaignState.RUNNING,
        "consent": markdown(campaign.consent),
        "instructions": markdown(campaign.instructions),
        "criteria": campaign.criteria.all(),
        "progress": selectors.progress(campaign=campaign, rater=rater) if joined and rater else None,
        "error": error,
        "name": request.POST.get("name", ""),
    }
    return render(request, "annotation/rater_landing.html", context, status=400 if error else 200)


@require_POST
def rater_consent(request: HttpRequest, link_token: UUID) -> HttpResponse:
    campaign = _campaign_or_404(link_token)
    rater = _rater(request, campaign)
    if campaign.consent and not request.POST.get("agree"):
        return _landing(request, campaign, rater, "To take part you need to agree first: tick the box.")
    try:
        if campaign.state != CampaignState.RUNNING:
            return _landing(request, campaign, rater, "This campaign does not take new raters at the moment.")
        rater = rater or rater_create(project=campaign.project, name=request.POST.get("name", ""))
        participation_start(campaign=campaign, rater=rater)
    except AnnotationError as error:
        return _landing(request, campaign, rater, error.message)
    response = redirect("annotation:rater-work", link_token)
    response.set_signed_cookie(
        _cookie_name(campaign),
        str(rater.access_token),
        salt="rater",
        max_age=COOKIE_SECONDS,
        path=reverse("annotation:rater-landing", args=[link_token]).split(str(link_token))[0],
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@never_cache
@require_GET
def rater_work(request: HttpRequest, link_token: UUID) -> HttpResponse:
    """The unit the rater holds, or the next one; with ``?unit=`` one of the rater's own to look at again."""
    campaign = _campaign_or_404(link_token)
    rater = _rater(request, campaign)
    if selectors.participation_of(campaign=campaign, rater=rater) is None or rater is None:
        return redirect("annotation:rater-landing", link_token)
    if token := request.GET.get("unit"):
        return _work(request, campaign, rater, _own_presentation_or_404(campaign, rater, token))
    presentation = unit_request(campaign=campaign, rater=rater)
    if presentation is None:
        return redirect("annotation:rater-finish", link_token)
    return _work(request, campaign, rater, presentation)


def _work(
    request: HttpRequest,
    campaign: Campaign,
    rater: Rater,
    presentation: Presentation,
    *,
    sent: dict[tuple[int, str], str] | None = None,
    error: AnnotationError | None = None,
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "presentation": presentation,
        "screen": screens.screen(presentation, sent=sent, errors=error.fields if error else None),
        "progress": selectors.progress(campaign=campaign, rater=rater),
        "before": selectors.presentation_before(campaign=campaign, rater=rater, than=presentation),
        "instructions": markdown(campaign.instructions),
        "wide": campaign.presentation == PresentationKind.PAIR,
        "error": error,
    }
    return render(request, "annotation/rater_work.html", context, status=400 if error else 200)


@require_POST
def rater_submit(request: HttpRequest, link_token: UUID) -> HttpResponse:
    campaign = _campaign_or_404(link_token)
    rater = _participant_or_404(request, campaign)
    token = request.POST.get("token", "")
    sent = {
        (int(match[1]), match[2]): str(value)
        for name, value in request.POST.items()
        if (match := FIELD.fullmatch(name)) and token.replace("-", "").startswith(match[3] or "")
    }
    try:
        submission = ratings_submit(token=_uuid_or_403(token), rater=rater, values=sent)
    except SubmissionRefused as error:
        if campaign.state != CampaignState.CLOSED:
            raise PermissionDenied(error.message) from error
        messages.error(request, error.message)
        return redirect("annotation:rater-finish", link_token)
    except AnnotationError as error:
        presentation = _own_presentation_or_404(campaign, rater, token)
        return _work(request, campaign, rater, presentation, sent=sent, error=error)
    if submission.extra and not submission.correction:
        messages.info(request, "Your time for that one had run out and somebody else had it. Your answer is kept.")
    elif submission.correction and submission.written:
        messages.success(request, "Your earlier answer has been changed.")
    return redirect("annotation:rater-work", link_token)


def _uuid_or_403(token: str) -> UUID:
    try:
        return UUID(token)
    except ValueError as error:
        raise PermissionDenied("This unit was not handed out to you.") from error


@require_POST
def rater_return(request: HttpRequest, link_token: UUID) -> HttpResponse:
    campaign = _campaign_or_404(link_token)
    rater = _participant_or_404(request, campaign)
    presentation = _own_presentation_or_404(campaign, rater, request.POST.get("token", ""))
    unit_return(presentation=presentation)
    return redirect("annotation:rater-work", link_token)


@never_cache
@require_GET
def rater_finish(request: HttpRequest, link_token: UUID) -> HttpResponse:
    campaign = _campaign_or_404(link_token)
    rater = _rater(request, campaign)
    if selectors.participation_of(campaign=campaign, rater=rater) is None or rater is None:
        return redirect("annotation:rater-landing", link_token)
    context = {
        "campaign": campaign,
        "rater": rater,
        "reason": selectors.waiting(campaign=campaign, rater=rater),
        "progress": selectors.progress(campaign=campaign, rater=rater),
        "before": selectors.presentation_before(campaign=campaign, rater=rater, than=None),
    }
    return render(request, "annotation/rater_finish.html", context)
