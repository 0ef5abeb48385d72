"""What a person fills in to start a score run."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.models import Release
from metrics.scoring.registry import METRICS
from metrics.scoring.statistics import SEMANTICS
from metrics.scoring.texts import TOKENIZERS
from metrics.selectors.explanations import Reading, usual_tokenizer
from metrics.subsets import Subset

TOKENIZER_NAMES = {
    "whitespace": "Whitespace",
    "13a": "13a (WMT)",
    "intl": "International",
    "char": "Characters",
    "zh": "Chinese",
    "none": "None (tokens separated by spaces)",
}
ITEM_CHOICES = [
    ("referenced", "All that have a reference in the release"),
    ("positive", "Those with a reference of positive weight"),
]


class SubsetField(forms.CharField):
    """A reference subset as people write it."""

    def __init__(self, **options: Any) -> None:
        help_text = (
            "<code>all</code>, <code>original</code>, or a threshold such as <code>w>0</code>, <code>w>=0.6</code>"
        )
        super().__init__(**{"help_text": help_text, "initial": "all", "label": "References"} | options)

    def clean(self, value: Any) -> Subset:
        try:
            return Subset.parse(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(str(error).removeprefix("subset: ").capitalize()) from error


class ScoreRunForm(forms.Form):
    """The release is settled before, since it decides which systems there are."""

    metric = forms.ChoiceField(choices=[(name, metric.label) for name, metric in METRICS.items()], initial="delta_bleu")
    subset = SubsetField()
    systems = forms.ModelMultipleChoiceField(
        queryset=None, widget=forms.CheckboxSelectMultiple, error_messages={"required": "Choose at least one system."}
    )
    max_order = forms.TypedChoiceField(
        label="Longest n-gram", coerce=int, choices=[(order, str(order)) for order in range(1, 5)], initial=2
    )
    tokenize = forms.ChoiceField(
        label="Tokeniser",
        choices=[(name, TOKENIZER_NAMES.get(name, name)) for name in TOKENIZERS],
        initial="whitespace",
    )
    lowercase = forms.BooleanField(label="Lowercase first", required=False, initial=True)
    semantics = forms.ChoiceField(
        label="ΔBLEU's formula",
        choices=[(name, name) for name in SEMANTICS],
        help_text="<code>galley2015</code> is the paper's equation; the other is its author's later code.",
    )
    items = forms.ChoiceField(choices=ITEM_CHOICES, widget=forms.RadioSelect, initial="referenced")

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        systems = release.reference_set.dataset.systems.all()
        self.fields["systems"].queryset = systems
        if not self.is_bound:
            references = set(release.reference_set.source_systems)
            self.initial["systems"] = [system.pk for system in systems if system.name not in references]

    def parameters(self) -> dict[str, Any]:
        """What the chosen metric takes; the other fields do not concern it."""
        names = ["max_order", "tokenize", "lowercase"]
        if self.cleaned_data["metric"] == "delta_bleu":
            names.append("semantics")
        return {name: self.cleaned_data[name] for name in names}

    def chosen_subset(self) -> Subset:
        subset: Subset = self.cleaned_data["subset"]
        return Subset(subset.kind, subset.op, subset.value, self.cleaned_data["items"])


class ReadingForm(forms.Form):
    """How an explanation counts n-grams, from its address; what that leaves out takes its default."""

    order = forms.TypedChoiceField(
        label="Longest n-gram", coerce=int, choices=[(order, str(order)) for order in range(1, 5)], initial=2
    )
    semantics = forms.ChoiceField(
        label="ΔBLEU's formula", choices=[(name, name) for name in SEMANTICS], initial=SEMANTICS[0]
    )
    refs = SubsetField()
    tokenize = forms.ChoiceField(
        label="Tokeniser", choices=[(name, TOKENIZER_NAMES.get(name, name)) for name in TOKENIZERS]
    )
    case = forms.ChoiceField(
        label="Capitals", choices=[("lower", "Lowercase first"), ("kept", "Kept")], initial="lower"
    )

    def __init__(self, query: Mapping[str, str], *, language: str) -> None:
        self.usual = Reading(tokenize=usual_tokenizer(language))
        fields = self.base_fields
        usual = {name: fields[name].initial for name in fields} | {"tokenize": self.usual.tokenize}
        asked = {name: query[name] for name in fields if query.get(name)}
        super().__init__(usual | asked)

    def reading(self) -> Reading:
        """As asked for; the usual one where that is not understood."""
        if not self.is_valid():
            return self.usual
        asked = self.cleaned_data
        return Reading(asked["order"], asked["semantics"], asked["tokenize"], asked["case"] == "lower", asked["refs"])
