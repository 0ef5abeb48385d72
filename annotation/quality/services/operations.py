"""Changes to a running campaign: more ratings, of all units or where they decide; a system stopped; items added.

Each change closes the campaign's gate: it waits for running requests and answers, and later ones wait for it. A change
happens completely or not at all, touches no rating, and writes an amendment and an entry in the audit log.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.allocation.interleaving import interleaved
from annotation.allocation.seeds import derive_seed
from annotation.allocation.units import PlannedUnit
from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.campaigns.services.launch import misfit_of_responses, slots_raise, units_hash, units_plan, units_store
from annotation.core import sql
from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.models import Amendment, AmendmentKind, Campaign, System, Unit, UnitResponse, User
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.amendments import Marking, marking, rated_systems, stopped_systems, unfilled_slots
from annotation.quality.selectors.topping_up import Question, top_up_plan
from annotation.quality.services.amendments import amendable_check, amendable_lock, amendment_append


@transaction.atomic
def campaign_extend(*, campaign: Campaign, ratings_per_unit: int, by: User | None = None) -> Amendment:
    """Raise the ratings of every unit. Existing slots keep their numbers and therefore their order on screen.

    A unit that was topped up to as many already gets none.
    """
    campaign = amendable_lock(campaign=campaign, act="add ratings")
    before = campaign.ratings_per_unit
    extension_check(campaign, ratings_per_unit)
    campaign.ratings_per_unit = ratings_per_unit
    campaign.save(update_fields=["ratings_per_unit"])
    added = slots_raise(campaign, all_to=ratings_per_unit)
    data = {"ratings_per_unit": [before, ratings_per_unit], "places": added}
    summary = f"Ratings of each response raised from {before} to {ratings_per_unit}: {added:,} more slots"
    return _amended(campaign, AmendmentKind.EXTEND, data, summary, by)


def extension_check(campaign: Campaign, ratings_per_unit: int) -> None:
    before = campaign.ratings_per_unit
    if before >= MOST_RATINGS:
        raise AnnotationError.at("ratings_per_unit", f"Each item already has {before} slots, the maximum.")
    if isinstance(ratings_per_unit, bool) or not before < ratings_per_unit <= MOST_RATINGS:
        message = f"Found {ratings_per_unit}; accepted: {before + 1} to {MOST_RATINGS}. Slots are never removed."
        raise AnnotationError.at("ratings_per_unit", message)


# --- Topping up -------------------------------------------------------------------------------------------------------


@transaction.atomic
def campaign_top_up(
    *,
    campaign: Campaign,
    ratings: int,
    criterion: str = "",
    systems: Sequence[str] = (),
    floor: int | None = None,
    most: int | None = None,
    seed: int | None = None,
    by: User | None = None,
) -> Amendment:
    """Add ratings to those units where they narrow a question most; see ``top_up_plan``."""
    campaign = amendable_lock(campaign=campaign, act="add ratings")
    question = Question(criterion, tuple(systems))
    plan = top_up_plan(campaign, ratings=ratings, question=question, floor=floor, most=most, seed=seed)
    units = dict(Unit.objects.filter(pk__in=plan.further).values_list("pk", "ratings_wanted"))
    positions = dict(Unit.objects.filter(pk__in=plan.further).values_list("pk", "position"))
    added = slots_raise(campaign, units={pk: units[pk] + more for pk, more in plan.further.items()})
    given = sorted([positions[pk], more] for pk, more in plan.further.items())
    data = {
        "question": question.label,
        "places": added,
        "units": len(given),
        "floor": plan.floor,
        "most": plan.most,
        "seed": plan.seed,
        "counted_ratings": plan.n_ratings,
        "places_hash": hashlib.sha256(canonical_json(given)).hexdigest(),
    }
    summary = f"{added:,} more slots for {counted(len(given), 'item')}, to narrow {question.label}"[:290]
    return _amended(campaign, AmendmentKind.TOP_UP, data, summary, by)


# --- Systems ----------------------------------------------------------------------------------------------------------


@transaction.atomic
def system_stop(*, campaign: Campaign, system: System, by: User | None = None) -> Amendment:
    """Stop handing out a system's texts; raters can still send what they have on screen.

    Texts that another system wrote word for word stay, credited to that system. Lists still show the system: without
    it the other texts would be judged beside different texts than before.
    """
    campaign = amendable_lock(campaign=campaign, act="stop a system")
    return _mark_system(campaign, system, stop_check(campaign, system).to_stop, stopped=True, by=by)


@transaction.atomic
def system_resume(*, campaign: Campaign, system: System, by: User | None = None) -> Amendment:
    """Hand out a stopped system's texts again. A pair waits while its other system is stopped."""
    campaign = amendable_lock(campaign=campaign, act="resume a system")
    return _mark_system(campaign, system, resume_check(campaign, system).to_resume, stopped=False, by=by)


