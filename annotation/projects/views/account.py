"""The API tokens of the signed-in user, and the sessions."""

from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.core.views import UserRequest
from annotation.projects.forms import ApiTokenForm
from annotation.projects.services.api_tokens import api_token_create, api_token_revoke
from annotation.projects.services.sign_ins import live_sign_ins, sign_in_note, sign_ins_end


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def account_tokens(request: UserRequest) -> HttpResponse:
    """List the tokens; make one, which only the answer shows: to store it for a redirect would be to keep it."""
    form = ApiTokenForm(request.POST or None, user=request.user)
    token = ""
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        try:
            _, token = api_token_create(
                user=request.user,
                name=form.cleaned_data["name"],
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            form = ApiTokenForm(user=request.user)
    url = request.build_absolute_uri(reverse("api:project-list"))
    context = {
        "form": form,
        "token": token,
        "command": f"curl -H 'Authorization: Token {token or 'YOUR-TOKEN'}' {url}",
        "tokens": request.user.api_tokens.live(),
        "ended": request.user.api_tokens.exclude(pk__in=request.user.api_tokens.live())[:10],
    }
    return render(request, "annotation/projects/account_tokens.html", context)


@login_required
@require_POST
def account_token_revoke(request: UserRequest, pk: int) -> HttpResponse:
    if api_token_revoke(user=request.user, pk=pk):
        messages.success(request, "The token is revoked. Programs that use it are refused.")
    else:
        messages.info(request, "This token has ended already.")
    return redirect("annotation:account-tokens")


@never_cache
@login_required
@require_GET
def account_sessions(request: UserRequest) -> HttpResponse:
    sign_in_note(request, request.user)  # a changed password gives the session another key
    every = list(live_sign_ins(request.user))
    context = {
        "here": [each for each in every if each.session_key == request.session.session_key],
        "elsewhere": [each for each in every if each.session_key != request.session.session_key],
    }
    return render(request, "annotation/projects/account_sessions.html", context)


@login_required
@require_POST
def account_session_end(request: UserRequest, pk: int) -> HttpResponse:
    if sign_ins_end(live_sign_ins(request.user).filter(pk=pk)):
        messages.success(request, "The session is ended.")
    else:
        messages.info(request, "This session has ended already.")
    return redirect("annotation:account-sessions")


@login_required
@require_POST
def account_sessions_end(request: UserRequest) -> HttpResponse:
    others = live_sign_ins(request.user).exclude(session_key=request.session.session_key)
    messages.success(request, f"Ended: {counted(sign_ins_end(others), 'session')} elsewhere.")
    return redirect("annotation:account-sessions")
