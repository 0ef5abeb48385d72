"""Items one after another: shown, answered, returned; feedback of training, result of the test."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.core.errors import AnnotationError
from annotation.core.markdown import markdown
from annotation.core.parameters import is_whole
from annotation.models import Campaign, CampaignState, Criterion, Presentation, Purpose, Rater
from annotation.rating.selectors.handout import (
    ANSWERED,
    BEFORE_WORK,
    Waiting,
    presentation_before,
    progress,
    seconds_to_wait,
    waiting,
)
from annotation.rating.selectors.questions import questions_are_due
from annotation.rating.selectors.screens import criteria_of, screen, training_position
from annotation.rating.selectors.shown import Screen
from annotation.rating.services.answers import Field, Written
from annotation.rating.services.handout import skips_offer, unit_begin, unit_leave, unit_request, unit_return
from annotation.rating.services.qualification import TestResult, Wrong, wrong_answers
from annotation.rating.services.ratings import (
    NOT_YOURS,
    AlreadyAnswered,
    Submission,
    SubmissionRefused,
    draft_save,
    ratings_submit,
)
from annotation.rating.services.written import WARNED
from annotation.rating.views.access import participation_here, participation_or_404, presentation_or_404
from annotation.rating.views.pages import address, go, page, rater_view, wants_part

FIELD = re.compile(
    r"(r\d{1,3}(?:t\d{1,3})?-[^.]+|cannot-\d{1,3}|comment|written(?:-pasted|-sure)?)(?:\.([0-9a-f]{8}))?"
)  # the suffix identifies the screen
VALUE_FIELD = re.compile(r"r(\d+)(?:t(\d+))?-(.+)")
RESULT_SALT = "rater-test-result"


@require_GET
@rater_view
def rater_work(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the item on the rater's screen, or the next one; with ``?unit=`` an earlier item of the rater."""
    participation = participation_here(request, campaign)
    if participation is None:
        return redirect(address(campaign, "landing"))
    rater = participation.rater
    if token := request.GET.get("unit"):
        return _work(request, campaign, rater, presentation_or_404(campaign, rater, token))
    return _next(request, campaign, rater)


def _next(
    request: HttpRequest, campaign: Campaign, rater: Rater, *, before: Presentation | None = None
) -> HttpResponse:
    if questions_are_due(campaign=campaign, rater=rater):
        return go(request, address(campaign, "questions"))
    presentation = unit_request(campaign=campaign, rater=rater, proven=campaign.project.is_sandbox)
    if presentation is not None:
        return _work(request, campaign, rater, presentation, before=before)
    if (
        campaign.seconds_between_units
        and waiting(campaign=campaign, rater=rater) == Waiting.PAUSE_BETWEEN
        and (seconds := seconds_to_wait(campaign=campaign, rater=rater))
    ):
        context = {"seconds": seconds, "progress": progress(campaign=campaign, rater=rater)}
        return page(request, campaign, "rater_pause", context, shown_at=address(campaign, "work"))
    return go(request, address(campaign, "finish"))


def _work(
    request: HttpRequest,
    campaign: Campaign,
    rater: Rater,
    presentation: Presentation,
    *,
    before: Presentation | None = None,
    sent: Mapping[str, str] | None = None,
    error: AnnotationError | None = None,
) -> HttpResponse:
    shown = screen(presentation, campaign=campaign, sent=sent, errors=error.fields if error else None)
    position = training_position(presentation)
    if before is None and position is None:
        before = presentation_before(campaign=campaign, rater=rater, current=presentation)
    so_far = None if position else progress(campaign=campaign, rater=rater)
    already_answered = sent is not None and error is None
    context = {
        "presentation": presentation,
        "screen": shown,
        "training": position if presentation.purpose == Purpose.TRAINING else None,
        "test": position if presentation.purpose == Purpose.TEST else None,
        "progress": so_far,
        "before": before,
        "reports_begin": so_far is not None and so_far.done == 0,
        "wide": campaign.presentation_kind.compares_systems,
        "keep_server": bool(shown.answered or error),
        "error_count": sum(name != WARNED for name in error.fields) if error else 0,
        "already_answered": already_answered,
    }
    shown_at = address(campaign, "work") + (f"?unit={presentation.token}" if shown.answered or error else "")
    status = 400 if error else 409 if already_answered else 200
    return page(request, campaign, "rater_work", context, status=status, shown_at=shown_at)


