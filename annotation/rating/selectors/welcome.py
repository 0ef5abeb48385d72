"""What taking part means, for the first page: how many screens, how long, and what for."""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from annotation.campaigns.selectors import seconds_per_screen
from annotation.models import Campaign, CampaignPace, Offer, Rater, Submission
from annotation.rating.selectors.handout import COUNTED_UP_TO

ENOUGH_ANSWERS = 20  # to go by the raters' pace instead of an estimate


@dataclass(frozen=True)
class Welcome:
    fewest: int  # screens to the completion code; 0 if one is enough
    most: int | None
    before: int  # screens of training and test
    seconds: float  # for a screen
    per_screen: Decimal | None
    offer: Offer | None
    currency: str
    has_code: bool

    @property
    def exact(self) -> int | None:
        """Return the number of screens if there is no choice."""
        return self.most if self.most == max(self.fewest, 1) else None

    @property
    def counted(self) -> int | None:
        """Return the screens whose time is shown; None to show the time of a single one."""
        return self.fewest or self.most

    @property
    def minutes(self) -> int | None:
        if self.offer and self.offer.minutes:
            return self.offer.minutes
        return math.ceil((self.counted + self.before) * self.seconds / 60) if self.counted else None

    @property
    def minutes_most(self) -> int | None:
        """Return the minutes for the most screens, if a rater may choose between fewer and more."""
        if self.offer or not self.fewest or not self.most or self.exact:
            return None
        return math.ceil((self.most + self.before) * self.seconds / 60)

    @property
    def seconds_each(self) -> int:
        """Return the seconds for a screen, rounded up to five."""
        return 5 * math.ceil(self.seconds / 5)

    @property
    def code_after(self) -> int:
        return max(self.fewest, 1) if self.has_code else 0


def welcome_of(*, campaign: Campaign, rater: Rater | None) -> Welcome:
    """Return the facts on a rater's first page; a rater from a provider was offered a reward there."""
    submissions = Submission.objects.select_related("recruitment").filter(recruitment__campaign=campaign)
    submission = submissions.filter(rater=rater).order_by("-pk").first() if rater else None
    offer = submission.recruitment.offer if submission else None
    units = int((campaign.design or {}).get("units", 0))
    fewest = min(campaign.min_units_per_rater, units or campaign.min_units_per_rater)
    per_screen = campaign.payment_per_unit
    return Welcome(
        fewest=fewest if fewest > 1 else 0,
        most=campaign.max_units_per_rater or (_all_screens(campaign, units) if fewest > 1 else None),
        before=sum(len(campaign.qualification.get(part, ())) for part in ("training", "test")),
        seconds=_seconds(campaign),
        per_screen=_shown(per_screen) if per_screen and offer is None else None,
        offer=offer._replace(reward=_shown(offer.reward)) if offer else None,
        currency=campaign.payment_currency,
        has_code=bool(campaign.completion_code or submission),
    )


def _all_screens(campaign: Campaign, units: int) -> int | None:
    """Return how many screens there are for a rater who answers all; None if they are unknown or very many."""
    every = campaign.quality.get("every", 0)
    checks = math.ceil(units / (every - 1)) if every > 1 else 0
    return units + checks if 0 < units <= COUNTED_UP_TO else None


def _shown(amount: Decimal) -> Decimal:
    """Return an amount with two decimals, or more if it has them."""
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else amount.normalize()


def _seconds(campaign: Campaign) -> float:
    pace = CampaignPace.objects.filter(campaign=campaign, n__gte=ENOUGH_ANSWERS).first()
    if pace and pace.median_seconds:
        return pace.median_seconds
    return _estimated(campaign.pk, campaign.design_hash)


@lru_cache(maxsize=64)
def _estimated(campaign_id: int, _design_hash: str) -> float:
    """Estimate the seconds from the length of the texts, which are those of the launch."""
    return seconds_per_screen(Campaign.objects.get(pk=campaign_id))
