"""Forms to upload and edit data sets; the base of other uploads."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from annotation.core.forms import EditForm, RefusableForm
from annotation.core.normalisation import DEFAULT_RULE, RULE_CHOICES
from annotation.core.rows import ENDINGS, FORMATS, format_of
from annotation.core.uploads import upload_limit
from annotation.datasets.services.datasets import DESCRIBED
from annotation.datasets.services.files import TURN_SEPARATOR
from annotation.models import Dataset

FORMAT_CHOICES = [("", "As its name says"), *FORMATS.items()]


class UploadForm(RefusableForm):
    endings: ClassVar[Mapping[str, str]] = ENDINGS
    file = forms.FileField(
        label="File",
        help_text="JSON Lines, CSV or TSV, in UTF-8.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.csv,.tsv,.tab,.txt"}),
        validators=[upload_limit()],
    )
    file_format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES, required=False)

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        file = data.get("file")
        if file and not data.get("file_format"):
            data["file_format"] = format_of(file.name, self.endings)
            if data["file_format"] is None:
                self.add_error("file_format", f"The name {file.name!r} does not say the format: choose one.")
        return data


class DatasetUploadForm(UploadForm):
    name = forms.CharField(label="Name of the data set", max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    language = forms.CharField(max_length=20, initial="en", help_text="BCP 47 tag, for example en or pt-BR.")
    licence = forms.CharField(max_length=200, required=False)
    attribution = forms.CharField(required=False, max_length=1000)
    normalisation = forms.ChoiceField(
        label="Two texts are the same response when they are",
        choices=RULE_CHOICES,
        initial=DEFAULT_RULE,
        help_text="Identical responses of an item are rated once and credited to all their sources. Fixed at import.",
    )
    turn_separator = forms.CharField(
        label="Between turns of a context",
        initial=TURN_SEPARATOR,
        max_length=20,
        required=False,
        help_text="CSV and TSV only; in JSON Lines the context is a list.",
    )
    field_order = ("name", "file", "file_format", "normalisation", "turn_separator")

    def clean_turn_separator(self) -> str:
        return self.cleaned_data["turn_separator"] or TURN_SEPARATOR

    def arguments(self) -> dict[str, Any]:
        data = dict(self.cleaned_data)
        file = data.pop("file")
        return {"filename": file.name, "content": file.read(), **data}


class DatasetEditForm(EditForm, forms.ModelForm):  # type: ignore[type-arg] # it takes none when it runs
    class Meta:
        model = Dataset
        fields = DESCRIBED
        widgets = {"description": forms.Textarea(attrs={"rows": 3}), "attribution": forms.Textarea(attrs={"rows": 2})}
