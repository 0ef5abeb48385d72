"""The audit log of a project and of one campaign, on pages and to download."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import get_in_project_or_404, get_project_or_404
from annotation.exports import table_response
from annotation.models import Campaign, Project
from annotation.parameters import whole_number
from annotation.selectors.audit import (
    AUDIT_COLUMNS,
    SYSTEM,
    AuditFilter,
    audit_choices,
    audit_entries,
    audit_page,
    audit_rows,
)

PAGE = 50


@login_required
@require_GET
def project_audit(request: HttpRequest, project_slug: str) -> HttpResponseBase:
    project = get_project_or_404(request.user, project_slug)
    return _log(request, project, None)


@login_required
@require_GET
def campaign_audit(request: HttpRequest, project_slug: str, pk: int) -> HttpResponseBase:
    project = get_project_or_404(request.user, project_slug)
    return _log(request, project, get_in_project_or_404(Campaign.objects.all(), project, pk=pk))


def _log(request: HttpRequest, project: Project, campaign: Campaign | None) -> HttpResponseBase:
    chosen = AuditFilter(request.GET.get("verb", "")[:40], request.GET.get("actor", "")[:150])
    entries = audit_entries(project, campaign, AuditFilter(*(text.replace("\x00", "") for text in chosen)))
    narrowed = urlencode([(name, value) for name, value in chosen._asdict().items() if value])
    if wanted := request.GET.get("format"):
        name = f"{project.slug}-campaign-{campaign.pk}-audit" if campaign else f"{project.slug}-audit"
        return table_response(format=wanted, filename=name, columns=AUDIT_COLUMNS, rows=audit_rows(entries))
    page, older = audit_page(entries, before=whole_number(request, "before"), size=PAGE)
    return _page(request, project, campaign, {
        "entries": page,
        "chosen": chosen,
        "narrowed": bool(narrowed),
        "csv_url": f"?{narrowed}&format=csv".replace("?&", "?"),
        "older_url": f"?{narrowed}&before={older}".replace("?&", "?") if older else "",
        "newest_url": f"?{narrowed}" if "before" in request.GET else "",
    })  # fmt: skip


def _page(
    request: HttpRequest, project: Project, campaign: Campaign | None, context: dict[str, object]
) -> HttpResponse:
    verbs, actors = audit_choices(project, campaign)
    context |= {"project": project, "campaign": campaign, "verbs": verbs, "actors": actors, "system": SYSTEM}
    template = "annotation/campaign_audit.html" if campaign else "annotation/project_audit.html"
    return render(request, template, context)
