"""The form that trains a quality estimator on ratings."""

from typing import Any

from django import forms

from annotation.core.forms import offer_choices, offer_rows
from annotation.models import Campaign, Criterion, Dataset
from metrics.forms.models import OPTION, OptionsForm
from metrics.scoring.models.kinds import Kind
from metrics.scoring.qe.network import unavailable
from metrics.selectors.training_ratings import rated_campaigns
from metrics.services.quality_training import ChosenRatings

CHOICES = {
    "network": "Recurrent network",
    "ridge": "Ridge regression",
    "dialogue act": "Dialogue acts",
    "text": "Texts: messages and conversations",
    "inputs": "Inputs: what the model reads alike",
    "texts": "Texts: equal ones alone, as in the paper",
    "S1": "S1: rated outputs",
    "S2": "S2: and copies of them with errors",
    "S3": "S3: and references of the same items, with errors",
    "S4": "S4: and references of other items that systems were trained on, with errors",
    "S5": "S5: and references of the items that are predicted, with errors",
    "S6": "S6: and all other references, with errors",
}
SHOWN_OPTIONS = ("estimator", "source", "delexicalise", "folds", "plan", "seed")
ACTS, TEXT = "dialogue act", "text"


class RatingTrainingForm(OptionsForm):
    """Which ratings of a data set's outputs are learnt from; the options that matter most come first."""

    campaigns = forms.ModelMultipleChoiceField(
        queryset=Campaign.objects.none(), widget=forms.CheckboxSelectMultiple, label="Ratings of"
    )
    criteria = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Criteria",
        help_text="The mean of the chosen ones is predicted; each campaign must have them.",
    )
    statistic = forms.ChoiceField(
        label="An output’s rating is",
        choices=[("median", "the median of its raters"), ("mean", "the mean of its raters")],
        initial="median",
        help_text="Ratings of excluded raters, late ones and corrected ones do not count, as in studies.",
    )
    cross_validate = forms.BooleanField(
        label="Also predict each rated output by a model that has not seen it",
        required=False,
        initial=True,
        help_text="Five models, each trained without a fifth of the outputs. Their predictions become scores, so that "
        "a study on these items is honest. One seed is used. For five and their spread, and for tests on another "
        "domain or system (C1 to C3), use the command <code>python -m metrics qe</code>: it has the options "
        "<code>--seeds</code> and <code>--cross</code>.",
    )
    field_order = ("name", "campaigns", "criteria", "statistic", "cross_validate")

    def __init__(self, *args: Any, kind: Kind, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        offered = rated_campaigns(dataset.project).filter(dataset=dataset)
        offer_rows(self, "campaigns", offered)
        self.fields["campaigns"].initial = list(offered[:1])
        criteria = Criterion.objects.filter(campaign__in=offered).order_by("campaign", "position", "pk")
        names = list(dict.fromkeys(criteria.values_list("name", flat=True)))
        offer_choices(self, "criteria", [(name, name) for name in names])
        self.fields["criteria"].initial = names[-1:] if len(names) == 1 else _overall(names)
        has_acts = dataset.items.exclude(meaning_representation="").exists()
        initial = {"estimator": "ridge", "source": ACTS if has_acts else TEXT, "delexicalise": has_acts}
        for name, value in initial.items():
            self.fields[f"{OPTION}{name}"].initial = value
        for parameter in kind.parameters:
            if parameter.name in SHOWN_OPTIONS and parameter.kind == "choice":
                labels = [(value, CHOICES.get(value, value)) for value in parameter.choices]
                offer_choices(self, f"{OPTION}{parameter.name}", labels)
        if reason := unavailable():
            estimator = self.fields[f"{OPTION}estimator"]
            estimator.help_text = f"{estimator.help_text} No network can be trained here: {reason}"

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[f"{OPTION}{name}"] for name in SHOWN_OPTIONS]

    @property
    def more_option_fields(self) -> list[forms.BoundField]:
        shown = {f"{OPTION}{name}" for name in SHOWN_OPTIONS}
        return [field for field in self if field.name.startswith(OPTION) and field.name not in shown]

    def source_values(self) -> dict[str, Any]:
        data = self.cleaned_data
        ratings = ChosenRatings(list(data["campaigns"]), data["criteria"], data["statistic"])
        return {"ratings": ratings, "cross_validate": data["cross_validate"]}


def _overall(names: list[str]) -> list[str]:
    """Return the criterion that is called overall quality, or so; else the first."""
    return [next((name for name in names if name in ("quality", "overall")), names[0])] if names else []
