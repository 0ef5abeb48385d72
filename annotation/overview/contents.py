"""What the rooms keep for a project, for the page that deletes it, and what has to be settled before."""

from collections.abc import Iterator
from pathlib import Path

from django.db.models import QuerySet

from annotation import models
from annotation.core.numbers import counted
from annotation.mining.selectors import corpus_folder, paths_of
from annotation.models import JobState, Project, Recruitment, RecruitmentState, Submission, SubmissionStatus
from annotation.projects.contents import Content, register
from annotation.recruitment.services.bonuses import batches_of

OPEN = (RecruitmentState.PUBLISHED, RecruitmentState.PAUSED)
UNPAID = (SubmissionStatus.ACTIVE, SubmissionStatus.AWAITING)


def open_recruitments(project: Project) -> Iterator[str]:
    for recruitment in _recruitments(project).filter(state__in=OPEN):
        yield f"The recruitment “{recruitment}” is {recruitment.get_state_display().lower()}: stop it first."


def unpaid_submissions(project: Project) -> Iterator[str]:
    """Yield recruitments whose raters wait for their pay. What was made by hand is settled at the provider's pages."""
    unpaid = Submission.objects.filter(recruitment__account__isnull=False, status__in=UNPAID)
    for recruitment in _recruitments(project).filter(state=RecruitmentState.COMPLETED):
        if n := unpaid.filter(recruitment=recruitment).count():
            yield f"“{recruitment}” has {counted(n, 'submission')} neither approved nor ended: review first."
        if any(batch.open for batch in batches_of(recruitment)):
            yield f"A bonus payment of “{recruitment}” is neither paid nor discarded: settle it first."


def corpora_at_work(project: Project) -> Iterator[str]:
    for corpus in project.corpora.filter(state=JobState.RUNNING).only("name"):
        yield f"The corpus “{corpus}” is being indexed: cancel that first."


def corpus_files(project: Project) -> Iterator[Path]:
    for corpus in project.corpora.only("folder"):
        yield from paths_of(corpus_folder(corpus))


def _recruitments(project: Project) -> QuerySet[Recruitment]:
    return Recruitment.objects.filter(campaign__project=project).order_by("pk")


register(
    contents=[
        Content(models.Dataset, "data set"),
        Content(models.Response, "response", project="item__dataset__project"),
        Content(models.Campaign, "campaign"),
        Content(models.Rating, "rating", project="campaign__project"),
        Content(models.Rater, "rater"),
        Content(models.ReferenceSet, "reference set"),
        Content(models.Release, "release of weights", "releases of weights", "reference_set__project"),
        Content(models.Corpus, "corpus", "corpora"),
        Content(models.Recruitment, "recruitment", project="campaign__project"),
    ],
    problems=[open_recruitments, unpaid_submissions, corpora_at_work],
    files=[corpus_files],
)
