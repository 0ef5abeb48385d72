"""Turn a draft into units and slots, written in bulk."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import Any

from django.db import connection

from annotation.allocation.interleaving import interleaved
from annotation.allocation.seeds import derive_seed
from annotation.allocation.units import Plan, PlannedUnit, Source, plan_items
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.fields.table import CAMPAIGN
from annotation.campaigns.scales import fewest_responses, with_standard
from annotation.campaigns.selectors import asked_items, rated_sources, standards_of
from annotation.campaigns.services.documents import criterion_document
from annotation.campaigns.services.prepared_screens import prepared_create, prepared_hash
from annotation.core import sql
from annotation.core.canonical import canonical_json
from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Item, Response, System, Target, Unit, UnitResponse

DESIGN_VERSION = 2


def units_create(campaign: Campaign) -> Plan:
    """Plan a campaign's units and store them with their slots. Return the plan in the order of the positions."""
    if not campaign.criteria.exists() and not campaign.writing:
        raise AnnotationError("The campaign asks nothing: add a criterion before launching it.")
    plan = units_plan(campaign)
    if not plan.units:
        raise AnnotationError(_nothing_to_rate(campaign, plan))
    if message := misfit_of_responses(campaign, plan):
        raise AnnotationError(message)
    plan = replace(plan, units=tuple(interleaved(plan.units, seed=derive_seed(campaign.seed, "positions"))))
    units_store(campaign, plan.units)
    prepared_create(campaign, plan.units)
    return plan


def misfit_of_responses(campaign: Campaign, plan: Plan) -> str:
    """Return why the criteria cannot be asked on some screens; empty if they can."""
    criteria = list(campaign.criteria.all())
    if any(criterion.by_turn for criterion in criteria) and (message := _no_dialogues(plan)):
        return message
    fewest = fewest_responses(criteria) if criteria else 0
    short = {unit.item for unit in plan.units if len(unit.responses) < fewest}
    if not short:
        return ""
    return f"The scale needs {fewest} different responses for each item; fewer are there for {_named(short)}."


def _no_dialogues(plan: Plan) -> str:
    """Return which items have responses without turns, if any."""
    items = {response: unit.item for unit in plan.units for response in unit.responses}
    rows = sql.rows("SELECT id FROM annotation_response WHERE turns IS NULL AND id = ANY(%s)", [list(items)])
    plain = {items[pk] for (pk,) in rows}
    return (
        f"A criterion is about each turn; these items have responses without turns: {_named(plain)}." if plain else ""
    )


def plan_or_none(campaign: Campaign) -> Plan | None:
    """Return what a launch would create now; None if it would be refused."""
    try:
        return units_plan(campaign)
    except AnnotationError:
        return None


def design_freeze(campaign: Campaign, plan: Plan) -> tuple[dict[str, Any], str]:
    """Return the frozen design, and its SHA-256 over canonical JSON."""
    design = {
        "version": DESIGN_VERSION,
        "dataset": {"slug": campaign.dataset.slug, "normalisation": campaign.dataset.normalisation},
        "systems": sorted({str(system) for unit in plan.units for system in unit.systems}),
        **{
            name: _plain(getattr(campaign, name))
            for name, field in CAMPAIGN.items()
            if field.frozen and not field.related
        },
        "criteria": [criterion_document(criterion) for criterion in campaign.criteria.all()],
        "units": len(plan.units),
        "slots": len(plan.units) * campaign.ratings_per_unit,
        "items": len({unit.item for unit in plan.units}),
        "responses": plan.n_responses,
        "shared_outputs": plan.n_shared,
        "identical_pairs": plan.n_identical_pairs,
        "repeated_pairs": plan.n_repeated_pairs,
        "missing_pairs": plan.n_missing_pairs,
        "split_items": plan.n_split_items,
        "units_hash": units_hash(plan.units),
        "checks_hash": prepared_hash(campaign),
    }
    if campaign.response_list is not None:
        design["response_list"] = {
            "name": campaign.response_list.name,
            "size": campaign.response_list.responses.count(),
        }
    return design, hashlib.sha256(canonical_json(design)).hexdigest()


def _plain(value: object) -> object:
    """Return amounts as text, since JSON has no exact decimals."""
    return str(value) if isinstance(value, Decimal) else value


def _sources(campaign: Campaign) -> list[Source]:
    """Return what is to be rated, in the order of the items; the kind names a source that is no system."""
    rows = rated_sources(campaign).values_list("item_id", "system__name", "kind", "response_id")
    return [Source(item, system or f"({kind})", response) for item, system, kind, response in rows.iterator(5000)]


def units_plan(campaign: Campaign, *, of: Collection[str] | None = None) -> Plan:
    """Return the screens for the data set as it is now, by item; only ``of`` systems (or kinds, in brackets).

    Where raters write references, each item is a screen, whatever responses it has.
    """
    if Writing.lenient(campaign.writing).hides_text:
        return plan_items(asked_items(campaign).values_list("pk", flat=True))
    sources = [source for source in sources_to_rate(campaign) if of is None or source.system in of]
    return campaign.presentation_kind.plan(sources, pairs=campaign.pairs, seed=campaign.seed)


def sources_to_rate(campaign: Campaign) -> list[Source]:
    """Return the texts that raters rate: a standard text is only compared with."""
    sources = list(_sources(campaign))
    if standards := standards_of(campaign):
        return [source for source in sources if standards.get(source.item) != source.response]
    return sources


