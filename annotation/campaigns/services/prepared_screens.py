"""Write check, training and test screens at launch: those of the manager, and those made from the units."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from annotation.allocation.degrade import degrade
from annotation.allocation.handout import order_keys
from annotation.allocation.seeds import derive_seed
from annotation.allocation.units import PlannedUnit
from annotation.campaigns.design.quality import PREPARED, PreparedScreen, QualificationDesign, QualityDesign
from annotation.campaigns.selectors import standards_of
from annotation.core.dialogues import joined, rated_turns, with_texts
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, CheckUnit, Item, Purpose, Response, ResponseSource, SourceKind

Text = dict[str, Any]


class _Base(NamedTuple):
    """A unit that a check is made from: its item and its texts."""

    item: Item
    responses: list[Response]

    @property
    def texts(self) -> list[Text]:
        return [_plain(response) for response in self.responses]


def prepared_create(campaign: Campaign, units: Sequence[PlannedUnit]) -> None:
    """Write all check, training and test screens of a campaign that is being launched."""
    quality = QualityDesign.from_dict(campaign.quality)
    designs = {"quality": quality, "qualification": QualificationDesign.from_dict(campaign.qualification)}
    written: dict[str, tuple[PreparedScreen, ...]] = {
        kind.key: getattr(designs[kind.field], kind.key) for kind in PREPARED.values()
    }
    items = _items_named(campaign, [screen for screens in written.values() for screen in screens])
    checks = [
        _from_screen(campaign, Purpose(kind), number, screen, items.get(screen.item))
        for kind, screens in written.items()
        for number, screen in enumerate(screens)
    ]
    if quality.degraded_count and Purpose.DEGRADED in quality.mix:
        degraded = _degraded(campaign, quality, units)
        checks += _from_units(campaign, Purpose.DEGRADED, islice(degraded, quality.degraded_count))
    if quality.anchor_count and Purpose.ANCHOR in quality.mix:
        anchors = _from_units(
            campaign, Purpose.ANCHOR, islice(_anchors(campaign, quality, units), quality.anchor_count)
        )
        if not anchors:
            needs = "Human anchors need items with an original or human reference"
            raise AnnotationError(f"{needs}; there is none among those to be rated.")
        checks += anchors
    standards = standards_of(campaign)
    checked = [check for check in checks if check.item_id in standards]
    texts = Response.objects.in_bulk({standards[check.item_id or 0] for check in checked})
    for check in checked:
        check.standard = texts[standards[check.item_id or 0]].text
    CheckUnit.objects.bulk_create(checks, batch_size=1000)


def prepared_hash(campaign: Campaign) -> str:
    """Return SHA-256 over what these screens show and expect, without this database's ids; empty without screens."""
    digest, some = hashlib.sha256(), False
    checks = CheckUnit.objects.filter(campaign=campaign).order_by("kind", "number").select_related("item")
    for unit in checks.iterator(1000):
        some = True
        texts = [{name: value for name, value in text.items() if name != "response"} for text in unit.texts]
        item = unit.item.external_id if unit.item else ""
        record = [unit.kind, unit.number, item, unit.context, unit.message, texts, unit.standard, unit.feedback]
        digest.update(json.dumps(record, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest() if some else ""


# --- Prepared by hand -------------------------------------------------------------------------------------------------


def _items_named(campaign: Campaign, screens: Sequence[PreparedScreen]) -> dict[str, Item]:
    names = {screen.item for screen in screens if screen.item}
    items = {item.external_id: item for item in campaign.dataset.items.filter(external_id__in=names)}
    if missing := sorted(names - items.keys()):
        raise AnnotationError(f"Check items name items that the data set does not hold: {', '.join(missing[:5])}.")
    return items


def _from_screen(
    campaign: Campaign, kind: Purpose, number: int, screen: PreparedScreen, item: Item | None
) -> CheckUnit:
    texts = [
        {**text.to_dict(), "role": kind.value if text.expected else "plain", "response": None} for text in screen.texts
    ]
    check = _check_unit(campaign, kind, number, item, texts)
    check.feedback = screen.feedback
    if item is None or screen.context or screen.message:
        check.context, check.message = list(screen.context), screen.message
    return check


# --- Made from the units ----------------------------------------------------------------------------------------------


def _from_units(campaign: Campaign, kind: Purpose, screens: Iterable[tuple[Item, list[Text]]]) -> list[CheckUnit]:
    return [_check_unit(campaign, kind, number, item, texts) for number, (item, texts) in enumerate(screens)]


def _degraded(
    campaign: Campaign, quality: QualityDesign, units: Sequence[PlannedUnit]
) -> Iterator[tuple[Item, list[Text]]]:
    """Yield units with one of their texts made worse, which is expected to be rated lower."""
    bases = _sample(units, quality.degraded_count * 2, derive_seed(campaign.seed, "degraded"))
    for index, base in enumerate(bases):
        seed = derive_seed(campaign.seed, "degraded", index)
        at = seed % len(base.responses)
        other = bases[(index + 1) % len(bases)]
        foreign = other.responses[0] if other.item.pk != base.item.pk else None
        worse = _worse(base.responses[at], foreign, seed=seed, operations=quality.degradations)
        if worse is not None:
            texts = base.texts
            texts[at] |= worse | {"role": "degraded"}
            yield base.item, texts


def _worse(response: Response, other: Response | None, *, seed: int, operations: Sequence[str]) -> Text | None:
    """Return a text made worse, and by which operation; of a dialogue, each turn of the system that can be."""
    if response.turns is None:
        worse = degrade(response.text, seed=seed, other_text=other.text if other else None, operations=operations)
        return worse._asdict() if worse else None
    others = (other.turns if other else None) or []
    foreign = " ".join(others[place]["text"] for place in rated_turns(others))
    changed = {}
    for place in rated_turns(response.turns):
        text = response.turns[place]["text"]
        worse = degrade(text, seed=derive_seed(seed, place), other_text=foreign or None, operations=operations)
        if worse is not None:
            changed[place] = worse
    if not changed:
        return None
    turns = with_texts(response.turns, {place: worse.text for place, worse in changed.items()})
    return {"text": joined(turns), "turns": turns, "operation": next(iter(changed.values())).operation}


def _anchors(
    campaign: Campaign, quality: QualityDesign, units: Sequence[PlannedUnit]
) -> Iterator[tuple[Item, list[Text]]]:
    """Yield units with one text replaced by a person's, expected in the upper half of each scale or from ``low``."""
    human = _human_texts(campaign)
    criteria = list(campaign.criteria.all())
    ranges = {each.name: each.scale.high_range(quality.anchor_low.get(each.name)) for each in criteria}
    expected = {each.name: ranges[each.name] for each in criteria if not each.by_turn}
    among = [unit for unit in units if unit.item in human]
    for index, base in enumerate(_sample(among, quality.anchor_count * 2, derive_seed(campaign.seed, "anchor"))):
        person = human[base.item.pk]
        others = [response for response in base.responses if response.pk != person.pk]
        if len(base.responses) > 1 and len(others) < len(base.responses):
            continue  # the screen shows that text already
        texts = base.texts
        at = derive_seed(campaign.seed, "anchor", index) % len(texts)
        texts[at] = _plain(person) | {"role": "anchor", "expected": expected}
        yield base.item, texts


def _human_texts(campaign: Campaign) -> dict[int, Response]:
    """Return the text that a person gave for each item: the original response if there is one."""
    sources = ResponseSource.objects.filter(
        item__dataset=campaign.dataset, kind__in=[SourceKind.SEED, SourceKind.HUMAN]
    ).select_related("response")
    ranked = sorted(sources, key=lambda source: (source.kind != SourceKind.SEED, source.pk))
    return {source.item_id: source.response for source in reversed(ranked) if source.response.text.strip()}


def _sample(units: Sequence[PlannedUnit], count: int, seed: int) -> list[_Base]:
    """Return up to ``count`` units in an order that only the seed decides."""
    chosen = [units[index] for index in np.argsort(order_keys(seed, np.arange(len(units))))[:count].tolist()]
    items = Item.objects.in_bulk({unit.item for unit in chosen})
    responses = Response.objects.in_bulk({response for unit in chosen for response in unit.responses})
    return [_Base(items[unit.item], [responses[pk] for pk in unit.responses]) for unit in chosen]


def _plain(response: Response) -> Text:
    plain: Text = {"text": response.text, "role": "plain", "response": response.pk, "expected": {}}
    return plain if response.turns is None else plain | {"turns": response.turns}


def _check_unit(campaign: Campaign, kind: Purpose, number: int, item: Item | None, texts: list[Text]) -> CheckUnit:
    check = CheckUnit(campaign=campaign, kind=kind, number=number, item=item, texts=texts)
    if item is not None:
        check.context, check.message = item.context, item.message
        check.meaning_representation = item.meaning_representation
    return check
