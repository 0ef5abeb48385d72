"""The form for a campaign that rates a list of responses."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import F, QuerySet

from annotation.campaigns.fields.table import CAMPAIGN
from annotation.campaigns.forms.fields import form_field
from annotation.campaigns.presentations import COMPARING
from annotation.core.forms import RefusableForm, offer_rows
from annotation.models import Campaign, CampaignState, ResponseList, Target


class RateListForm(RefusableForm):
    makes = "campaign"
    like = forms.ModelChoiceField(
        Campaign.objects.none(),
        label="Same design as",
        empty_label=None,
        help_text="The new campaign copies its questions, scale, instructions, consent, payment, checks and rules.",
    )
    ratings_per_unit = form_field(
        CAMPAIGN["ratings_per_unit"], label="Ratings of each", initial=2, help_text="Each by a different rater."
    )
    name = form_field(CAMPAIGN["name"], label="Name of the campaign")

    def __init__(self, response_list: ResponseList, data: Any = None, *, initial: Mapping[str, Any]) -> None:
        super().__init__(data, initial=dict(initial))
        models = models_for(response_list)
        offer_rows(self, "like", models)
        self.offered = list(models)


def models_for(response_list: ResponseList) -> QuerySet[Campaign]:
    """Return the campaigns of the data set whose design can be copied, the last launched first; none in pairs."""
    campaigns = response_list.dataset.campaigns.exclude(presentation__in=COMPARING)
    launched_first = F("launched_at").desc(nulls_last=True)
    return campaigns.exclude(state=CampaignState.DRAFT, target=Target.LISTED).order_by(launched_first, "-pk")
