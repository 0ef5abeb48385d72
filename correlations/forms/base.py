"""The base of the forms of studies: for a release, which decides the systems and campaigns to choose from."""

from typing import Any, ClassVar

from django import forms

from annotation.core.forms import RefusableForm, offer_choices
from annotation.datasets.selectors.datasets import other_names
from annotation.models import Campaign, CampaignState, Release
from annotation.references.releases.selectors.releases import release_campaigns


class StudyBaseForm(RefusableForm):
    name = forms.CharField(max_length=120, help_text="The question of the study, in one line.")
    campaigns = forms.MultipleChoiceField(
        label="Ratings of the systems",
        widget=forms.CheckboxSelectMultiple,
        help_text="The rating of an output is the mean over these campaigns' judgements and their criteria.",
    )
    systems = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)

    MAIN: ClassVar[tuple[str, ...]]

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release, self.project = release, release.reference_set.project
        campaigns = _rated_campaigns(release)
        systems = list(release.reference_set.dataset.systems.values_list("name", flat=True))
        offer_choices(self, "campaigns", [(campaign.name, campaign.name) for campaign in campaigns])
        offer_choices(self, "systems", [(name, name) for name in systems])
        if not self.is_bound:
            self.initial["campaigns"] = _usual_campaigns(release, campaigns)
            self.initial["systems"] = _usual_systems(release, systems)

    @property
    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MAIN]

    @property
    def design_fields(self) -> list[forms.BoundField]:
        """Return the fields that the page folds away."""
        raise NotImplementedError

    @property
    def design_is_wrong(self) -> bool:
        return any(field.errors for field in self.design_fields)

    def arguments(self) -> dict[str, Any]:
        return {"name": self.cleaned_data["name"], "specification": self.specification()}

    def specification(self) -> dict[str, Any]:
        """Return the specification that the fields make."""
        raise NotImplementedError


def _rated_campaigns(release: Release) -> list[Campaign]:
    """Return the started campaigns of the release's data set."""
    reference_set = release.reference_set
    campaigns = Campaign.objects.filter(project=reference_set.project_id, dataset=reference_set.dataset_id)
    return list(campaigns.exclude(state=CampaignState.DRAFT).order_by("name"))


def _usual_campaigns(release: Release, campaigns: list[Campaign]) -> list[str]:
    """Return the campaigns chosen at first: imported ratings that the weights do not use."""
    weighing = {campaign.pk for campaign in release_campaigns(release)}
    return [campaign.name for campaign in campaigns if campaign.pk not in weighing and campaign.imported]


def _usual_systems(release: Release, names: list[str]) -> list[str]:
    """Return the systems that are neither references nor another name of a listed system."""
    left_out = {*release.reference_set.source_systems, *other_names(release.reference_set.dataset)}
    return [name for name in names if name not in left_out]
