"""The form of a new study."""

from typing import Any

from django import forms

from annotation.core.forms import RefusableForm, offer_choices
from annotation.datasets.selectors.datasets import other_names
from annotation.models import Campaign, CampaignState, Release
from annotation.references.releases.selectors.releases import release_campaigns, release_name
from correlations.selectors.metrics import RUN, offered_metrics
from correlations.specification import ORIENTATIONS, REMAINDERS
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.units import USUAL
from metrics.forms.runs import TOKENIZER_NAMES
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.written import read_metric

ORIENTATION_NAMES = {
    "both": "Both: every difference with its mirror image",
    "fixed": "Fixed: pairs as listed",
    "random": "Random sign for each unit",
}
REMAINDER_NAMES = {"keep": "Keep it", "drop": "Drop it"}


class StudyForm(RefusableForm):
    """The form for a release, which decides the systems and campaigns to choose from."""

    name = forms.CharField(max_length=120, help_text="The question of the study, in one line.")
    campaigns = forms.MultipleChoiceField(
        label="Ratings of the hypotheses",
        widget=forms.CheckboxSelectMultiple,
        help_text="The rating of an output is the mean over these campaigns' judgements and their criteria.",
    )
    systems = forms.MultipleChoiceField(
        label="Hypotheses", widget=forms.CheckboxSelectMultiple, help_text="All pairs of them are compared."
    )
    metrics = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, initial=["bleu", "sbleu", "delta_bleu"]
    )
    metric_lines = forms.CharField(
        label="Metrics with their own parameters",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=(
            "One per line, such as <code>bleu:order=4</code> or <code>am_fm:lambda=0.5,k=20,am=my-space/v2</code>. "
            "Tokeniser and lowercasing are those of the study."
        ),
    )
    subsets = forms.CharField(
        label="References",
        initial="original, w>0, w>=0.6, all",
        help_text="One row each: <code>original</code>, <code>w>0</code>, <code>w>=0.6</code>, <code>all</code>",
    )
    unit_size = forms.IntegerField(label="Unit size M", initial=100, min_value=1, help_text="Items in one observation.")
    assignments = forms.IntegerField(
        label="Assignments K", initial=1000, min_value=1, max_value=10_000, help_text="Random cuts into units."
    )
    bootstrap = forms.IntegerField(
        label="Bootstrap replicates", initial=500, min_value=0, max_value=10_000, help_text="0: no bootstrap interval."
    )
    order = forms.TypedChoiceField(
        label="Longest n-gram", coerce=int, choices=[(order, str(order)) for order in range(1, 5)], initial=2
    )
    tokenize = forms.ChoiceField(
        label="Tokeniser",
        choices=[(name, TOKENIZER_NAMES.get(name, name)) for name in TOKENIZERS],
        initial="whitespace",
    )
    lowercase = forms.BooleanField(label="Lowercase first", required=False, initial=True)
    orientation = forms.ChoiceField(choices=[(name, ORIENTATION_NAMES[name]) for name in ORIENTATIONS], initial="both")
    remainder = forms.ChoiceField(
        label="Last, shorter unit", choices=[(name, REMAINDER_NAMES[name]) for name in REMAINDERS], initial="keep"
    )
    coefficients = forms.MultipleChoiceField(
        choices=[(key, COEFFICIENTS[key].label) for key in dict.fromkeys((*USUAL, *COEFFICIENTS))],
        initial=list(USUAL),
        widget=forms.CheckboxSelectMultiple,
        help_text="Sweeps and comparisons of metrics use the first.",
    )
    seed = forms.IntegerField(initial=20150726, min_value=0, help_text="Every random choice follows from it.")
    sweeps = forms.BooleanField(label="Also sweep thresholds, unit sizes and orders", required=False, initial=True)

    MAIN = ("name", "campaigns", "systems")
    METRICS = ("metrics", "metric_lines", "subsets")

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release
        reference_set = release.reference_set
        campaigns = rated_campaigns(release)
        systems = list(reference_set.dataset.systems.values_list("name", flat=True))
        offer_choices(self, "campaigns", [(campaign.name, campaign.name) for campaign in campaigns])
        offer_choices(self, "systems", [(name, name) for name in systems])
        self.offered = offered_metrics(reference_set.project, reference_set.dataset)
        metrics = [(each.value, each.label) for group in self.offered.values() for each in group if not each.missing]
        offer_choices(self, "metrics", metrics)
        if not self.is_bound:
            self.initial["campaigns"] = usual_campaigns(release, campaigns)
            self.initial["systems"] = usual_systems(release, systems)

    @property
    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MAIN]

    @property
    def design_fields(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name not in (*self.MAIN, *self.METRICS)]

    @property
    def design_is_wrong(self) -> bool:
        return any(field.errors for field in self.design_fields)

    @property
    def metrics_chosen(self) -> list[str]:
        """Return the values of the ticked boxes."""
        return [str(value) for value in self["metrics"].value() or ()]

    def clean_metric_lines(self) -> list[dict[str, Any]]:
        metrics = []
        for line in filter(None, map(str.strip, self.cleaned_data["metric_lines"].splitlines())):
            try:
                name, parameters = read_metric(line)
            except ValueError as error:
                raise forms.ValidationError(f"{line}: {error}") from error
            metrics.append({"name": name, "parameters": parameters})
        return metrics

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not (self.cleaned_data.get("metrics") or self.cleaned_data.get("metric_lines") or self.errors):
            self.add_error("metrics", "Choose at least one metric.")
        return cleaned

    def specification(self) -> dict[str, Any]:
        given = {name: value for name, value in self.cleaned_data.items() if name not in ("name", "metric_lines")}
        subsets = [part.strip() for part in self.cleaned_data["subsets"].split(",") if part.strip()]
        metrics = [
            {"run": int(value.removeprefix(RUN))} if value.startswith(RUN) else value
            for value in self.cleaned_data["metrics"]
        ]
        metrics += self.cleaned_data["metric_lines"]
        return given | {"release": release_name(self.release), "subsets": subsets, "metrics": metrics}


def rated_campaigns(release: Release) -> list[Campaign]:
    """Return the started campaigns of the release's data set."""
    reference_set = release.reference_set
    campaigns = Campaign.objects.filter(project=reference_set.project_id, dataset=reference_set.dataset_id)
    return list(campaigns.exclude(state=CampaignState.DRAFT).order_by("name"))


def usual_campaigns(release: Release, campaigns: list[Campaign]) -> list[str]:
    """Return the campaigns chosen at first: imported ratings that the weights do not use."""
    weighing = {campaign.pk for campaign in release_campaigns(release)}
    return [campaign.name for campaign in campaigns if campaign.pk not in weighing and campaign.imported]


def usual_systems(release: Release, names: list[str]) -> list[str]:
    """Return the systems that are neither references nor another name of a listed system."""
    left_out = {*release.reference_set.source_systems, *other_names(release.reference_set.dataset)}
    return [name for name in names if name not in left_out]
