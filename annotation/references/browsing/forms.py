"""What the browser of a release is narrowed to."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms

from annotation.core.forms import offer_choices
from annotation.models import SourceKind
from annotation.references.browsing.selectors.references import WeightFilter

RANGES = (
    ("Weight", "low", "high"),
    ("Interval width", "min_width", "max_width"),
    ("Judgements", "min_ratings", "max_ratings"),
    ("Disagreement", "min_spread", "max_spread"),
)
SIGNS = [("", "Any"), ("positive", "Positive"), ("zero", "Zero"), ("negative", "Negative")]
ORIGINALS = [("", "All"), ("yes", "Only originals"), ("no", "Without originals")]
MINUS = "−"


class Chip(NamedTuple):
    """One thing the browser is narrowed to, and the fields that say so."""

    label: str
    fields: tuple[str, ...]


def _number(label: str, *, low: float | None = None, high: float | None = None, step: str = "0.05") -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": step, "inputmode": "decimal"})
    return forms.FloatField(label=label, required=False, min_value=low, max_value=high, step_size=None, widget=widget)


class WeightFilterForm(forms.Form):
    """What the browser of a release is narrowed to; every field may be left empty."""

    text = forms.CharField(
        label="Text",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "data-search": "", "placeholder": "Words in texts and messages"}
        ),
    )
    low = _number("Weight from", low=-1, high=1)
    high = _number("Weight to", low=-1, high=1)
    min_width = _number("Interval width from", low=0, high=2)
    max_width = _number("Interval width to", low=0, high=2)
    sign = forms.ChoiceField(choices=SIGNS, required=False)
    source = forms.ChoiceField(required=False)
    split = forms.ChoiceField(required=False)
    original = forms.ChoiceField(label="Original", choices=ORIGINALS, required=False)
    min_ratings = forms.IntegerField(label="Judgements from", required=False, min_value=0)
    max_ratings = forms.IntegerField(label="Judgements to", required=False, min_value=0)
    min_spread = _number("Disagreement from", low=0, step="0.1")
    max_spread = _number("Disagreement to", low=0, step="0.1")
    spans_zero = forms.BooleanField(label="Only intervals that span zero", required=False)
    no_positive = forms.BooleanField(label="Only items without a positive weight", required=False)
    fallen = forms.BooleanField(label="Only seeds that fell below their threshold", required=False)

    def __init__(self, *args: Any, sources: Sequence[str], splits: Sequence[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = dict(SourceKind.choices)
        offer_choices(self, "source", [("", "Any"), *((name, kinds.get(name, name)) for name in sources)])
        if splits is None:  # they are not offered; any is looked for
            self.fields["split"] = forms.CharField(required=False, max_length=40)
        else:
            offer_choices(self, "split", [("", "Any"), *((name, name) for name in splits)])

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or self.cleaned_data
        for label, low, high in RANGES:
            start, end = asked.get(low), asked.get(high)
            if start is not None and end is not None and start > end:
                self.add_error(low, f"{label} from {start:g} to {end:g}: the first value must not be above the second.")
        return asked

    def chosen(self) -> WeightFilter:
        return WeightFilter(**self.cleaned_data)

    def chips(self) -> list[Chip]:
        """What it is narrowed to, in words."""
        asked = self.cleaned_data
        found = [Chip(f"“{asked['text']}”", ("text",))] if asked["text"] else []
        for label, low, high in RANGES:
            if (asked[low], asked[high]) != (None, None):
                found.append(Chip(f"{label} {_range(asked[low], asked[high])}", (low, high)))
        for name in ("sign", "source", "split", "original"):
            if asked[name]:
                choices = dict(getattr(self.fields[name], "choices", []))
                label = choices.get(asked[name], asked[name])
                found.append(Chip(f"{'' if name in {'sign', 'original'} else f'{self[name].label}: '}{label}", (name,)))
        marks = ("spans_zero", "no_positive", "fallen")
        return found + [Chip(str(self[name].label), (name,)) for name in marks if asked.get(name)]


def _range(low: float | None, high: float | None) -> str:
    start, end = (f"{bound:g}".replace("-", MINUS) if bound is not None else "" for bound in (low, high))
    if start and end:
        return start if start == end else f"{start} to {end}"
    return f"from {start}" if start else f"up to {end}"
