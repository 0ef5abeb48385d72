"""Judgements collected elsewhere, matched with a data set and stored as a closed campaign, in one transaction."""

import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from django.db.models.functions import Now
from django.utils.text import slugify

from annotation.campaigns.scales import Likert, Slider
from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.normalisation import text_key
from annotation.core.problems import Problems
from annotation.judgements.services.content import Judgement, RatingContent
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.stand_ins import PROVIDER as AGGREGATE_PROVIDER
from annotation.models import (
    Campaign,
    CampaignState,
    Criterion,
    Dataset,
    Item,
    Participation,
    Presentation,
    PresentationOutcome,
    Project,
    Rater,
    RaterIdentity,
    Rating,
    Response,
    ResponseSource,
    SourceKind,
    System,
    Target,
    Unit,
    UnitResponse,
)

IMPORT_PROVIDER = "import"
MOST_POINTS = 20
# Where a file says how long a judgement took and not when, its clock starts here: a moment that is plainly none.


class Judged(NamedTuple):
    """What a judgement was about, in the database's ids."""

    item_id: int
    response_id: int
    system_id: int | None


@dataclass
class Known:
    """What a data set holds, as far as judgements can name it."""

    items: dict[str, int]
    systems: dict[str, int]
    outputs: dict[tuple[int, int], int]  # (item, system): response
    texts: dict[tuple[int, str], int] = field(default_factory=dict)  # (item, text key): response


def known_of(dataset: Dataset, *, with_texts: bool) -> Known:
    sources = ResponseSource.objects.filter(system__dataset=dataset)
    known = Known(
        items=dict(Item.objects.filter(dataset=dataset).order_by().values_list("external_id", "pk")),
        systems=dict(System.objects.filter(dataset=dataset).order_by().values_list("name", "pk")),
        outputs={
            (item, system): response
            for item, system, response in sources.order_by().values_list("item_id", "system_id", "response_id")
        },
    )
    if with_texts:
        responses = Response.objects.filter(item__dataset=dataset).order_by()
        known.texts = {(item, key): pk for item, key, pk in responses.values_list("item_id", "text_key", "pk")}
    return known


# --- Aliases ----------------------------------------------------------------------------------------------------------


def store_aliases(dataset: Dataset, known: Known, aliases: dict[str, str], problems: Problems) -> int:
    """Credit the outputs of a system to its other name, too. How many outputs were credited anew."""
    credited = 0
    for alias, original in aliases.items():
        if original not in known.systems:
            problems.add(None, "aliases", f"{alias} = {original}", f"a system of this data set: {_names(known)}")
            continue
        if alias not in known.systems:
            known.systems[alias] = System.objects.create(
                dataset=dataset, name=alias, description=f"Another name of {original}: the same outputs."
            ).pk
        credited += _credit(known, known.systems[alias], known.systems[original], alias, problems)
    return credited


def _credit(known: Known, alias_id: int, original_id: int, alias: str, problems: Problems) -> int:
    mine = {item: response for (item, system), response in known.outputs.items() if system == alias_id}
    theirs = {item: response for (item, system), response in known.outputs.items() if system == original_id}
    if any(theirs.get(item) != response for item, response in mine.items()):
        problems.add(None, "aliases", f"{alias} has outputs of its own", "a name without outputs in this data set")
        return 0
    new = {item: response for item, response in theirs.items() if item not in mine}
    ResponseSource.objects.bulk_create(
        [
            ResponseSource(response_id=response, item_id=item, kind=SourceKind.SYSTEM, system_id=alias_id)
            for item, response in new.items()
        ],
        batch_size=2000,
    )
    known.outputs |= {(item, alias_id): response for item, response in new.items()}
    return len(new)


