"""Forms for uploading ratings made elsewhere, with reading options."""

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, ClassVar

from django import forms
from django.forms import BoundField

from annotation.campaigns.fields.table import LONGEST_NAME
from annotation.core.errors import AnnotationError
from annotation.core.forms import RefusableForm
from annotation.datasets.forms import UploadForm
from annotation.judgements.services.options import (
    DEFAULT_CRITERION,
    ITEM_PARTS,
    RATING_ENDINGS,
    RATING_FORMATS,
    RatingOptions,
)

FORMAT_CHOICES = [("", "By its name (.csv, .tsv, .jsonl, .json)"), *RATING_FORMATS.items()]
USUAL_VALUES: tuple[object, ...] = (None, "", [], {}, DEFAULT_CRITERION, ITEM_PARTS[0])


class PairsField(forms.CharField):
    """Read lines of ``name = other name`` as a dictionary."""

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

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(f"{name} = {other}" for name, other in value.items()) if isinstance(value, dict) else value


class NamesField(forms.CharField):
    """Read names between commas as a list."""

    def to_python(self, value: object) -> list[str]:  # type: ignore[override] # a list on purpose
        return [name.strip() for name in str(value or "").split(",") if name.strip()]

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


def option_field(option: Field[Any]) -> forms.Field:
    """Return the form field for an option of reading."""
    about: dict[str, Any] = {"label": option.metadata["label"], "required": False}
    description = option.metadata["description"]
    if choices := option.metadata.get("choices"):
        return forms.ChoiceField(choices=[("", description), *choices.items()], **about)
    if option.default_factory is dict:
        return PairsField(help_text=f"{description} One pair in each line.", **about)
    if option.default_factory is list:
        return NamesField(help_text=f"{description} Separated by commas.", **about)
    if option.default is None:
        return forms.IntegerField(help_text=description, **about)
    return forms.CharField(help_text=description, max_length=option.metadata["max_length"], **about)


class RatingOptionsForm(RefusableForm):
    """Options for reading a file; ``cleaned_data["options"]`` is the result."""

    basic: ClassVar[tuple[str, ...]] = ("shape", "aggregate", "scale_min", "scale_max")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= {option.name: option_field(option) for option in fields(RatingOptions)}
        self.order_fields(self.field_order)

    @property
    def basics(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name in self.basic]

    @property
    def details(self) -> list[BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.basic]

    @property
    def details_open(self) -> bool:
        """Return whether the details contain an error."""
        return any(name not in self.basic for name in self.errors if name in self.fields)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            names = [option.name for option in fields(RatingOptions)]
            try:
                given = {name: data[name] for name in names if data.get(name) not in (None, "", [], {})}
                data["options"] = RatingOptions(**given)
            except AnnotationError as error:
                self.add_refusal(error)
        return data


class RatingUploadForm(UploadForm, RatingOptionsForm):
    makes = "campaign"
    endings: ClassVar[Mapping[str, str]] = RATING_ENDINGS
    basic: ClassVar[tuple[str, ...]] = ("name", "file")

    name = forms.CharField(
        label="Name of the campaign", max_length=LONGEST_NAME, help_text="The ratings arrive as a closed campaign."
    )
    file = forms.FileField(
        label="File",
        help_text="CSV, TSV, JSON Lines, or Label Studio's JSON; in UTF-8. You see a preview before it is imported.",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.tab,.txt,.jsonl,.ndjson,.json"}),
    )
    file_format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES, required=False)
    field_order = ("name", "file", "shape", "aggregate", "scale_min", "scale_max", "file_format")

    @property
    def details_open(self) -> bool:
        """Return whether the details contain an error, or an unusual value, with which the file will be read."""
        return super().details_open or any(field.value() not in USUAL_VALUES for field in self.details)

    def arguments(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        arguments = {name: self.cleaned_data[name] for name in ("name", "file_format", "options")}
        return arguments | {"filename": file.name, "content": file.read()}
