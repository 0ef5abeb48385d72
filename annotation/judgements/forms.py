"""Forms for uploading ratings made elsewhere, with reading options."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.forms import BoundField

from annotation.campaigns.fields.table import LONGEST_NAME
from annotation.core.errors import AnnotationError
from annotation.core.forms import RefusableForm
from annotation.datasets.forms import UploadForm
from annotation.judgements.services.options import (
    AGGREGATES,
    DEFAULT_CRITERION,
    ITEM_PARTS,
    ITEM_TYPES,
    OWN_COLUMNS,
    RATING_ENDINGS,
    RATING_FORMATS,
    SHAPE_LABELS,
    RatingOptions,
)

SHAPE_CHOICES = [("", "Recognise automatically"), *SHAPE_LABELS.items()]
FORMAT_CHOICES = [("", "By its name (.csv, .tsv, .jsonl, .json)"), *RATING_FORMATS.items()]
AGGREGATE_CHOICES = [("", "Neither, or by the names of the columns"), *AGGREGATES.items()]
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


class RatingOptionsForm(RefusableForm):
    """Options for reading a file; ``cleaned_data["options"]`` is the result."""

    shape = forms.ChoiceField(label="What the file holds", choices=SHAPE_CHOICES, required=False)
    scale_min = forms.IntegerField(
        label="Lowest point of the scale", required=False, help_text="1 if empty; 0 for Appraise."
    )
    scale_max = forms.IntegerField(label="Highest point", required=False, help_text="5 if empty; 100 for Appraise.")
    columns = PairsField(
        label="Columns with other names",
        required=False,
        help_text=f"One per line, for example <code>rater = JudgeID</code>. Known: {', '.join(OWN_COLUMNS)}. For Label "
        "Studio: the fields of the tasks' data, for example <code>item = doc_id</code>, or <code>task id</code>.",
    )
    criteria = NamesField(
        label="Criteria",
        required=False,
        help_text="Columns (or controls) with ratings, separated by commas; all others if empty.",
    )
    raters = NamesField(
        label="Columns of raters",
        required=False,
        help_text="If each rater has a column: separated by commas; all others if empty.",
    )
    criterion = forms.CharField(
        label="Name of the criterion",
        required=False,
        max_length=60,
        help_text="If the file names none; “rating” if empty.",
    )
    aggregate = forms.ChoiceField(label="Medians or means", choices=AGGREGATE_CHOICES, required=False)
    only_systems = NamesField(
        label="Only these systems",
        required=False,
        help_text="Names between commas; other rows are left out and counted.",
    )
    aliases = PairsField(
        label="Other names of systems",
        required=False,
        help_text="One per line: name in the file = system whose outputs were shown, as <code>TeamEC = TeamCE</code>.",
    )
    item = forms.CharField(
        label="Pattern of item ids from Appraise's numbers",
        required=False,
        max_length=100,
        help_text=f"Uses {', '.join(f'<code>{part}</code>' for part in ITEM_PARTS)}; "
        "<code>{item}</code> if empty. For example <code>{document}#{item}</code>.",
    )
    item_types = PairsField(
        label="Appraise's checks that count as ratings",
        required=False,
        help_text=f"Of {', '.join(ITEM_TYPES[1:])}, which are left out otherwise. One per line: <code>CHK = *</code> "
        "keeps the system of the row, <code>REF = Human</code> takes it for an output of that system.",
    )
    choices = PairsField(
        label="Numbers of Label Studio's choices",
        required=False,
        help_text="One per line, for example <code>Good = 4</code>, if a label does not begin with its number.",
    )

    basic: ClassVar[tuple[str, ...]] = ("shape", "scale_min", "scale_max")

    @property
    def basics(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name in self.basic]

    @property
    def details(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name not in self.basic]

    @property
    def details_open(self) -> bool:
        """Return whether the details contain an error or an unusual value."""
        wrong = any(name not in self.basic for name in self.errors if name in self.fields)
        return wrong or any(field.value() not in USUAL_VALUES for field in self.details)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            names = [name for name in RatingOptionsForm.base_fields if data.get(name) not in (None, "", [], {})]
            try:
                data["options"] = RatingOptions(**{name: data[name] for name in names})
            except AnnotationError as error:
                self.add_refusal(error)
        return data


class RatingUploadForm(UploadForm, RatingOptionsForm):
    endings: ClassVar[Mapping[str, str]] = RATING_ENDINGS
    basic: ClassVar[tuple[str, ...]] = ("name", "file", "shape", "scale_min", "scale_max")

    name = forms.CharField(
        label="Name of the campaign", max_length=LONGEST_NAME, help_text="The ratings arrive as a closed campaign."
    )
    file = forms.FileField(
        label="File",
        help_text="CSV, TSV, JSON Lines, or Label Studio's JSON; in UTF-8. You see a preview before it is imported.",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.tab,.txt,.jsonl,.ndjson,.json"}),
    )
    file_format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES, required=False)
    field_order = ("name", "file", "shape", "scale_min", "scale_max", "file_format")
