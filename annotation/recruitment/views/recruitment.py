"""Recruitments of a campaign, for its managers: draft, publish, follow, stop."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.lookups import rated_here_or_404
from annotation.core.access import may_manage
from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, perform
from annotation.models import Campaign, Recruitment, RecruitmentState, Role, SubmissionStatus, User
from annotation.projects.services.editing import version_of
from annotation.recruitment import selectors
from annotation.recruitment.forms import PlacesForm, RecruitmentForm, recruitment_initial
from annotation.recruitment.lookups import provider_or_404, recruitment_or_404
from annotation.recruitment.providers import recruiting_providers
from annotation.recruitment.providers.base import RELEASED
from annotation.recruitment.services import studies
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.bonuses import batches_of
from annotation.recruitment.services.refreshing import recruitment_refresh, trouble_of
from annotation.recruitment.services.terms import (
    Terms,
    expected_screens,
    fee_percent,
    recruitment_shown,
    terms_of,
    warnings_of,
)

PAGE = 100


def entry_url(request: HttpRequest, recruitment: Recruitment) -> str:
    return request.build_absolute_uri(reverse("annotation:provider-entry", args=[recruitment.link_token]))


def to_recruitment(recruitment: Recruitment) -> HttpResponse:
    campaign = recruitment.campaign
    return redirect("annotation:campaign-recruitment", campaign.project.slug, campaign.pk, recruitment.pk)


@require_GET
@object_view(rated_here_or_404, Role.VIEWER)
def campaign_recruitments(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    project = request.project
    recruitments = list(selectors.recruitments_of(campaign))
    landing = reverse("annotation:rater-landing", args=[campaign.link_token])
    manages = may_manage(project)
    context = {
        "project": project,
        "campaign": campaign,
        "may_manage": manages,
        "recruitments": [(recruitment, terms_of(recruitment)) for recruitment in recruitments],
        "providers": [provider_of(each.key) for each in recruiting_providers()],
        "accounts": selectors.accounts_of(project) if manages else [],
        "rater_link": request.build_absolute_uri(landing) if manages and campaign.launched_at else "",
    }
    return render(request, "annotation/recruitment/campaign_recruitments.html", context)


@require_http_methods(["GET", "POST"])
@object_view(rated_here_or_404, Role.MANAGER)
def recruitment_create(request: MemberRequest, campaign: Campaign, provider: str) -> HttpResponse:
    provider_or_404(provider)
    initial = recruitment_initial(campaign, provider, seconds=selectors.seconds_per_screen(campaign))
    accounts = selectors.accounts_of(request.project)
    form = RecruitmentForm(request.POST or None, provider=provider, accounts=accounts, initial=initial)
    recruitment = form.submit(studies.recruitment_create, campaign=campaign, provider=provider, by=request.user)
    if recruitment is not None:
        return to_recruitment(recruitment)
    return _form(request, campaign, form, None)


@require_http_methods(["GET", "POST"])
@object_view(recruitment_or_404, Role.MANAGER)
def recruitment_edit(request: MemberRequest, recruitment: Recruitment) -> HttpResponse:
    shown = recruitment_shown(recruitment)
    form = RecruitmentForm(
        request.POST or None,
        provider=recruitment.provider,
        accounts=[],
        recruitment=recruitment,
        initial=shown | {"version": version_of(shown)},
    )
    if recruitment.external_id:  # the provider has it already
        for name in set(form.fields) - {"name", "return_policy", "version"}:
            form.fields[name].disabled = True
    if form.submit(studies.recruitment_update, recruitment=recruitment, by=request.user):
        messages.success(request, "Saved.")
        return to_recruitment(recruitment)
    return _form(request, recruitment.campaign, form, recruitment)


def _form(
    request: MemberRequest, campaign: Campaign, form: RecruitmentForm, recruitment: Recruitment | None
) -> HttpResponse:
    context = {
        "project": request.project,
        "campaign": campaign,
        "form": form,
        "provider": provider_of(form.provider.key),
        "recruitment": recruitment,
        "title": f"Change {recruitment.name}" if recruitment else f"Recruit at {form.provider.label}",
        "screens": expected_screens(campaign),
    }
    return render(request, "annotation/recruitment/recruitment_form.html", context)


@require_GET
@object_view(recruitment_or_404, Role.VIEWER)
def recruitment_detail(request: MemberRequest, recruitment: Recruitment) -> HttpResponseBase:
    project, campaign = request.project, recruitment.campaign
    manages = may_manage(project)
    if (file_format := request.GET.get("format")) and manages:
        return table_response(
            format=file_format,
            filename=f"{project.slug}-recruitment-{recruitment.pk}",
            columns=selectors.SUBMISSION_COLUMNS,
            rows=selectors.submission_table(recruitment),
            types={"paid": "number", "bonus": "number"},
        )
    status, after = request.GET.get("status", ""), whole_number(request, "after") or 0
    rows = selectors.submission_rows(recruitment, status=status, after=after, size=PAGE + 1)
    terms = terms_of(recruitment)
    counts = selectors.status_counts(recruitment)
    n_submissions = sum(counts.values())
    provider = provider_of(recruitment.provider)
    context: dict[str, Any] = {
        "project": project,
        "campaign": campaign,
        "recruitment": recruitment,
        "may_manage": manages,
        "terms": terms,
        "warnings": warnings_of(terms, campaign, provider=recruitment.provider) if _before_money(recruitment) else [],
        "statistics": _statistics(recruitment, terms, counts),
        "provider": provider,
        "capabilities": {capability.value for capability in provider.capabilities},
        "rows": rows[:PAGE],
        "next": rows[PAGE - 1].pk if len(rows) > PAGE else None,
        "after": after,
        "status": status,
        "statuses": [
            ("", "All", n_submissions),
            *((status.value, status.label, counts[status]) for status in SubmissionStatus if counts[status]),
        ],
        "n_submissions": n_submissions,
        "n_awaiting": counts[SubmissionStatus.AWAITING],
        "batches": batches_of(recruitment),
        "trouble": trouble_of(recruitment),
    }
    if manages:
        url = entry_url(request, recruitment)
        is_draft = recruitment.state == RecruitmentState.DRAFT
        context |= {
            "link": provider.entry_url(url),
            "reachable": urlsplit(url).scheme == "https",
            "places_form": PlacesForm(initial={"places": recruitment.options.get("places", terms.places)}),
            "draft_label": f"Create draft at {recruitment.get_provider_display()}",
            "publish_text": (
                f"Up to {terms.places} people are paid: at most {_cost(recruitment, terms).total} {terms.currency} "
                "with fees as estimated here. Raters come at once."
            ),
            "may_discard": not n_submissions and (is_draft or recruitment.account is None),
        }
    return render(request, "annotation/recruitment/recruitment_detail.html", context)


def _before_money(recruitment: Recruitment) -> bool:
    return recruitment.state == RecruitmentState.DRAFT or (
        recruitment.account_id is None and not recruitment.submissions.exists()
    )


class Cost(NamedTuple):
    fees: Decimal
    total: Decimal


def _cost(recruitment: Recruitment, terms: Terms) -> Cost:
    """Return the cost if every place is taken and paid, with fees at the campaign's or the provider's percentage."""
    percent = fee_percent(terms, recruitment.campaign, provider=recruitment.provider)
    fees = (terms.pay * percent / 100).quantize(Decimal("0.01"))
    return Cost(fees, terms.pay + fees)


def _statistics(recruitment: Recruitment, terms: Terms, counts: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """Return label, value and hint of each number at the top of the page."""
    places = recruitment.options.get("places", terms.places)
    taken = recruitment.options.get("taken", sum(n for status, n in counts.items() if status not in RELEASED))
    cost = _cost(recruitment, terms)
    paid, bonus = selectors.spent(recruitment)
    return [
        ("Places", f"{places:,}", f"{taken} taken"),
        ("Reward", f"{terms.reward} {terms.currency}", f"{terms.minutes} min"),
        ("Per hour", f"{terms.per_hour} {terms.currency}" if terms.per_hour else "–", "at that time"),
        ("If all places are paid", f"{cost.total} {terms.currency}", f"{cost.fees} are fees, estimated"),
        ("Paid so far", f"{paid} {terms.currency}", f"{bonus} in bonuses besides"),
    ]


@require_POST
@object_view(recruitment_or_404, Role.MANAGER)
def recruitment_places(request: MemberRequest, recruitment: Recruitment) -> HttpResponse:
    form = PlacesForm(request.POST)
    if form.is_valid():
        places = form.cleaned_data["places"]
        perform(request, studies.recruitment_extend, f"{places} places in all.", recruitment=recruitment, places=places)
    else:
        messages.error(request, "Places: " + " ".join(map(str, form.errors["places"])))
    return to_recruitment(recruitment)


@require_POST
@object_view(recruitment_or_404, Role.MANAGER)
def recruitment_act(request: MemberRequest, recruitment: Recruitment, act: str) -> HttpResponse:
    label = recruitment.get_provider_display()
    url = {"entry_url": entry_url(request, recruitment)}
    acts: dict[str, tuple[Callable[..., object], str, dict[str, Any]]] = {
        "draft": (studies.recruitment_draft, f"Drafted at {label}; raters cannot see it yet.", url),
        "publish": (studies.recruitment_publish, f"Published at {label}.", url),
        "pause": (studies.recruitment_pause, "Paused.", {}),
        "resume": (studies.recruitment_resume, "Resumed.", {}),
        "stop": (studies.recruitment_stop, "Stopped.", {}),
        "refresh": (_refresh, "Up to date.", {}),
        "discard": (studies.recruitment_discard, "Discarded.", {}),
    }
    if act not in acts:
        raise Http404("No such act.")
    service, done, arguments = acts[act]
    if perform(request, service, done, recruitment=recruitment, **arguments) and act == "discard":
        return redirect("annotation:campaign-recruitments", request.project.slug, recruitment.campaign_id)
    return to_recruitment(recruitment)


def _refresh(*, recruitment: Recruitment, by: User) -> None:
    recruitment_refresh(recruitment=recruitment, patient=False)
