"""Screens that are no work: handed out between the units, or before them. None of them takes a slot."""

from django.db.models.functions import Now

from annotation.allocation.checks import check_at, pick_check, pick_repeat, repeat_order
from annotation.allocation.seeds import derive_seed, permutation
from annotation.models import (
    Campaign,
    CheckUnit,
    Presentation,
    Purpose,
    Rater,
    Stage,
)
from annotation.rating.selectors.handout import ANSWERED, has_work
from annotation.rating.services.qualification import next_screen


def screen_before_work(*, campaign: Campaign, rater: Rater, rater_seed: int, stage: Stage) -> Presentation | None:
    """The next training or test screen."""
    screen = next_screen(campaign=campaign, rater_id=rater.pk, stage=stage)
    return _show(campaign, rater, rater_seed, screen) if screen else None


def check_due(*, campaign: Campaign, rater: Rater, rater_seed: int, place: int) -> Presentation | None:
    """The check at this place of the rater's sequence of screens, if there is to be one and there is one to show."""
    every, mix = campaign.quality.get("every", 0), campaign.quality.get("mix", {})
    kind = check_at(rater_seed, place, every=every, mix=mix) if every else None
    if kind is None or not has_work(campaign=campaign, rater=rater):
        return None  # after the last unit a screen could only be a check
    if kind == Purpose.REPEAT:
        return _repeat(campaign, rater, rater_seed, place)
    screens = CheckUnit.objects.filter(campaign=campaign, kind=kind)
    shown = Presentation.objects.filter(campaign=campaign, rater=rater, purpose=kind)
    seen = set(shown.values_list("check_unit__number", flat=True))
    # By number, not id: the same design and seeds then show the same checks in any database.
    chosen = pick_check(rater_seed, kind, screens.values_list("number", flat=True), seen)
    return None if chosen is None else _show(campaign, rater, rater_seed, screens.get(number=chosen))


def _repeat(campaign: Campaign, rater: Rater, rater_seed: int, place: int) -> Presentation | None:
    """A unit the rater has answered, shown again in another order."""
    mine = Presentation.objects.filter(campaign=campaign, rater=rater)
    answered = list(
        mine.filter(purpose=Purpose.WORK, outcome__in=ANSWERED).order_by("pk").values_list("unit", flat=True)
    )
    repeated = set(mine.filter(purpose=Purpose.REPEAT).values_list("unit", flat=True))
    unit = pick_repeat(rater_seed, place, answered, repeated, gap=campaign.quality.get("repeat_gap", 5))
    if unit is None:
        return None
    first = mine.filter(purpose=Purpose.WORK, unit=unit, outcome__in=ANSWERED).order_by("pk")[0]
    seed = derive_seed(rater_seed, "repeat", place)
    return _present(
        campaign,
        rater,
        purpose=Purpose.REPEAT,
        unit_id=unit,
        repeats=first,
        order_seed=seed,
        order=list(repeat_order(first.order, seed=seed)),
    )


def _show(campaign: Campaign, rater: Rater, rater_seed: int, screen: CheckUnit) -> Presentation:
    seed = derive_seed(rater_seed, screen.kind, screen.number)
    order = list(permutation(seed, len(screen.texts)))
    return _present(campaign, rater, purpose=screen.kind, check_unit=screen, order_seed=seed, order=order)


def _present(campaign: Campaign, rater: Rater, **fields: object) -> Presentation:
    shown = Presentation.objects.create(campaign=campaign, rater=rater, shown_at=Now(), **fields)
    shown.refresh_from_db(fields=["shown_at"])
    return shown
