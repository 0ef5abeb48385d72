"""What to do with a campaign's ratings once everything planned is rated, or it is closed, by what was rated."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from annotation.campaigns.rated import compares_systems, has_rated_outputs, rated_by, weights_url
from annotation.campaigns.selectors import slots_unfilled
from annotation.core.numbers import counted
from annotation.models import Campaign, CampaignState, JobState, RatingImport, Release, ResponseSource, SourceKind
from annotation.overview.registry import NextStep
from annotation.quality.selectors.decisions import replaceable


def is_all_rated(campaign: Campaign) -> bool:
    """Return whether an open campaign has every rating that was planned."""
    is_open = campaign.state in (CampaignState.RUNNING, CampaignState.PAUSED)
    return is_open and campaign.units.exists() and not slots_unfilled(campaign)


def ways_on(campaign: Campaign) -> list[NextStep]:
    """Return what to do with the ratings, the most fitting first; nothing while planned ratings are missing.

    If ratings of excluded raters fill slots of an open campaign, the first is to have other raters answer.
    """
    if campaign.state != CampaignState.CLOSED and not is_all_rated(campaign):
        return []
    if campaign.writing:
        return [*_replace(campaign), _written(campaign), _records(campaign)]
    rated = rated_by(campaign)
    compares = compares_systems(campaign)
    can_study = compares or has_rated_outputs(campaign.dataset.campaigns.all())
    ways: list[Callable[[Campaign], NextStep]] = [_score, *([_study] if can_study else []), _records]
    if compares or rated.outputs:
        ways.insert(0, _results)
    if rated.references:
        ways.insert(len(ways) if rated.mostly_outputs else 0, _weights)
    first, *others = (way(campaign) for way in ways)
    return [*_replace(campaign), first, *judges_left(campaign), *others]


def ways_heading(campaign: Campaign) -> str:
    """Return how far the campaign is, above the ways on."""
    if campaign.state == CampaignState.CLOSED:
        return "The campaign is closed."
    if replaceable(campaign).exists():
        return "Every slot is filled, but not every rating counts."
    return "Everything planned is rated."


def replace_text(n: int) -> str:
    """Say that answers of excluded raters leave items with too few ratings."""
    if n == 1:
        return "1 item needs another rater: the answer of an excluded rater does not count."
    return f"{counted(n, 'item')} need another rater: the answers of excluded raters do not count."


def replace_url(campaign: Campaign) -> str:
    return reverse("annotation:campaign-operation", args=[campaign.project.slug, campaign.pk, "replace-excluded"])


def _replace(campaign: Campaign) -> list[NextStep]:
    n = 0 if campaign.state == CampaignState.CLOSED else replaceable(campaign).count()
    return [NextStep(replace_text(n), "Reopen them", replace_url(campaign))] if n else []


def judges_left(campaign: Campaign) -> list[NextStep]:
    """Return the way to import those judges' columns of the file that the ratings came in that are not imported."""
    job = RatingImport.objects.filter(campaign=campaign, report__has_key="judges").defer("content").first()
    project: Any = campaign.project  # the app above holds score runs
    if job is None:
        return []
    runs = project.score_runs.filter(dataset=campaign.dataset_id, report__has_key="imported")
    origins = runs.values_list("report__imported", flat=True)
    entries = [entry for origin in origins for entry in (origin, *origin.get("also", []))]
    imported = {entry.get("column") for entry in entries if entry.get("sha256") == job.report.get("sha256", "")}
    judges = [name for name in job.report["judges"] if name not in imported]
    if not judges:
        return []
    whose = f"{judges[0]}’s scores" if len(judges) == 1 else f"scores of {len(judges)} judges"
    query = urlencode({"dataset": campaign.dataset.slug, "ratings": job.pk})
    text = f"“{job.filename}” holds {whose}, too: as a metric they are compared with the raters’ ratings."
    action = f"Import {whose}" if len(judges) == 1 else f"Import {len(judges)} judges’ scores"
    return [NextStep(text, action, f"{reverse('metrics:run-import', args=[project.slug])}?{query}")]


def _written(campaign: Campaign) -> NextStep:
    text = "What raters wrote becomes references of the data set, which other raters rate."
    url = reverse("annotation:campaign-written", args=[campaign.project.slug, campaign.pk])
    return NextStep(text, "Read and rate the texts", url)


def _weights(campaign: Campaign) -> NextStep:
    text = "Each rated reference gets a weight from −1 to +1, which metrics read."
    return NextStep(text, "Build weights", weights_url(campaign))


def _score(campaign: Campaign) -> NextStep:
    """Return the way to a score run, with the newest weights from the campaign's ratings if there are any."""
    done = Release.objects.filter(reference_set__campaigns=campaign, state=JobState.DONE, deprecated_at=None)
    release = done.order_by("-finished_at").first()
    query = {"release": release.pk} if release else {"dataset": campaign.dataset_id}
    read = f"metrics read the weights of {release}" if release else "metrics score every system of the data set"
    beside = "; the raters' means stand beside them" if rated_by(campaign).outputs else ""
    text = f"In a score run {read}{beside}."
    return NextStep(
        text, "Score the systems", f"{reverse('metrics:run-create', args=[campaign.project.slug])}?{urlencode(query)}"
    )


def _study(campaign: Campaign) -> NextStep:
    """Return the way to a study: with the newest weights of the data set, unless it was scored without any."""
    slug, question = campaign.project.slug, "Which metric agrees with the raters?"
    done = Release.objects.filter(reference_set__dataset=campaign.dataset_id, state=JobState.DONE, deprecated_at=None)
    project: Any = campaign.project  # the app above holds score runs
    runs = project.score_runs.filter(dataset=campaign.dataset_id, state=JobState.DONE)
    of_references = {"item__dataset": campaign.dataset_id, "kind__in": SourceKind.of_references()}
    has_references = ResponseSource.objects.filter(**of_references).exists()
    is_plain = has_references and runs.exists() and not runs.filter(release__isnull=False).exists()
    release = None if is_plain else done.order_by("-finished_at").first()
    query = {"release": release.pk} if release else {"dataset": campaign.dataset_id}
    if rated_by(campaign).outputs:
        query["campaign"] = campaign.pk  # which the form ticks
    text = f"{question} A study compares each metric with the ratings of the systems' outputs."
    if release is None:
        text += " It needs no weights."
    return NextStep(text, "Start a study", f"{reverse('correlations:study-create', args=[slug])}?{urlencode(query)}")


def _results(campaign: Campaign) -> NextStep:
    text = "Which system is better by the raters, and how sure that is."
    return NextStep(
        text, "See the results", reverse("annotation:campaign-results", args=[campaign.project.slug, campaign.pk])
    )


def _records(campaign: Campaign) -> NextStep:
    text = "All ratings and tables as files, a methods paragraph and a datasheet."
    return NextStep(text, "Records", reverse("annotation:campaign-records", args=[campaign.project.slug, campaign.pk]))
