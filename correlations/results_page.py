"""What this app offers on a campaign's results."""

from urllib.parse import urlencode

from django.urls import reverse

from annotation.campaigns.rated import rated_by
from annotation.core.judges import looks_like_judge
from annotation.core.numbers import counted
from annotation.models import Campaign, JobState
from annotation.overview.closing import judges_left
from annotation.results.registry import Companion, register
from correlations.models import Study
from correlations.selectors.helped import helping_runs, rated_systems
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.selectors.runs import metric_label

STAND_IN = "Can a judge stand in for raters?"
WITH_A_METRIC = "With the help of a metric"
USUAL_PART = 5  # every fifth item, of a campaign that has all rated
MOST_RUNS = 50  # imports among which a judge's scores are looked for, newest first


def stand_in(campaign: Campaign) -> Companion | None:
    """Offer the study that tests a judge against these raters, or the next step to it.

    Nothing if no output of a system is rated, or if the raters are not known one by one.
    """
    if campaign.unknown_raters or not rated_by(campaign).outputs:
        return None
    slug = campaign.project.slug
    done = ScoreRun.objects.filter(dataset=campaign.dataset_id, metric=External.name, state=JobState.DONE)
    judges = [run for run in done.order_by("-pk")[:MOST_RUNS] if looks_like_judge(metric_label(run))]
    tested = Study.objects.filter(campaigns=campaign, score_runs__in=judges, state=JobState.DONE).order_by("-pk")
    if study := tested.only("name").first():
        text = f"The study “{study.name}” tests a judge against each of these raters."
        url = reverse("correlations:study-stand-in", args=[slug, study.pk])
        return Companion(STAND_IN, text, "See the answer", url)
    if judges:
        query = {"dataset": campaign.dataset_id, "campaign": campaign.pk, "run": judges[0].number}
        text = f"A study tests {metric_label(judges[0])} against each of these raters."
        url = f"{reverse('correlations:study-create', args=[slug])}?{urlencode(query)}"
        return Companion(STAND_IN, text, "Start the study", url, for_managers=True)
    for step in judges_left(campaign):
        return Companion(STAND_IN, step.text, step.action, step.url, for_managers=True)
    text = "If a judge, such as a language model, scored these outputs, import its scores; a study then tests it."
    url = f"{reverse('metrics:run-import', args=[slug])}?{urlencode({'dataset': campaign.dataset.slug})}"
    return Companion(STAND_IN, text, "Import a judge’s scores", url, for_managers=True)


def with_a_metric(campaign: Campaign) -> Companion | None:
    """Offer the means with the help of a metric; where all outputs are rated, what it would have saved."""
    rated = rated_systems(campaign)
    n_runs = helping_runs(campaign, rated).count()
    if not n_runs:
        return None
    url = reverse("correlations:campaign-helped", args=[campaign.project.slug, campaign.pk])
    if not rated.have_unrated_outputs:
        text = (
            "Every output of these systems is rated, so scores cannot narrow these intervals. The page shows how many "
            "ratings they would have saved, had raters seen a part of the items."
        )
        return Companion(WITH_A_METRIC, text, "See what a metric saves", f"{url}?every={USUAL_PART}")
    text = (
        f"{counted(n_runs, 'score run')} of these systems may narrow the intervals: scores of outputs that are not "
        "rated say something of their ratings, too."
    )
    return Companion(WITH_A_METRIC, text, "See whether a metric helps", url)


register(stand_in, with_a_metric)
