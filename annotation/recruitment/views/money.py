"""Approve, reject and pay submissions: choose them, see what it costs, confirm."""

from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.errors import AnnotationError
from annotation.core.parameters import whole_numbers
from annotation.core.views import MemberRequest, object_view
from annotation.models import Recruitment, Role, Submission
from annotation.models import SubmissionStatus as Status
from annotation.recruitment import selectors
from annotation.recruitment.forms import BonusForm, RejectForm, ReturnForm
from annotation.recruitment.lookups import recruitment_or_404
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import Capability, RejectionReason
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.selectors import SubmissionRow
from annotation.recruitment.services import bonuses, reviewing
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.bonuses import Batch, batch_of
from annotation.recruitment.services.terms import fee_percent, terms_of
from annotation.recruitment.tasks import submissions_approve
from annotation.recruitment.views.recruitment import to_recruitment

AT_ONCE = 25  # more are approved by a worker
ACTS = {
    "approve": ("Approve", Capability.REVIEW, (Status.AWAITING,)),
    "reject": ("Reject", Capability.REVIEW, (Status.AWAITING,)),
    "return": ("Ask to return", Capability.REQUEST_RETURN, (Status.ACTIVE, Status.AWAITING)),
}


@require_POST
@object_view(recruitment_or_404, Role.MANAGER)
def submissions_review(request: MemberRequest, recruitment: Recruitment) -> HttpResponse:
    """Show whom the decision concerns and what it costs; with ``confirmed``, carry it out."""
    act = request.POST.get("act", "")
    back = to_recruitment(recruitment)
    if act == "bonus":
        return _bonus_form(request, recruitment, None, chosen=_chosen(request, recruitment))
    if act not in ACTS:
        raise Http404("No such act.")
    label, capability, accepted = ACTS[act]
    if capability not in PROVIDERS[recruitment.provider].capabilities or recruitment.account is None:
        messages.error(request, f"{label}: do this on the pages of {recruitment.get_provider_display()}.")
        return back
    rows = [row for row in _chosen(request, recruitment) if row.status in accepted and not row.erased]
    if not rows:
        states = " or ".join(f"“{status.label}”" for status in accepted)
        messages.error(request, f"Nothing was chosen. {label}: choose submissions with the status {states}.")
        return back
    form = _decision_form(request, act, recruitment)
    if "confirmed" in request.POST and (form is None or form.is_valid()):
        try:
            _decide(request, recruitment, act, rows, form)
        except AnnotationError as error:
            if form is None or not isinstance(error, ProviderError) or not set(error.fields) & set(form.fields):
                messages.error(request, error.message)
                return back
            form.add_refusal(error)
        else:
            return back
    return _review_page(request, recruitment, act, rows, form)


def _review_page(
    request: MemberRequest,
    recruitment: Recruitment,
    act: str,
    rows: list[SubmissionRow],
    form: RejectForm | ReturnForm | None,
) -> HttpResponse:
    terms = terms_of(recruitment)
    pay = terms.reward * len(rows)
    percent = fee_percent(terms, recruitment.campaign, provider=recruitment.provider)
    context = {
        "project": request.project,
        "campaign": recruitment.campaign,
        "recruitment": recruitment,
        "provider": provider_of(recruitment.provider),
        "act": act,
        "label": ACTS[act][0],
        "rows": rows,
        "form": form,
        "terms": terms,
        "pay": pay,
        "percent": percent,
        "fees": (pay * percent / 100).quantize(Decimal("0.01")),
        "doubtful": sum(row.excluded or row.flagged or bool(row.note) for row in rows),
    }
    return render(request, "annotation/recruitment/recruitment_review.html", context)


def _chosen(request: HttpRequest, recruitment: Recruitment) -> list[SubmissionRow]:
    """Return the ticked submissions; with ``all``, those that await review and have no flag, exclusion or note."""
    if request.POST.get("all"):
        rows = selectors.submission_rows(recruitment, status=Status.AWAITING)
        return [row for row in rows if not (row.excluded or row.flagged or row.note)]
    return selectors.submission_rows(recruitment, ids=whole_numbers(request.POST, "submission"))


def _decision_form(request: HttpRequest, act: str, recruitment: Recruitment) -> RejectForm | ReturnForm | None:
    data = request.POST if "confirmed" in request.POST else None
    if act == "reject":
        return RejectForm(data, provider=recruitment.provider)
    return ReturnForm(data) if act == "return" else None


