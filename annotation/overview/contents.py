"""What the rooms keep for a project, for the page that deletes it, and what has to be settled before."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from annotation import models
from annotation.mining.selectors import corpus_folder, paths_of
from annotation.models import Campaign, JobState, Project, Recruitment
from annotation.projects.contents import Content, register
from annotation.recruitment.services.settling import unsettled


def open_recruitments(project: Project) -> Iterator[str]:
    return unsettled(Recruitment.objects.filter(campaign__project=project))


def corpora_at_work(project: Project) -> Iterator[str]:
    for corpus in project.corpora.filter(state=JobState.RUNNING).only("name"):
        yield f"The corpus “{corpus}” is being indexed: cancel that first."


def corpus_files(project: Project) -> Iterator[Path]:
    for corpus in project.corpora.only("folder"):
        yield from paths_of(corpus_folder(corpus))


def campaign_uses(campaign: Campaign) -> Iterator[QuerySet[Any]]:
    """Yield what is made from a campaign's ratings, and the files that these came in."""
    in_project = models.Release.objects.filter(reference_set__project=campaign.project_id)
    yield in_project.filter(report__campaigns__contains=[{"id": campaign.pk}])
    yield models.SeedSelection.objects.filter(campaigns=campaign)
    yield models.RatingImport.objects.filter(campaign=campaign)


register(
    contents=[
        Content(models.Dataset, "data set"),
        Content(models.Response, "response", project="item__dataset__project"),
        Content(models.Campaign, "campaign", named=True),
        Content(models.Rating, "rating", project="campaign__project"),
        Content(models.Rater, "rater"),
        Content(models.ReferenceSet, "reference set"),
        Content(models.Release, "release of weights", "releases of weights", "reference_set__project", named=True),
        Content(models.SeedSelection, "selection of seeds", "selections of seeds"),
        Content(models.MiningRun, "mining run"),
        Content(models.Corpus, "corpus", "corpora"),
        Content(models.Recruitment, "recruitment", project="campaign__project"),
    ],
    problems=[open_recruitments, corpora_at_work],
    files=[corpus_files],
    uses=[campaign_uses],
)
