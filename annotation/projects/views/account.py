"""The API token of the signed-in user."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from rest_framework.authtoken.models import Token

from annotation.core.views import UserRequest
from annotation.projects.services.api_tokens import api_token_revoke, api_token_rotate


@never_cache
@login_required
@require_GET
def account_token(request: UserRequest) -> HttpResponse:
    token = Token.objects.filter(user=request.user).first()
    url = request.build_absolute_uri(reverse("api:project-list"))
    command = f"curl -H 'Authorization: Token {token.key}' {url}" if token else ""
    return render(request, "annotation/projects/account_token.html", {"token": token, "command": command})


@login_required
@require_POST
def account_token_rotate(request: UserRequest) -> HttpResponse:
    api_token_rotate(user=request.user)
    messages.success(request, "This is your new token. An earlier one no longer works.")
    return redirect("annotation:account-token")


@login_required
@require_POST
def account_token_revoke(request: UserRequest) -> HttpResponse:
    api_token_revoke(user=request.user)
    messages.success(request, "The token is revoked. Programs that use it are refused.")
    return redirect("annotation:account-token")
