"""What a person fills in to import scores made elsewhere."""

import base64
import binascii
import zlib
from typing import Any

from django import forms
from django.template.defaultfilters import filesizeformat

from annotation.core.forms import RefusableForm, offer_rows
from annotation.models import Dataset, Project
from metrics.scoring.external import NAME_CHARACTERS
from metrics.services.score_imports import NOTE_CHARACTERS, ImportOptions

PAGE_BYTES = 32 * 1024 * 1024  # of a file that a page carries from its preview to its import
HIGHER, LOWER = "higher", "lower"


class ScoreImportForm(RefusableForm):
    """A file, or one that the page carries because it was looked at before."""

    inputs = {"scorer": "name", "lower_is_better": "direction"}
    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="slug", label="Data set", empty_label=None)
    file = forms.FileField(
        label="File",
        error_messages={"required": "Found none; accepted: a file with scores."},
        help_text="A .csv, .tsv or .jsonl table, a .seg.score or .sys.score file, or an archive of such files.",
    )
    name = forms.CharField(
        label="Name of the metric",
        max_length=NAME_CHARACTERS,
        required=False,
        strip=True,
        help_text="As pages and reports shall call it: COMET-22, say. Score files name it themselves.",
    )
    direction = forms.ChoiceField(
        label="Better is", choices=[(HIGHER, "higher"), (LOWER, "lower, as with an error rate")], initial=HIGHER
    )
    lowest = forms.FloatField(label="Lowest possible score", required=False)
    highest = forms.FloatField(
        label="Highest possible score",
        required=False,
        help_text="Empty: no bound. A file with a score outside is refused.",
    )
    note = forms.CharField(
        label="Where the scores come from",
        max_length=NOTE_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Version and settings of the scorer, a link, a licence.",
    )
    lower = forms.MultipleChoiceField(required=False)  # one box for each metric of an archive, drawn with the preview
    carried = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    filename = forms.CharField(required=False, max_length=255, widget=forms.HiddenInput)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].required = not self.data.get("carried")
        offer_rows(self, "dataset", project.datasets.order_by("name"))
        # Which names there may be is known once the file is read: the service refuses others.
        self.fields["lower"].validate = lambda value: None  # type: ignore[method-assign]

    @property
    def asked(self) -> list[forms.BoundField]:
        """What a person sees."""
        return [field for field in self if field.name not in ("lower", "carried", "filename")]

    def carry(self, filename: str) -> None:
        """The page holds this file: another one may be chosen, and need not be."""
        self.fields["file"].required = False
        drawn = self["file"]  # made when the form was validated, with the words of an empty one
        drawn.label, drawn.help_text = "Another file", f"Empty: {filename} again."

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size is not None and file.size > PAGE_BYTES:
            found, accepted = filesizeformat(file.size), filesizeformat(PAGE_BYTES)
            raise forms.ValidationError(
                f"Found {found}; accepted: at most {accepted}, or a larger one by the API or manage.py import_scores."
            )
        return file

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        file, carried = data.get("file"), data.get("carried")
        if file:
            data["filename"], data["content"] = file.name, file.read()
        elif carried:
            try:
                data["content"] = unpacked(carried)
            except ValueError:
                self.add_error("file", "The page lost the file; choose it again.")
        return data

    def options(self) -> ImportOptions:
        data = self.cleaned_data
        return ImportOptions(
            name=data["name"],
            lower_is_better=data["direction"] == LOWER,
            lower=data["lower"],
            lowest=data["lowest"],
            highest=data["highest"],
            note=data["note"],
        )


def packed(content: bytes) -> str:
    """A file as a field of a page carries it."""
    return base64.b64encode(zlib.compress(content)).decode()


def unpacked(carried: str) -> bytes:
    """The file again; a ValueError where the field holds none, or a larger one than was let in."""
    try:
        opened = zlib.decompressobj()
        content = opened.decompress(base64.b64decode(carried, validate=True), PAGE_BYTES + 1)
    except (binascii.Error, zlib.error) as error:
        raise ValueError("no packed file") from error
    if len(content) > PAGE_BYTES or not opened.eof:
        raise ValueError("no whole file of an accepted size")
    return content
