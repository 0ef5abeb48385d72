"""The form that imports scores made elsewhere."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.core.file_limits import SCORES_PAGE_BYTES
from annotation.core.forms import offer_rows
from annotation.core.kept_files import KeptFileForm
from annotation.core.uploads import upload_limit
from annotation.models import Dataset, Project
from metrics.scoring.external import NAME_CHARACTERS
from metrics.selectors.score_scales import RANGE
from metrics.services.score_files import MOST_COLUMNS
from metrics.services.score_imports import NOTE_CHARACTERS
from metrics.services.score_options import ImportOptions

OF_PREVIEW = ("lower", "take", "offered")  # of the columns, which the page draws in its preview
INDEXES = range(1, MOST_COLUMNS + 1)  # at the end of the inputs of a column
HIGHER, LOWER = "higher", "lower"


class ScoreImportForm(KeptFileForm):
    """A new file, or the one that is kept from its preview."""

    inputs = {"scorer": "name", "lower_is_better": "direction", "scale": "", "lowest": "", "highest": ""}
    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="slug", label="Data set", empty_label=None)
    file = forms.FileField(
        label="File",
        error_messages={"required": "Found none; accepted: a file with scores."},
        help_text="A .csv, .tsv or .jsonl table, also with a column for each metric; a .seg.score or .sys.score file; "
        "or an archive of such files.",
        validators=[upload_limit(", or a larger one by manage.py import_scores", max_bytes=SCORES_PAGE_BYTES)],
    )
    name = forms.CharField(
        label="Name of the metric",
        max_length=NAME_CHARACTERS,
        required=False,
        strip=True,
        help_text="As pages and reports call it, such as COMET-22. For several columns the preview asks for each name.",
    )
    direction = forms.ChoiceField(
        label="Which scores are better",
        choices=[(HIGHER, "higher ones"), (LOWER, "lower ones, as with an error rate")],
        initial=HIGHER,
    )
    note = forms.CharField(
        label="Where the scores come from",
        max_length=NOTE_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Version and settings of the scorer, a link, a licence.",
    )
    # Of several columns: those that the preview offered, those to import, and those of which lower is better.
    offered = forms.MultipleChoiceField(required=False)
    take = forms.MultipleChoiceField(required=False)
    lower = forms.MultipleChoiceField(required=False)
    scales_of = forms.CharField(required=False, max_length=300)  # the file and settings that the shown scales are for

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "dataset", project.datasets.order_by("name"))
        # The names are known once the file is read: the service refuses others.
        for name in OF_PREVIEW:
            self.fields[name].validate = lambda value: None  # type: ignore[method-assign]

    @property
    def shown_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in (*OF_PREVIEW, "scales_of")]

    @property
    def fields_beside_names(self) -> list[forms.BoundField]:
        """Return the fields that are shown where each column has a name of its own."""
        return [field for field in self.shown_fields if field.name != "name"]

    @property
    def columns_seen(self) -> list[str]:
        """Return the columns that a preview of this file offered."""
        return [] if self._is_new else self.cleaned_data["offered"]

    @property
    def scales_key(self) -> str:
        """Return the kept file, the data set and the direction, for which a preview shows and asks for scales."""
        return " ".join(str(self.data.get(name, "")) for name in ("kept", "dataset", "direction"))

    @property
    def has_old_scales(self) -> bool:
        """Return whether the stated scales were for another file, data set or direction: a preview shows new ones."""
        is_as_shown = self.data.get("scales_of", "") == self.scales_key and not self._is_new
        return bool(chosen_scales(self.data)) and not is_as_shown

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``score_file_preview`` and ``score_file_import``."""
        file = self.cleaned_data["file"]
        return {
            "dataset": self.cleaned_data["dataset"],
            "filename": file.name,
            "content": file.read(),
            "options": self.options(),
        }

    def options(self) -> ImportOptions:
        data = self.cleaned_data
        same = {name: data[name] for name in ("name", "note")}
        scales = {} if self.has_old_scales else chosen_scales(self.data)
        if len(scales) == 1 and data["name"] and not data["offered"]:  # which may have been changed below the preview
            scales = dict.fromkeys([data["name"]], *scales.values())
        if seen := self.columns_seen:
            skip = [column for column in seen if column not in data["take"]]
            same |= {"lower": data["lower"], "skip": skip, "shown_names": chosen_names(self.data)}
        return ImportOptions(lower_is_better=data["direction"] == LOWER, shown_scales=scales, **same)


def chosen_names(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what the page calls the metric of each column."""
    given = {data.get(f"column-{index}", ""): data.get(f"name-{index}", "").strip() for index in INDEXES}
    return {column: name for column, name in given.items() if column and name}


def chosen_scales(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the scale that the page states of each metric, as an import takes it."""
    chosen = {}
    for index in INDEXES:
        choice = data.get(f"scale-{index}")
        if choice:
            ends = (data.get(f"{end}-{index}", "").strip() for end in ("low", "high"))
            chosen[data.get(f"column-{index}", "")] = "..".join(ends) if choice == RANGE else choice
    return chosen
