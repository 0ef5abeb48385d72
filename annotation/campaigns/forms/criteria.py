"""The form for one criterion. Each kind of scale uses some of the fields; the others are ignored."""

from typing import Any

from django import forms

from annotation.campaigns.fields.table import CRITERION, CriterionDraft
from annotation.campaigns.forms.fields import form_field, textarea
from annotation.campaigns.forms.parts import KindSelect, PartForm
from annotation.campaigns.scales import SCALES
from annotation.core.forms import offer_choices
from annotation.datasets.selectors.datasets import has_dialogues, reference_choices
from annotation.models import Campaign, Criterion, Scope

USES = {key: (*kind.required, *kind.optional) for key, kind in SCALES.items()}


class CriterionForm(PartForm):
    makes = "criterion"
    question = form_field(CRITERION["question"])
    name = form_field(CRITERION["name"])
    scope = form_field(CRITERION["scope"], required=False, initial=CRITERION["scope"].default)
    kind = form_field(CRITERION["kind"], initial=CRITERION["kind"].default, widget=KindSelect(USES))
    scale_min = forms.IntegerField(label="Lowest value", required=False, initial=CRITERION["scale_min"].default)
    scale_max = forms.IntegerField(label="Highest value", required=False, initial=CRITERION["scale_max"].default)
    step = forms.FloatField(
        label="Step",
        required=False,
        initial=CRITERION["step"].default,
        help_text="0 accepts any number between the ends.",
    )
    labels = forms.CharField(
        required=False,
        widget=textarea(5),
        help_text="A line for each point, lowest first; for a slider, a line for each end. May be empty.",
    )
    strength = forms.IntegerField(
        label="Degrees",
        required=False,
        initial=2,
        min_value=1,
        max_value=5,
        help_text="1 asks only which is better; 2 adds “much better”.",
    )
    ties = forms.BooleanField(label="Raters may call the two equal", required=False)
    standard_source = forms.ChoiceField(label="The standard text is by", required=False)
    standard_value = forms.FloatField(label="It counts as", required=False, initial=100)
    remove = forms.BooleanField(label="Remove this criterion", required=False)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        systems = [(name, name) for name in campaign.dataset.systems.values_list("name", flat=True)]
        groups = [("References", reference_choices(campaign.dataset)), ("Systems", systems)]
        if not has_dialogues(campaign.dataset) and self.initial.get("scope") != Scope.TURN:
            del self.fields["scope"]
        offer_choices(self, "standard_source", [(name, choices) for name, choices in groups if choices])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        kind = SCALES.get(data.get("kind", ""))
        for name in kind.required if kind else ():
            if data.get(name) in (None, "") and name not in self.errors:
                self.add_error(name, "Found nothing; this scale needs it.")
        return data

    def draft(self) -> CriterionDraft:
        data = self.cleaned_data
        lines = [line.strip() for line in data["labels"].splitlines() if line.strip()]
        columns = SCALES[data["kind"]].from_form({**data, "labels": lines})
        about = {"scope": data.get("scope") or CRITERION["scope"].default, "kind": data["kind"]}
        return CriterionDraft(name=data["name"], question=data["question"], **about, **columns)

    def field_of(self, column: str) -> str:
        """Return the field that sets a column of the criterion."""
        kind = SCALES.get(self.cleaned_data.get("kind", ""))
        return kind.form_names.get(column, column) if kind else column

    @staticmethod
    def initial_of(criterion: Criterion) -> dict[str, Any]:
        columns = {name: getattr(criterion, name) for name in ("name", "question", "scope", "kind", "step", "ties")}
        return {**columns, "labels": "\n".join(criterion.labels), **criterion.scale.form_initial()}
