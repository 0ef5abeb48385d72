"""The form that imports scores made elsewhere."""

import base64
import binascii
import zlib
from typing import Any

from django import forms

from annotation.core.file_limits import SCORES_PAGE_BYTES
from annotation.core.forms import RefusableForm, offer_rows
from annotation.core.uploads import upload_limit
from annotation.models import Dataset, Project
from metrics.scoring.external import NAME_CHARACTERS
from metrics.services.score_imports import NOTE_CHARACTERS, ImportOptions

HIDDEN = ("lower", "carried", "filename")  # inputs that the page draws itself
HIGHER, LOWER = "higher", "lower"


class ScoreImportForm(RefusableForm):
    """A new file, or the one that the page carries from its preview."""

    inputs = {"scorer": "name", "lower_is_better": "direction"}
    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="slug", label="Data set", empty_label=None)
    file = forms.FileField(
        label="File",
        error_messages={"required": "Found none; accepted: a file with scores."},
        help_text="A .csv, .tsv or .jsonl table, a .seg.score or .sys.score file, or an archive of such files.",
        validators=[upload_limit(", or a larger one by manage.py import_scores", max_bytes=SCORES_PAGE_BYTES)],
    )
    name = forms.CharField(
        label="Name of the metric",
        max_length=NAME_CHARACTERS,
        required=False,
        strip=True,
        help_text="As pages and reports call it, such as COMET-22. Score files name it themselves.",
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
    lower = forms.MultipleChoiceField(required=False)  # a box for each metric of an archive, beside its preview
    carried = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    filename = forms.CharField(required=False, max_length=255, widget=forms.HiddenInput)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].required = not self.data.get("carried")
        offer_rows(self, "dataset", project.datasets.order_by("name"))
        # The names are known once the file is read: the service refuses others.
        self.fields["lower"].validate = lambda value: None  # type: ignore[method-assign]

    @property
    def shown_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in HIDDEN]

    def carry(self, filename: str) -> None:
        """Make the file optional: the page carries this one."""
        self.fields["file"].required = False
        bound = self["file"]  # created when the form was validated, with the texts of a required file
        bound.label, bound.help_text = "Another file", f"Empty: {filename} again."

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
        same = {name: data[name] for name in ("name", "lower", "lowest", "highest", "note")}
        return ImportOptions(lower_is_better=data["direction"] == LOWER, **same)


def packed(content: bytes) -> str:
    """Return a file as the text of a hidden input."""
    return base64.b64encode(zlib.compress(content)).decode()


def unpacked(carried: str) -> bytes:
    """Return the file of a hidden input; ValueError if the text is no file of an accepted size."""
    try:
        decompressor = zlib.decompressobj()
        content = decompressor.decompress(base64.b64decode(carried, validate=True), SCORES_PAGE_BYTES + 1)
    except (binascii.Error, zlib.error) as error:
        raise ValueError("no packed file") from error
    if len(content) > SCORES_PAGE_BYTES or not decompressor.eof:
        raise ValueError("no whole file of an accepted size")
    return content
