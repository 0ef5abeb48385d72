"""Judgements collected elsewhere, matched with a data set and stored as a closed campaign, in one transaction."""

import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

from django.db.models import Model
from django.db.models.functions import Now
from django.utils.text import slugify

from annotation.campaigns.scales import Likert, Slider
from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.near_names import did_you_mean
from annotation.core.normalisation import text_key
from annotation.core.problems import Problems
from annotation.core.races import refused_if_taken
from annotation.datasets.services.export import dataset_rehash
from annotation.judgements.services.content import Judgement, RatingContent, add_problem
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
from annotation.models.identities import IdentityUnreadable, of_unknown_key, texts_by_digest

MOST_POINTS = 20


class Judged(NamedTuple):
    """What a judgement is about, by ids of the database."""

    item_id: int
    response_id: int
    system_id: int | None


@dataclass
class DatasetIndex:
    """The items, systems and texts of a data set, by what judgements may call them."""

    items: dict[str, int]
    systems: dict[str, int]
    outputs: dict[tuple[int, int], int]  # (item, system): response
    texts: dict[tuple[int, str], int] = field(default_factory=dict)  # (item, text key): response

    def outputs_of(self, system: int) -> dict[int, int]:
        """Return a system's responses by item."""
        return {item: response for (item, owner), response in self.outputs.items() if owner == system}


def dataset_index(dataset: Dataset, content: RatingContent) -> DatasetIndex:
    """Return the index of a data set; with texts only if the file names responses by them."""
    sources = ResponseSource.objects.filter(system__dataset=dataset)
    index = DatasetIndex(
        items=dict(Item.objects.filter(dataset=dataset).order_by().values_list("external_id", "pk")),
        systems=dict(System.objects.filter(dataset=dataset).order_by().values_list("name", "pk")),
        outputs={
            (item, system): response
            for item, system, response in sources.order_by().values_list("item_id", "system_id", "response_id")
        },
    )
    if any(judgement.text for judgement in content.judgements):
        responses = Response.objects.filter(item__dataset=dataset).order_by()
        index.texts = {(item, key): pk for item, key, pk in responses.values_list("item_id", "text_key", "pk")}
    return index


# --- Aliases ----------------------------------------------------------------------------------------------------------


def store_aliases(dataset: Dataset, index: DatasetIndex, aliases: dict[str, str], problems: Problems) -> int:
    """Credit a system's outputs to its other name, too; return the number of outputs newly credited."""
    credited = 0
    for alias, original in aliases.items():
        if original not in index.systems:
            problems.add(None, "aliases", f"{alias} = {original}", f"a system of this data set: {_names(index)}")
            continue
        if alias not in index.systems:
            index.systems[alias] = System.objects.create(
                dataset=dataset, name=alias, description=f"Another name of {original}: the same outputs."
            ).pk
        credited += _credit(index, index.systems[alias], index.systems[original], alias, problems)
    if credited:
        dataset_rehash(dataset)
    return credited


def _credit(index: DatasetIndex, alias_id: int, original_id: int, alias: str, problems: Problems) -> int:
    credited, outputs = index.outputs_of(alias_id), index.outputs_of(original_id)
    if any(outputs.get(item) != response for item, response in credited.items()):
        problems.add(None, "aliases", f"{alias} has outputs of its own", "a name without outputs in this data set")
        return 0
    new = {item: response for item, response in outputs.items() if item not in credited}
    ResponseSource.objects.bulk_create(
        [
            ResponseSource(response_id=response, item_id=item, kind=SourceKind.SYSTEM, system_id=alias_id)
            for item, response in new.items()
        ],
        batch_size=2000,
    )
    index.outputs |= {(item, alias_id): response for item, response in new.items()}
    return len(new)