def _decide(
    request: MemberRequest,
    recruitment: Recruitment,
    act: str,
    rows: list[SubmissionRow],
    form: RejectForm | ReturnForm | None,
) -> None:
    submissions = list(Submission.objects.filter(pk__in=[row.pk for row in rows]))
    common: dict[str, Any] = {"recruitment": recruitment, "submissions": submissions, "by": request.user}
    if act == "approve" and len(rows) > AT_ONCE:
        submissions_approve.delay_on_commit(recruitment.pk, [row.pk for row in rows], request.user.pk)
        messages.success(request, f"{len(rows)} are being approved; this page shows how far that is.")
        return
    if act == "approve":
        result = reviewing.submissions_approve(**common)
        summary = f"{result.confirmed} of {result.requested} approved"
    elif act == "reject" and form is not None:
        reason = RejectionReason(form.cleaned_data.get("reason", RejectionReason.OTHER))
        result = reviewing.submissions_reject(**common, reason=reason, message=form.cleaned_data["message"])
        summary = f"{result.confirmed} of {result.requested} rejected"
    else:
        result = reviewing.submissions_ask_return(**common, reason=form.cleaned_data["reason"] if form else "")
        summary = f"{result.requested} asked to return"
    if result.confirmed < result.requested:
        summary += "; the provider has not confirmed the others yet"
    messages.success(request, f"{summary}.")


@require_http_methods(["GET", "POST"])
@object_view(recruitment_or_404, Role.MANAGER)
def bonus_new(request: MemberRequest, recruitment: Recruitment) -> HttpResponse:
    """Enter who gets how much, filled in for additional screens; then the provider computes the cost."""
    form = BonusForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        try:
            amounts = bonuses.amounts_read(recruitment=recruitment, text=form.cleaned_data["lines"])
            batch = bonuses.bonus_prepare(
                recruitment=recruitment, amounts=amounts, reason=form.cleaned_data["reason"], by=request.user
            )
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            return _to_batch(recruitment, batch.id)
    return _bonus_form(request, recruitment, form, chosen=None)


def _to_batch(recruitment: Recruitment, batch_id: str) -> HttpResponse:
    campaign = recruitment.campaign
    return redirect(
        "annotation:campaign-recruitment-batch", campaign.project.slug, campaign.pk, recruitment.pk, batch_id
    )


def _bonus_form(
    request: MemberRequest, recruitment: Recruitment, form: BonusForm | None, *, chosen: list[SubmissionRow] | None
) -> HttpResponse:
    rows = selectors.submission_rows(recruitment) if chosen is None else chosen
    terms = terms_of(recruitment)
    due = selectors.top_ups(recruitment, reward=terms.reward, rows=rows)
    by_pk = {row.pk: row for row in rows}
    if form is None:
        lines = [f"{by_pk[pk].shown_id}, {value}" for pk, value in due.items()]
        if chosen is not None:
            lines += [f"{row.shown_id}, " for row in rows if row.pk not in due and not row.erased]
        form = BonusForm(initial={"lines": "\n".join(lines)})
    context = {
        "project": request.project,
        "campaign": recruitment.campaign,
        "recruitment": recruitment,
        "form": form,
        "terms": terms,
        "n_due": len(due),
        "total_due": sum(due.values(), Decimal(0)),
    }
    return render(request, "annotation/recruitment/recruitment_bonus.html", context)


@require_http_methods(["GET", "POST"])
@object_view(recruitment_or_404, Role.MANAGER)
def bonus_batch(request: MemberRequest, recruitment: Recruitment, batch_id: str) -> HttpResponse:
    batch = batch_of(recruitment, batch_id)
    if batch is None:
        raise Http404("No such batch of bonuses.")
    if request.method == "POST":
        try:
            _settle_batch(request, recruitment, batch)
        except AnnotationError as error:
            messages.error(request, error.message)
        return _to_batch(recruitment, batch_id)
    rows = {row.pk: row for row in selectors.submission_rows(recruitment, ids=[pk for pk, _ in batch.payments])}
    context = {
        "project": request.project,
        "campaign": recruitment.campaign,
        "recruitment": recruitment,
        "batch": batch,
        "provider": provider_of(recruitment.provider),
        "payments": [(rows[pk], value) for pk, value in batch.payments if pk in rows],
        "url": recruitment.options.get("url", ""),
    }
    return render(request, "annotation/recruitment/recruitment_batch.html", context)


def _settle_batch(request: MemberRequest, recruitment: Recruitment, batch: Batch) -> None:
    act = request.POST.get("act", "")
    if act == "pay":
        bonuses.bonus_pay(recruitment=recruitment, batch_id=batch.id, by=request.user)
        messages.success(request, f"Paid: {batch.amount} {batch.currency} to {len(batch.payments)}.")
    elif act in ("was-paid", "was-not-paid"):
        paid = act == "was-paid"
        bonuses.bonus_settle(recruitment=recruitment, batch_id=batch.id, paid=paid, by=request.user)
    elif act == "discard":
        bonuses.bonus_discard(recruitment=recruitment, batch_id=batch.id, by=request.user)
        messages.success(request, "Discarded; nothing was paid.")
    else:
        raise Http404("No such act.")
