"""The page on which raters answer questions about themselves."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.campaigns.design.questionnaire import BEFORE
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CampaignState
from annotation.rating.selectors.questions import field_of, questionnaire_of, shown_questions
from annotation.rating.services.questions import questions_answer
from annotation.rating.views.access import participation_here
from annotation.rating.views.pages import address, page, rater_view


@require_http_methods(["GET", "POST"])
@rater_view
def rater_questions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the questions until they are answered; the answers are stored once."""
    participation = participation_here(request, campaign)
    if participation is None:
        return redirect(address(campaign, "landing"))
    asked = questionnaire_of(campaign)
    if not asked.questions or participation.questions_answered_at or campaign.state == CampaignState.CLOSED:
        return redirect(address(campaign, "work"))
    if request.method == "GET":
        return page(request, campaign, "rater_questions", {"questions": shown_questions(campaign)})
    given = {question.name: request.POST.getlist(field_of(question)) for question in asked.questions}
    try:
        questions_answer(campaign=campaign, rater=participation.rater, given=given)
    except AnnotationError as refusal:
        n = len(refusal.fields)
        error = ngettext(
            "Not sent yet: one answer below is still needed.", "Not sent yet: %(n)s answers below are still needed.", n
        ) % {"n": n}
        context = {"questions": shown_questions(campaign, given=given, errors=refusal.fields), "error": error}
        return page(request, campaign, "rater_questions", context, status=400)
    first_comes = asked.when == BEFORE and campaign.instructions
    return redirect(address(campaign, "instructions" if first_comes else "work"))
