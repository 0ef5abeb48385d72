"""The form of a campaign: what is rated, how it is shown, what is asked, of how many."""

from typing import Any

from django import forms

from annotation.models import Campaign, Criterion, Dataset, PresentationKind, Project, System, Target
from annotation.services.campaigns import CampaignDraft, CriterionDraft

PRESETS = {"1-5": (1, 5), "1-6": (1, 6)}
SCALES = [("1-5", "Likert, 1 to 5"), ("1-6", "Likert, 1 to 6 (no middle)"), ("custom", "Other; give its ends below")]
CRITERIA = 2


class CriterionForm(forms.Form):
    name = forms.SlugField(max_length=60, help_text="For tables and files, such as <code>relevance</code>.")
    question = forms.CharField(max_length=300, help_text="What the rater reads above the scale.")
    scale = forms.ChoiceField(choices=SCALES, initial="1-5")
    scale_min = forms.IntegerField(label="Lowest point", required=False, help_text="Only for another scale.")
    scale_max = forms.IntegerField(label="Highest point", required=False, help_text="Only for another scale.")
    labels = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One line per point, from the lowest up; or none. Raters see the first and the last.",
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("scale") == "custom":
            for name in ("scale_min", "scale_max"):
                if data.get(name) is None and name not in self.errors:
                    self.add_error(name, "Found nothing; another scale needs both of its ends.")
        elif "scale" in data:
            data["scale_min"], data["scale_max"] = PRESETS[data["scale"]]
        return data

    def draft(self) -> CriterionDraft:
        data = self.cleaned_data
        labels = [line.strip() for line in data["labels"].splitlines() if line.strip()]
        return CriterionDraft(data["name"], data["question"], data["scale_min"], data["scale_max"], labels)

    @staticmethod
    def initial_of(criterion: Criterion) -> dict[str, Any]:
        ends = (criterion.scale_min, criterion.scale_max)
        preset = next((name for name, known in PRESETS.items() if known == ends), "custom")
        return {
            "name": criterion.name,
            "question": criterion.question,
            "scale": preset,
            "scale_min": criterion.scale_min,
            "scale_max": criterion.scale_max,
            "labels": "\n".join(criterion.labels),
        }


class CampaignForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="Raters see it, too.")
    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set")
    target = forms.ChoiceField(
        label="What is rated",
        choices=[
            (Target.REFERENCES, "References: everything in the data set that is not a system's output"),
            (Target.OUTPUTS, "The outputs of all systems"),
            (Target.CHOSEN, "The outputs of the systems chosen below"),
        ],
        initial=Target.OUTPUTS,
        widget=forms.RadioSelect,
    )
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Only for chosen systems.",
        error_messages={
            "invalid_choice": "Found a system of another data set; those of the chosen one are listed now."
        },
    )
    item_limit = forms.IntegerField(
        label="Items", required=False, min_value=1, help_text="Rate only the first so many items; empty means all."
    )
    presentation = forms.ChoiceField(
        label="How it is shown",
        choices=[
            (PresentationKind.SINGLE, "One response at a time"),
            (PresentationKind.PAIR, "Two systems' responses side by side, both rated; every pair of systems"),
            (PresentationKind.LIST, "All responses to an item in one list, up to 25"),
        ],
        initial=PresentationKind.SINGLE,
        widget=forms.RadioSelect,
    )
    ratings_per_unit = forms.IntegerField(
        label="Ratings of each unit",
        min_value=1,
        max_value=100,
        initial=5,
        help_text="How many different raters see each single response, pair or list.",
    )
    max_units_per_rater = forms.IntegerField(
        label="Units per rater", required=False, min_value=1, help_text="At most so many; empty means no limit."
    )
    lease_seconds = forms.IntegerField(
        label="Seconds per unit",
        min_value=5,
        initial=600,
        help_text="After so long without an answer the unit goes to somebody else. A late answer is kept all the same.",
    )
    instructions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 7}),
        help_text="Markdown. Raters see it before they start, and with one key while they rate.",
    )
    consent = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Markdown. If there is any, a rater must agree before the first unit.",
    )
    completion_code = forms.CharField(
        required=False, max_length=60, help_text="Shown on the last page to those who rated; for payment elsewhere."
    )
    seed = forms.IntegerField(
        initial=20150726, min_value=0, max_value=2**63 - 1, help_text="Every random choice follows from it."
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        datasets = Dataset.objects.filter(project=project)
        self.fields["dataset"].queryset = datasets  # type: ignore[attr-defined]
        self.fields["dataset"].widget.attrs |= {
            "hx-get": "",  # the page itself, which answers with the systems alone
            "hx-trigger": "change",
            "hx-target": "#systems-offered",
        }
        if len(datasets) == 1:
            self.fields["dataset"].initial = datasets[0]
        self._offer_systems()

    def begin_with(self, dataset_slug: str) -> None:
        datasets = self.fields["dataset"].queryset  # type: ignore[attr-defined]
        found = next((dataset for dataset in datasets if dataset.slug == dataset_slug), None)
        if found is not None:
            self.fields["dataset"].initial = found
            self._offer_systems()

    def _offer_systems(self) -> None:
        """Of the data set that is chosen; those of others are not even looked at."""
        field = self.fields["dataset"]
        value = self.data.get("dataset") if self.is_bound else self.get_initial_for_field(field, "dataset")
        pk = str(getattr(value, "pk", value) or "")
        self.chosen_dataset = next(
            (dataset for dataset in field.queryset if str(dataset.pk) == pk),  # type: ignore[attr-defined]
            None,
        )
        systems = System.objects.filter(dataset=self.chosen_dataset).order_by("name")
        self.fields["systems"].queryset = systems  # type: ignore[attr-defined]

    @staticmethod
    def initial_of(campaign: Campaign) -> dict[str, Any]:
        names = [name for name in CampaignForm.base_fields if name != "systems"]
        return {name: getattr(campaign, name) for name in names} | {"systems": campaign.systems.all()}


class CampaignForms:
    """The campaign's form and those of its criteria, sent and checked as one."""

    def __init__(
        self, project: Project, data: Any = None, campaign: Campaign | None = None, *, dataset_slug: str = ""
    ) -> None:
        """``dataset_slug`` names the data set that a new campaign begins with."""
        criteria = list(campaign.criteria.all()) if campaign else []
        self.campaign = CampaignForm(project, data, initial=CampaignForm.initial_of(campaign) if campaign else None)
        self.campaign.begin_with(dataset_slug)
        self.criteria = [
            CriterionForm(
                data,
                prefix=f"criterion-{number + 1}",
                initial=CriterionForm.initial_of(criteria[number]) if number < len(criteria) else None,
                empty_permitted=number > 0,
                use_required_attribute=number == 0,
            )
            for number in range(CRITERIA)
        ]

    def is_valid(self) -> bool:
        return all([form.is_valid() for form in [self.campaign, *self.criteria]])  # noqa: C419 - check each of them

    def draft(self) -> CampaignDraft:
        asked = [form.draft() for form in self.criteria if form.cleaned_data.get("name")]
        return CampaignDraft(criteria=asked, **self.campaign.cleaned_data)

    def add_errors(self, fields: dict[str, list[str]], message: str) -> None:
        for name, found in (fields or {"": [message]}).items():
            for text in found:
                self.campaign.add_error(name if name in self.campaign.fields else None, text)
