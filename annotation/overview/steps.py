"""The way from texts to trust: the first step of a project that has no result yet, or the job that computes it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from annotation.models import CampaignState, JobState, Project
from annotation.overview.jobs import JobRow
from annotation.overview.registry import SETBACKS, NextStep

AT_WORK = (CampaignState.RUNNING, CampaignState.PAUSED)
LOOK = "See how far it is"


class Counts(NamedTuple):
    datasets: int
    campaigns: int
    open: int
    complete: int  # open ones with all planned ratings
    to_reopen: int  # open ones whose slots are filled, some by excluded raters
    closed: int  # imported ones are closed, too
    of_references: int  # campaigns whose ratings can become weights
    answers: int  # that count
    left_out: int  # answers of excluded raters
    releases: int
    runs: int
    references: bool  # of any data set
    studies: int
    rated_outputs: bool  # ratings that a study can compare metrics with


@dataclass(frozen=True)
class Step:
    """A step: when it is due, a sentence, a button, and the view that it leads to; ``state`` names the campaign's.

    ``may_import`` is whether importing ratings is another way to take it. While a job of the model named ``job`` is
    under way, ``meanwhile`` says what follows it, and the button leads to it.
    """

    is_due: Callable[[Counts], bool]
    text: str
    action: str
    url_name: str
    state: CampaignState | None = None
    job: str = ""
    meanwhile: str = ""
    may_import: bool = False


STEPS = (
    Step(
        lambda n: not n.datasets,
        "Import the texts to rate and the systems' outputs.",
        "Import a data set",
        "annotation:dataset-import",
    ),
    Step(
        lambda n: not n.campaigns,
        "Design a campaign: what raters see, and what they are asked. Or import ratings that you have.",
        "Design a campaign",
        "annotation:campaign-create",
        may_import=True,
        job="ratingimport",
        meanwhile="Then weights can be built and systems scored.",
    ),
    Step(
        lambda n: not n.open and not n.closed,
        "Launch the campaign: raters get a link, and its design is frozen.",
        "Review and launch",
        "annotation:campaign-step",
        CampaignState.DRAFT,
    ),
    Step(
        lambda n: not n.closed and not n.complete and not n.releases and 0 < n.to_reopen == n.open,
        "Every slot is filled, but answers of excluded raters do not count: let other raters answer these items.",
        "See what is missing",
        "annotation:campaign-detail",
        CampaignState.RUNNING,
    ),
    Step(
        lambda n: not n.answers and bool(n.open),
        "Invite raters: give them the campaign's link, or recruit at a provider.",
        "Invite raters",
        "annotation:campaign-detail",
        CampaignState.RUNNING,
    ),
    Step(
        lambda n: not n.closed and not n.complete and not n.releases and bool(n.open),
        "Let the raters finish. The campaign's page says how many ratings are missing and how sure the weights are.",
        "See how far it is",
        "annotation:campaign-detail",
        CampaignState.RUNNING,
    ),
    Step(
        lambda n: not n.releases and bool(n.of_references),
        "Build weights: the ratings of each reference become a number from −1 to +1.",
        "Build weights",
        "annotation:reference-set-create",
        job="release",
        meanwhile="Then score the systems with metrics that read the weights.",
    ),
    Step(
        lambda n: not n.runs and not n.references and bool(n.closed),
        "See which system is better by the raters, how sure that is, and download the tables.",
        "See the results",
        "annotation:campaign-results",
        CampaignState.CLOSED,
    ),
    Step(
        lambda n: not n.runs and not n.references and 0 < n.complete == n.open,
        "Everything is rated. See which system is better by the raters, and how sure that is.",
        "See the results",
        "annotation:campaign-results",
        CampaignState.RUNNING,
    ),
    Step(
        lambda n: not n.runs,
        "Score the systems with metrics, which read the weights where there are any.",
        "Score the systems",
        "metrics:run-create",
        job="scorerun",
        meanwhile="Then ask how far the metrics can be trusted, in a study.",
    ),
    Step(
        lambda n: not n.studies and n.rated_outputs and (bool(n.releases) or n.closed + n.complete > n.of_references),
        "Ask how far the metrics can be trusted: compare them with the raters.",
        "Start a study",
        "correlations:study-create",
        job="study",
        meanwhile="It tells how far the metrics can be trusted.",
    ),
    Step(
        lambda n: not n.studies and not n.rated_outputs and not n.open,
        "Let raters judge the systems' outputs, too: a study then tells how far the metrics can be trusted.",
        "Design a campaign",
        "annotation:campaign-create",
        may_import=True,
    ),
)
NARROWER = "More ratings make the intervals narrower."


def next_step(project: Project, counts: Counts, jobs: Iterable[JobRow] = ()) -> NextStep:
    """Return the first step that is due, or the job that takes it; then what a result lacks."""
    step = next((step for step in STEPS if step.is_due(counts)), None)
    if step:
        return _under_way(project, step, jobs) or _step(project, step)
    lacking = (setback(project) for setback in SETBACKS)
    return next(filter(None, lacking), None) or _last(project, counts)


def _last(project: Project, counts: Counts) -> NextStep:
    """Return what is left once no step is due: to read the studies, to rate more."""
    another = ("Design another campaign", reverse("annotation:campaign-create", args=[project.slug]))
    if not counts.studies:
        return NextStep(f"No step is due. {NARROWER}", *another)
    every = "Every step has a result"
    text = f"{every}." if counts.releases else f"{every} but Weigh, which needs ratings of references."
    studies = reverse("correlations:study-list", args=[project.slug])
    return NextStep(f"{text} {NARROWER}", "Read the studies", studies, *another)


def _under_way(project: Project, step: Step, jobs: Iterable[JobRow]) -> NextStep | None:
    job = next((job for job in jobs if job.model_name == step.job and job.state != JobState.FAILED), None)
    if job is None:
        return None
    state = "is waiting for the jobs before it" if job.state == JobState.QUEUED else "is being computed"
    return NextStep(f"{job.label} {state}. {step.meanwhile}", LOOK, job.url(project))


def _step(project: Project, step: Step) -> NextStep:
    arguments: list[object] = [project.slug]
    if step.state:
        states = AT_WORK if step.state == CampaignState.RUNNING else [step.state]
        arguments.append(project.campaigns.filter(state__in=states).order_by("-pk").values_list("pk", flat=True)[0])
        if step.state == CampaignState.DRAFT:
            arguments.append("review")
    url = reverse(step.url_name, args=arguments)
    ratings_url = ratings_import_url(project) if step.may_import else ""
    return NextStep(step.text, step.action, url, "Import ratings" if ratings_url else "", ratings_url)


def ratings_import_url(project: Project) -> str:
    """Return where ratings of the newest data set's responses are imported; empty if there is none."""
    slug = project.datasets.order_by("-pk").values_list("slug", flat=True).first()
    return reverse("annotation:rating-import", args=[project.slug, slug]) if slug else ""