def _nothing_to_rate(campaign: Campaign, plan: Plan) -> str:
    if plan.n_identical_pairs:
        return "There is nothing to rate: in every pair both systems gave the same text."
    items = f"the first {campaign.item_limit} items of " if campaign.item_limit else ""
    if campaign.response_list is not None:
        split = f" in the split {campaign.split!r}" if campaign.split else ""
        return f"There is nothing to rate: {items}the list {campaign.response_list.name!r} has no response{split}."
    if Writing.lenient(campaign.writing).hides_text:
        return f"There is nothing to write about: the data set {campaign.dataset.name!r} has no item."
    texts = Target(campaign.target).label.lower()
    return f"There is nothing to rate: {items}the data set {campaign.dataset.name!r} has no {texts}."


def units_store(campaign: Campaign, units: Sequence[PlannedUnit], *, first_position: int = 0) -> list[int]:
    """Write units with their open slots. Return their ids in the order given, which is that of their positions."""
    standards = _standards_for(campaign, units)
    ids = allocate_ids(Unit, len(units))
    systems = dict(System.objects.filter(dataset=campaign.dataset).values_list("name", "pk"))
    copy_rows(
        Unit,
        ["id", "campaign_id", "item_id", "position", "label", "systems", "done_slots", "ratings_wanted", "standard_id"],
        (
            (
                pk,
                campaign.pk,
                unit.item,
                position,
                ", ".join(map(str, unit.systems))[:250],
                [systems[name] for name in map(str, unit.systems) if name in systems],
                0,
                campaign.ratings_per_unit,
                standards.get(unit.item),
            )
            for position, (pk, unit) in enumerate(zip(ids, units, strict=True), start=first_position)
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
    slots_add(campaign, first_position=first_position)
    # A new campaign's rows are many and unknown to the planner; hand-out starts within the second.
    sql.execute("ANALYZE annotation_unit, annotation_slot")
    return ids


def slots_add(campaign: Campaign, *, first_position: int = 0) -> int:
    """Add the open slots of new units, from a position on. Return how many."""
    return sql.execute(
        """
        INSERT INTO annotation_slot (campaign_id, unit_id, number, state)
        SELECT campaign_id, id, number, 'open'
        FROM annotation_unit, generate_series(0, ratings_wanted - 1) AS number
        WHERE campaign_id = %s AND position >= %s
        ORDER BY id, number
        """,
        [campaign.pk, first_position],
    )


_RAISED = """
    SELECT u.campaign_id, u.id, u.ratings_wanted, greatest(u.ratings_wanted, coalesce(given.wanted, %(all)s)) AS wanted
    FROM annotation_unit u
    LEFT JOIN unnest(%(units)s::bigint[], %(wanted)s::int[]) AS given (unit, wanted) ON given.unit = u.id
    WHERE u.campaign_id = %(campaign)s
"""


def slots_raise(campaign: Campaign, *, all_to: int = 0, units: Mapping[int, int] | None = None) -> int:
    """Add open slots so that each unit, or each of the ``units`` named by id, has so many; return how many were added.

    Existing slots keep their numbers, and no unit loses any.
    """
    given = units or {}
    parameters = {"campaign": campaign.pk, "all": all_to, "units": list(given), "wanted": list(given.values())}
    added = sql.execute(
        f"""INSERT INTO annotation_slot (campaign_id, unit_id, number, state)
            SELECT raised.campaign_id, raised.id, number, 'open'
            FROM ({_RAISED}) AS raised, generate_series(raised.ratings_wanted, raised.wanted - 1) AS number
            ORDER BY raised.id, number""",  # noqa: S608  # built from the constant above
        parameters,
    )
    sql.execute(
        f"""UPDATE annotation_unit SET ratings_wanted = raised.wanted FROM ({_RAISED}) AS raised
            WHERE annotation_unit.id = raised.id AND annotation_unit.ratings_wanted < raised.wanted""",  # noqa: S608
        parameters,
    )
    return added


def _standards_for(campaign: Campaign, units: Sequence[PlannedUnit]) -> dict[int, int]:
    standards = standards_of(campaign)
    needs_standard = with_standard(campaign.criteria.all()) is not None
    if needs_standard and (without := {unit.item for unit in units} - standards.keys()):
        raise AnnotationError(f"Magnitudes need a standard text for every item; none for {_named(without)}.")
    return standards


def _named(items: Collection[int]) -> str:
    """Name the first of some items."""
    names = sorted(Item.objects.filter(pk__in=list(items)[:5]).values_list("external_id", flat=True))
    more = f" and {len(items) - 5:,} more" if len(items) > 5 else ""
    return f"{', '.join(names)}{more}"


def units_hash(units: Iterable[PlannedUnit]) -> str:
    """Return SHA-256 over what each screen shows, by external ids and text keys, not this database's ids."""
    units = list(units)
    items = _column(Item, "external_id", {unit.item for unit in units})
    keys = _column(Response, "text_key", {response for unit in units for response in unit.responses})
    digest = hashlib.sha256()
    for unit in units:
        shown = [items[unit.item], [keys[response] for response in unit.responses]]
        digest.update(json.dumps(shown).encode() + b"\n")
    return digest.hexdigest()


def _column(model: type[Item | Response], name: str, ids: Collection[int]) -> dict[int, str]:
    """Return one column of many rows by id. The ids go as one array: a million placeholders would take seconds."""
    table, column = connection.ops.quote_name(model._meta.db_table), connection.ops.quote_name(name)
    rows = sql.rows(f"SELECT id, {column} FROM {table} WHERE id = ANY(%s)", [list(ids)])  # noqa: S608 - fixed names
    return dict(rows)
