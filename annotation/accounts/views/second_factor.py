"""How a person signs in: the overview, and the pages that set up, show and remove the second factor."""

import segno
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.forms import ProvingForm, SetUpForm
from annotation.accounts.one_time_codes import in_groups
from annotation.accounts.services import second_factors as services
from annotation.accounts.services.single_sign_on import identity_of, provider
from annotation.core.errors import AnnotationError
from annotation.core.views import UserRequest
from annotation.models import SecondFactor, User

OVERVIEW = "annotation:account-sign-in"
PENDING = "second_factor_secret"  # in the session, sealed, until the app has shown that it has it
MODULE = 5  # pixels of the smallest square of a QR code


def ways_in_words(user: User, *, is_linked: bool, has_factor: bool) -> str:
    """Return the sentence that the page begins with."""
    password = ["your password"] if user.signs_in_with_password else []
    ways = " or ".join([*password, *([settings.OIDC_NAME] if is_linked else [])])
    if not ways:
        if not settings.PASSWORD_SIGN_IN:
            return f"You could not sign in again: link your account to {settings.OIDC_NAME}."
        return "You could not sign in again: ask an administrator for a password."
    if has_factor:
        return f"You sign in with {ways}, and then with a code of your app."
    return f"You sign in with {ways}{'' if is_linked else ' alone'}."


@never_cache
@login_required
@require_GET
def account_sign_in(request: UserRequest) -> HttpResponse:
    factor = services.second_factor_of(request.user)
    left = factor.recovery_codes.filter(used_at=None).count() if factor else 0
    is_offered = provider() is not None
    identity = identity_of(request.user) if is_offered else None
    context = {
        "factor": factor,
        "left": left,
        "lead": ways_in_words(request.user, is_linked=identity is not None, has_factor=factor is not None),
        "single_sign_on": settings.OIDC_NAME if is_offered else "",
        "identity": identity,
    }
    return render(request, "annotation/accounts/sign_in.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def second_factor_set_up(request: UserRequest) -> HttpResponse:
    """Show a new secret as a QR code and as text. The code that the app makes of it turns the second factor on."""
    if services.second_factor_of(request.user) is not None:
        messages.info(request, services.SET_UP_ALREADY)
        return redirect(OVERVIEW)
    sealed = request.session.get(PENDING)
    if sealed is None:
        sealed = request.session[PENDING] = services.secret_sealed_new()
    form = SetUpForm(request.POST or None, request=request, user=request.user, has_factor=False)
    if request.method == "POST":
        factor = form.submit(services.second_factor_set_up, user=request.user, sealed=sealed)
        if factor is not None:
            del request.session[PENDING]
            return _codes_page(request, factor, is_new=True)
    try:
        secret, address = services.secret_opened(sealed), services.app_address(request.user, sealed)
    except AnnotationError:  # the installation's secret key has changed since
        del request.session[PENDING]
        return redirect("annotation:second-factor-set-up")
    picture = segno.make(address, error="m", micro=False).svg_inline(
        scale=MODULE, border=4, light="#fff", omitsize=True, svgclass="qr", lineclass=None
    )
    context = {
        "form": form,
        "key": in_groups(secret, 4),
        "picture": mark_safe(picture),  # noqa: S308 - squares alone: the library writes no text into it
        "account": request.user.get_username(),
    }
    return render(request, "annotation/accounts/second_factor_set_up.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def recovery_codes(request: UserRequest) -> HttpResponse:
    """Show the recovery codes, or make new ones, after the password: only the answer to the form holds them."""
    factor = services.second_factor_of(request.user)
    if factor is None:
        return redirect(OVERVIEW)
    form = ProvingForm(request.POST or None, request=request, user=request.user, has_factor=True)
    if request.method == "POST" and form.is_valid():
        if "renew" in request.POST:
            services.recovery_codes_replace(factor=factor)
        try:
            return _codes_page(request, factor, is_new="renew" in request.POST)
        except AnnotationError as error:
            form.add_refusal(error)
    left = factor.recovery_codes.filter(used_at=None).count()
    return render(request, "annotation/accounts/recovery_codes.html", {"form": form, "left": left})


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def second_factor_remove(request: UserRequest) -> HttpResponse:
    if services.second_factor_of(request.user) is None:
        return redirect(OVERVIEW)
    form = ProvingForm(request.POST or None, request=request, user=request.user, has_factor=True)
    if request.method == "POST" and form.is_valid():
        services.second_factor_remove(user=request.user, by=request.user.get_username())
        messages.success(request, "The second factor is removed. Delete its entry in your app, too.")
        return redirect(OVERVIEW)
    return render(request, "annotation/accounts/second_factor_remove.html", {"form": form})


def _codes_page(request: UserRequest, factor: SecondFactor, *, is_new: bool) -> HttpResponse:
    codes = services.recovery_codes_of(factor)
    context = {
        "codes": [(in_groups(each.text, 5), each.is_used) for each in codes],
        "copied": "\n".join(in_groups(each.text, 5) for each in codes if not each.is_used),
        "is_new": is_new,
    }
    return render(request, "annotation/accounts/recovery_codes_shown.html", context)
