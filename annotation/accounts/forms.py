"""Forms of the second step of a sign-in, and of the second factor."""

from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from annotation.accounts.services.second_factors import WRONG_CODE, second_factor_passed
from annotation.core.errors import AnnotationError
from annotation.core.forms import RefusableForm
from annotation.core.signing_in import attempt_count, attempt_uncount
from annotation.models import User

LONGEST_CODE = 40
WRONG_PASSWORD = "This is not your password now."  # noqa: S105 - a message
FRESH_SECONDS = 600
STALE = "Sign out and in again, then do this within ten minutes: that shows that it is you."
CODE_INPUT = {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}


def code_field(label: str, help_text: str) -> forms.CharField:
    return forms.CharField(
        label=label, max_length=LONGEST_CODE, help_text=help_text, widget=forms.TextInput(attrs=CODE_INPUT)
    )


class SecondStepForm(RefusableForm):
    """A code, after the password was right."""

    code = code_field("Code", "The six digits that your authenticator app shows, or one of your recovery codes.")

    def __init__(self, *args: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request, self.user = request, user
        self.fields["code"].widget.attrs["autofocus"] = True

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        try:
            if not second_factor_passed(self.request, self.user, code):
                raise forms.ValidationError(WRONG_CODE)
        except AnnotationError as error:
            raise forms.ValidationError(error.message) from error
        return code


class ProvingForm(RefusableForm):
    """Base of forms that ask again for the password: an unattended session alone must not change how to sign in.

    An account without a password proves itself by a code of its second factor, or by a sign-in a moment ago.
    """

    field_order = ("code", "password", "proof")
    password = forms.CharField(
        label="Your password", strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    proof = code_field("Code", "You have no password here: prove who you are by a code of the app, or a recovery code.")

    def __init__(self, *args: Any, request: HttpRequest, user: User, has_factor: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request, self.user = request, user
        # A password that no longer opens the account still shows whose it is.
        if user.has_usable_password() or not has_factor:
            del self.fields["proof"]
        if not user.has_usable_password():
            del self.fields["password"]

    def clean(self) -> dict[str, Any]:
        if not {"password", "proof"} & set(self.fields):
            at = self.user.last_login
            if at is None or (timezone.now() - at).total_seconds() > FRESH_SECONDS:
                raise forms.ValidationError(STALE)
        return super().clean() or self.cleaned_data

    @sensitive_variables("password")
    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        attempt_count(self.request, self.user.get_username())
        if not self.user.check_password(password):
            raise forms.ValidationError(WRONG_PASSWORD)
        attempt_uncount(self.request, self.user.get_username())
        return password

    def clean_proof(self) -> str:
        try:
            if not second_factor_passed(self.request, self.user, self.cleaned_data["proof"]):
                raise forms.ValidationError(WRONG_CODE)
        except AnnotationError as error:
            raise forms.ValidationError(error.message) from error
        return ""


class SetUpForm(ProvingForm):
    code = code_field("Code", "The six digits that the app shows now.")

    def arguments(self) -> dict[str, Any]:
        return {"code": self.cleaned_data["code"]}
