"""What this app offers on a campaign's results."""

from django.urls import reverse

from annotation.core.numbers import counted
from annotation.models import Campaign
from annotation.results.registry import Companion, register
from correlations.selectors.helped import has_unrated_outputs, helping_runs


def with_a_metric(campaign: Campaign) -> Companion | None:
    """Offer the means with the help of a metric if outputs are scored, and not all of the systems' are rated."""
    n_runs = helping_runs(campaign).count()
    if not n_runs or not has_unrated_outputs(campaign):
        return None
    return Companion(
        "With the help of a metric",
        f"{counted(n_runs, 'score run')} of this data set may narrow the intervals: scores of outputs that are not "
        "rated say something of their ratings, too.",
        "See whether a metric helps",
        reverse("correlations:campaign-helped", args=[campaign.project.slug, campaign.pk]),
    )


register(with_a_metric)
