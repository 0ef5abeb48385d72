"""How a rater's stay in a campaign ends, and what it earns; the rules are in docs/raters.md."""

from dataclasses import dataclass
from enum import StrEnum

from annotation.models import Campaign, Participation, Stage
from annotation.rating.selectors.handout import Skips, Waiting, progress, skips_of, waiting


class Ending(StrEnum):
    COMPLETED = "completed"
    FAILED_QUALIFICATION = "failed_qualification"
    EXCLUDED = "excluded"
    RAN_OUT = "ran_out"  # nothing left to rate before the minimum was reached
    SKIPPED = "skipped"  # what is missing to the minimum are items that the rater skipped
    STOPPED_EARLY = "stopped_early"


@dataclass(frozen=True)
class Stay:
    """A rater's progress. ``ending`` is the ending if the rater leaves now."""

    ending: Ending
    waiting: Waiting
    done: int
    missing: int  # items to go to the completion code
    skips: Skips

    @property
    def entitled(self) -> bool:
        """Return whether the rater gets the completion code, also if work ran out before the minimum was reached."""
        return self.ending == Ending.COMPLETED or (self.ending == Ending.RAN_OUT and self.done > 0)

    @property
    def may_go_on(self) -> bool:
        return self.waiting in (Waiting.OTHERS, Waiting.SKIPPED, Waiting.PAUSE_BETWEEN)

    @property
    def may_rate_skipped(self) -> bool:
        return self.skips.left > 0 and self.waiting in (Waiting.OTHERS, Waiting.SKIPPED)


def stay_of(*, campaign: Campaign, participation: Participation) -> Stay:
    rater = participation.rater
    reason = waiting(campaign=campaign, rater=rater)
    done = progress(campaign=campaign, rater=rater).done
    missing = max(max(campaign.min_units_per_rater, 1) - done, 0)
    skips = skips_of(campaign=campaign, rater=rater)
    return Stay(_ending(participation, reason, missing, skips), reason, done, missing, skips)


def _ending(participation: Participation, reason: Waiting, missing: int, skips: Skips) -> Ending:
    if participation.excluded_at is not None:
        return Ending.EXCLUDED
    if participation.stage == Stage.FAILED:
        return Ending.FAILED_QUALIFICATION
    if missing == 0:
        return Ending.COMPLETED
    if reason == Waiting.SKIPPED or (reason in (Waiting.COMPLETE, Waiting.CLOSED) and skips.total >= missing):
        return Ending.SKIPPED
    return Ending.RAN_OUT if reason in (Waiting.COMPLETE, Waiting.LIMIT, Waiting.CLOSED) else Ending.STOPPED_EARLY