def with_aliases(known: Known, aliases: Mapping[str, str]) -> Known:
    """The same, with each alias having its system's outputs, as it would have once stored. Nothing is written."""
    systems, outputs = dict(known.systems), dict(known.outputs)
    for alias, original in aliases.items():
        if original in known.systems:
            pk = systems.setdefault(alias, -len(systems) - 1)
            theirs = {item: one for (item, system), one in known.outputs.items() if system == known.systems[original]}
            outputs |= {(item, pk): response for item, response in theirs.items()}
    return Known(known.items, systems, outputs, known.texts)


# --- Matching ---------------------------------------------------------------------------------------------------------


def match(judgements: Iterable[Judgement], known: Known, dataset: Dataset, problems: Problems) -> list[Judged | None]:
    """The response that each judgement is about; what is not in the data set is a problem of its line."""
    found: dict[tuple[object, ...], Judged | None] = {}  # several judgements of a row are looked for, and told of, once
    matched = []
    for one in judgements:
        key = (one.line, one.place, one.item, one.system, one.text)
        if key not in found:
            found[key] = _match(one, known, dataset.normalisation, problems)
        matched.append(found[key])
    return matched


def _match(one: Judgement, known: Known, rule: str, problems: Problems) -> Judged | None:
    item = known.items.get(one.item)
    if item is None:
        one.refuse(problems, "item", one.item, "the id of an item of this data set")
        return None
    by_text = known.texts.get((item, text_key(one.text, rule))) if one.text else None
    if not one.system:
        if by_text is None:
            one.refuse(problems, "text", one.text, f"the text of a response of item {one.item}")
            return None
        return Judged(item, by_text, None)
    system = known.systems.get(one.system)
    if system is None:
        one.refuse(problems, "system", one.system, f"a system of this data set: {_names(known)}")
        return None
    response = known.outputs.get((item, system))
    if response is None:
        one.refuse(problems, "system", one.system, f"a system with an output for item {one.item}")
        return None
    if one.text and by_text != response:
        one.refuse(problems, "text", one.text, f"nothing, or the output of {one.system} for item {one.item}")
        return None
    return Judged(item, response, system)


def join_shared(content: RatingContent, matched: list[Judged | None]) -> list[Judged | None]:
    """One judgement of one response that the file repeats for each of its systems is one judgement. Counted."""
    seen: set[tuple[str, int]] = set()
    kept: list[tuple[Judgement, Judged | None]] = []
    for one, what in zip(content.judgements, matched, strict=True):
        key = (one.shared, what.response_id) if one.shared and what else None
        if key is not None and key in seen:
            content.left_out["shared_rows"] += 1
            continue
        if key is not None:
            seen.add(key)
        kept.append((one, what))
    content.judgements = [one for one, _ in kept]
    return [what for _, what in kept]


def _names(known: Known) -> str:
    return ", ".join(sorted(known.systems)) or "it has none"


# --- Storing ----------------------------------------------------------------------------------------------------------


def store_campaign(
    *,
    dataset: Dataset,
    name: str,
    content: RatingContent,
    options: RatingOptions,
    judged: list[Judged],
    source: dict[str, object],
) -> tuple[Campaign, dict[str, int]]:
    """The campaign with everything in it, and what there is in numbers. Call inside a transaction."""
    # Whoever imports into this project waits here: pseudonyms are counted on.
    Project.objects.select_for_update().get(pk=dataset.project_id)
    campaign = _campaign(dataset, name, content, options, judged, source)
    if content.aggregate:
        raters = {content.aggregate: _aggregate_rater(dataset.project, content.aggregate)}
    else:
        raters = _raters(dataset.project, content.judgements)
    units = _store_units(campaign, content.judgements, judged)
    _store_ratings(campaign, content, judged, units, raters)
    Participation.objects.bulk_create(
        [
            Participation(campaign=campaign, rater_id=pk, order_seed=0, finished_at=campaign.closed_at)
            for pk in raters.values()
        ],
        batch_size=2000,
    )
    return campaign, rating_counts(content, judged, options)


