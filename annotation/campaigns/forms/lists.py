"""A campaign about a list of responses."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import F, QuerySet

from annotation.campaigns.presentations import COMPARING
from annotation.core.forms import RefusableForm, offer_rows
from annotation.models import (
    Campaign,
    CampaignState,
    ResponseList,
    Target,
)


class RateListForm(RefusableForm):
    like = forms.ModelChoiceField(
        Campaign.objects.none(),
        label="Ask as in",
        empty_label=None,
        help_text="Its questions, scale, instructions, consent, payment, checks and rules are taken over.",
    )
    ratings_per_unit = forms.IntegerField(
        label="Ratings of each", min_value=1, max_value=100, initial=2, help_text="So many different raters see each."
    )
    name = forms.CharField(label="Name of the campaign", max_length=120, help_text="Raters see it, too.")

    def __init__(self, response_list: ResponseList, data: Any = None, *, initial: Mapping[str, Any]) -> None:
        super().__init__(data, initial=dict(initial))
        models = models_for(response_list)
        offer_rows(self, "like", models)
        self.offered = list(models)


def models_for(response_list: ResponseList) -> QuerySet[Campaign]:
    """Campaigns that a list's campaign can be like: of its data set, none in pairs; the last launched first."""
    found = response_list.dataset.campaigns.exclude(presentation__in=COMPARING)
    launched_first = F("launched_at").desc(nulls_last=True)
    return found.exclude(state=CampaignState.DRAFT, target=Target.LISTED).order_by(launched_first, "-pk")