def with_aliases(index: DatasetIndex, aliases: Mapping[str, str]) -> DatasetIndex:
    """Return the index as it would be once the aliases are stored. Nothing is written."""
    systems, outputs = dict(index.systems), dict(index.outputs)
    for alias, original in aliases.items():
        if original in index.systems:
            pk = systems.setdefault(alias, -len(systems) - 1)
            outputs |= {(item, pk): response for item, response in index.outputs_of(index.systems[original]).items()}
    return replace(index, systems=systems, outputs=outputs)


# --- Matching ---------------------------------------------------------------------------------------------------------


def match(
    judgements: Iterable[Judgement], index: DatasetIndex, dataset: Dataset, problems: Problems
) -> list[Judged | None]:
    """Return the response of each judgement; what is not in the data set is a problem of its line."""
    matches: dict[tuple[object, ...], Judged | None] = {}  # so that judgements of one row share one problem
    matched = []
    for judgement in judgements:
        key = (judgement.line, judgement.path, judgement.item, judgement.system, judgement.text)
        if key not in matches:
            matches[key] = _match(judgement, index, dataset.normalisation, problems)
        matched.append(matches[key])
    return matched


def _match(judgement: Judgement, index: DatasetIndex, rule: str, problems: Problems) -> Judged | None:
    def refuse(name: str, accepted: str | Callable[[], str]) -> Judged | None:
        add_problem(judgement, problems, name, getattr(judgement, name), accepted)
        return None

    item = index.items.get(judgement.item)
    if item is None:
        return refuse("item", "the id of an item of this data set")
    by_text = index.texts.get((item, text_key(judgement.text, rule))) if judgement.text else None
    if not judgement.system:
        if by_text is None:
            return refuse("text", f"the text of a response of item {judgement.item}")
        return Judged(item, by_text, None)
    system = index.systems.get(judgement.system)
    if system is None:
        return refuse("system", partial(_known_system, judgement.system, index))
    response = index.outputs.get((item, system))
    if response is None:
        return refuse("system", f"a system with an output for item {judgement.item}")
    if judgement.text and by_text != response:
        return refuse("text", f"nothing, or the output of {judgement.system} for item {judgement.item}")
    return Judged(item, response, system)


def join_shared(content: RatingContent, matched: list[Judged | None]) -> list[Judged | None]:
    """Keep one of the judgements that a file repeats for each system of one response, and count the others."""
    seen: set[tuple[str, int]] = set()
    pairs: list[tuple[Judgement, Judged | None]] = []
    for judgement, judged in zip(content.judgements, matched, strict=True):
        key = (judgement.shared, judged.response_id) if judgement.shared and judged else None
        if key in seen:
            content.left_out["shared_rows"] += 1
            continue
        if key is not None:
            seen.add(key)
        pairs.append((judgement, judged))
    content.judgements = [judgement for judgement, _ in pairs]
    return [judged for _, judged in pairs]


def _known_system(name: str, index: DatasetIndex) -> str:
    return f"a system of this data set: {_names(index)}{did_you_mean(name, sorted(index.systems))}"


def _names(index: DatasetIndex) -> str:
    return ", ".join(sorted(index.systems)) or "it has none"


# --- Storing ----------------------------------------------------------------------------------------------------------


def store_campaign(
    *, dataset: Dataset, name: str, content: RatingContent, judged: list[Judged], source: dict[str, object]
) -> tuple[Campaign, dict[str, int]]:
    """Store the campaign with everything in it; return it with its counts. Call inside a transaction."""
    # Other imports into this project wait here: pseudonyms are counted on.
    Project.objects.select_for_update(no_key=True).get(pk=dataset.project_id)
    with refused_if_taken("campaign_name_once_per_project", campaign_name_taken(name)):
        campaign = _campaign(dataset, name, content, judged, source)
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
    return campaign, rating_counts(content, judged)


def campaign_name_taken(name: str) -> AnnotationError:
    return AnnotationError.at("name", f"Name: this project has a campaign {name!r} already; choose another name.")


