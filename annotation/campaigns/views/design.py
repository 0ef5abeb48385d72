"""Designing a campaign, for its managers: the steps with the preview beside them, and the prepared screens."""

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns import services
from annotation.campaigns.forms import STEPS, LinesForm, PreparedForm, Step, WhatStep
from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.scales import fewest_responses
from annotation.campaigns.views.campaigns import launch_text
from annotation.core.errors import AnnotationError
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, CampaignState, Item, Project, Role

REVIEW = "review"
GROUPS = {"gold": "quality", "attention": "quality", "training": "qualification", "test": "qualification"}
GROUP_TITLES = {"gold": "Gold", "attention": "Attention checks", "training": "Training", "test": "Qualification test"}
IDS_OFFERED = 300


def _if_frozen(request: MemberRequest, campaign: Campaign) -> HttpResponse | None:
    if campaign.state == CampaignState.DRAFT:
        return None
    messages.error(request, "The design was frozen at launch: only a draft can be edited.")
    return redirect("annotation:campaign-design", request.project.slug, campaign.pk)


@require_GET
@object_view(campaign_or_404, Role.MANAGER)
def campaign_edit(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """The first step."""
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, next(iter(STEPS)))


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_step(request: MemberRequest, campaign: Campaign, step: str) -> HttpResponse:
    project = request.project
    if frozen := _if_frozen(request, campaign):
        return frozen
    if step == REVIEW:
        return _review(request, campaign)
    form_class = STEPS.get(step)
    if form_class is None:
        raise Http404(f"No step {step!r}; there are {', '.join([*STEPS, REVIEW])}.")
    if request.htmx and form_class is WhatStep and request.method == "GET":
        choice = WhatStep(campaign, dataset=request.GET.get("dataset", ""))
        return render(request, "annotation/campaigns/campaign_systems.html", {"form": choice})
    form = form_class(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid() and _saved(form, campaign, request):
        return _onward(request, campaign, step)
    context = {**_page(project, campaign, step), "form": form}
    return render(request, "annotation/campaigns/campaign_form.html", context)


def _saved(form: Step, campaign: Campaign, request: MemberRequest) -> bool:
    try:
        services.campaign_change(
            campaign=campaign, changes=form.changes(), settle=form.settles, leave=form.leaves, by=request.user
        )
    except AnnotationError as error:
        form.add_refusal(error)
        return False
    return True


def _onward(request: MemberRequest, campaign: Campaign, step: str) -> HttpResponse:
    """Where the button that was pressed leads: to the step or prepared screens it names, or on to the next step."""
    names = [*STEPS, REVIEW]
    wanted = request.POST.get("then", "")
    kind, _, page = wanted.partition("/")
    if kind in GROUPS and page in ("new", "lines"):
        return redirect(f"annotation:campaign-screen-{page}", request.project.slug, campaign.pk, kind)
    onward = wanted if wanted in names else names[names.index(step) + 1]
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, onward)


def _page(project: Project, campaign: Campaign, step: str) -> dict[str, Any]:
    names = [*STEPS, REVIEW]
    place = names.index(step)
    return {
        "project": project,
        "campaign": campaign,
        "step": step,
        "step_number": place + 1,
        "steps": [*((name, form.title) for name, form in STEPS.items()), (REVIEW, "Review")],
        "before": names[place - 1] if place else "",
    }


