"""Recruitments of a campaign, for its managers: draft, publish, follow, stop."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.models import Campaign, Project, Recruitment, RecruitmentState, Role, SubmissionStatus
from annotation.recruitment import selectors, services
from annotation.recruitment.forms import (
    AFTER_LABELS,
    OUTCOME_LABELS,
    PlacesForm,
    RecruitmentForm,
    recruitment_initial,
    terms_initial,
)
from annotation.recruitment.providers import recruiting_providers
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.bonuses import batches_of
from annotation.recruitment.services.terms import expected_screens, fee_percent, terms_of, warnings_of
from annotation.recruitment.views.accounts import provider_or_404, refuse

PAGE = 100
HOLD_A_PLACE = set(SubmissionStatus) - {SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT}


def campaign_of(request: HttpRequest, slug: str, pk: int, *, role: Role = Role.MANAGER) -> tuple[Project, Campaign]:
    project = get_project_or_404(request.user, slug, role=role)
    campaigns = Campaign.objects.select_related("project", "dataset").filter(imported=False)
    return project, get_in_project_or_404(campaigns, project, pk=pk)


def recruitment_or_404(campaign: Campaign, number: int) -> Recruitment:
    found = Recruitment.objects.select_related("account", "campaign__project").filter(campaign=campaign, pk=number)
    recruitment = found.first()
    if recruitment is None:
        raise Http404("No such recruitment in this campaign.")
    return recruitment


def entry_url(request: HttpRequest, recruitment: Recruitment) -> str:
    return request.build_absolute_uri(reverse("annotation:provider-entry", args=[recruitment.link_token]))


@login_required
@require_GET
def campaign_recruitments(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project, campaign = campaign_of(request, project_slug, pk, role=Role.VIEWER)
    recruitments = list(selectors.recruitments_of(campaign))
    landing = reverse("annotation:rater-landing", args=[campaign.link_token])
    manages = may_manage(project)
    context = {
        "project": project,
        "campaign": campaign,
        "may_manage": manages,
        "recruitments": [(one, terms_of(one)) for one in recruitments],
        "providers": [provider_of(each.key) for each in recruiting_providers()],
        "accounts": selectors.accounts_of(project) if manages else [],
        "rater_link": request.build_absolute_uri(landing) if manages and campaign.launched_at else "",
    }
    return render(request, "annotation/recruitment/campaign_recruitments.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def recruitment_create(request: HttpRequest, project_slug: str, pk: int, provider: str) -> HttpResponse:
    project, campaign = campaign_of(request, project_slug, pk)
    provider_or_404(provider)
    initial = recruitment_initial(campaign, provider, seconds=selectors.seconds_per_screen(campaign))
    accounts = selectors.accounts_of(project)
    form = RecruitmentForm(request.POST or None, provider=provider, accounts=accounts, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.recruitment_create(
                campaign=campaign,
                provider=provider,
                name=form.cleaned_data["name"],
                terms=form.terms,
                after=form.after,
                account=form.chosen_account,
                return_policy=form.cleaned_data["return_policy"],
                by=request.user,
            )
        except AnnotationError as error:
            refuse(form, error)
        else:
            return redirect("annotation:campaign-recruitment", project.slug, campaign.pk, made.pk)
    return _form(request, project, campaign, form, None)


@login_required
@require_http_methods(["GET", "POST"])
def recruitment_edit(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    project, campaign = campaign_of(request, project_slug, pk)
    recruitment = recruitment_or_404(campaign, number)
    form = RecruitmentForm(
        request.POST or None,
        provider=recruitment.provider,
        accounts=[],
        recruitment=recruitment,
        initial=terms_initial(recruitment),
    )
    if recruitment.external_id:  # the provider has it already
        for name in set(form.fields) - {"name", "return_policy"}:
            form.fields[name].disabled = True
    if request.method == "POST" and form.is_valid():
        try:
            services.recruitment_update(
                recruitment=recruitment,
                name=form.cleaned_data["name"],
                terms=form.terms,
                after=form.after,
                return_policy=form.cleaned_data["return_policy"],
                by=request.user,
            )
        except AnnotationError as error:
            refuse(form, error)
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:campaign-recruitment", project.slug, campaign.pk, recruitment.pk)
    return _form(request, project, campaign, form, recruitment)


def _form(
    request: HttpRequest,
    project: Project,
    campaign: Campaign,
    form: RecruitmentForm,
    recruitment: Recruitment | None,
) -> HttpResponse:
    context = {
        "project": project,
        "campaign": campaign,
        "form": form,
        "provider": provider_of(form.provider.key),
        "recruitment": recruitment,
        "screens": expected_screens(campaign),
    }
    return render(request, "annotation/recruitment/recruitment_form.html", context)


@login_required
@require_GET
def recruitment_detail(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponseBase:
    project, campaign = campaign_of(request, project_slug, pk, role=Role.VIEWER)
    recruitment = recruitment_or_404(campaign, number)
    manages = may_manage(project)
    if (wanted := request.GET.get("format")) and manages:
        return table_response(
            format=wanted,
            filename=f"{project.slug}-recruitment-{recruitment.pk}",
            columns=selectors.SUBMISSION_COLUMNS,
            rows=selectors.submission_table(recruitment),
            types={"paid": "number", "bonus": "number"},
        )
    status, after = request.GET.get("status", ""), whole_number(request, "after") or 0
    rows = selectors.submission_rows(recruitment, status=status, after=after, size=PAGE + 1)
    terms = terms_of(recruitment)
    counts = selectors.status_counts(recruitment)
    provider = provider_of(recruitment.provider)
    paid, bonus = selectors.spent(recruitment)
    context: dict[str, Any] = {
        "project": project,
        "campaign": campaign,
        "recruitment": recruitment,
        "may_manage": manages,
        "terms": terms,
        "codes": [(OUTCOME_LABELS[one.outcome], one, AFTER_LABELS[one.after]) for one in terms.codes],
        "warnings": warnings_of(terms, campaign, provider=recruitment.provider) if _before_money(recruitment) else [],
        "price": _price(recruitment),
        "provider": provider,
        "capabilities": {one.value for one in provider.capabilities},
        "rows": rows[:PAGE],
        "next": rows[PAGE - 1].pk if len(rows) > PAGE else None,
        "after": after,
        "status": status,
        "statuses": [(one.value, one.label, counts[one.value]) for one in SubmissionStatus if counts[one.value]],
        "n_submissions": sum(counts.values()),
        "n_awaiting": counts[SubmissionStatus.AWAITING],
        "paid": paid,
        "bonus": bonus,
        "batches": batches_of(recruitment),
        "trouble": recruitment.options.get("trouble"),
        "placed": recruitment.options.get("places", terms.places),
        "taken": recruitment.options.get("taken", sum(counts[one] for one in HOLD_A_PLACE)),
    }
    if manages:
        url = entry_url(request, recruitment)
        context |= {
            "link": provider.entry_url(url),
            "reachable": urlsplit(url).scheme == "https",
            "places_form": PlacesForm(initial={"places": context["placed"]}),
        }
    return render(request, "annotation/recruitment/recruitment_detail.html", context)


def _before_money(recruitment: Recruitment) -> bool:
    return recruitment.state == RecruitmentState.DRAFT or (
        recruitment.account_id is None and not recruitment.submissions.exists()
    )


def _price(recruitment: Recruitment) -> dict[str, Any]:
    """What it costs if every place is taken and paid. Fees by the campaign's percentage, or the provider's."""
    terms = terms_of(recruitment)
    percent = fee_percent(terms, recruitment.campaign, provider=recruitment.provider)
    fees = (terms.pay * percent / 100).quantize(Decimal("0.01"))
    return {"pay": terms.pay, "percent": percent, "fees": fees, "total": terms.pay + fees}


@login_required
@require_POST
def recruitment_places(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    project, campaign = campaign_of(request, project_slug, pk)
    recruitment = recruitment_or_404(campaign, number)
    form = PlacesForm(request.POST)
    if form.is_valid():
        places = form.cleaned_data["places"]
        _do(
            request,
            lambda: services.recruitment_extend(recruitment=recruitment, places=places, by=request.user),
            f"{places} places in all.",
        )
    else:
        messages.error(request, "Places: " + " ".join(form.errors["places"]))
    return redirect("annotation:campaign-recruitment", project.slug, campaign.pk, recruitment.pk)


@login_required
@require_POST
def recruitment_act(request: HttpRequest, project_slug: str, pk: int, number: int, act: str) -> HttpResponse:
    project, campaign = campaign_of(request, project_slug, pk)
    recruitment = recruitment_or_404(campaign, number)
    label, by = recruitment.get_provider_display(), request.user
    url = entry_url(request, recruitment)
    acts: dict[str, tuple[Callable[[], object], str]] = {
        "draft": (
            lambda: services.recruitment_draft(recruitment=recruitment, entry_url=url, by=by),
            f"Drafted at {label}; nobody can come yet.",
        ),
        "publish": (
            lambda: services.recruitment_publish(recruitment=recruitment, entry_url=url, by=by),
            f"Published at {label}.",
        ),
        "pause": (lambda: services.recruitment_pause(recruitment=recruitment, by=by), "Paused."),
        "resume": (lambda: services.recruitment_resume(recruitment=recruitment, by=by), "Resumed."),
        "stop": (lambda: services.recruitment_stop(recruitment=recruitment, by=by), "Stopped."),
        "refresh": (lambda: services.recruitment_refresh(recruitment=recruitment, patient=False), "Up to date."),
        "discard": (lambda: services.recruitment_discard(recruitment=recruitment, by=by), "Discarded."),
    }
    if act not in acts:
        raise Http404("No such act.")
    done = _do(request, *acts[act])
    if act == "discard" and done:
        return redirect("annotation:campaign-recruitments", project.slug, campaign.pk)
    return redirect("annotation:campaign-recruitment", project.slug, campaign.pk, recruitment.pk)


def _do(request: HttpRequest, service: Callable[[], object], done: str) -> bool:
    try:
        service()
    except AnnotationError as error:
        fields = "; ".join(f"{name}: {' '.join(found)}" for name, found in error.fields.items())
        messages.error(request, error.message if not fields or fields in error.message else f"{error.message} {fields}")
        return False
    messages.success(request, done)
    return True