def _campaign(
    dataset: Dataset, name: str, content: RatingContent, judged: list[Judged], source: dict[str, object]
) -> Campaign:
    rated = sorted({response.system_id for response in judged if response.system_id is not None})
    per_unit = Counter(
        Counter((response.item_id, response.system_id, response.response_id) for response in judged).values()
    )
    options = content.options
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
    Criterion.objects.bulk_create(
        Criterion(
            campaign=campaign,
            name=slugify(criterion)[:60],
            question=criterion[:300],
            position=position,
            **_scale(content, position),
        )
        for position, criterion in enumerate(content.criteria)
    )
    return campaign


def _scale(content: RatingContent, index: int) -> dict[str, Any]:
    """Choose points if every value is one of few; else a slider, which has values between whole numbers."""
    low, high = content.options.scale_of(content.criteria[index])
    values = (judgement.values[index] for judgement in content.judgements)
    whole = all(value is None or value.is_integer() for value in values)
    points = Likert.key if whole and high - low < MOST_POINTS else Slider.key
    return {"kind": points, "step": 1 if whole else 0, "scale_min": low, "scale_max": high}


def _raters(project: Project, judgements: Iterable[Judgement]) -> dict[str, int]:
    """Return a rater for each id in the file: the same as in earlier imports of this project."""
    identities = RaterIdentity.objects.filter(project=project, provider=RaterIdentity.IMPORT)
    if identities.filter(of_unknown_key()).exists():  # the same raters would become others
        raise IdentityUnreadable
    named = dict.fromkeys(judgement.rater for judgement in judgements)
    name_of = texts_by_digest(named)
    known = identities.filter(digest__in=list(name_of)).order_by("-pk").values_list("digest", "rater_id")
    raters = {name_of[digest]: rater for digest, rater in known}  # the earliest of each name
    new = [external_id for external_id in named if external_id not in raters]
    taken = set(Rater.objects.filter(project=project, pseudonym__startswith="J-").values_list("pseudonym", flat=True))
    free = (name for name in (f"J-{number:04d}" for number in range(1, 10**9)) if name not in taken)
    created = Rater.objects.bulk_create(
        [Rater(project=project, pseudonym=pseudonym) for _, pseudonym in zip(new, free, strict=False)], batch_size=2000
    )
    RaterIdentity.objects.bulk_create(
        [_identity(rater, external_id) for rater, external_id in zip(created, new, strict=True)],
        batch_size=2000,
    )
    raters |= {external_id: rater.pk for external_id, rater in zip(new, created, strict=True)}
    return {external_id: raters[external_id] for external_id in named}


def _identity(rater: Rater, external_id: str) -> RaterIdentity:
    identity = RaterIdentity(rater=rater, project=rater.project, provider=RaterIdentity.IMPORT)
    identity.external_id = external_id
    return identity