def _review(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    report = services.launch_report(campaign)
    context = {
        **_page(request.project, campaign, REVIEW),
        "report": report,
        "launch_text": launch_text(report),
        "problems": [(remark, *step_of(remark.field)) for remark in report.problems],
        "hints": [(remark, *step_of(remark.field)) for remark in report.hints],
    }
    return render(request, "annotation/campaigns/campaign_review.html", context)


def step_of(path: str) -> tuple[str, str]:
    """Name and title of the step that settles a field; of the first one for what no step does."""
    root = path.split(".")[0]
    name = next((name for name, form in STEPS.items() if root in form.settles), next(iter(STEPS)))
    return name, STEPS[name].title


# --- The preview ------------------------------------------------------------------------------------------------------


# --- Prepared screens -------------------------------------------------------------------------------------------------


def _screens(campaign: Campaign, kind: str) -> list[dict[str, Any]]:
    if kind not in GROUPS:
        raise Http404(f"No screens of the kind {kind!r}; there are {', '.join(GROUPS)}.")
    return list(getattr(campaign, GROUPS[kind]).get(kind, []))


def _store(request: MemberRequest, campaign: Campaign, kind: str, screens: list[Any], settle: str) -> None:
    group = GROUPS[kind]
    changes = {group: {**getattr(campaign, group), kind: screens}}
    services.campaign_change(campaign=campaign, changes=changes, settle=[f"{group}.{settle}"], by=request.user)


def _kind_page(project: Project, campaign: Campaign, kind: str) -> dict[str, Any]:
    return {**_page(project, campaign, "quality"), "kind": kind, "title": GROUP_TITLES[kind]}


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_screen(request: MemberRequest, campaign: Campaign, kind: str, number: int = 0) -> HttpResponse:
    """One prepared screen; number 0 is a new one."""
    project = request.project
    if frozen := _if_frozen(request, campaign):
        return frozen
    screens = _screens(campaign, kind)
    if number > len(screens):
        raise Http404(f"No screen {number}; there are {len(screens)}.")
    form = PreparedForm(campaign, kind, request.POST or None, screen=screens[number - 1] if number else None)
    if request.method == "POST" and form.is_valid():
        place = number or len(screens) + 1
        screens[place - 1 : place] = [form.screen()]
        try:
            _store(request, campaign, kind, screens, f"{kind}.{place}")
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            again = "another" in request.POST
            if again:
                messages.success(request, f"Screen {place} is kept.")
                return redirect("annotation:campaign-screen-new", project.slug, campaign.pk, kind)
            return redirect("annotation:campaign-step", project.slug, campaign.pk, "quality")
    context = {**_kind_page(project, campaign, kind), "form": form, "number": number, "items": _items_offered(campaign)}
    return render(request, "annotation/campaigns/campaign_form_prepared.html", context)


def _items_offered(campaign: Campaign) -> list[Item]:
    return list(Item.objects.filter(dataset=campaign.dataset).order_by("position")[:IDS_OFFERED])


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_screen_remove(request: MemberRequest, campaign: Campaign, kind: str, number: int) -> HttpResponse:
    screens = _screens(campaign, kind)
    if not 1 <= number <= len(screens):
        raise Http404(f"No screen {number}; there are {len(screens)}.")
    del screens[number - 1]
    try:
        _store(request, campaign, kind, screens, f"{kind}.none")  # what is left was there before
    except AnnotationError as error:
        messages.error(request, error.message)
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "quality")


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_screen_lines(request: MemberRequest, campaign: Campaign, kind: str) -> HttpResponse:
    """All prepared screens of a kind as JSON Lines."""
    if frozen := _if_frozen(request, campaign):
        return frozen
    screens = _screens(campaign, kind)
    if request.method == "GET" and "download" in request.GET:
        response = HttpResponse(LinesForm.written(screens) + "\n", content_type="application/jsonl; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="campaign-{campaign.pk}-{kind}.jsonl"'
        return response
    form = LinesForm(request.POST or None, request.FILES or None, initial={"lines": LinesForm.written(screens)})
    problems: list[dict[str, Any]] = []
    if request.method == "POST" and form.is_valid():
        problems = form.problems or _lines_stored(request, campaign, kind, form)
        if not problems:
            messages.success(request, f"{len(form.screens)} screens are kept.")
            return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "quality")
    context = {
        **_kind_page(request.project, campaign, kind),
        "form": form,
        "problems": problems,
        "example": _line(campaign, kind),
    }
    return render(request, "annotation/campaigns/campaign_form_lines.html", context)


def _lines_stored(request: MemberRequest, campaign: Campaign, kind: str, form: LinesForm) -> list[dict[str, Any]]:
    try:
        _store(request, campaign, kind, form.screens, kind)
    except AnnotationError as error:
        found = []
        for path, texts in (error.fields or {"": [error.message]}).items():
            rest = path.removeprefix(f"{GROUPS[kind]}.{kind}").strip(".").split(".")
            place = int(rest[0]) if rest[0].isdecimal() else 0
            line = form.line_of[place - 1] if 0 < place <= len(form.line_of) else ""
            found += [{"line": line, "field": ".".join(rest[1:]), "text": text} for text in texts]
        return sorted(found, key=lambda one: one["line"] or 0)
    return []


def _line(campaign: Campaign, kind: str) -> str:
    """A screen that would be accepted, to write others after."""
    criterion = campaign.criteria.first()
    expected = {criterion.name: [criterion.scale_max - 1, criterion.scale_max]} if criterion else {}
    item = campaign.dataset.items.order_by("position").first()
    n_texts = max(campaign.presentation_kind.texts[0], fewest_responses(campaign.criteria.all()))
    texts = [{"text": "A text to rate", "expected": {} if place else expected} for place in range(n_texts)]
    screen: dict[str, Any] = {"item": item.external_id if item else "", "texts": texts}
    if kind == "training":
        screen["feedback"] = "Why this is so."
    return json.dumps(screen, ensure_ascii=False)
