"""Every metric: what it measures, what it needs, and a way to run it."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404, may_manage
from annotation.models import User
from metrics.scoring.registry import METRICS
from metrics.selectors.catalogue import catalogue


@login_required
@require_GET
def metric_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    context = {
        "project": project,
        "groups": catalogue(project),
        "broken": METRICS.broken,
        "may_create": may_manage(project),
    }
    return render(request, "metrics/catalogue.html", context)