def _mark_system(campaign: Campaign, system: System, units: list[int], *, stopped: bool, by: User | None) -> Amendment:
    _mark(units, stopped=stopped)
    data = {"system": system.name, "units": len(units), "places": unfilled_slots(campaign, units)}
    done, effect = ("stopped", "no longer handed out") if stopped else ("resumed", "handed out again")
    summary = f"{system.name} {done}: {counted(len(units), 'item')} with {data['places']:,} slots are {effect}"
    kind = AmendmentKind.STOP_SYSTEM if stopped else AmendmentKind.RESUME_SYSTEM
    return _amended(campaign, kind, data, summary, by)


def _mark(units: list[int], *, stopped: bool) -> None:
    sql.execute("UPDATE annotation_unit SET stopped = %s WHERE id = ANY(%s)", [stopped, units])


def stop_check(campaign: Campaign, system: System) -> Marking:
    """Return what stopping a system would do; raise if it cannot be stopped."""
    _check_rated(campaign, system)
    stopped = stopped_systems(campaign)
    if system.name in stopped:
        raise AnnotationError.at("system", f"{system.name} is already stopped.")
    change = marking(campaign, [*stopped, system.name])
    if campaign.presentation_kind.keeps_lists and not change.to_stop:
        reason = "every list that shows it also shows other texts, and keeps showing all of them so that they stay"
        raise AnnotationError.at("system", f"Stopping {system.name} would change nothing: {reason} comparable.")
    if not change.left:
        message = f"Without {system.name} there is nothing left to hand out: pause or close the campaign instead."
        raise AnnotationError.at("system", message)
    return change


def resume_check(campaign: Campaign, system: System) -> Marking:
    _check_rated(campaign, system)
    stopped = stopped_systems(campaign)
    if system.name not in stopped:
        accepted = ", ".join(stopped) or "none, since none is stopped"
        raise AnnotationError.at("system", f"{system.name} is not stopped; accepted: {accepted}.")
    return marking(campaign, [name for name in stopped if name != system.name])


def _check_rated(campaign: Campaign, system: System) -> None:
    rated = list(rated_systems(campaign))
    if system not in rated:
        accepted = ", ".join(known.name for known in rated) or "none: it rates no system's outputs"
        raise AnnotationError.at("system", f"{system.name} is not rated in this campaign; accepted: {accepted}.")


# --- Items ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Addition:
    """Units that the data set has now and the campaign lacks."""

    units: list[PlannedUnit]
    n_new_items: int
    n_lists_left: int  # lists of rated items that would show other texts now; they stay as they are
    new_systems: list[str]  # with outputs in the data set, but not in the design: they are not added


@transaction.atomic
def items_add(*, campaign: Campaign, item_limit: int | None = None, by: User | None = None) -> Amendment:
    """Plan the data set as it is now, and append what is missing; existing units keep their positions.

    ``item_limit`` raises the limit of a campaign that has one. Systems that the design does not name stay out.
    """
    act = "add items"
    campaign = Campaign.objects.get(pk=campaign.pk)
    amendable_check(campaign, act=act)
    # Planning takes long and only this function changes the planned units: raters need not wait for it.
    last, addition = _last_position(campaign), addition_plan(campaign, item_limit)
    campaign = amendable_lock(campaign=campaign, act=act)
    if _last_position(campaign) != last:
        addition = addition_plan(campaign, item_limit)
    before = campaign.item_limit
    if not addition.units:
        raise AnnotationError(nothing_to_add(campaign, addition))
    if item_limit is not None:
        campaign.item_limit = item_limit
        campaign.save(update_fields=["item_limit"])
    first = _last_position(campaign) + 1
    units = interleaved(addition.units, seed=derive_seed(campaign.seed, "positions", first))
    units_store(campaign, units, first_position=first)
    if stopped := stopped_systems(campaign):
        _mark(marking(campaign, stopped).to_stop, stopped=True)
    data = {
        "units": len(units),
        "places": len(units) * campaign.ratings_per_unit,
        "items": addition.n_new_items,
        "first_position": first,
        "item_limit": [before, campaign.item_limit],
        "units_hash": units_hash(units),
    }
    added = counted(addition.n_new_items, "conversation")
    summary = f"{added} added: {counted(len(units), 'item')} with {data['places']:,} slots"
    return _amended(campaign, AmendmentKind.ADD_ITEMS, data, summary, by)


