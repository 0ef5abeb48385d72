"""Sign a person in; if the account has a second factor, after its code."""

import time
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.accounts.forms import SecondStepForm
from annotation.accounts.one_time_codes import DIGITS, plain
from annotation.accounts.services.second_factors import second_factor_of
from annotation.core.numbers import counted
from annotation.models import User

WAITING = "second_step"  # in the session: who gave the right password, and when
SECONDS = 600


def sign_in_or_ask(request: HttpRequest, user: User, *, to: str) -> HttpResponse:
    """Sign the user in and open ``to``, a safe address; first ask for a code if the account has a second factor."""
    if second_factor_of(user) is None:
        login(request, user)
        return HttpResponseRedirect(to)
    request.session[WAITING] = {
        "user": user.pk,
        "password": user.get_session_auth_hash(),  # a new password ends it
        "since": int(time.time()),
        "to": to,
    }
    return redirect("annotation:second-step")


@never_cache
@require_http_methods(["GET", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """Ask for a code of the person who gave the right password a moment ago."""
    waiting: dict[str, Any] = request.session.get(WAITING) or {}
    user = _user_of(waiting)
    if user is None:
        request.session.pop(WAITING, None)
        messages.info(request, "Sign in again: the page for your code was open for too long, or never asked for.")
        return redirect(settings.LOGIN_URL)
    form = SecondStepForm(request.POST or None, request=request, user=user)
    if request.method == "POST" and form.is_valid():
        del request.session[WAITING]
        login(request, user)
        _warn_of_few_codes(request, user, form.cleaned_data["code"])
        return HttpResponseRedirect(waiting["to"])
    return render(request, "annotation/accounts/second_step.html", {"form": form, "account": user})


def _user_of(waiting: dict[str, Any]) -> User | None:
    if not waiting or time.time() - waiting["since"] > SECONDS:
        return None
    user = User.objects.filter(pk=waiting["user"], is_active=True).first()
    if user is None or not constant_time_compare(waiting["password"], user.get_session_auth_hash()):
        return None
    return user


def _warn_of_few_codes(request: HttpRequest, user: User, code: str) -> None:
    """Say how many recovery codes are left, after one was used."""
    if len(plain(code)) == DIGITS:
        return
    factor = second_factor_of(user)
    left = factor.recovery_codes.filter(used_at=None).count() if factor else 0
    messages.warning(
        request, f"You used a recovery code. {counted(left, 'is', 'are')} left: see Sign-in, in your menu."
    )
