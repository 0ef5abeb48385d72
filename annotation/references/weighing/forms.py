"""Forms about what stands behind a release's weights."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.core.forms import RefusableForm, offer_rows
from annotation.datasets.services.lists import MAX_NAME
from annotation.models import Campaign
from annotation.references.weighing.services.sending_back import MOST_RATINGS


class SendBackForm(RefusableForm):
    """How many more ratings of some references, and after which campaign."""

    ratings = forms.IntegerField(
        label="More ratings of each", min_value=1, max_value=MOST_RATINGS, help_text="By as many different raters."
    )
    like = forms.ModelChoiceField(
        label="Ask as in",
        queryset=Campaign.objects.none(),
        empty_label=None,
        help_text="Its criteria, scale, instructions, checks and payment are taken over, so that new and earlier "
        "ratings can be averaged.",
    )
    name = forms.CharField(
        max_length=MAX_NAME,
        help_text="Of the list. The draft gets the name of the campaign above, with a number, since raters see it.",
    )

    def __init__(self, *args: Any, campaigns: Sequence[Campaign], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = [campaign.pk for campaign in campaigns if not campaign.presentation_kind.compares_systems]
        offered = Campaign.objects.filter(pk__in=usable).order_by("imported", "-id")
        offer_rows(self, "like", offered)
        first = offered.first()
        self.fields["like"].initial = first and first.pk
