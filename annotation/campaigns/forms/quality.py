"""The step about checks and qualification; the prepared screens have pages of their own."""

from typing import Any

from django import forms

from annotation.campaigns.design import CHECK_KINDS, DEGRADATIONS
from annotation.campaigns.fields.table import QUALITY
from annotation.campaigns.forms.steps import Step
from annotation.models import Campaign

KIND_LABELS = {
    "gold": "Gold: the answer is known",
    "attention": "Attention checks",
    "repeat": "Repeats of a rater's own units",
    "degraded": "Texts made worse on purpose",
    "anchor": "Texts by people, as high anchors",
}
OPERATION_LABELS = {
    "drop": "Words left out",
    "swap": "Words in another order",
    "foreign": "The text of another item",
}


class QualityStep(Step):
    step = QUALITY
    title = "Quality"
    leaves = (  # the prepared screens have pages of their own; how many to mix in may be said before there are any
        "quality.gold",
        "quality.attention",
        "quality.mix.gold",
        "quality.mix.attention",
        "qualification.training",
        "qualification.test",
    )
    template = "annotation/campaigns/campaign_form_quality.html"

    every = forms.IntegerField(
        label="One check in every so many screens",
        min_value=0,
        max_value=1000,
        help_text="At a place that nobody can guess; 0 mixes none in. Checks are paid like work.",
    )
    repeat_gap = forms.IntegerField(
        label="Repeat after",
        min_value=1,
        max_value=1000,
        help_text="So many screens lie between a unit and its repeat.",
    )
    degraded_count = forms.IntegerField(label="Degraded texts", min_value=0, max_value=10_000, help_text="To be made.")
    degradations = forms.MultipleChoiceField(
        label="How they are made worse",
        choices=[(name, OPERATION_LABELS[name]) for name in DEGRADATIONS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    anchor_count = forms.IntegerField(
        label="High anchors", min_value=0, max_value=10_000, help_text="Drawn from texts by people."
    )
    pass_mark = forms.DecimalField(
        label="Pass mark of the test, in percent",
        min_value=1,
        max_value=100,
        help_text="Share of answers within range.",
    )
    attempts = forms.IntegerField(label="Tries", min_value=1, max_value=10)

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(campaign, data)
        for kind in CHECK_KINDS:
            self.fields[f"mix_{kind}"] = forms.IntegerField(
                label=KIND_LABELS[kind], min_value=0, max_value=100, initial=self.initial.get(f"mix_{kind}", 0)
            )
        low = campaign.quality.get("anchors", {}).get("low", {})
        self.low_names = {f"low_{place}": one.name for place, one in enumerate(campaign.criteria.all())}
        for name, criterion in self.low_names.items():
            self.fields[name] = forms.FloatField(
                label=f"An anchor should get, in {criterion}, at least", required=False, initial=low.get(criterion)
            )
        quality, qualification = campaign.quality, campaign.qualification
        self.groups = [
            ("gold", "Gold", quality.get("gold", [])),
            ("attention", "Attention checks", quality.get("attention", [])),
            ("training", "Training", qualification.get("training", [])),
            ("test", "Qualification test", qualification.get("test", [])),
        ]

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        quality, qualification = campaign.quality, campaign.qualification
        degraded = quality.get("degraded", {})
        return {
            "every": quality.get("every", 0),
            "repeat_gap": quality.get("repeat_gap", 5),
            "degraded_count": degraded.get("count", 0),
            "degradations": degraded.get("operations", list(DEGRADATIONS)),
            "anchor_count": quality.get("anchors", {}).get("count", 0),
            "pass_mark": f"{100 * qualification.get('pass_mark', 0.8):g}",
            "attempts": qualification.get("attempts", 2),
            **{f"mix_{kind}": n for kind, n in quality.get("mix", {}).items()},
        }

    @property
    def mix_fields(self) -> list[forms.BoundField]:
        return [self[f"mix_{kind}"] for kind in CHECK_KINDS]

    @property
    def low_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.low_names]

    def changes(self) -> dict[str, Any]:
        data = self.cleaned_data
        quality, qualification = self.campaign.quality, self.campaign.qualification
        low = {criterion: data[name] for name, criterion in self.low_names.items() if data.get(name) is not None}
        return {
            "quality": {
                "every": data["every"],
                "mix": {kind: data[f"mix_{kind}"] for kind in CHECK_KINDS if data[f"mix_{kind}"]},
                "repeat_gap": data["repeat_gap"],
                "gold": quality.get("gold", []),
                "attention": quality.get("attention", []),
                "degraded": {"count": data["degraded_count"], "operations": data["degradations"]},
                "anchors": {"count": data["anchor_count"], "low": low},
            },
            "qualification": {
                "training": qualification.get("training", []),
                "test": qualification.get("test", []),
                "pass_mark": float(data["pass_mark"]) / 100,
                "attempts": data["attempts"],
            },
        }

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        _, *rest = path.split(".")
        lows = {f"anchors.low.{criterion}": name for name, criterion in self.low_names.items()}
        named = {
            "mix": "every",
            "degraded.count": "degraded_count",
            "degraded.operations": "degradations",
            "anchors.count": "anchor_count",
            **{f"mix.{kind}": f"mix_{kind}" for kind in CHECK_KINDS},
            **lows,
        }
        key = ".".join(rest)
        name = named.get(key, key)
        return self, name if name in self.fields else None
