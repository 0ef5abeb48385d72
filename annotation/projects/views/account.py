"""What belongs to the signed-in person alone: the key to the API."""

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
    context = {"token": token, "example_url": request.build_absolute_uri(reverse("api:project-list"))}
    return render(request, "annotation/projects/account_token.html", context)


@login_required
@require_POST
def account_token_rotate(request: UserRequest) -> HttpResponse:
    api_token_rotate(user=request.user)
    messages.success(request, "Here is your new token. One you had before no longer works.")
    return redirect("annotation:account-token")


@login_required
@require_POST
def account_token_revoke(request: UserRequest) -> HttpResponse:
    api_token_revoke(user=request.user)
    messages.success(request, "The token is revoked: programs that use it are refused from now on.")
    return redirect("annotation:account-token")
