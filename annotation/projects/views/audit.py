"""The audit log of a project and of a campaign, as pages and downloads."""

from urllib.parse import urlencode

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.access import get_in_project_or_404
from annotation.core.exports import table_response
from annotation.core.pages import newest_page
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, project_view
from annotation.models import Campaign, Role
from annotation.projects.selectors.audit import (
    AUDIT_COLUMNS,
    SYSTEM,
    AuditFilter,
    audit_choices,
    audit_entries,
    audit_rows,
)

PAGE = 50


@require_GET
@project_view(Role.VIEWER)
def project_audit(request: MemberRequest) -> HttpResponseBase:
    return _log(request, None)


@require_GET
@project_view(Role.VIEWER)
def campaign_audit(request: MemberRequest, pk: int) -> HttpResponseBase:
    return _log(request, get_in_project_or_404(Campaign.objects.all(), request.project, pk=pk))


def _log(request: MemberRequest, campaign: Campaign | None) -> HttpResponseBase:
    project = request.project
    audit_filter = AuditFilter(request.GET.get("verb", "")[:40], request.GET.get("actor", "")[:150])
    entries = audit_entries(project, campaign, AuditFilter(*(text.replace("\x00", "") for text in audit_filter)))
    narrowed = urlencode([(name, value) for name, value in audit_filter._asdict().items() if value])
    if file_format := request.GET.get("format"):
        name = f"{project.slug}-campaign-{campaign.pk}-audit" if campaign else f"{project.slug}-audit"
        return table_response(format=file_format, filename=name, columns=AUDIT_COLUMNS, rows=audit_rows(entries))
    page, older = newest_page(entries, before=whole_number(request, "before"), size=PAGE)
    verbs, actors = audit_choices(project, campaign)
    context = {
        "project": project,
        "campaign": campaign,
        "verbs": verbs,
        "actors": actors,
        "system": SYSTEM,
        "entries": page,
        "chosen": audit_filter,
        "narrowed": bool(narrowed),
        "csv_url": f"?{narrowed}&format=csv".replace("?&", "?"),
        "older_url": f"?{narrowed}&before={older}".replace("?&", "?") if older else "",
        "newest_url": f"?{narrowed}" if "before" in request.GET else "",
    }
    return render(request, f"annotation/projects/{'campaign' if campaign else 'project'}_audit.html", context)
