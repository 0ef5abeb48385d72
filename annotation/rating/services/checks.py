"""Checks between the units, and training and test items before them. None takes a slot."""

from django.db.models.functions import Now

from annotation.allocation.checks import check_at, pick_check, pick_repeat, repeat_order
from annotation.allocation.seeds import derive_seed, permutation
from annotation.models import Campaign, CheckUnit, Presentation, Purpose, Rater, Stage
from annotation.rating.selectors.handout import ANSWERED, has_work
from annotation.rating.services.qualification import next_item


def item_before_work(*, campaign: Campaign, rater: Rater, rater_seed: int, stage: Stage) -> Presentation | None:
    """Show the next training or test item."""
    item = next_item(campaign=campaign, rater_id=rater.pk, stage=stage)
    return _show(campaign, rater, rater_seed, item) if item else None


def check_due(*, campaign: Campaign, rater: Rater, rater_seed: int, index: int) -> Presentation | None:
    """Show the check at this index of the rater's sequence of items, if one is due and there is one left."""
    every, mix = campaign.quality.get("every", 0), campaign.quality.get("mix", {})
    kind = check_at(rater_seed, index, every=every, mix=mix) if every else None
    if kind is None or not has_work(campaign=campaign, rater=rater):
        return None  # after the last unit only checks would be left
    if kind == Purpose.REPEAT:
        return _repeat(campaign, rater, rater_seed, index)
    checks = CheckUnit.objects.filter(campaign=campaign, kind=kind)
    shown = Presentation.objects.filter(campaign=campaign, rater=rater, purpose=kind)
    shown_numbers = set(shown.values_list("check_unit__number", flat=True))
    # By number, not id: the same design and seeds then show the same checks in any database.
    chosen = pick_check(rater_seed, kind, checks.values_list("number", flat=True), shown_numbers)
    return None if chosen is None else _show(campaign, rater, rater_seed, checks.get(number=chosen))


def _repeat(campaign: Campaign, rater: Rater, rater_seed: int, index: int) -> Presentation | None:
    """Show a unit that the rater has answered again, in another order."""
    mine = Presentation.objects.filter(campaign=campaign, rater=rater)
    answered = mine.filter(purpose=Purpose.WORK, outcome__in=ANSWERED).order_by("pk")
    repeated = set(mine.filter(purpose=Purpose.REPEAT).values_list("unit", flat=True))
    units = list(answered.values_list("unit", flat=True))
    unit = pick_repeat(rater_seed, index, units, repeated, gap=campaign.quality.get("repeat_gap", 5))
    if unit is None:
        return None
    first = answered.filter(unit=unit)[0]
    seed = derive_seed(rater_seed, "repeat", index)
    order = list(repeat_order(first.order, seed=seed))
    fields = {"purpose": Purpose.REPEAT, "unit_id": unit, "repeats": first, "order_seed": seed, "order": order}
    return _present(campaign, rater, **fields)


def _show(campaign: Campaign, rater: Rater, rater_seed: int, check: CheckUnit) -> Presentation:
    seed = derive_seed(rater_seed, check.kind, check.number)
    order = list(permutation(seed, len(check.texts)))
    return _present(campaign, rater, purpose=check.kind, check_unit=check, order_seed=seed, order=order)


def _present(campaign: Campaign, rater: Rater, **fields: object) -> Presentation:
    presentation = Presentation.objects.create(campaign=campaign, rater=rater, shown_at=Now(), **fields)
    presentation.refresh_from_db(fields=["shown_at"])
    return presentation
