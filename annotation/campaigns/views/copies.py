"""Create a campaign from a template, another campaign or a file; export one; compare two."""

import json
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.campaigns.design.compare import Change, compare_designs
from annotation.campaigns.design.templates import BLANK, TEMPLATES
from annotation.campaigns.forms.copies import CloneForm, ImportForm, StartForm
from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.selectors import campaigns_of
from annotation.campaigns.services import copies as services
from annotation.campaigns.services.documents import campaign_export as export_of
from annotation.campaigns.services.names import free_name
from annotation.campaigns.services.starting import campaign_start
from annotation.core.access import may_manage
from annotation.core.exports import file_response
from annotation.core.parameters import whole_number
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Campaign, Dataset, Role


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def campaign_create(request: MemberRequest) -> HttpResponse:
    """Choose a template and create the draft; a campaign for a list copies another campaign instead."""
    project = request.project
    if (listed := whole_number(request, "list")) is not None:
        query = {name: request.GET[name] for name in ("ratings", "like") if request.GET.get(name)}
        address = reverse("annotation:response-list-rate", args=[project.slug, listed])
        return redirect(f"{address}?{urlencode(query)}" if query else address)
    dataset = Dataset.objects.filter(project=project, slug=request.GET.get("dataset", "")).first()
    form = StartForm(project, request.POST or None, initial={"dataset": dataset})
    template = request.POST.get("template", BLANK.slug)
    if campaign := form.submit(campaign_start, project=project, template=template, by=request.user):
        return redirect("annotation:campaign-step", project.slug, campaign.pk, "what")
    context = {"project": project, "form": form, "templates": TEMPLATES, "blank": BLANK}
    return render(request, "annotation/campaigns/campaign_new.html", context)


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_clone(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    form = CloneForm(campaign, request.POST or None, name=free_name(request.project, campaign.name))
    if draft := form.submit(services.campaign_clone, campaign=campaign, by=request.user):
        return redirect("annotation:campaign-step", request.project.slug, draft.pk, "review")
    context = {"project": request.project, "campaign": campaign, "form": form}
    return render(request, "annotation/campaigns/campaign_clone.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_export(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    text = json.dumps(export_of(campaign, with_answers=may_manage(request.project)), ensure_ascii=False, indent=2)
    filename = f"{request.project.slug}-campaign-{campaign.pk}.json"
    return file_response(text + "\n", "application/json; charset=utf-8", filename)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
@takes_uploads
def campaign_import(request: MemberRequest) -> HttpResponse:
    project = request.project
    form = ImportForm(project, request.POST or None, request.FILES or None)
    if draft := form.submit(services.campaign_import, project=project, by=request.user):
        return redirect("annotation:campaign-step", project.slug, draft.pk, "review")
    return render(request, "annotation/campaigns/campaign_import.html", {"project": project, "form": form})


@require_GET
@project_view(Role.VIEWER)
def campaign_compare(request: MemberRequest) -> HttpResponse:
    """Show two campaigns field by field: only the differences, or all fields with ``all``."""
    campaigns = list(campaigns_of(request.project).order_by("-pk"))
    known = {campaign.pk: campaign for campaign in campaigns}
    left, right = (known.get(whole_number(request, side) or 0) for side in ("left", "right"))
    context = {
        "project": request.project,
        "campaigns": campaigns,
        "left": left,
        "right": right,
        "all": "all" in request.GET,
    }
    if left and right:
        documents = [export_of(campaign, with_answers=may_manage(request.project)) for campaign in (left, right)]
        for document in documents:
            document.pop("assay_campaign")
        rows = compare_designs(*documents)
        differing = [row for row in rows if row.change != Change.SAME]
        context |= {"rows": rows if context["all"] else differing, "n_rows": len(rows), "n_differing": len(differing)}
    return render(request, "annotation/campaigns/campaign_compare.html", context)