def _campaign(
    dataset: Dataset,
    name: str,
    content: RatingContent,
    options: RatingOptions,
    judged: list[Judged],
    source: dict[str, object],
) -> Campaign:
    rated = sorted({one.system_id for one in judged if one.system_id is not None})
    per_unit = Counter(Counter((one.item_id, one.system_id, one.response_id) for one in judged).values())
    design = {"imported": True, **source, "criteria": content.criteria, "options": options.as_json()}
    if content.aggregate:
        design |= {"aggregate": content.aggregate, "behind": _behind(content)}
    canonical = json.dumps(design, sort_keys=True, ensure_ascii=False)
    campaign = Campaign.objects.create(
        project=dataset.project,
        dataset=dataset,
        name=name,
        imported=True,
        state=CampaignState.CLOSED,
        target=Target.CHOSEN if rated else Target.REFERENCES,
        ratings_per_unit=min(per_unit.most_common(1)[0][0], 100),
        design=design,
        design_hash=sha256(canonical.encode()).hexdigest(),
        launched_at=Now(),
        closed_at=Now(),
    )
    campaign.refresh_from_db()
    campaign.systems.set(rated)
    low, high = options.scale
    kind, step = _scale_kind(content, low, high)
    Criterion.objects.bulk_create(
        Criterion(
            campaign=campaign,
            name=slugify(criterion)[:60],
            question=criterion[:300],
            position=position,
            kind=kind,
            step=step,
            scale_min=low,
            scale_max=high,
        )
        for position, criterion in enumerate(content.criteria)
    )
    return campaign


def _scale_kind(content: RatingContent, low: int, high: int) -> tuple[str, float]:
    """Points where every value is one of few; else a slider, which knows values between whole numbers."""
    whole = all(value is None or value.is_integer() for one in content.judgements for value in one.values)
    points = Likert.key if whole and high - low < MOST_POINTS else Slider.key
    return points, 1 if whole else 0


def _raters(project: Project, judgements: Iterable[Judgement]) -> dict[str, int]:
    """A rater for each id in the file: the same one as in earlier imports of this project."""
    identities = RaterIdentity.objects.filter(project=project, provider=IMPORT_PROVIDER)
    raters = dict(identities.values_list("external_id", "rater_id"))
    new = [external_id for external_id in dict.fromkeys(one.rater for one in judgements) if external_id not in raters]
    taken = set(Rater.objects.filter(project=project, pseudonym__startswith="J-").values_list("pseudonym", flat=True))
    free = (name for name in (f"J-{number:04d}" for number in range(1, 10**9)) if name not in taken)
    made = Rater.objects.bulk_create(
        [Rater(project=project, pseudonym=pseudonym) for _, pseudonym in zip(new, free, strict=False)], batch_size=2000
    )
    RaterIdentity.objects.bulk_create(
        [
            RaterIdentity(rater=rater, project=project, provider=IMPORT_PROVIDER, external_id=external_id)
            for rater, external_id in zip(made, new, strict=True)
        ],
        batch_size=2000,
    )
    raters |= {external_id: rater.pk for external_id, rater in zip(new, made, strict=True)}
    return {one.rater: raters[one.rater] for one in judgements}


