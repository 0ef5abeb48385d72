"""Forms to sign in and to choose a password, in the product's words; pages for the product and the administration."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.password_validation import get_default_password_validators
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.debug import sensitive_variables

from annotation.core.forms import NamingForm
from annotation.models import User

NOT_SIGNED_IN: dict[str, Any] = {
    "invalid_login": "No account has this username and password. Capital and small letters differ.",
    "inactive": "This account is switched off. An administrator can switch it on.",
}


class SignInForm(NamingForm, AuthenticationForm):
    error_messages = NOT_SIGNED_IN


class AdminSignInForm(NamingForm, AdminAuthenticationForm):
    error_messages = NOT_SIGNED_IN | {
        "invalid_login": "No account of an administrator has this %(username)s and password."
    }


class ResetForm(NamingForm, PasswordResetForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        email = self.fields["email"]
        email.label, email.error_messages["invalid"] = "E-mail address", "Give an address such as ada@example.org."

    def get_users(self, email: str) -> Iterable[Any]:
        return (user for user in super().get_users(email) if user.signs_in_with_password)


class NewPasswordForm(NamingForm, SetPasswordForm):  # type: ignore[type-arg] # not generic at run time
    """A new password, twice. What it must be stands below the first field, and problems at that one."""

    error_messages = {"password_mismatch": "The two differ. Type the new password again in both."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first, again = self.fields["new_password1"], self.fields["new_password2"]
        first.label, again.label, again.help_text = "New password", "New password again", ""
        first.help_text = " ".join(rule.get_help_text() for rule in get_default_password_validators())

    def validate_password_for_user(self, user: Any, *_: Any) -> None:
        super().validate_password_for_user(user, "new_password1")


class LimitedPasswordChangeForm(NewPasswordForm, PasswordChangeForm):
    """Django's form, but a wrong old password counts like a wrong password at the sign-in, with 429 above the limit.

    Without it, an unattended session would allow any number of tries.
    """

    error_messages = NewPasswordForm.error_messages | {"password_incorrect": "This is not your password now."}

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.fields["old_password"].label = "Your password now"

    @sensitive_variables("old")
    def clean_old_password(self) -> str:
        old: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=old) is None:
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return old


class LimitedPasswordChangeView(PasswordChangeView):
    form_class = LimitedPasswordChangeForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if isinstance(request.user, User) and not request.user.signs_in_with_password:
            raise Http404("This account has no password here.")
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}
