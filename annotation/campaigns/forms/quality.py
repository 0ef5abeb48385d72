"""The step about checks and qualification; the prepared screens have pages of their own."""

from typing import Any

from django import forms

from annotation.campaigns.design.quality import (
    CHECKS,
    DEGRADATIONS,
    PREPARED,
    PreparedKind,
    QualificationDesign,
    QualityDesign,
)
from annotation.campaigns.fields.table import QUALITY
from annotation.campaigns.forms.steps import Step
from annotation.campaigns.selectors import too_fast, too_fast_because
from annotation.campaigns.services.usual_rules import registered_rules
from annotation.core.numbers import counted
from annotation.models import Campaign

Groups = list[tuple[PreparedKind, list[dict[str, Any]]]]


class QualityStep(Step):
    step = QUALITY
    title = "Quality"
    lead = "All of this may be left as it is: a campaign needs no checks, training or test."
    first = "every"
    # Prepared screens have pages of their own. How many to mix in may be set before there are any.
    leaves = tuple(
        path for kind in PREPARED.values() for path in (f"{kind.field}.{kind.key}", f"{kind.field}.mix.{kind.key}")
    )
    template = "annotation/campaigns/campaign_form_quality.html"

    every = forms.IntegerField(
        label="One check in every so many responses",
        min_value=0,
        max_value=1000,
        help_text="At a position that raters cannot guess; 0 mixes none in. Checks are paid like work.",
    )
    repeat_gap = forms.IntegerField(
        label="Repeat after",
        min_value=1,
        max_value=1000,
        help_text="So many others lie between a response and its repeat.",
    )
    degraded_count = forms.IntegerField(label="Degraded texts", min_value=0, max_value=10_000, help_text="To be made.")
    degradations = forms.MultipleChoiceField(
        label="How they are made worse",
        choices=list(DEGRADATIONS.items()),
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
    usual_rules = forms.BooleanField(
        label="Flag raters who are too fast, or hardly agree with the others, by the usual rules",
        required=False,
        help_text="A median of less than {} s for an item after 10 answers ({}); a correlation below 0.2 after 20. "
        "Nothing follows until you apply them. Rules registered now, before launch, cannot have been fitted to the "
        "results.",
    )
    inputs = {
        "mix": "every",
        "degraded.count": "degraded_count",
        "degraded.operations": "degradations",
        "anchors.count": "anchor_count",
        **{f"mix.{kind}": f"mix_{kind}" for kind in CHECKS},
    }

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(campaign, data)
        for kind, check in CHECKS.items():
            self.fields[f"mix_{kind}"] = forms.IntegerField(
                label=check.label, min_value=0, max_value=100, initial=self.initial.get(f"mix_{kind}", 0)
            )
        usual = self.fields["usual_rules"]
        usual.help_text = usual.help_text.format(too_fast(campaign), too_fast_because(campaign))
        if registered_rules(campaign) == "own":
            del self.fields["usual_rules"]
        low = QualityDesign.lenient(campaign.quality).anchor_low
        criteria = [criterion.name for criterion in campaign.criteria.all()]
        self.low_names = {f"low_{position}": name for position, name in enumerate(criteria)}
        for name, criterion in self.low_names.items():
            self.fields[name] = forms.FloatField(
                label=f"An anchor should get, in {criterion}, at least", required=False, initial=low.get(criterion)
            )
        self.field_groups = {
            "made": ("repeat_gap", "degraded_count", "degradations", "anchor_count", *self.low_names),
            "before": ("pass_mark", "attempts"),
        }
        self.groups = [(kind, kind.screens(campaign)) for kind in PREPARED.values()]

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        quality = QualityDesign.lenient(campaign.quality)
        qualification = QualificationDesign.lenient(campaign.qualification)
        numbers = {name: getattr(quality, name) for name in ("every", "repeat_gap", "degraded_count", "anchor_count")}
        return {
            **super().initial_of(campaign),
            **numbers,
            "degradations": list(quality.degradations),
            "pass_mark": f"{100 * qualification.pass_mark:g}",
            "attempts": qualification.attempts,
            **{f"mix_{kind}": n for kind, n in quality.mix.items()},
            "usual_rules": registered_rules(campaign) == "usual",
        }

    @property
    def written(self) -> Groups:
        """Return the kinds of checks that a manager writes, each with its items."""
        return [(kind, screens) for kind, screens in self.groups if kind.field == "quality"]

    @property
    def before_work(self) -> Groups:
        return [(kind, screens) for kind, screens in self.groups if kind.field == "qualification"]

    @property
    def now(self) -> dict[str, str]:
        """Return for each part that begins folded what is set in it."""
        set_to = {name: self[name].value() for name in ("repeat_gap", "degraded_count", "anchor_count", "pass_mark")}
        n = {kind.key: len(screens) for kind, screens in self.groups}
        test = f"a test of {counted(n['test'], 'item')}, passed with {set_to['pass_mark']}%" if n["test"] else "no test"
        training = f"{counted(n['training'], 'item')} of training" if n["training"] else "No training"
        return {
            "written": f"{counted(n['gold'], 'gold item')}, {counted(n['attention'], 'attention check')}.",
            "made": f"Repeats after {set_to['repeat_gap']} others, {set_to['degraded_count']} degraded texts, "
            f"{set_to['anchor_count']} high anchors.",
            "before": f"{training}, {test}.",
        }

    @property
    def mix_fields(self) -> list[forms.BoundField]:
        return [self[f"mix_{kind}"] for kind in CHECKS]

    @property
    def low_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.low_names]

    def changes(self) -> dict[str, Any]:
        data = self.cleaned_data
        changes = {
            **super().changes(),
            "quality": {
                "every": data["every"],
                "mix": {kind: data[f"mix_{kind}"] for kind in CHECKS if data[f"mix_{kind}"]},
                "repeat_gap": data["repeat_gap"],
                "degraded": {"count": data["degraded_count"], "operations": data["degradations"]},
                "anchors": {
                    "count": data["anchor_count"],
                    "low": {of: data[name] for name, of in self.low_names.items() if data.get(name) is not None},
                },
            },
            "qualification": {"pass_mark": float(data["pass_mark"]) / 100, "attempts": data["attempts"]},
        }
        for kind, screens in self.groups:
            changes[kind.field][kind.key] = screens
        return changes

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        key = path.partition(".")[2]
        lows = {f"anchors.low.{criterion}": name for name, criterion in self.low_names.items()}
        name = (self.inputs | lows).get(key, key)
        return self, name if name in self.fields else None
