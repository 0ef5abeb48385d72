"""The form that takes a report to verify."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from annotation.core.forms import RefusableForm
from annotation.core.json_bodies import json_read
from annotation.core.uploads import upload_limit

REPORT_BYTES = 32 * 2**20


class VerificationForm(RefusableForm):
    """``file`` becomes the report that was read; the service checks what it holds."""

    file = forms.FileField(
        label="Report",
        help_text="The JSON file of a study’s report, of this installation or another.",
        validators=[upload_limit(max_bytes=REPORT_BYTES)],
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )

    inputs: ClassVar[Mapping[str, str]] = {"report": "file"}

    def clean_file(self) -> Any:
        try:
            return json_read(self.cleaned_data["file"].read().decode("utf-8-sig"))
        except ValueError as error:  # also of letters that are not UTF-8
            raise forms.ValidationError(f"Not JSON: {error}.") from error

    def arguments(self) -> dict[str, Any]:
        return {"report": self.cleaned_data["file"]}
