"""Forms to upload and edit data sets; the base of other uploads."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from annotation.core.file_limits import PAGE_BYTES
from annotation.core.forms import EditForm, Form
from annotation.core.kept_files import KeptFileForm
from annotation.core.normalisation import DEFAULT_RULE, RULE_CHOICES
from annotation.core.rows import ENDINGS, FORMATS, format_of
from annotation.core.uploads import upload_limit
from annotation.datasets.mapping.meanings import IGNORE, MEANINGS, OUTPUT
from annotation.datasets.mapping.proposing import system_of
from annotation.datasets.mapping.rules import parts_of
from annotation.datasets.services.content import LENGTHS
from annotation.datasets.services.datasets import DESCRIBED
from annotation.datasets.services.files import TURN_SEPARATOR
from annotation.datasets.services.looking import numbers_left_out
from annotation.datasets.services.records import DATASET_ENDINGS
from annotation.models import Dataset
from annotation.models.datasets import DATASET_FORMATS

LONGEST_NAME = 120
FORMAT_CHOICES = [("", "As its name says"), *FORMATS.items()]


class UploadForm(KeptFileForm):
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
    makes = "data set"
    endings: ClassVar[Mapping[str, str]] = DATASET_ENDINGS
    file = forms.FileField(
        label="File",
        help_text="JSON Lines, CSV or TSV in UTF-8, or Parquet. Fields of any names: you then choose what each means.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.csv,.tsv,.tab,.txt,.parquet"}),
        validators=[upload_limit()],
    )
    file_format = forms.ChoiceField(
        label="Format", choices=[("", "As its name says"), *DATASET_FORMATS], required=False
    )
    name = forms.CharField(
        label="Name of the data set", max_length=LONGEST_NAME, required=False, help_text="If empty, that of the file."
    )
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

    def clean(self) -> dict[str, object]:
        data = super().clean()
        file: Any = data.get("file")
        if file and not data.get("name"):
            data["name"] = file.name.rpartition(".")[0][:LONGEST_NAME].strip() or file.name[:LONGEST_NAME]
        return data

    def clean_turn_separator(self) -> str:
        return self.cleaned_data["turn_separator"] or TURN_SEPARATOR

    def arguments(self) -> dict[str, Any]:
        data = {name: value for name, value in self.cleaned_data.items() if name != "kept"}
        file = data.pop("file")
        return {"filename": file.name, "content": file.read(), **data}


class OutputsForm(UploadForm):
    """A new file of outputs, or the one that is kept from its preview."""

    file = forms.FileField(
        label="File",
        help_text="CSV, TSV or JSON Lines, in UTF-8.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.csv,.tsv,.tab,.txt"}),
        validators=[upload_limit(", or a larger one by manage.py add_outputs", max_bytes=PAGE_BYTES)],
    )
    system = forms.CharField(
        label="Name of the system",
        required=False,
        max_length=LENGTHS["system"],
        help_text="Only if the file does not name it. Empty if the file has a column system, or one for each system.",
    )
    field_order = ("file", "file_format", "system")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``outputs_preview`` and ``outputs_add``."""
        file = self.cleaned_data["file"]
        named = {name: self.cleaned_data[name] for name in ("file_format", "system")}
        return {"filename": file.name, "content": file.read(), **named}


MEANING_CHOICES = [(key, meaning.label) for key, meaning in MEANINGS.items()]
NUMBERS = "Imported next"
NUMBER_CHOICES = [(key, NUMBERS if key == IGNORE else label) for key, label in MEANING_CHOICES]


class MappingForm(Form):
    """A choice of the meaning for each field of a file, and the name of the system for outputs."""

    def __init__(
        self, data: Mapping[str, Any] | None, *, fields: Sequence[Mapping[str, Any]], mapping: Mapping[str, str]
    ) -> None:
        super().__init__(data)
        self.file_fields = fields
        numbers = numbers_left_out(fields, mapping)
        for number, field in enumerate(fields):
            choices = NUMBER_CHOICES if field["name"] in numbers else MEANING_CHOICES
            key, system = parts_of(mapping.get(field["name"], IGNORE))
            about = {"aria-label": f"Meaning of {field['name']}", "class": "form-select"}
            choice = forms.ChoiceField(choices=choices, initial=key, widget=forms.Select(attrs=about))
            self.fields[f"meaning-{number}"] = choice
            about = {
                "aria-label": f"System of {field['name']}",
                "class": "form-control",
                "placeholder": "Name of the system",
            }
            system = system or system_of(field["name"])
            name = forms.CharField(required=False, max_length=LENGTHS["system"], initial=system)
            name.widget.attrs.update(about)
            self.fields[f"system-{number}"] = name

    def arguments(self) -> dict[str, Any]:
        """Return the mapping; an output names its system, by default after its field."""
        mapping = {}
        for number, field in enumerate(self.file_fields):
            key, system = self.cleaned_data[f"meaning-{number}"], self.cleaned_data[f"system-{number}"]
            mapping[field["name"]] = f"{key}:{system}" if key == OUTPUT and system else key
        return {"mapping": mapping}

    def rows(self) -> list[tuple[Mapping[str, Any], forms.BoundField, forms.BoundField]]:
        """Return each field of the file with its two inputs."""
        return [
            (field, self[f"meaning-{number}"], self[f"system-{number}"])
            for number, field in enumerate(self.file_fields)
        ]


class DatasetEditForm(EditForm, forms.ModelForm):  # type: ignore[type-arg] # it takes none when it runs
    makes = "data set"

    class Meta:
        model = Dataset
        fields = DESCRIBED
        widgets = {"description": forms.Textarea(attrs={"rows": 3}), "attribution": forms.Textarea(attrs={"rows": 2})}
