"""Pages of no app: home, health, page not found."""

from django.conf import settings
from django.contrib.auth.views import PasswordResetView
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render

from annotation.core import jobs
from annotation.core.chart_views import chart_response, chart_theme
from config.styleguide import bar_chart, examples


def home(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("annotation:project-list")
    return render(request, "pages/home.html")


def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 if web, database and worker are alive; else 503 with the part that is not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        age = jobs.worker_age_seconds()
    except DatabaseError:
        return JsonResponse({"status": "down", "web": "ok", "database": "down", "worker": "unknown"}, status=503)
    alive = age is not None and age < 3 * settings.SWEEP_SECONDS + 10
    body = {
        "status": "ok" if alive else "degraded",
        "version": settings.VERSION,
        "web": "ok",
        "database": "ok",
        "worker": "ok" if alive else "not seen",
        "worker_last_seen_seconds": None if age is None else round(age, 1),
    }
    return JsonResponse(body, status=200 if alive else 503)


def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Show Django's page if mail can be sent, else 404: it must not promise a message that is never sent."""
    if not settings.EMAIL_HOST:
        raise Http404("No mail server is set; an administrator can set passwords.")
    return PasswordResetView.as_view()(request)


def not_found(request: HttpRequest) -> HttpResponse:
    raise Http404("No such page.")


def styleguide(request: HttpRequest) -> HttpResponse:
    if "chart" in request.GET:
        return chart_response(bar_chart(chart_theme(request)), "json", "")
    return render(request, "pages/styleguide.html", examples())
