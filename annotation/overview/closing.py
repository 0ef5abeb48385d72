"""What a closed campaign's page offers next, by what was rated."""

from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import Campaign, CampaignState, JobState, Release, Target
from annotation.overview.steps import NextStep


def after_closing(campaign: Campaign) -> list[NextStep]:
    """Return what to do with a closed campaign's ratings, the most fitting first; nothing before it is closed."""
    if campaign.state != CampaignState.CLOSED:
        return []
    rates_outputs = not campaign.imported and campaign.target in (Target.OUTPUTS, Target.CHOSEN)
    score, results = _score(campaign), _results(campaign)
    return [score, results] if rates_outputs else [_weights(campaign), score, results]


def weights_url(campaign: Campaign) -> str:
    """Return the address at which weights are built from the campaign's ratings."""
    slug = campaign.project.slug
    if reference_set := campaign.reference_sets.first():
        return reverse("annotation:reference-set-detail", args=[slug, reference_set.slug])
    query = urlencode({"dataset": campaign.dataset.slug, "campaign": campaign.pk})
    return f"{reverse('annotation:reference-set-create', args=[slug])}?{query}"


def _weights(campaign: Campaign) -> NextStep:
    text = "Each rated reference gets a weight from −1 to +1, which metrics read."
    return NextStep(text, "Build weights", weights_url(campaign))


def _score(campaign: Campaign) -> NextStep:
    """Return the way to a score run, with the newest weights from the campaign's ratings if there are any."""
    done = Release.objects.filter(reference_set__campaigns=campaign, state=JobState.DONE, deprecated_at=None)
    release = done.order_by("-finished_at").first()
    query = {"release": release.pk} if release else {"dataset": campaign.dataset_id}
    read = f"metrics read the weights of {release}" if release else "metrics score every system of the data set"
    text = f"In a score run {read}; the raters' means stand beside them."
    return NextStep(
        text, "Score the systems", f"{reverse('metrics:run-create', args=[campaign.project.slug])}?{urlencode(query)}"
    )


def _results(campaign: Campaign) -> NextStep:
    text = "All ratings and tables as files, a methods paragraph and a datasheet."
    return NextStep(text, "Results", reverse("annotation:campaign-records", args=[campaign.project.slug, campaign.pk]))