@require_POST
@rater_view
def rater_begin(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Note that a browser shows the rater's first item: from now on the item is held for as long as others are."""
    rater = participation_or_404(request, campaign).rater
    unit_begin(presentation=presentation_or_404(campaign, rater, request.POST.get("token", "")))
    return HttpResponse(status=204)


@require_POST
@rater_view
def rater_submit(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Store the answer. A script gets the next item at once; otherwise a redirect leads there."""
    rater = participation_or_404(request, campaign).rater
    token = _uuid_or_403(request.POST.get("token", ""))
    sent = _sent(request, token)
    try:
        submission = ratings_submit(
            token=token,
            rater=rater,
            values={field: text for name, text in sent.items() if (field := _value_field(name))},
            cannot_judge={int(name[7:]): text for name, text in sent.items() if name.startswith("cannot-") and text},
            comment=sent.get("comment", ""),
            written=_written(sent),
            campaign=campaign,
            may_correct="first" not in request.POST,
        )
    except AlreadyAnswered:
        return _work(request, campaign, rater, presentation_or_404(campaign, rater, str(token)), sent=sent)
    except SubmissionRefused as error:
        campaign.refresh_from_db(fields=["state"])  # it may have been closed since this request began
        if campaign.state != CampaignState.CLOSED:
            raise PermissionDenied(error.message) from error
        messages.error(request, _("This campaign has been closed in the meantime; your last answer was not taken."))
        return go(request, address(campaign, "finish"))
    except AnnotationError as error:
        presentation = presentation_or_404(campaign, rater, str(token))
        return _work(request, campaign, rater, presentation, sent=sent, error=error)
    return _after(request, campaign, rater, submission)


def _after(request: HttpRequest, campaign: Campaign, rater: Rater, submission: Submission) -> HttpResponse:
    """Lead to feedback, the test's result, a break, or the next item."""
    presentation = submission.presentation
    if presentation.purpose == Purpose.TRAINING:
        if wants_part(request):
            return _feedback(request, campaign, presentation, submission.feedback, submission.wrong)
        return redirect(f"{address(campaign, 'feedback')}?unit={presentation.token}")
    if submission.test is not None:
        result = signing.dumps({**asdict(submission.test), "rater": rater.pk}, salt=RESULT_SALT)
        return go(request, f"{address(campaign, 'result')}?of={result}")
    _note(request, submission)
    if _break_is_due(campaign, rater, submission):
        return go(request, address(campaign, "break"))
    if wants_part(request):
        return _next(request, campaign, rater, before=None if submission.correction else presentation)
    return redirect(address(campaign, "work"))


def _note(request: HttpRequest, submission: Submission) -> None:
    if submission.presentation.purpose in BEFORE_WORK:
        return
    if submission.extra and not submission.correction:
        messages.info(request, _("Your time for that one had run out and somebody else had it. Your answer is kept."))
    elif submission.correction and submission.written:
        messages.success(request, _("Your earlier answer has been changed."))


def _break_is_due(campaign: Campaign, rater: Rater, submission: Submission) -> bool:
    every = campaign.break_every_units
    if not every or submission.correction or submission.presentation.purpose in BEFORE_WORK:
        return False
    return progress(campaign=campaign, rater=rater).done % every == 0


@require_GET
@rater_view
def rater_break(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show a break. The rater holds no item meanwhile."""
    participation = participation_here(request, campaign)
    if participation is None:
        return redirect(address(campaign, "landing"))
    return page(request, campaign, "rater_break", {"progress": progress(campaign=campaign, rater=participation.rater)})


@require_GET
@rater_view
def rater_feedback(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    rater = participation_or_404(request, campaign).rater
    presentation = presentation_or_404(campaign, rater, request.GET.get("unit", ""))
    if presentation.purpose != Purpose.TRAINING or presentation.outcome not in ANSWERED:
        raise Http404("No training item that was answered.")
    wrong = tuple(wrong_answers(presentation, criteria_of(campaign)))
    feedback = presentation.check_unit.feedback if presentation.check_unit else ""
    return _feedback(request, campaign, presentation, feedback, wrong)


def _feedback(
    request: HttpRequest, campaign: Campaign, presentation: Presentation, feedback: str, wrong: tuple[Wrong, ...]
) -> HttpResponse:
    shown = screen(presentation, campaign=campaign)
    context = {
        "screen": shown,
        "training": training_position(presentation),
        "feedback": markdown(feedback),
        "wrong": [_explained(answer, shown, criteria_of(campaign)) for answer in wrong],
        "n_questions": len(shown.questions),
    }
    shown_at = f"{address(campaign, 'feedback')}?unit={presentation.token}"
    return page(request, campaign, "rater_feedback", context, shown_at=shown_at)


def _explained(wrong: Wrong, shown: Screen, criteria: list[Criterion]) -> dict[str, object]:
    criterion = next(criterion for criterion in criteria if criterion.name == wrong.criterion)
    scale, words = criterion.scale, criterion.scale.words()
    value, low, high = wrong.value, wrong.low, wrong.high
    if scale.mirrored and wrong.position == 1 and value is not None:  # the words describe the first response
        value, low, high = -value, -high, -low

    def in_words(value: float | None) -> str:
        if value is None:
            return _("cannot judge")
        number = f"{value:g}"
        shown = number.replace("-", "−")
        if not words.get(number):
            return shown
        return f"{shown} ({words[number]})" if scale.shows_numbers else words[number]

    return {
        "letter": "" if scale.mirrored else shown.responses[wrong.position].letter,
        "question": criterion.question,
        "answer": in_words(value),
        "expected": in_words(low) if low == high else f"{in_words(low)} – {in_words(high)}",
    }


@require_GET
@rater_view
def rater_result(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the result of an attempt at the test, which the address contains, signed."""
    rater = participation_or_404(request, campaign).rater
    try:
        signed = signing.loads(request.GET.get("of", ""), salt=RESULT_SALT)
    except signing.BadSignature as error:
        raise Http404("No such result.") from error
    if signed.pop("rater") != rater.pk:
        raise Http404("No such result.")
    result = TestResult(**signed)
    context = {"result": result, "percent": round(100 * result.share), "needed": round(100 * result.pass_mark)}
    return page(request, campaign, "rater_result", context)


@require_POST
@rater_view
def rater_draft(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Store the fields filled in, for another browser of the rater."""
    rater = participation_or_404(request, campaign).rater
    token = _uuid_or_403(request.POST.get("token", ""))
    fields = {name: text for name, text in _sent(request, token).items() if text}
    try:
        draft_save(token=token, rater=rater, fields=fields)
    except SubmissionRefused as error:
        raise PermissionDenied(error.message) from error
    except AnnotationError as error:
        return HttpResponse(error.message, status=400, content_type="text/plain; charset=utf-8")
    return HttpResponse(status=204)


@require_POST
@rater_view
def rater_return(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Skip the item and go on to another, or with ``stop`` leave it, which is no skip, and go to the last page."""
    rater = participation_or_404(request, campaign).rater
    presentation = presentation_or_404(campaign, rater, request.POST.get("token", ""))
    if "stop" in request.POST:
        unit_leave(presentation=presentation)
        return go(request, f"{address(campaign, 'finish')}?stopped=1")
    if unit_return(presentation=presentation):
        messages.info(request, _("Skipped. A skipped item does not count; you can rate it at the end."))
    return go(request, address(campaign, "work"))


@require_POST
@rater_view
def rater_skipped(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Offer the skipped items again."""
    skips_offer(campaign=campaign, rater=participation_or_404(request, campaign).rater)
    return redirect(address(campaign, "work"))


def _sent(request: HttpRequest, token: UUID) -> dict[str, str]:
    """Return the fields of this screen by their names without the suffix."""
    fields = {}
    for name, value in request.POST.items():
        match = FIELD.fullmatch(name)
        if match and token.hex.startswith(match[2] or ""):
            fields[match[1]] = str(value).replace("\r\n", "\n")
    return fields


def _written(sent: Mapping[str, str]) -> Written:
    pasted = sent.get("written-pasted", "")
    return Written(sent.get("written", ""), int(pasted) if is_whole(pasted) else 0, bool(sent.get(WARNED)))


def _value_field(name: str) -> Field | None:
    match = VALUE_FIELD.fullmatch(name)
    if match is None:
        return None
    return (int(match[1]), match[3]) if match[2] is None else (int(match[1]), match[3], int(match[2]))


def _uuid_or_403(token: str) -> UUID:
    try:
        return UUID(token)
    except ValueError as error:
        raise PermissionDenied(NOT_YOURS) from error
