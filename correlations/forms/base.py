"""The base of the forms of studies: for a data set, which decides the systems and campaigns to choose from."""

from abc import ABCMeta, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.forms.forms import DeclarativeFieldsMetaclass

from annotation.campaigns.rated import compares_systems, rated_by, usual_of_outputs
from annotation.core.forms import RefusableForm, offer_choices
from annotation.models import Campaign, CampaignState, Criterion, Dataset, Rating, Release
from annotation.rating.selectors.overlaps import overlaps
from annotation.rating.selectors.ratings import scale_groups
from annotation.references.releases.selectors.releases import release_campaigns, release_name
from annotation.references.sets.selectors import reasons_not_to_score


class AbstractFormMeta(DeclarativeFieldsMetaclass, ABCMeta):
    """Lets a form have abstract methods."""


class StudyBaseForm(RefusableForm, metaclass=AbstractFormMeta):
    name = forms.CharField(max_length=120, help_text="The question of the study, in one line.")
    campaigns = forms.MultipleChoiceField(
        label="Ratings of the systems",
        widget=forms.CheckboxSelectMultiple,
        help_text="The rating of an output is the mean over these campaigns' judgements and their criteria.",
    )
    criteria = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="If none is ticked, the mean of all."
    )
    systems = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)

    MAIN: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        *args: Any,
        dataset: Dataset,
        release: Release | None = None,
        campaign: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.release, self.dataset, self.project = release, dataset, dataset.project
        campaigns = _rated_campaigns(dataset)
        systems = list(dataset.systems.values_list("name", flat=True))
        weighing = _weighing(release)
        rated = {each.pk for each in campaigns if Rating.objects.filter(campaign=each).exists()}
        offer_choices(self, "campaigns", [(each.name, _labelled(each, weighing, rated)) for each in campaigns])
        twice = [each.sentence for each in overlaps(campaigns)]
        field = self.fields["campaigns"]
        field.help_text = " ".join([str(field.help_text), *twice])
        self._offer_criteria(campaigns)
        notes = reasons_not_to_score(dataset, release.reference_set if release else None)
        labels = {name: f"{name} ({notes[name]})" if name in notes else name for name in systems}
        offer_choices(self, "systems", list(labels.items()))
        if not self.is_bound:
            self.initial["systems"] = [name for name in systems if name not in notes]
            others = dataset.campaigns.exclude(state=CampaignState.DRAFT).exclude(pk__in=weighing)
            asked = [each for each in campaigns if each.pk == campaign and each.pk not in weighing]
            ticked = [each.name for each in asked if rated_by(each).outputs]
            self.initial["campaigns"] = ticked or _usual_campaigns(campaigns, others, self.initial["systems"])

    def _offer_criteria(self, campaigns: list[Campaign]) -> None:
        """Offer the criteria of all campaigns, with their scales; no choice if there is one."""
        by_name: dict[str, list[Criterion]] = {}
        for criterion in Criterion.objects.filter(campaign__in=campaigns).order_by("campaign", "position"):
            by_name.setdefault(criterion.name, []).append(criterion)
        if len(by_name) < 2:
            del self.fields["criteria"]
            return
        scales = {name: " or ".join(scale_groups(same)) for name, same in by_name.items()}
        offer_choices(self, "criteria", [(name, f"{name} ({scale})") for name, scale in scales.items()])
        if len(set(scales.values())) > 1:
            field = self.fields["criteria"]
            field.help_text = f"{field.help_text} Where scales differ, the ends of each become −1 and +1 first."

    @property
    def release_name(self) -> str:
        """Return the release as specifications name it; empty if the references are the data set's own."""
        return release_name(self.release) if self.release else ""

    @property
    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MAIN if name in self.fields]

    @property
    @abstractmethod
    def design_fields(self) -> list[forms.BoundField]:
        """Return the fields that the page folds away."""

    @property
    def design_is_wrong(self) -> bool:
        return any(field.errors for field in self.design_fields)

    def arguments(self) -> dict[str, Any]:
        return {"name": self.cleaned_data["name"], "specification": self.specification()}

    @abstractmethod
    def specification(self) -> dict[str, Any]:
        """Return the specification that the fields make."""


def _rated_campaigns(dataset: Dataset) -> list[Campaign]:
    """Return the started campaigns of the data set."""
    return list(dataset.campaigns.exclude(state=CampaignState.DRAFT).order_by("name"))


def _labelled(campaign: Campaign, weighing: Collection[int], rated: Collection[int]) -> str:
    if campaign.pk not in rated:
        return f"{campaign.name} (no ratings yet)"
    return f"{campaign.name} (its ratings weigh these references)" if campaign.pk in weighing else campaign.name


def _weighing(release: Release | None) -> set[int]:
    """Return the ids of the campaigns behind the weights."""
    return set() if release is None or release.is_imported else {campaign.pk for campaign in release_campaigns(release)}


def _usual_campaigns(campaigns: list[Campaign], others: QuerySet[Campaign], systems: Collection[str]) -> list[str]:
    """Return the campaign chosen at first, of ``others`` than those behind the weights; else the only usable one."""
    if usual := usual_of_outputs(others, systems):
        return [usual.name]
    return [each.name for each in campaigns if len(campaigns) == 1 and compares_systems(each, systems)]
