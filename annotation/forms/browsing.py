"""What the browser of a release is narrowed to."""

from typing import Any

from django import forms

from annotation.models import SourceKind
from annotation.selectors.browsing import WeightFilter


class WeightFilterForm(forms.Form):
    """What the browser of a release is narrowed to; every field may be left empty."""

    text = forms.CharField(label="Text", required=False, max_length=200)
    low = forms.FloatField(label="Weight from", required=False, min_value=-1, max_value=1)
    high = forms.FloatField(label="Weight to", required=False, min_value=-1, max_value=1)
    source = forms.ChoiceField(required=False)
    min_ratings = forms.IntegerField(label="Judgements ≥", required=False, min_value=1)
    no_positive = forms.BooleanField(label="Only items without a positive weight", required=False)

    def __init__(self, *args: Any, sources: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = dict(SourceKind.choices)
        self.fields["source"].choices = [("", "Any"), *((name, kinds.get(name, name)) for name in sources)]
        self.fields["text"].widget.attrs["data-search"] = ""
        for name in ("low", "high"):
            self.fields[name].widget.attrs["step"] = "0.05"

    def chosen(self) -> WeightFilter:
        return WeightFilter(**self.cleaned_data)
