"""From a draft to units and slots: which screens there will be, in which places, written in bulk."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from django.db import connection

from annotation.allocation import (
    Plan,
    PlannedUnit,
    Source,
    all_pairs,
    derive_seed,
    interleaved,
    plan_lists,
    plan_pairs,
    plan_singles,
)
from annotation.errors import AnnotationError
from annotation.models import (
    Campaign,
    Item,
    PresentationKind,
    Response,
    System,
    Target,
    Unit,
    UnitResponse,
)
from annotation.selectors.campaigns import rated_sources
from annotation.services.copying import allocate_ids, copy_rows

DESIGN_VERSION = 1


def units_create(campaign: Campaign) -> Plan:
    """Plan a campaign's units and store them with their slots; the plan comes back in the order of the positions."""
    if not campaign.criteria.exists():
        raise AnnotationError("The campaign asks nothing: add a criterion before launching it.")
    plan = _plan(campaign, _sources(campaign))
    if not plan.units:
        raise AnnotationError(_nothing_to_rate(campaign, plan))
    plan = replace(plan, units=tuple(interleaved(plan.units, seed=derive_seed(campaign.seed, "positions"))))
    _store(campaign, plan.units)
    return plan


def units_planned(campaign: Campaign) -> int:
    """How many units a launch would create now; 0 where it would find nothing to rate."""
    try:
        return len(_plan(campaign, _sources(campaign)).units)
    except AnnotationError:
        return 0


def design_freeze(campaign: Campaign, plan: Plan) -> tuple[dict[str, Any], str]:
    """The design as it will never change again, and its SHA-256 over canonical JSON."""
    design = {
        "version": DESIGN_VERSION,
        "dataset": {"slug": campaign.dataset.slug, "normalisation": campaign.dataset.normalisation},
        "target": campaign.target,
        "systems": sorted({str(system) for unit in plan.units for system in unit.systems}),
        "presentation": campaign.presentation,
        "ratings_per_unit": campaign.ratings_per_unit,
        "item_limit": campaign.item_limit,
        "instructions": campaign.instructions,
        "consent": campaign.consent,
        "lease_seconds": campaign.lease_seconds,
        "max_units_per_rater": campaign.max_units_per_rater,
        "seed": campaign.seed,
        "criteria": [
            {
                "name": criterion.name,
                "question": criterion.question,
                "scale_min": criterion.scale_min,
                "scale_max": criterion.scale_max,
                "labels": criterion.labels,
            }
            for criterion in campaign.criteria.all()
        ],
        "units": len(plan.units),
        "slots": len(plan.units) * campaign.ratings_per_unit,
        "items": len({unit.item for unit in plan.units}),
        "responses": plan.n_responses,
        "shared_outputs": plan.n_shared,
        "identical_pairs": plan.n_identical_pairs,
        "repeated_pairs": plan.n_repeated_pairs,
        "missing_pairs": plan.n_missing_pairs,
        "split_items": plan.n_split_items,
        "units_hash": _units_hash(plan.units),
    }
    canonical = json.dumps(design, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return design, hashlib.sha256(canonical.encode()).hexdigest()


def _sources(campaign: Campaign) -> list[Source]:
    """What is to be rated, in the order of the items; a source without a system goes by its kind."""
    rows = rated_sources(campaign).values_list("item_id", "system__name", "kind", "response_id")
    return [Source(item, system or f"({kind})", response) for item, system, kind, response in rows.iterator(5000)]


def _plan(campaign: Campaign, sources: list[Source]) -> Plan:
    if campaign.presentation == PresentationKind.PAIR:
        systems = sorted({str(source.system) for source in sources})
        if sources and len(systems) < 2:
            raise AnnotationError(f"A pair needs two systems; there are outputs of {systems[0]} only.")
        return plan_pairs(sources, all_pairs(systems))
    if campaign.presentation == PresentationKind.LIST:
        return plan_lists(sources, seed=campaign.seed)
    return plan_singles(sources)


def _nothing_to_rate(campaign: Campaign, plan: Plan) -> str:
    if plan.n_identical_pairs:
        return "There is nothing to rate: in every pair both systems gave the same text."
    wanted = {
        Target.REFERENCES: "references",
        Target.OUTPUTS: "system outputs",
        Target.CHOSEN: "outputs of the chosen systems",
    }[Target(campaign.target)]
    where = f"the first {campaign.item_limit} items of " if campaign.item_limit else ""
    return f"There is nothing to rate: {where}the data set {campaign.dataset.name!r} has no {wanted}."


def _store(campaign: Campaign, units: Sequence[PlannedUnit]) -> None:
    ids = allocate_ids(Unit, len(units))
    systems = dict(System.objects.filter(dataset=campaign.dataset).values_list("name", "pk"))
    copy_rows(
        Unit,
        ["id", "campaign_id", "item_id", "position", "label", "systems", "done_slots"],
        (
            (
                pk,
                campaign.pk,
                unit.item,
                position,
                ", ".join(map(str, unit.systems))[:250],
                [systems[name] for name in map(str, unit.systems) if name in systems],
                0,
            )
            for position, (pk, unit) in enumerate(zip(ids, units, strict=True))
        ),
    )
    copy_rows(
        UnitResponse,
        ["unit_id", "response_id", "number"],
        chain.from_iterable(
            ((pk, response, number) for number, response in enumerate(unit.responses))
            for pk, unit in zip(ids, units, strict=True)
        ),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO annotation_slot (campaign_id, unit_id, number, state)
            SELECT campaign_id, id, number, 'open'
            FROM annotation_unit, generate_series(0, %s - 1) AS number
            WHERE campaign_id = %s
            ORDER BY id, number
            """,
            [campaign.ratings_per_unit, campaign.pk],
        )
        # A new campaign's rows are many and unknown to the planner; hand-out starts within the second.
        cursor.execute("ANALYZE annotation_unit, annotation_slot")


def _units_hash(units: Iterable[PlannedUnit]) -> str:
    """SHA-256 over what each screen shows, by the data's own names, not this database's ids."""
    chosen = list(units)
    items = dict(Item.objects.filter(pk__in={unit.item for unit in chosen}).values_list("pk", "external_id"))
    responses = {response for unit in chosen for response in unit.responses}
    keys = dict(Response.objects.filter(pk__in=responses).values_list("pk", "text_key"))
    digest = hashlib.sha256()
    for line in _unit_lines(chosen, items, keys):
        digest.update(line)
    return digest.hexdigest()


def _unit_lines(units: Iterable[PlannedUnit], items: dict[int, str], keys: dict[int, str]) -> Iterator[bytes]:
    for unit in units:
        yield json.dumps([items[unit.item], [keys[response] for response in unit.responses]]).encode() + b"\n"
