"""Paying, or not: a choice of submissions, then a page that says what it comes to, then the act."""

from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Recruitment, Submission
from annotation.models import SubmissionStatus as Status
from annotation.recruitment import selectors, services
from annotation.recruitment.forms import BonusForm, RejectForm, ReturnForm
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import Capability, RejectionReason
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.selectors import Row
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.bonuses import batch_of
from annotation.recruitment.services.reviewing import Reviewed
from annotation.recruitment.services.terms import fee_percent, terms_of
from annotation.recruitment.tasks import submissions_approve
from annotation.recruitment.views.accounts import refuse
from annotation.recruitment.views.recruitment import campaign_of, recruitment_or_404

AT_ONCE = 25  # more are approved by a worker
ACTS = {
    "approve": ("Approve", Capability.REVIEW, (Status.AWAITING,)),
    "reject": ("Reject", Capability.REVIEW, (Status.AWAITING,)),
    "return": ("Ask to return", Capability.REQUEST_RETURN, (Status.ACTIVE, Status.AWAITING)),
}


@login_required
@require_POST
def submissions_review(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    """With ``confirmed`` it is done; before, the page says to whom and for how much."""
    project, campaign = campaign_of(request, project_slug, pk)
    recruitment = recruitment_or_404(campaign, number)
    act = request.POST.get("act", "")
    back = redirect("annotation:campaign-recruitment", project.slug, campaign.pk, recruitment.pk)
    if act == "bonus":
        return _bonus_form(request, recruitment, None, chosen=_chosen(request, recruitment))
    if act not in ACTS:
        raise Http404("No such act.")
    label, capability, accepted = ACTS[act]
    if capability not in PROVIDERS[recruitment.provider].capabilities or recruitment.account is None:
        messages.error(request, f"{label} is done on the pages of {recruitment.get_provider_display()}.")
        return back
    rows = [row for row in _chosen(request, recruitment) if row.status in accepted and not row.erased]
    if not rows:
        messages.error(request, f"Nothing was chosen that can be decided so. {label}: only what awaits review.")
        return back
    form = _decision_form(request, act, recruitment)
    if "confirmed" in request.POST and (form is None or form.is_valid()):
        try:
            _decide(request, recruitment, act, rows, form)
        except ProviderError as error:
            if form is None or not set(error.fields) & set(form.fields):
                messages.error(request, error.message)
                return back
            refuse(form, error)
        except AnnotationError as error:
            messages.error(request, error.message)
            return back
        else:
            return back
    terms = terms_of(recruitment)
    pay = terms.reward * len(rows)
    percent = fee_percent(terms, campaign, provider=recruitment.provider)
    context = {
        "project": project,
        "campaign": campaign,
        "recruitment": recruitment,
        "provider": provider_of(recruitment.provider),
        "act": act,
        "label": label,
        "rows": rows,
        "form": form,
        "terms": terms,
        "pay": pay,
        "percent": percent,
        "fees": (pay * percent / 100).quantize(Decimal("0.01")),
        "doubtful": sum(row.excluded or row.flagged or bool(row.note) for row in rows),
    }
    return render(request, "annotation/recruitment/recruitment_review.html", context)


def _chosen(request: HttpRequest, recruitment: Recruitment) -> list[Row]:
    """The ticked ones; with ``all``, every one that awaits review and that nothing speaks against."""
    if request.POST.get("all"):
        rows = selectors.submission_rows(recruitment, status=Status.AWAITING)
        return [row for row in rows if not (row.excluded or row.flagged or row.note)]
    ids = [int(one) for one in request.POST.getlist("submission") if one.isdecimal() and len(one) < 19]
    return selectors.submission_rows(recruitment, ids=ids)


def _decision_form(request: HttpRequest, act: str, recruitment: Recruitment) -> RejectForm | ReturnForm | None:
    data = request.POST if "confirmed" in request.POST else None
    if act == "reject":
        return RejectForm(data, provider=recruitment.provider)
    return ReturnForm(data) if act == "return" else None


def _decide(
    request: HttpRequest, recruitment: Recruitment, act: str, rows: list[Row], form: RejectForm | ReturnForm | None
) -> None:
    submissions = list(Submission.objects.filter(pk__in=[row.pk for row in rows]))
    common: dict[str, Any] = {"recruitment": recruitment, "submissions": submissions, "by": request.user}
    if act == "approve" and len(rows) > AT_ONCE:
        submissions_approve.delay_on_commit(recruitment.pk, [row.pk for row in rows], request.user.pk)
        messages.success(request, f"{len(rows)} are being approved; this page shows how far that is.")
        return
    if act == "approve":
        done: Reviewed = services.submissions_approve(**common)
        said = f"{done.settled} of {done.asked} approved"
    elif act == "reject" and form is not None:
        reason = RejectionReason(form.cleaned_data.get("reason", RejectionReason.OTHER))
        done = services.submissions_reject(**common, reason=reason, message=form.cleaned_data["message"])
        said = f"{done.settled} of {done.asked} rejected"
    else:
        done = services.submissions_ask_return(**common, reason=form.cleaned_data["reason"] if form else "")
        said = f"{done.asked} asked to return"
    rest = "" if act == "return" or done.settled == done.asked else "; the provider is still at the others"
    messages.success(request, f"{said}{rest}.")


@login_required
@require_http_methods(["GET", "POST"])
def bonus_new(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    """Who gets how much: what additional screens come to is filled in; then the provider says what it costs."""
    project, campaign = campaign_of(request, project_slug, pk)
    recruitment = recruitment_or_404(campaign, number)
    form = BonusForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        try:
            amounts = services.amounts_read(recruitment=recruitment, text=form.cleaned_data["lines"])
            batch = services.bonus_prepare(
                recruitment=recruitment, amounts=amounts, reason=form.cleaned_data["reason"], by=request.user
            )
        except AnnotationError as error:
            refuse(form, error)
        else:
            return redirect(
                "annotation:campaign-recruitment-batch", project.slug, campaign.pk, recruitment.pk, batch.id
            )
    return _bonus_form(request, recruitment, form, chosen=None)


def _bonus_form(
    request: HttpRequest, recruitment: Recruitment, form: BonusForm | None, *, chosen: list[Row] | None
) -> HttpResponse:
    campaign = recruitment.campaign
    rows = selectors.submission_rows(recruitment) if chosen is None else chosen
    terms = terms_of(recruitment)
    due = selectors.top_ups(recruitment, reward=terms.reward, rows=rows)
    by_pk = {row.pk: row for row in rows}
    if form is None:
        lines = [f"{by_pk[one].external_id}, {value}" for one, value in due.items()]
        known = {row.pk for row in rows if row.pk in due}
        if chosen is not None:
            lines += [f"{row.external_id}, " for row in rows if row.pk not in known and not row.erased]
        form = BonusForm(initial={"lines": "\n".join(lines)})
    context = {
        "project": _project(request, campaign),
        "campaign": campaign,
        "recruitment": recruitment,
        "form": form,
        "terms": terms,
        "n_due": len(due),
        "total_due": sum(due.values(), Decimal(0)),
    }
    return render(request, "annotation/recruitment/recruitment_bonus.html", context)


def _project(request: HttpRequest, campaign: Campaign) -> object:
    return campaign_of(request, campaign.project.slug, campaign.pk)[0]


@login_required
@require_http_methods(["GET", "POST"])
def bonus_batch(request: HttpRequest, project_slug: str, pk: int, number: int, batch_id: str) -> HttpResponse:
    project, campaign = campaign_of(request, project_slug, pk)
    recruitment = recruitment_or_404(campaign, number)
    batch = batch_of(recruitment, batch_id)
    if batch is None:
        raise Http404("No such batch of bonuses.")
    if request.method == "POST":
        act, common = request.POST.get("act", ""), {"recruitment": recruitment, "batch_id": batch_id}
        try:
            if act == "pay":
                services.bonus_pay(**common, by=request.user)
                messages.success(request, f"Paid: {batch.amount} {batch.currency} to {len(batch.payments)}.")
            elif act in ("was-paid", "was-not-paid"):
                services.bonus_settle(**common, paid=act == "was-paid", by=request.user)
            elif act == "discard":
                services.bonus_discard(**common, by=request.user)
                messages.success(request, "Discarded; nothing was paid.")
            else:
                raise Http404("No such act.")
        except AnnotationError as error:
            messages.error(request, error.message)
        return redirect("annotation:campaign-recruitment-batch", project.slug, campaign.pk, recruitment.pk, batch_id)
    rows = {row.pk: row for row in selectors.submission_rows(recruitment, ids=[one for one, _ in batch.payments])}
    context = {
        "project": project,
        "campaign": campaign,
        "recruitment": recruitment,
        "batch": batch,
        "provider": provider_of(recruitment.provider),
        "payments": [(rows[one], value) for one, value in batch.payments if one in rows],
        "url": recruitment.options.get("url", ""),
    }
    return render(request, "annotation/recruitment/recruitment_batch.html", context)
