"""What this app offers on a campaign's results."""

from urllib.parse import urlencode

from django.urls import reverse

from annotation.campaigns.rated import rated_by
from annotation.models import Campaign, JobState
from annotation.results.registry import Companion, register
from metrics.models import ScoreRun

TITLE = "Do metrics say the same?"


def beside_metrics(campaign: Campaign) -> Companion | None:
    """Offer the scores of the rated systems, or a first score run; nothing if no output of a system is rated."""
    if not rated_by(campaign).outputs:
        return None
    slug = campaign.project.slug
    if ScoreRun.objects.filter(dataset=campaign.dataset_id, state=JobState.DONE).exists():
        query = urlencode({"dataset": campaign.dataset.slug})
        text = "Scores has each metric’s order of the systems beside these raters’."
        return Companion(TITLE, text, "See the scores", f"{reverse('metrics:run-list', args=[slug])}?{query}")
    query = urlencode({"dataset": campaign.dataset_id})
    text = "Metrics such as BLEU score the same outputs against references; the raters’ means stand beside them."
    url = f"{reverse('metrics:run-create', args=[slug])}?{query}"
    return Companion(TITLE, text, "Score with metrics", url, for_managers=True)


register(beside_metrics)
