"""Forms for changes to a running campaign. The services check the values."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.core.forms import RefusableForm, offer_rows
from annotation.models import Campaign, System
from annotation.quality.selectors.amendments import rated_systems, stopped_systems
from annotation.quality.selectors.topping_up import questions, usual_most


class OperationForm(RefusableForm):
    """Base of the forms; has no fields."""

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign


class ExtendForm(OperationForm):
    ratings_per_unit = forms.IntegerField(label="Ratings per item")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        field, k = self.fields["ratings_per_unit"], campaign.ratings_per_unit
        field.initial = min(k + 1, MOST_RATINGS)
        field.help_text = f"Now {k}. Up to {MOST_RATINGS}. Slots are never removed."
        field.widget.attrs.update(min=k + 1, max=MOST_RATINGS)


class TopUpForm(OperationForm):
    ratings = forms.IntegerField(label="More answers, in total", min_value=1)
    question = forms.ChoiceField(label="Where they narrow most")
    floor = forms.IntegerField(label="Every item has at least", required=False)
    most = forms.IntegerField(label="No item has more than", required=False)
    inputs = {"criterion": "question", "systems": "question"}

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        k, self.offered = campaign.ratings_per_unit, {each.label: each for each in questions(campaign)}
        usual = {"floor": k, "most": usual_most(k)}
        if self.is_bound:  # a link names what to narrow, and no bounds
            self.data = {**dict(self.data.items()), **{name: self.data.get(name) or usual[name] for name in usual}}
        self.initial = {**self.initial, **usual}
        self.fields["question"] = forms.ChoiceField(
            label="Where they narrow most",
            choices=[(label, label) for label in self.offered],
            help_text="" if self.offered else "The order of all systems is certain: there is nothing to narrow.",
        )
        self.fields["ratings"].help_text = "One is an item answered by one rater."
        self.fields["floor"].help_text = f"Answers; {k} are planned for every item."
        self.fields["most"].help_text = f"Answers, each by another rater. Up to {MOST_RATINGS}."
        self.order_fields(["ratings", "question", "floor", "most"])

    def arguments(self) -> dict[str, Any]:
        chosen = self.offered[self.cleaned_data["question"]]
        values = {name: self.cleaned_data[name] for name in ("ratings", "floor", "most")}
        return {**values, "criterion": chosen.criterion, "systems": chosen.systems}


class SystemForm(OperationForm):
    system = forms.ModelChoiceField(System.objects.none(), to_field_name="name", empty_label=None)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        offer_rows(self, "system", self.offered(campaign))

    def offered(self, campaign: Campaign) -> QuerySet[System]:
        return rated_systems(campaign).exclude(name__in=stopped_systems(campaign))


class StoppedSystemForm(SystemForm):
    def offered(self, campaign: Campaign) -> QuerySet[System]:
        return rated_systems(campaign).filter(name__in=stopped_systems(campaign))


class ItemsForm(OperationForm):
    item_limit = forms.IntegerField(label="Number of items to rate", required=False)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        if campaign.item_limit is None:
            del self.fields["item_limit"]
            return
        field, n_items = self.fields["item_limit"], campaign.dataset.items.count()
        field.initial = max(n_items, campaign.item_limit)
        field.help_text = f"Now the first {campaign.item_limit:,}; the data set has {n_items:,}."
        field.widget.attrs["min"] = campaign.item_limit


class ReopenForm(OperationForm):
    per_unit = forms.IntegerField(
        label="Maximum number of reopened slots per item",
        initial=1,
        min_value=1,
        max_value=100,
        help_text="In total, including slots reopened earlier, so that items that no one can judge come to an end.",
    )
