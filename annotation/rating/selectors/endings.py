"""How a rater's stay in a campaign ends."""

from dataclasses import dataclass
from enum import StrEnum

from annotation.models import Campaign, Participation, Stage
from annotation.rating.selectors.handout import Waiting, progress, waiting


class Ending(StrEnum):
    COMPLETED = "completed"
    FAILED_QUALIFICATION = "failed_qualification"
    EXCLUDED = "excluded"
    RAN_OUT = "ran_out"  # nothing left to rate before the minimum was reached
    STOPPED_EARLY = "stopped_early"


@dataclass(frozen=True)
class Stay:
    """A rater's progress. ``ending`` is the ending if the rater leaves now."""

    ending: Ending
    waiting: Waiting
    done: int
    missing: int  # items to go to the completion code

    @property
    def entitled(self) -> bool:
        """Return whether the rater gets the completion code, also if work ran out before the minimum was reached."""
        return self.ending == Ending.COMPLETED or (self.ending == Ending.RAN_OUT and self.done > 0)

    @property
    def may_go_on(self) -> bool:
        return self.waiting in (Waiting.OTHERS, Waiting.PAUSE_BETWEEN)


def stay_of(*, campaign: Campaign, participation: Participation) -> Stay:
    rater = participation.rater
    reason = waiting(campaign=campaign, rater=rater)
    done = progress(campaign=campaign, rater=rater).done
    missing = max(max(campaign.min_units_per_rater, 1) - done, 0)
    return Stay(_ending(participation, reason, missing), reason, done, missing)


def _ending(participation: Participation, reason: Waiting, missing: int) -> Ending:
    if participation.excluded_at is not None:
        return Ending.EXCLUDED
    if participation.stage == Stage.FAILED:
        return Ending.FAILED_QUALIFICATION
    if missing == 0:
        return Ending.COMPLETED
    return Ending.RAN_OUT if reason in (Waiting.COMPLETE, Waiting.LIMIT, Waiting.CLOSED) else Ending.STOPPED_EARLY
