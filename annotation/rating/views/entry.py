"""The first pages of a rater: introduction, admission, consent, instructions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.campaigns.design.questionnaire import BEFORE
from annotation.campaigns.selectors import slots_unfilled
from annotation.core.errors import AnnotationError, LimitReached
from annotation.core.limits import client_address
from annotation.core.markdown import markdown
from annotation.models import Admission, Campaign, CampaignState, Participation, Rater, Stage
from annotation.rating.languages import LANGUAGES
from annotation.rating.selectors.handout import participation_of, progress
from annotation.rating.selectors.questions import questionnaire_of, questions_are_due, shown_questions
from annotation.rating.selectors.raters import is_recruited
from annotation.rating.selectors.screens import criteria_of
from annotation.rating.selectors.welcome import welcome_of
from annotation.rating.services.rater_accounts import rater_from_account
from annotation.rating.services.raters import LONGEST_NAME, arrival_count, participation_start, rater_create
from annotation.rating.views.access import cookie_options, participation_here, rater_here, remember
from annotation.rating.views.pages import LANGUAGE_COOKIE, address, as_limit_refusal, crowd_message, page, rater_view


@require_GET
@rater_view
def rater_landing(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _landing(request, campaign, rater_here(request, campaign))


def _landing(request: HttpRequest, campaign: Campaign, rater: Rater | None, error: str = "") -> HttpResponse:
    joined = participation_of(campaign=campaign, rater=rater) is not None
    context = {
        "rater": rater,
        "joined": joined,
        "open": campaign.state == CampaignState.RUNNING,
        "all_rated": not joined and _is_all_rated(campaign, rater),
        "needs_account": campaign.admission == Admission.ACCOUNT and not (rater or request.user.is_authenticated),
        "needs_provider": _lacks_provider(campaign, rater),
        "asks_name": rater is None and campaign.admission != Admission.ACCOUNT,
        "name_required": campaign.admission == Admission.NAMED,
        "longest_name": LONGEST_NAME,
        "consent": markdown(campaign.consent),
        "criteria": criteria_of(campaign),
        "welcome": None if campaign.state == CampaignState.DRAFT else welcome_of(campaign=campaign, rater=rater),
        "asked": shown_questions(campaign),
        "asked_before": questionnaire_of(campaign).when == BEFORE,
        "steps": campaign.qualification,
        "progress": progress(campaign=campaign, rater=rater) if joined and rater else None,
        "may_decline": bool(rater and not joined and is_recruited(rater, campaign)),
        "error": error,
        "name": request.POST.get("name", ""),
    }
    response = page(request, campaign, "rater_landing", context, status=400 if error else 200)
    if joined and rater and campaign.admission == Admission.ACCOUNT and request.user.is_authenticated:
        remember(response, campaign, rater)  # possibly another browser of the same person
    return response


@require_POST
@rater_view
def rater_consent(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    rater = rater_here(request, campaign)
    if error := _missing(request, campaign, rater):
        return _landing(request, campaign, rater, error)
    try:
        rater = rater or _new_rater(request, campaign)
        participation_start(campaign=campaign, rater=rater)
    except AnnotationError as refusal:
        return _landing(request, campaign, rater, _refused(refusal))
    except LimitReached as refusal:
        return as_limit_refusal(_landing(request, campaign, rater, crowd_message(refusal)), refusal)
    asks = questions_are_due(campaign=campaign, rater=rater)
    following = "questions" if asks else "instructions" if campaign.instructions else "work"
    response = redirect(address(campaign, following))
    remember(response, campaign, rater)
    return response


def _missing(request: HttpRequest, campaign: Campaign, rater: Rater | None) -> str:
    """Return what a new rater still has to do, or ''."""
    if campaign.state != CampaignState.RUNNING:
        return _("No new people can join at the moment.")
    if participation_of(campaign=campaign, rater=rater) is None and _is_all_rated(campaign, rater):
        return _("No new people can join at the moment.")
    if campaign.admission == Admission.ACCOUNT and not (rater or request.user.is_authenticated):
        return _("Please sign in first.")
    if _lacks_provider(campaign, rater):
        return _("This campaign takes only people whom it was offered to elsewhere. Please begin there.")
    if campaign.consent and not request.POST.get("agree"):
        return _("To take part you need to agree first: please tick the box.")
    if campaign.admission == Admission.NAMED and rater is None and not request.POST.get("name", "").strip():
        return _("Please enter a name or nickname.")
    return ""


def _lacks_provider(campaign: Campaign, rater: Rater | None) -> bool:
    return campaign.admission == Admission.PROVIDER and not (rater and is_recruited(rater, campaign))


def _is_all_rated(campaign: Campaign, rater: Rater | None) -> bool:
    """Return whether nothing is left for a new rater. One from a provider joins all the same: the way back is there."""
    if campaign.state != CampaignState.RUNNING or (rater and is_recruited(rater, campaign)):
        return False
    return not slots_unfilled(campaign)


def _new_rater(request: HttpRequest, campaign: Campaign) -> Rater:
    if campaign.admission == Admission.ACCOUNT and request.user.is_authenticated:
        return rater_from_account(project=campaign.project, user=request.user)
    arrival_count(project=campaign.project, address=client_address(request))
    return rater_create(project=campaign.project, name=request.POST.get("name", ""))


def _refused(refusal: AnnotationError) -> str:
    if "name" in refusal.fields:
        return _("This name cannot be used: up to %(longest)s ordinary characters, please.") % {"longest": LONGEST_NAME}
    return _("No new people can join at the moment.")


@require_GET
@rater_view
def rater_instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the instructions, before the first item or again."""
    participation = participation_here(request, campaign)
    if participation is None:
        return redirect(address(campaign, "landing"))
    context = {
        "participation": participation,
        "begun": progress(campaign=campaign, rater=participation.rater).done > 0,
        "steps": _steps(campaign, participation),
    }
    return page(request, campaign, "rater_instructions", context)


def _steps(campaign: Campaign, participation: Participation) -> dict[str, int]:
    """Return how many training and test items come first."""
    if participation.qualified_at or participation.stage == Stage.WORK:
        return {}
    return {name: len(campaign.qualification.get(name, [])) for name in ("training", "test")}


@require_POST
@rater_view
def rater_language(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    back = request.POST.get("next", "")
    if not back.startswith(address(campaign, "landing")) or not url_has_allowed_host_and_scheme(back, None):
        back = address(campaign, "landing")
    response = redirect(back)
    language = request.POST.get("language", "")
    if language in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, language, **cookie_options(campaign))
    return response