def _last_position(campaign: Campaign) -> int:
    return int(Unit.objects.filter(campaign=campaign).aggregate(last=Max("position"))["last"] or 0)


def addition_plan(campaign: Campaign, item_limit: int | None = None) -> Addition:
    """Return what ``items_add`` would add; raise if it cannot."""
    if item_limit is not None:
        _check_limit(campaign, item_limit)
    listed = campaign.response_list
    if listed is not None and campaign.item_limit is None:
        advice = "create another list and a campaign for it."
        raise AnnotationError(
            f"The campaign rates every response of the list “{listed.name}”, and a list never changes: {advice}"
        )
    wider = Campaign.objects.select_related("dataset").get(pk=campaign.pk)  # with the requested limit, never saved
    wider.item_limit = campaign.item_limit if item_limit is None else item_limit
    named: set[str] = set((campaign.design or {}).get("systems", []))
    chosen = set(campaign.systems.values_list("name", flat=True))
    # A list names its responses, whatever their sources.
    plan = units_plan(wider, of=None if listed is not None else named | chosen)
    if message := misfit_of_responses(campaign, plan):
        raise AnnotationError(message)
    shown, items = _shown(campaign)
    lists = campaign.presentation_kind.keeps_lists
    missing = [unit for unit in plan.units if (unit.item, frozenset(unit.responses)) not in shown]
    new = [unit for unit in missing if not lists or unit.item not in items]
    outputs = System.objects.filter(dataset=campaign.dataset_id, outputs__isnull=False).distinct()
    others = [] if chosen or listed is not None else sorted(set(outputs.values_list("name", flat=True)) - named)
    return Addition(
        units=new,
        n_new_items=len({unit.item for unit in new} - items),
        n_lists_left=len({unit.item for unit in missing} & items) if lists else 0,
        new_systems=others if any(not name.startswith("(") for name in named) else [],
    )


def _shown(campaign: Campaign) -> tuple[set[tuple[int, frozenset[int]]], set[int]]:
    """Return every unit as its item and responses, and all items."""
    items = dict(Unit.objects.filter(campaign=campaign).order_by().values_list("pk", "item_id").iterator(5000))
    responses: dict[int, set[int]] = {unit: set() for unit in items}
    rows = UnitResponse.objects.filter(unit__campaign=campaign).order_by()
    for unit, response in rows.values_list("unit_id", "response_id").iterator(5000):
        responses[unit].add(response)
    return {(items[unit], frozenset(ids)) for unit, ids in responses.items()}, set(items.values())


def _check_limit(campaign: Campaign, item_limit: int) -> None:
    if campaign.item_limit is None:
        accepted = "no limit, because this campaign rates all items of its data set"
        raise AnnotationError.at("item_limit", f"Found {item_limit}; accepted: {accepted}.")
    if item_limit < campaign.item_limit:
        message = f"Found {item_limit}; accepted: {campaign.item_limit} or more. Items are never removed."
        raise AnnotationError.at("item_limit", message)


def nothing_to_add(campaign: Campaign, addition: Addition) -> str:
    of = campaign.dataset if campaign.response_list is None else campaign.response_list
    reasons = [f"There is nothing to add: the campaign already has every item of {of.name!r}."]
    if addition.n_lists_left:
        reasons.append(
            f"The lists of {addition.n_lists_left:,} items would now show other texts; they stay as they are so that "
            "their ratings stay comparable."
        )
    if addition.new_systems:
        reasons.append(f"Not added because the design does not name them: {', '.join(addition.new_systems)}.")
    if campaign.item_limit is not None:
        reasons.append(f"It rates the first {campaign.item_limit:,} items only; set a higher limit to add more.")
    return " ".join(reasons)


def _amended(
    campaign: Campaign, kind: AmendmentKind, data: Mapping[str, Any], summary: str, by: User | None
) -> Amendment:
    amendment = amendment_append(campaign=campaign, kind=kind, data=data, by=by)
    audit_record(
        verb=f"campaign.{kind.value}",
        summary=f"{summary}.",
        campaign=campaign,
        by=by,
        data={"amendment": amendment.number, **data},
    )
    return amendment
