"""Every metric: what it measures, what it needs, and a way to run it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.access import may_manage
from annotation.core.views import MemberRequest, project_view
from annotation.models import Role
from metrics.scoring.registry import METRICS
from metrics.selectors.catalogue import catalogue


@require_GET
@project_view(Role.VIEWER)
def metric_list(request: MemberRequest) -> HttpResponse:
    context = {
        "project": request.project,
        "groups": catalogue(request.project),
        "broken": METRICS.broken,
        "may_create": may_manage(request.project),
    }
    return render(request, "metrics/catalogue.html", context)
