"""Change one's own password, on one page for the product and the administration."""

from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from annotation.core.forms import NamingForm


class LimitedPasswordChangeForm(NamingForm, PasswordChangeForm):
    """Django's form, but a wrong old password counts like a wrong password at the sign-in, with 429 above the limit.

    Without it, an unattended session would allow any number of tries.
    """

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    @sensitive_variables("old")
    def clean_old_password(self) -> str:
        old: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=old) is None:
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return old


class LimitedPasswordChangeView(PasswordChangeView):
    form_class = LimitedPasswordChangeForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}
