"""The form of a study from a specification: a file, or its text."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django import forms

from annotation.core.forms import RefusableForm
from annotation.core.json_bodies import json_read
from annotation.core.uploads import upload_limit

SPECIFICATION_BYTES = 2**20
NAMED = "Study from a specification"


class SpecificationForm(RefusableForm):
    """``specification`` is the object that was read; the service checks what it says."""

    file = forms.FileField(
        label="File",
        required=False,
        help_text="JSON, as a study's page, the API and manage.py write it.",
        validators=[upload_limit(max_bytes=SPECIFICATION_BYTES)],
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    text = forms.CharField(
        label="Or its text",
        required=False,
        max_length=SPECIFICATION_BYTES,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "is-code"}),
    )
    name = forms.CharField(
        label="Title",
        max_length=120,
        required=False,
        help_text="The question of the study. If empty, the name of the file.",
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        file, text = cleaned.get("file"), cleaned.get("text", "").strip()
        if bool(file) == bool(text):
            found = "both" if file else "neither"
            raise forms.ValidationError(f"Found {found}; accepted: a file, or its text.")
        field = "file" if file else "text"
        try:
            read = json_read(file.read().decode("utf-8-sig") if file else text)
        except ValueError as error:  # also of letters that are not UTF-8
            self.add_error(field, f"Not JSON: {error}.")
            return cleaned
        if not isinstance(read, Mapping):
            self.add_error(field, f"Found {str(read)[:40]!r}; accepted: an object, as the schema says.")
            return cleaned
        usual = PurePath(file.name).stem if file else NAMED
        return cleaned | {"specification": read, "name": cleaned.get("name") or usual}

    def arguments(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("name", "specification")}
