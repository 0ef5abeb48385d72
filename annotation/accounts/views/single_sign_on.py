"""Sign in at the provider of single sign-on: there and back; and link it to an account, or end the link."""

import time
from typing import Any

import structlog
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.forms import ProvingForm
from annotation.accounts.openid import Attempt, OpenIdError, Provider
from annotation.accounts.services import single_sign_on as services
from annotation.accounts.services.second_factors import second_factor_of
from annotation.accounts.views.invited import invitation_behind
from annotation.accounts.views.second_step import sign_in_or_ask
from annotation.core.errors import AnnotationError
from annotation.core.limits import Limit, client_address, limit_count, limit_uncount
from annotation.core.views import UserRequest
from annotation.models import User
from annotation.projects.services.invitations import why_closed

OVERVIEW = "annotation:account-sign-in"
ATTEMPT = "single_sign_on"  # in the session, until the provider sends the person back
SECONDS = 1800  # people may have to find a phone there
LINKING, LINK_SECONDS = "annotation.accounts.link", 600
FAILED = Limit("single-sign-on", most=30, seconds=900, uses="failed sign-ins by single sign-on from your address")

log = structlog.get_logger("assay.accounts")


@never_cache
@require_GET
def single_sign_on(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider. ``link`` shows that a signed-in user has asked to link the account."""
    provider = _provider_or_404()
    to = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(to, {request.get_host()}, require_https=request.is_secure()):
        to = resolve_url(settings.LOGIN_REDIRECT_URL)
    linked = _user_to_link(request)
    if linked is None and "link" in request.GET:
        return refused(request, "This link is too old, or of another account. Begin again.")
    attempt = Attempt.new()
    try:
        address = provider.authorization_address(attempt, back=_back(request), scopes=settings.OIDC_SCOPES)
    except OpenIdError as error:
        return refused(request, error.message, status=502)
    request.session[ATTEMPT] = {**attempt.as_dict(), "to": to, "link": linked, "since": int(time.time())}
    return redirect(address)


@never_cache
@require_GET
def single_sign_on_return(request: HttpRequest) -> HttpResponse:
    """Take the person back from the provider: sign in, or link the account that is signed in."""
    provider = _provider_or_404()
    began_with: dict[str, Any] = request.session.pop(ATTEMPT, None) or {"state": "", "since": 0}
    is_ours = constant_time_compare(began_with["state"], request.GET.get("state", "")) and began_with["state"]
    if not is_ours or time.time() - began_with["since"] > SECONDS or not provider.is_from_here(request.GET.get("iss")):
        return refused(request, "This answer belongs to no sign-in that this browser began. Begin again.", status=400)
    if "error" in request.GET:
        return refused(request, f"{settings.OIDC_NAME} did not sign you in: {request.GET['error'][:100]}.")
    limit_count(limit=FAILED, subject=client_address(request))
    attempt = Attempt(began_with["state"], began_with["nonce"], began_with["verifier"])
    try:
        claims = provider.claims(
            request.GET.get("code", ""), attempt, back=_back(request), needed=services.needed_claims()
        )
        person = services.person_of(claims)
        if began_with["link"]:
            response = _link(request, person, began_with["link"])
        else:
            invitation = invitation_behind(request, began_with["to"])
            invited = invitation is not None and not why_closed(invitation)
            user = services.single_sign_on_user(person=person, invited=invited)
            response = sign_in_or_ask(request, user, to=began_with["to"])
    except OpenIdError as error:
        return refused(request, error.message, status=502)
    except AnnotationError as error:
        return refused(request, error.message)
    limit_uncount(limit=FAILED, subject=client_address(request))
    return response


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def single_sign_on_link(request: UserRequest) -> HttpResponse:
    """Ask for the password; then lead to the provider, from where the person comes back linked."""
    _provider_or_404()
    if services.identity_of(request.user) is not None:
        return redirect(OVERVIEW)
    has_factor = second_factor_of(request.user) is not None
    sent = request.POST if request.method == "POST" else None
    form = ProvingForm(sent, request=request, user=request.user, has_factor=has_factor)
    link = ""
    if request.method == "POST" and form.is_valid():
        # A page of another site cannot know it, so it cannot link its visitor's account to its own person.
        link = signing.dumps(_proof(request.user), salt=LINKING)
    context = {"form": form, "link": link, "single_sign_on": settings.OIDC_NAME}
    return render(request, "annotation/accounts/single_sign_on_link.html", context)


@login_required
@require_POST
def single_sign_on_unlink(request: UserRequest) -> HttpResponse:
    _provider_or_404()
    try:
        if services.identity_unlink(user=request.user):
            messages.success(request, f"Your account is no longer linked to {settings.OIDC_NAME}.")
    except AnnotationError as error:
        messages.error(request, error.message)
    return redirect(OVERVIEW)


def refused(request: HttpRequest, reason: str, *, status: int = 403) -> HttpResponse:
    log.warning("single sign-on refused", reason=reason)
    context = {"reason": reason, "single_sign_on": settings.OIDC_NAME}
    return render(request, "annotation/accounts/single_sign_on_refused.html", context, status=status)


def _provider_or_404() -> Provider:
    provider = services.provider()
    if provider is None:
        raise Http404("No provider of single sign-on is set.")
    return provider


def _back(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("annotation:single-sign-on-return"))


def _proof(user: User) -> dict[str, Any]:
    return {"user": user.pk, "password": user.get_session_auth_hash()}


def _user_to_link(request: HttpRequest) -> int | None:
    """Return the key of the signed-in user if the request proves that this user asked for the link."""
    try:
        proof = signing.loads(request.GET.get("link", ""), salt=LINKING, max_age=LINK_SECONDS)
    except signing.BadSignature:
        return None
    user = request.user
    return user.pk if isinstance(user, User) and proof == _proof(user) else None


def _link(request: HttpRequest, person: services.Person, pk: int) -> HttpResponse:
    if not isinstance(request.user, User) or request.user.pk != pk:
        raise AnnotationError("You signed out, or another account is signed in now. Begin again.")
    services.identity_link(user=request.user, person=person)
    messages.success(request, f"Your account is linked: from now on you can sign in with {settings.OIDC_NAME}.")
    return redirect(OVERVIEW)
