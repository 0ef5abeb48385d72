"""Uploads of data sets and of ratings."""

from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from annotation.errors import AnnotationError
from annotation.models import Dataset
from annotation.services.imports.dataset_files import TURN_SEPARATOR
from annotation.services.imports.normalisation import DEFAULT_RULE, RULE_CHOICES
from annotation.services.imports.rating_files import OWN_COLUMNS, RatingOptions
from annotation.services.imports.reading import FORMATS, format_of

FORMAT_CHOICES = [("", "As its name says (.jsonl, .csv, .tsv)"), *FORMATS.items()]


class UploadForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="JSON Lines, CSV or TSV, in UTF-8.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.csv,.tsv,.tab,.txt"}),
    )
    file_format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES, required=False)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size is not None and file.size > settings.UPLOAD_MAX_BYTES:
            found, accepted = filesizeformat(file.size), filesizeformat(settings.UPLOAD_MAX_BYTES)
            raise forms.ValidationError(f"Found {found}; accepted: at most {accepted}.")
        return file

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        file = data.get("file")
        if file and not data.get("file_format"):
            promised = format_of(file.name)
            if promised is None:
                self.add_error("file_format", f"The name {file.name!r} does not say the format: choose one.")
            data["file_format"] = promised
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


class DatasetEditForm(forms.ModelForm):
    class Meta:
        model = Dataset
        fields = ("name", "description", "language", "licence", "attribution")
        widgets = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "attribution": forms.Textarea(attrs={"rows": 2}),
        }


class PairsField(forms.CharField):
    """Lines of ``name = other name``, as a dictionary."""

    widget = forms.Textarea(attrs={"rows": 2})

    def to_python(self, value: object) -> dict[str, str]:  # type: ignore[override] # a dictionary on purpose
        pairs: dict[str, str] = {}
        for number, line in enumerate(str(value or "").splitlines(), start=1):
            if not line.strip():
                continue
            name, equals, other = (part.strip() for part in line.partition("="))
            if not (name and equals and other):
                raise forms.ValidationError(f"Line {number}: found {line!r}; accepted: name = other name.")
            pairs[name] = other
        return pairs


class NamesField(forms.CharField):
    """Names between commas, as a list."""

    def to_python(self, value: object) -> list[str]:  # type: ignore[override] # a list on purpose
        return [name.strip() for name in str(value or "").split(",") if name.strip()]


class RatingUploadForm(UploadForm):
    name = forms.CharField(
        label="Name of the campaign", max_length=120, help_text="The ratings arrive as a closed campaign."
    )
    scale_min = forms.IntegerField(label="Lowest point of the scale", initial=1)
    scale_max = forms.IntegerField(label="Highest point", initial=5)
    aliases = PairsField(
        label="Other names of systems",
        required=False,
        help_text="One a line: name in the file = system whose outputs were shown, as in <code>TeamEC = TeamCE</code>.",
    )
    columns = PairsField(
        label="Columns with other names",
        required=False,
        help_text=f"One a line, for example <code>rater = JudgeID</code>. Known: {', '.join(OWN_COLUMNS)}.",
    )
    criteria = NamesField(
        label="Criteria",
        required=False,
        help_text="Columns that hold ratings, between commas; all other columns if empty.",
    )
    only_systems = NamesField(
        label="Only these systems", required=False, help_text="Between commas; other rows are left out and counted."
    )
    field_order = (
        "name",
        "file",
        "file_format",
        "scale_min",
        "scale_max",
        "aliases",
        "columns",
        "criteria",
        "only_systems",
    )

    def clean(self) -> dict[str, object]:
        data = super().clean()
        if not self.errors:
            names = ("columns", "criteria", "only_systems", "aliases", "scale_min", "scale_max")
            try:
                data["options"] = RatingOptions(**{name: data[name] for name in names})  # type: ignore[arg-type]
            except AnnotationError as error:
                for name, messages in error.fields.items():
                    self.add_error(name, list(messages))
        return data
