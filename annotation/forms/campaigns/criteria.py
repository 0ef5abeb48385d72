"""One criterion of a campaign. Every kind of scale has its own fields; those of other kinds are left alone."""

from typing import Any

from django import forms

from annotation.models import Campaign, Criterion, ResponseSource, ScaleKind, SourceKind
from annotation.services.campaigns import CriterionDraft

KINDS = [
    (ScaleKind.LIKERT, "Points, one of which is chosen"),
    (ScaleKind.SLIDER, "A slider between two ends"),
    (ScaleKind.MAGNITUDE, "A number beside a standard text"),
    (ScaleKind.PREFERENCE, "Which of two is better (pairs only)"),
]


class CriterionForm(forms.Form):
    question = forms.CharField(max_length=300, help_text="What the rater reads above the scale.")
    name = forms.SlugField(max_length=60, help_text="For tables and files, such as <code>relevance</code>.")
    kind = forms.ChoiceField(label="Scale", choices=KINDS, initial=ScaleKind.LIKERT)
    scale_min = forms.IntegerField(label="Lowest value", required=False, initial=1)
    scale_max = forms.IntegerField(label="Highest value", required=False, initial=5)
    step = forms.FloatField(label="Step", required=False, initial=1, help_text="0 takes any number between the ends.")
    labels = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="A line for each point, from the lowest up; of a slider a line for each end; or none.",
    )
    strength = forms.IntegerField(
        label="Degrees",
        required=False,
        initial=2,
        min_value=1,
        max_value=5,
        help_text="1 asks only which; 2 adds “much better”.",
    )
    ties = forms.BooleanField(label="The two may be called equal", required=False)
    standard_source = forms.ChoiceField(label="The standard is the text by", required=False)
    standard_value = forms.FloatField(label="It counts as", required=False, initial=100)
    remove = forms.BooleanField(label="Remove this criterion", required=False)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = set(ResponseSource.objects.filter(item__dataset=campaign.dataset).values_list("kind", flat=True))
        references = [(k, label) for k, label in SourceKind.choices if k in kinds and k != SourceKind.SYSTEM]
        systems = [(name, name) for name in campaign.dataset.systems.values_list("name", flat=True)]
        groups = [("References", references), ("Systems", systems)]
        self.fields["standard_source"].choices = [group for group in groups if group[1]]  # type: ignore[attr-defined]

    @property
    def in_use(self) -> bool:
        data = getattr(self, "cleaned_data", {})
        return bool(data.get("name")) and not data.get("remove")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        needed = {
            ScaleKind.LIKERT: ("scale_min", "scale_max"),
            ScaleKind.SLIDER: ("scale_min", "scale_max", "step"),
            ScaleKind.MAGNITUDE: ("standard_source", "standard_value"),
            ScaleKind.PREFERENCE: ("strength",),
        }.get(data.get("kind", ""), ())
        for name in needed:
            if data.get(name) in (None, "") and name not in self.errors:
                self.add_error(name, "Found nothing; this scale needs it.")
        return data

    def draft(self) -> CriterionDraft:
        data = self.cleaned_data
        kind = data["kind"]
        is_preference = kind == ScaleKind.PREFERENCE
        lines = [line.strip() for line in data["labels"].splitlines() if line.strip()]
        return CriterionDraft(
            name=data["name"],
            question=data["question"],
            kind=kind,
            scale_min=data["scale_min"] if kind in (ScaleKind.LIKERT, ScaleKind.SLIDER) else 0,
            scale_max=data["strength"] if is_preference else data["scale_max"] or 1,
            step=data["step"] if kind == ScaleKind.SLIDER else 1.0,
            labels=[] if is_preference or kind == ScaleKind.MAGNITUDE else lines,
            ties=data["ties"],
            standard_source=data["standard_source"] if kind == ScaleKind.MAGNITUDE else "",
            standard_value=data["standard_value"] if kind == ScaleKind.MAGNITUDE else None,
        )

    @staticmethod
    def initial_of(criterion: Criterion) -> dict[str, Any]:
        has_points = criterion.kind in (ScaleKind.LIKERT, ScaleKind.SLIDER)
        initial = {
            "name": criterion.name,
            "question": criterion.question,
            "kind": criterion.kind,
            "step": criterion.step,
            "labels": "\n".join(criterion.labels),
            "ties": criterion.ties,
        }
        if has_points:
            initial |= {"scale_min": criterion.scale_min, "scale_max": criterion.scale_max}
        elif criterion.kind == ScaleKind.PREFERENCE:
            initial |= {"strength": criterion.scale_max}
        else:
            initial |= {"standard_source": criterion.standard_source, "standard_value": criterion.standard_value}
        return initial
