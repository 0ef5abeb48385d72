"""Form for rating references of a release again."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.core.forms import RefusableForm, offer_rows
from annotation.datasets.services.lists import MAX_NAME
from annotation.models import Campaign


class RateAgainForm(RefusableForm):
    """How many more ratings of some references, and which campaign's settings to copy."""

    makes = "list"
    ratings = forms.IntegerField(
        label="More ratings of each", min_value=1, max_value=MOST_RATINGS, help_text="By as many different raters."
    )
    like = forms.ModelChoiceField(
        label="Copy settings from",
        queryset=Campaign.objects.none(),
        empty_label=None,
        help_text="Its criteria, scale, instructions, checks and payment are copied, so that new and earlier "
        "ratings can be averaged.",
    )
    name = forms.CharField(
        max_length=MAX_NAME,
        help_text="Name of the list. The draft is named after the campaign above, because raters see its name.",
    )

    def __init__(self, *args: Any, campaigns: Sequence[Campaign], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = [campaign.pk for campaign in campaigns if not campaign.presentation_kind.compares_systems]
        offered = Campaign.objects.filter(pk__in=usable).order_by("imported", "-id")
        offer_rows(self, "like", offered)
        first = offered.first()
        self.fields["like"].initial = first and first.pk
