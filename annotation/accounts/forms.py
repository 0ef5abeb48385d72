"""Forms of the second step of a sign-in, and of the second factor."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from annotation.accounts.services.second_factors import WRONG_CODE, second_factor_passed
from annotation.core.errors import AnnotationError
from annotation.core.forms import RefusableForm
from annotation.models import User

LONGEST_CODE = 40
WRONG_PASSWORD = "This is not your password now."  # noqa: S105 - a message
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

    An account without a password proves itself by a code of its second factor, if it has one.
    """

    field_order = ("code", "password", "proof")
    password = forms.CharField(
        label="Your password", strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    proof = code_field("Code", "You have no password here: prove who you are by a code of the app, or a recovery code.")

    def __init__(self, *args: Any, request: HttpRequest, user: User, has_factor: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request, self.user = request, user
        if user.signs_in_with_password or not has_factor:
            del self.fields["proof"]
        if not user.signs_in_with_password:
            del self.fields["password"]

    @sensitive_variables("password")
    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if authenticate(self.request, username=self.user.get_username(), password=password) is None:
            raise forms.ValidationError(WRONG_PASSWORD)
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
