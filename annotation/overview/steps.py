"""The way from texts to trust, and the first step of a project that has no result yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from annotation.models import CampaignState, Project


class Counts(NamedTuple):
    datasets: int
    campaigns: int
    open: int
    closed: int  # imported ones are closed, too
    of_references: int  # campaigns whose ratings can become weights
    judgements: int
    releases: int
    runs: int
    studies: int


class NextStep(NamedTuple):
    text: str
    action: str
    url: str


@dataclass(frozen=True)
class Step:
    """A step: when it is due, a sentence, a button, and the view that it leads to; ``state`` names the campaign's."""

    is_due: Callable[[Counts], bool]
    text: str
    action: str
    url_name: str
    state: CampaignState | None = None


STEPS = (
    Step(
        lambda n: not n.datasets,
        "Import the texts to rate and the systems' outputs.",
        "Import a data set",
        "annotation:dataset-import",
    ),
    Step(
        lambda n: not n.campaigns,
        "Design a campaign: what raters see, and what they are asked.",
        "Design a campaign",
        "annotation:campaign-create",
    ),
    Step(
        lambda n: not n.open and not n.closed,
        "Launch the campaign: raters get a link, and its design is frozen.",
        "Review and launch",
        "annotation:campaign-step",
        CampaignState.DRAFT,
    ),
    Step(
        lambda n: not n.judgements and bool(n.open),
        "Invite raters: give them the campaign's link, or recruit at a provider.",
        "Invite raters",
        "annotation:campaign-detail",
        CampaignState.RUNNING,
    ),
    Step(
        lambda n: not n.closed and not n.releases and bool(n.open),
        "Close the campaign once enough is rated. Its page says when that is.",
        "See how far it is",
        "annotation:campaign-detail",
        CampaignState.RUNNING,
    ),
    Step(
        lambda n: not n.releases and bool(n.of_references),
        "Build weights: the ratings of each reference become a number from −1 to +1.",
        "Build weights",
        "annotation:reference-set-create",
    ),
    Step(
        lambda n: not n.runs,
        "Score the systems with metrics, which read the weights where there are any.",
        "Score the systems",
        "metrics:run-create",
    ),
    Step(
        lambda n: not n.studies and bool(n.releases),
        "Ask how far the metrics can be trusted: compare them with the raters.",
        "Start a study",
        "correlations:study-create",
    ),
    Step(
        lambda n: True,
        "Every step has a result. More ratings make the intervals narrower.",
        "Design another campaign",
        "annotation:campaign-create",
    ),
)


def next_step(project: Project, counts: Counts) -> NextStep:
    """Return the first step that is due."""
    step = next(step for step in STEPS if step.is_due(counts))
    arguments: list[object] = [project.slug]
    if step.state:
        states = [step.state] if step.state == CampaignState.DRAFT else [CampaignState.RUNNING, CampaignState.PAUSED]
        arguments.append(project.campaigns.filter(state__in=states).order_by("-pk").values_list("pk", flat=True)[0])
        if step.state == CampaignState.DRAFT:
            arguments.append("review")
    return NextStep(step.text, step.action, reverse(step.url_name, args=arguments))
