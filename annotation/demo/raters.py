"""A campaign of the demo that simulated raters have begun, so that its monitor and its rules have something to show.

They use the same services as people, checks included; their names say that they are simulated.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

from django.db.models.functions import Now

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.rules import rules_register
from annotation.campaigns.services.writing import campaign_create
from annotation.dry_runs.simulation.answers import Ladder, answer, latent_quality
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.models import (
    Campaign,
    CommentField,
    Dataset,
    Presentation,
    Purpose,
    Rater,
    System,
    Target,
    UnitResponse,
    User,
)
from annotation.rating.services.handout import unit_request
from annotation.rating.services.raters import participation_start, rater_create
from annotation.rating.services.ratings import ratings_submit

NAME = "Watch it: simulated raters, with checks"
SEED, SCREENS = 7, 20
RELEVANCE = CriterionDraft(
    name="relevance",
    question="How relevant is the response to the text above?",
    labels=("Off topic", "Barely", "Somewhat", "Mostly", "To the point"),
)
RULES = (
    {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.5, "after": 2},
    {"rule": "median_seconds_below", "version": 1, "action": "flag", "seconds": 6, "after": 8},
    {"rule": "agreement_below", "version": 1, "action": "flag", "correlation": 0.0, "after": 10},
)
# Screens depend on ids: in no order of screens may an honest rater look careless.
HONEST = {"noise": 0.06, "lapse": 0.0, "median_seconds": 24.0}
RATERS: dict[str, dict[str, Any]] = {
    "Simulated Ada": HONEST,
    "Simulated Bo": {**HONEST, "bias": 0.05},
    "Simulated Cy": {**HONEST, "bias": -0.05},
    "Simulated Di": {**HONEST, "noise": 0.1},
    "Simulated Eve, who clicks": {"spam": "random", "median_seconds": 3.0},
}


def watched_campaign(*, dataset: Dataset, systems: Mapping[str, System], by: User | None = None) -> Campaign:
    """Create the campaign: rules registered before launch, a check in every four screens, five raters at work."""
    draft = CampaignDraft(
        dataset=dataset,
        name=NAME,
        criteria=(RELEVANCE,),
        target=Target.CHOSEN,
        systems=[systems[name] for name in ("Human", "TeamB")],
        item_limit=10,
        presentation="single",
        ratings_per_unit=5,
        comment=CommentField.OPTIONAL,
        quality=_quality(),
        instructions="Rated by simulated raters, to show what a manager sees of a campaign.",
    )
    campaign = campaign_create(project=dataset.project, draft=draft)
    rules_register(campaign=campaign, records=RULES, by=by)
    campaign = campaign_launch(campaign=campaign)
    for number, (name, traits) in enumerate(RATERS.items()):
        _work(campaign, name, SimulatedRater(seed=SEED + number, **traits))
    return campaign


def _quality() -> dict[str, Any]:
    def screen(text: str, low: int, high: int) -> dict[str, Any]:
        return {
            "item": "",
            "context": [],
            "message": "what is the capital of france ?",
            "feedback": "",
            "texts": [{"text": text, "expected": {"relevance": [low, high]}}],
        }

    return {
        "every": 4,
        "mix": {"gold": 2, "repeat": 1},
        "repeat_gap": 3,
        "gold": [
            screen("it is paris , on the seine .", 4, 5),
            screen("bananas are yellow .", 1, 2),
            screen("paris , and has been for centuries .", 4, 5),
        ],
    }


def _work(campaign: Campaign, name: str, traits: SimulatedRater) -> None:
    rater = rater_create(project=campaign.project, name=name)
    participation_start(campaign=campaign, rater=rater)
    work_through(campaign, rater, traits, partial(screen_quality, seed=SEED), screens=SCREENS)


def work_through(
    campaign: Campaign,
    rater: Rater,
    traits: SimulatedRater,
    quality: Callable[[Presentation], float],
    *,
    screens: int | None = None,
) -> int:
    """Answer single responses on five points until none is left, or for so many screens; return the number.

    ``quality`` returns the quality, 0 to 1, of the text on a screen.
    """
    criterion = campaign.criteria.get().name
    for number in range(screens) if screens is not None else count():
        shown = unit_request(campaign=campaign, rater=rater)
        if shown is None:
            return number
        # As if the rater had taken this long.
        Presentation.objects.filter(pk=shown.pk).update(shown_at=Now() - timedelta(seconds=traits.seconds()))
        value = answer(traits, quality(shown), Ladder(1, 5))
        offered = campaign.comment != CommentField.OFF and number == 5 and not traits.spam
        comment = "The second half is cut off." if offered else ""
        ratings_submit(token=shown.token, rater=rater, values={(0, criterion): int(value)}, comment=comment)
    return number + 1


def screen_quality(shown: Presentation, *, seed: int) -> float:
    """Return the simulated quality of the screen's text."""
    if shown.purpose in (Purpose.WORK, Purpose.REPEAT):
        (response,) = UnitResponse.objects.filter(unit=shown.unit_id).values_list("response_id", flat=True)
        return float(latent_quality([response], seed)[0])
    low, high = shown.check_unit.texts[0]["expected"]["relevance"] if shown.check_unit else (1, 5)
    return ((low + high) / 2 - 1) / 4
