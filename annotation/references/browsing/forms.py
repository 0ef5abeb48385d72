"""The filters of the browser of a release."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import forms

from annotation.core.forms import Form, offer_choices
from annotation.models import SourceKind
from annotation.references.browsing.selectors.references import RANGES, SIGNS, WeightFilter
from annotation.references.browsing.table import MINUS

ORIGINALS = [("", "All"), ("yes", "Only originals"), ("no", "Without originals")]


class Chip(NamedTuple):
    """A filter in use, and its fields."""

    label: str
    fields: tuple[str, ...]


def range_errors(data: Mapping[str, Any]) -> dict[str, str]:
    """Return a message for the first field of each range whose first value is above its second."""
    return {
        low: f"{label} from {data[low]:g} to {data[high]:g}: the first value must not be above the second."
        for label, low, high, _ in RANGES
        if data.get(low) is not None and data.get(high) is not None and data[low] > data[high]
    }


def _number(label: str, about: str, low: float, high: float | None = None, step: str = "0.05") -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": step, "inputmode": "decimal"})
    return forms.FloatField(
        label=label, required=False, min_value=low, max_value=high, step_size=None, widget=widget, help_text=about
    )


def _flag(label: str, about: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=about)


class WeightFilterForm(Form):
    """The filters of the browser of a release; every field may be empty. The help texts are those of the API."""

    text = forms.CharField(
        label="Text",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "data-search": "", "placeholder": "Words in texts"}),
        help_text="Words of the response or of its item's message.",
    )
    low = _number("Weight from", "Lowest weight.", -1, 1)
    high = _number("Weight to", "Highest weight.", -1, 1)
    min_width = _number("Interval width from", "Smallest width of the interval.", 0, 2)
    max_width = _number("Interval width to", "Largest width of the interval.", 0, 2)
    sign = forms.ChoiceField(
        choices=[("", "Any"), *((sign, sign.title()) for sign in SIGNS)],
        required=False,
        help_text="Sign of the weight.",
    )
    source = forms.ChoiceField(required=False, help_text="A kind of source, or the name of a system.")
    split = forms.ChoiceField(required=False, help_text="Split of the item.")
    original = forms.ChoiceField(
        choices=ORIGINALS, required=False, help_text="yes: only the items' original responses; no: all others."
    )
    min_ratings = forms.IntegerField(
        label="Judgements from", required=False, min_value=0, help_text="Smallest number of judgements that count."
    )
    max_ratings = forms.IntegerField(
        label="Judgements to", required=False, min_value=0, help_text="Largest number of judgements that count."
    )
    min_spread = _number("Disagreement from", "Smallest standard deviation of the judgements.", 0, step="0.1")
    max_spread = _number("Disagreement to", "Largest standard deviation of the judgements.", 0, step="0.1")
    spans_zero = _flag("Only intervals that span zero", "Only intervals that hold 0.")
    no_positive = _flag("Only items without a positive weight", "Only references of items without a positive weight.")
    fallen = _flag(
        "Only seeds that fell below their threshold", "Only seeds whose mean fell below their selection threshold."
    )

    def __init__(self, *args: Any, sources: Sequence[str], splits: Sequence[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = dict(SourceKind.choices)
        offer_choices(self, "source", [("", "Any"), *((name, kinds.get(name, name)) for name in sources)])
        if splits is None:  # a download: any name is accepted
            self.fields["split"] = forms.CharField(required=False, max_length=40)
        else:
            offer_choices(self, "split", [("", "Any"), *((name, name) for name in splits)])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for field, message in range_errors(data).items():
            self.add_error(field, message)
        return data

    def chosen(self) -> WeightFilter:
        return WeightFilter(**self.cleaned_data)

    def chips(self) -> list[Chip]:
        """Return the filters in use, in words."""
        data = self.cleaned_data
        chips = [Chip(f"“{data['text']}”", ("text",))] if data["text"] else []
        for label, low, high, _ in RANGES:
            if (data[low], data[high]) != (None, None):
                chips.append(Chip(f"{label} {_range(data[low], data[high])}", (low, high)))
        for name, prefix in (("sign", ""), ("source", "Source: "), ("split", "Split: "), ("original", "")):
            if data[name]:
                label = dict(getattr(self.fields[name], "choices", [])).get(data[name], data[name])
                chips.append(Chip(f"{prefix}{label}", (name,)))
        checkboxes = ("spans_zero", "no_positive", "fallen")
        return chips + [Chip(str(self[name].label), (name,)) for name in checkboxes if data.get(name)]


def _range(low: float | None, high: float | None) -> str:
    start, end = (f"{bound:g}".replace("-", MINUS) if bound is not None else "" for bound in (low, high))
    if start and end:
        return start if start == end else f"{start} to {end}"
    return f"from {start}" if start else f"up to {end}"