def _aggregate_rater(project: Project, kind: str) -> int:
    """Return the stand-in for the raters behind medians or means, the same in every campaign of a project."""
    identity = RaterIdentity.objects.filter(project=project, provider=RaterIdentity.AGGREGATE, local_id=kind).first()
    if identity is not None:
        return identity.rater_id
    taken = set(Rater.objects.filter(project=project, pseudonym__startswith=kind).values_list("pseudonym", flat=True))
    name = next(name for name in (kind, *(f"{kind}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)
    rater = Rater.objects.create(project=project, pseudonym=name)
    RaterIdentity.objects.create(rater=rater, project=project, provider=RaterIdentity.AGGREGATE, local_id=kind)
    return rater.pk


def _behind(content: RatingContent) -> dict[str, int]:
    """Return how many ratings are behind the medians or means; empty if the file does not say."""
    n = content.stated_n
    return {"rows": len(n), "least": min(n), "most": max(n), "all": sum(n)} if n else {}


def _store_units(campaign: Campaign, judgements: list[Judgement], judged: list[Judged]) -> dict[Judged, int]:
    """Store a unit for each item and judged name (or text), in order of first appearance."""
    labels = {response: judgement.system for judgement, response in zip(judgements, judged, strict=True)}
    units = dict(zip(labels, allocate_ids(Unit, len(labels)), strict=True))
    _copy(
        Unit,
        (
            {
                "id": pk,
                "campaign_id": campaign.pk,
                "item_id": response.item_id,
                "position": position,
                "label": labels[response],
                "systems": [] if response.system_id is None else [response.system_id],
                "done_slots": 0,
                "ratings_wanted": campaign.ratings_per_unit,
            }
            for position, (response, pk) in enumerate(units.items())
        ),
    )
    shown = ({"unit_id": pk, "response_id": response.response_id, "number": 0} for response, pk in units.items())
    _copy(UnitResponse, shown)
    return units


def _store_ratings(
    campaign: Campaign, content: RatingContent, judged: list[Judged], units: dict[Judged, int], raters: dict[str, int]
) -> None:
    criteria = list(campaign.criteria.order_by("position").values_list("pk", flat=True))
    presentations = allocate_ids(Presentation, len(judged))
    together = list(zip(presentations, content.judgements, judged, strict=True))
    _copy(
        Presentation,
        (
            {
                "id": pk,
                "campaign_id": campaign.pk,
                "unit_id": units[response],
                "rater_id": raters[judgement.rater],
                "token": uuid.uuid4(),
                "outcome": PresentationOutcome.IMPORTED.value,
                "order": [0],
                "shown_at": judgement.shown,
                "ended_at": judgement.time,
                "seconds_given": judgement.seconds,
                "source_row": judgement.line,
            }
            for pk, judgement, response in together
        ),
    )
    _copy(
        Rating,
        (
            {
                "campaign_id": campaign.pk,
                "presentation_id": pk,
                "response_id": response.response_id,
                "rater_id": raters[judgement.rater],
                "criterion_id": criterion,
                "rated_as_id": response.system_id,
                "value": value,
                "revision": 0,
                "extra": False,
                "sent_at": judgement.time,
            }
            for pk, judgement, response in together
            for criterion, value in zip(criteria, judgement.values, strict=True)
            if value is not None
        ),
    )


def _copy(model: type[Model], rows: Iterator[Mapping[str, object]]) -> None:
    """Append rows, all with the same columns."""
    first = next(rows, None)
    if first is not None:
        copy_rows(model, list(first), (list(row.values()) for row in chain([first], rows)))


# --- Counts -----------------------------------------------------------------------------------------------------------


def rating_counts(content: RatingContent, judged: list[Judged]) -> dict[str, int]:
    """Return the counts of an import; a repeated judgement is a further row of one rater, item and system (or text)."""
    repeats: dict[tuple[str, Judged], list[tuple[float | None, ...]]] = defaultdict(list)
    names: dict[int, set[int | None]] = defaultdict(set)
    meetings: dict[tuple[str, int], set[int | None]] = defaultdict(set)
    for judgement, response in zip(content.judgements, judged, strict=True):
        repeats[judgement.rater, response].append(judgement.values)
        names[response.response_id].add(response.system_id)
        meetings[judgement.rater, response.response_id].add(response.system_id)
    n_met = sum(len(systems) > 1 for systems in meetings.values())
    return {
        "rows": content.rows,
        "rows_of_other_systems": content.rows_of_other_systems,
        "judgements": len(judged),
        "ratings": content.n_ratings,
        **({} if content.aggregate else {"raters": len({judgement.rater for judgement in content.judgements})}),
        "rated_items": len({response.item_id for response in judged}),
        "rated_systems": len({response.system_id for response in judged} - {None}),
        "rated_responses": len(names),
        "repeated_judgements": sum(len(values) - 1 for values in repeats.values()),
        "repeated_differing": sum(sum(value != values[0] for value in values[1:]) for values in repeats.values()),
        "alias_judgements": sum(judgement.system in content.options.aliases for judgement in content.judgements),
        "responses_under_several_names": sum(len(systems) > 1 for systems in names.values()),
        **({} if content.aggregate else {"raters_met_text_under_several_names": n_met}),
        "behind_aggregates": sum(content.stated_n),
        "scales_inferred": len(content.inferred),
        **content.left_out,
    }
