"""The page on which a member chooses notifications."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.errors import AnnotationError
from annotation.core.views import MemberRequest, project_view
from annotation.models import Role
from annotation.notifications import selectors
from annotation.notifications.forms import NotificationsForm
from annotation.notifications.services import choosing
from annotation.notifications.signing import HEADER


@never_cache
@require_http_methods(["GET", "POST"])
@project_view(Role.VIEWER)
def notifications(request: MemberRequest) -> HttpResponse:
    """Show what the member chose; save another choice. Only the answer to it shows a new secret."""
    site = request.build_absolute_uri("/")
    chosen = choosing.settings_of(request.membership, site=site)
    role = Role(request.membership.role)
    form = NotificationsForm(request.POST if request.method == "POST" else None, chosen=chosen, role=role)
    if request.method == "POST":
        secret = form.submit(choosing.notifications_choose, membership=request.membership, site=site)
        if secret is not None:
            messages.success(request, "Your notifications are saved.")
            if not secret:
                return redirect("annotation:project-notifications", request.project.slug)
            return _page(request, form, secret=secret)
    return _page(request, form)


@never_cache
@require_POST
@project_view(Role.VIEWER)
def secret_replace(request: MemberRequest) -> HttpResponse:
    try:
        secret = choosing.webhook_secret_replace(membership=request.membership)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:project-notifications", request.project.slug)
    chosen = choosing.settings_of(request.membership)
    form = NotificationsForm(chosen=chosen, role=Role(request.membership.role))
    return _page(request, form, secret=secret)


@require_POST
@project_view(Role.VIEWER)
def test_send(request: MemberRequest) -> HttpResponse:
    try:
        channels = choosing.test_send(membership=request.membership)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(
            request, f"A test is on its way by {' and '.join(channels).lower()}: reload to see the answer."
        )
    return redirect("annotation:project-notifications", request.project.slug)


def _page(request: MemberRequest, form: NotificationsForm, *, secret: str = "") -> HttpResponse:
    chosen = choosing.settings_of(request.membership)
    context = {
        "project": request.project,
        "form": form,
        "secret": secret,
        "chosen": chosen,
        "has_mail": bool(settings.EMAIL_HOST),
        "address": request.user.email,
        "sent": selectors.deliveries_of(request.membership),
        "header_name": HEADER,
    }
    return render(request, "annotation/notifications/notifications.html", context)
