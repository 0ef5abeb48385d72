"""Pages of no app: home, health, page not found."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, PasswordResetView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render

from annotation.accounts.services.single_sign_on import provider
from annotation.accounts.views.invited import invitation_behind
from annotation.accounts.views.second_step import sign_in_or_ask
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.limits import Limit, client_address, limit_count
from annotation.projects.roles import rights_of
from annotation.projects.services.invitations import why_closed
from config.health import health
from config.passwords import AdminSignInForm, ResetForm, SignInForm
from config.styleguide import bar_chart, examples

PASSWORD_RESETS = Limit("password-reset", most=10, seconds=3600, uses="requests to reset a password from your address")


def home(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("annotation:project-list")
    return render(request, "pages/home.html")


def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 if all parts work; else 503, and the part that does not."""
    body = health()
    return JsonResponse(body, status=200 if body["status"] == "ok" else 503)


def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Show Django's page if mail can be sent, else 404: it must not promise a message that is never sent."""
    if not settings.EMAIL_HOST:
        raise Http404("No mail server is set; an administrator can set passwords.")
    if request.method == "POST":  # each sends a message
        limit_count(limit=PASSWORD_RESETS, subject=client_address(request))
    return PasswordResetView.as_view(form_class=ResetForm)(request)


class TwoStepView(LoginView):
    """Django's page to sign in, which asks for a code after the password if the account has a second factor."""

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return sign_in_or_ask(self.request, form.get_user(), to=self.get_success_url())


class AdminSignInView(TwoStepView):
    """The administration's page to sign in."""

    template_name = "admin/login.html"
    authentication_form = AdminSignInForm
    next_page = "admin:index"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if admin.site.has_permission(request):
            return HttpResponseRedirect(self.get_success_url())
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(
            **admin.site.each_context(self.request),
            title="Sign in",
            subtitle=None,
            app_path=self.request.get_full_path(),
            username=self.request.user.get_username(),
            **context,
        )


class SignInView(TwoStepView):
    """The product's page. Who was invited reads there by whom, to which project and in which role."""

    form_class = SignInForm

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        invitation = invitation_behind(self.request, self.get_redirect_url())
        if invitation is not None:
            closed = why_closed(invitation)
            context |= {"invitation": invitation, "closed": closed, "rights": rights_of(invitation.role)}
        if provider() is not None:
            context |= {"single_sign_on": settings.OIDC_NAME, "new_accounts": settings.OIDC_NEW_ACCOUNTS}
        return super().get_context_data(passwords=settings.PASSWORD_SIGN_IN, **context)


def not_found(request: HttpRequest) -> HttpResponse:
    raise Http404("No such page.")


def styleguide(request: HttpRequest) -> HttpResponse:
    if "chart" in request.GET:
        return chart_response(bar_chart(chart_theme(request)), "json", "")
    return render(request, "pages/styleguide.html", examples())
