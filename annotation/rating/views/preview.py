"""Previews of the rater's screen for the managers of a campaign."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_http_methods

from annotation.campaigns.fields.table import QUESTIONS
from annotation.campaigns.forms import STEPS
from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.selectors import shown_items
from annotation.campaigns.services.previews import campaign_with_changes
from annotation.core.errors import AnnotationError
from annotation.core.markdown import markdown
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, CampaignState, Criterion, Role
from annotation.rating.languages import SOURCE
from annotation.rating.selectors.questions import shown_questions
from annotation.rating.selectors.screens import keys_of, preview_screen

EXAMPLES = 200  # items to page through


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_preview(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show the rater's screen with the first item; nothing is handed out."""
    context = {
        "project": request.project,
        "campaign": campaign,
        "screen": preview_screen(campaign),
        "instructions": markdown(campaign.instructions),
        "keys": keys_of(campaign),
        "wide": campaign.presentation_kind.compares_systems,
    }
    return render(request, "annotation/campaigns/campaign_preview.html", context)


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.VIEWER)
@xframe_options_sameorigin
def campaign_preview_frame(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show the rater's screen in the frame beside the form, with the form's values; nothing is stored."""
    step = request.POST.get("step") or request.GET.get("step", "")
    form_class = STEPS.get(step)
    changes: dict[str, Any] = {}
    if form_class is not None and request.method == "POST" and campaign.state == CampaignState.DRAFT:
        form = form_class(campaign, request.POST)
        if not form.is_valid():
            return _unchanged("The preview waits until every field is valid.")
        changes = form.changes()
    number = _example(request)
    try:
        with (
            campaign_with_changes(campaign=campaign, changes=changes) as criteria,
            translation.override(campaign.rater_language or SOURCE.code),
        ):
            if step == QUESTIONS:
                response = _preview_questions(request, campaign)
            else:
                response = _preview(request, campaign, criteria, number)
    except AnnotationError as error:
        return _unchanged(error.message)
    framed = settings.CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    response["Content-Security-Policy"] = framed
    return response


def _preview_questions(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    context = {"project": request.project, "campaign": campaign, "questions": shown_questions(campaign)}
    return render(request, "annotation/campaigns/campaign_preview_questions.html", context)


def _unchanged(reason: str) -> HttpResponse:
    """Return plain text, which leaves the frame unchanged. No error status: the user may still be typing."""
    return HttpResponse(reason, content_type="text/plain; charset=utf-8")


def _example(request: HttpRequest) -> int:
    text = request.POST.get("example", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else whole_number(request, "example")
    return max(number or 1, 1)


def _preview(request: MemberRequest, campaign: Campaign, criteria: Sequence[Criterion], number: int) -> HttpResponse:
    items = shown_items(campaign)
    n_items = items[:EXAMPLES].count()
    number = min(number, max(n_items, 1))
    item = items[number - 1 : number].first()
    context = {
        "project": request.project,
        "campaign": campaign,
        "screen": preview_screen(campaign, criteria=criteria, item=item) if item else None,
        "wide": campaign.presentation_kind.compares_systems,
        "number": number,
        "n_items": n_items,
        "previous": number - 1 if number > 1 else None,
        "next": number + 1 if number < n_items else None,
    }
    return render(request, "annotation/campaigns/campaign_preview_frame.html", context)