def _aggregate_rater(project: Project, kind: str) -> int:
    """Who stands for all the raters that only a median or mean is left of; the same in every campaign of a project."""
    identity = RaterIdentity.objects.filter(project=project, provider=AGGREGATE_PROVIDER, external_id=kind).first()
    if identity is not None:
        return identity.rater_id
    taken = set(Rater.objects.filter(project=project, pseudonym__startswith=kind).values_list("pseudonym", flat=True))
    name = next(name for name in (kind, *(f"{kind}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)
    rater = Rater.objects.create(project=project, pseudonym=name)
    RaterIdentity.objects.create(rater=rater, project=project, provider=AGGREGATE_PROVIDER, external_id=kind)
    return rater.pk


def _behind(content: RatingContent) -> dict[str, int]:
    """How many ratings the file says are behind its medians or means; empty where it does not say."""
    n = content.stated_n
    return {"rows": len(n), "least": min(n), "most": max(n), "all": sum(n)} if n else {}


def _store_units(campaign: Campaign, judgements: list[Judgement], judged: list[Judged]) -> dict[Judged, int]:
    """A unit for each item and judged name (or text), in order of first appearance."""
    labels = {what: one.system for one, what in zip(judgements, judged, strict=True)}
    units = dict(zip(labels, allocate_ids(Unit, len(labels)), strict=True))
    copy_rows(
        Unit,
        ["id", "campaign_id", "item_id", "position", "label", "systems", "done_slots"],
        (
            (
                pk,
                campaign.pk,
                what.item_id,
                position,
                labels[what],
                [] if what.system_id is None else [what.system_id],
                0,
            )
            for position, (what, pk) in enumerate(units.items())
        ),
    )
    copy_rows(
        UnitResponse, ["unit_id", "response_id", "number"], ((pk, what.response_id, 0) for what, pk in units.items())
    )
    return units


def _store_ratings(
    campaign: Campaign, content: RatingContent, judged: list[Judged], units: dict[Judged, int], raters: dict[str, int]
) -> None:
    criteria = list(campaign.criteria.order_by("position").values_list("pk", flat=True))
    presentations = allocate_ids(Presentation, len(judged))
    together = list(zip(presentations, content.judgements, judged, strict=True))
    copy_rows(
        Presentation,
        [
            "id",
            "campaign_id",
            "unit_id",
            "rater_id",
            "token",
            "outcome",
            "order",
            "shown_at",
            "ended_at",
            "seconds_given",
            "source_row",
        ],
        (
            (
                pk,
                campaign.pk,
                units[what],
                raters[one.rater],
                uuid.uuid4(),
                PresentationOutcome.IMPORTED.value,
                [0],
                one.shown,
                one.time,
                one.seconds,
                one.line,
            )
            for pk, one, what in together
        ),
    )
    copy_rows(
        Rating,
        [
            "campaign_id",
            "presentation_id",
            "response_id",
            "rater_id",
            "criterion_id",
            "rated_as_id",
            "value",
            "revision",
            "extra",
            "sent_at",
        ],
        (
            (campaign.pk, pk, what.response_id, raters[one.rater], criterion, what.system_id, value, 0, False, one.time)
            for pk, one, what in together
            for criterion, value in zip(criteria, one.values, strict=True)
            if value is not None
        ),
    )


# --- What it says -----------------------------------------------------------------------------------------------------


def rating_counts(content: RatingContent, judged: list[Judged], options: RatingOptions) -> dict[str, int]:
    """Counts of one import; a repeated judgement is a further row of one rater, item and system (or text)."""
    repeats: dict[tuple[str, Judged], list[tuple[float | None, ...]]] = defaultdict(list)
    names: dict[int, set[int | None]] = defaultdict(set)
    meetings: dict[tuple[str, int], set[int | None]] = defaultdict(set)
    for one, what in zip(content.judgements, judged, strict=True):
        repeats[one.rater, what].append(one.values)
        names[what.response_id].add(what.system_id)
        meetings[one.rater, what.response_id].add(what.system_id)
    return {
        "rows": content.rows,
        "rows_of_other_systems": content.rows_of_other_systems,
        "judgements": len(judged),
        "ratings": content.n_ratings,
        **({} if content.aggregate else {"raters": len({one.rater for one in content.judgements})}),
        "rated_items": len({what.item_id for what in judged}),
        "rated_systems": len({what.system_id for what in judged} - {None}),
        "rated_responses": len(names),
        "repeated_judgements": sum(len(values) - 1 for values in repeats.values()),
        "repeated_differing": sum(sum(value != values[0] for value in values[1:]) for values in repeats.values()),
        "alias_judgements": sum(one.system in options.aliases for one in content.judgements),
        "responses_under_several_names": sum(len(systems) > 1 for systems in names.values()),
        "raters_met_text_under_several_names": sum(len(systems) > 1 for systems in meetings.values()),
        "behind_aggregates": sum(content.stated_n),
        **content.left_out,
    }
