"""The screens that are no work, written at launch: what the manager prepared, and what is made from the units."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from annotation.allocation.degrade import degrade
from annotation.allocation.handout import order_keys
from annotation.allocation.seeds import derive_seed
from annotation.allocation.units import PlannedUnit
from annotation.campaigns.design import PreparedScreen, QualificationDesign, QualityDesign
from annotation.campaigns.scales import with_standard
from annotation.core.errors import AnnotationError
from annotation.models import (
    Campaign,
    CheckUnit,
    Item,
    Purpose,
    Response,
    ResponseSource,
    SourceKind,
)

Text = dict[str, Any]


class _Base(NamedTuple):
    """A unit that a check is made from: its item and its texts."""

    item: Item
    responses: list[Response]


def prepared_create(campaign: Campaign, units: Sequence[PlannedUnit]) -> None:
    """Write all check, training and test screens of a campaign that is being launched."""
    quality = QualityDesign.from_dict(campaign.quality)
    qualification = QualificationDesign.from_dict(campaign.qualification)
    written: dict[Purpose, tuple[PreparedScreen, ...]] = {
        Purpose.GOLD: quality.gold,
        Purpose.ATTENTION: quality.attention,
        Purpose.TRAINING: qualification.training,
        Purpose.TEST: qualification.test,
    }
    items = _items_named(campaign, [screen for screens in written.values() for screen in screens])
    made = [
        _from_screen(campaign, kind, number, screen, items)
        for kind, screens in written.items()
        for number, screen in enumerate(screens)
    ]
    if quality.degraded_count and Purpose.DEGRADED in quality.mix:
        made += _degraded(campaign, quality, units)
    if quality.anchor_count and Purpose.ANCHOR in quality.mix:
        made += _anchors(campaign, quality, units)
    CheckUnit.objects.bulk_create(made, batch_size=1000)


def prepared_hash(campaign: Campaign) -> str:
    """SHA-256 over what these screens show and expect, without this database's ids; empty where there are none."""
    digest, some = hashlib.sha256(), False
    found = CheckUnit.objects.filter(campaign=campaign).order_by("kind", "number").select_related("item")
    for unit in found.iterator(1000):
        some = True
        texts = [{name: value for name, value in text.items() if name != "response"} for text in unit.texts]
        item = unit.item.external_id if unit.item else ""
        record = [unit.kind, unit.number, item, unit.context, unit.message, texts, unit.standard, unit.feedback]
        digest.update(json.dumps(record, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest() if some else ""


# --- Prepared by hand -------------------------------------------------------------------------------------------------


def _items_named(campaign: Campaign, screens: Sequence[PreparedScreen]) -> dict[str, Item]:
    names = {screen.item for screen in screens if screen.item}
    items = Item.objects.filter(dataset=campaign.dataset, external_id__in=names)
    found = {item.external_id: item for item in items}
    if missing := sorted(names - found.keys()):
        raise AnnotationError(f"Check screens name items that the data set does not hold: {', '.join(missing[:5])}.")
    return found


def _from_screen(
    campaign: Campaign, kind: Purpose, number: int, screen: PreparedScreen, items: Mapping[str, Item]
) -> CheckUnit:
    item = items.get(screen.item)
    texts = [
        {
            "text": one.text,
            "role": kind.value if one.expected else "plain",
            "response": None,
            "expected": {name: list(ends) for name, ends in one.expected.items()},
        }
        for one in screen.texts
    ]
    shown = item if item is not None and not (screen.context or screen.message) else None
    return CheckUnit(
        campaign=campaign,
        kind=kind,
        number=number,
        item=item,
        context=shown.context if shown else list(screen.context),
        message=shown.message if shown else screen.message,
        meaning_representation=item.meaning_representation if item else "",
        texts=texts,
        standard=_standard(campaign, item),
        feedback=screen.feedback,
    )


# --- Made from the units ----------------------------------------------------------------------------------------------


def _degraded(campaign: Campaign, quality: QualityDesign, units: Sequence[PlannedUnit]) -> Iterator[CheckUnit]:
    """Units of the campaign with one of their texts made worse. Nothing is expected of it but to be rated lower."""
    bases = _sample(units, quality.degraded_count * 2, derive_seed(campaign.seed, "degraded"))
    number = 0
    for place, base in enumerate(bases):
        if number == quality.degraded_count:
            return
        seed = derive_seed(campaign.seed, "degraded", place)
        at = seed % len(base.responses)
        other = bases[(place + 1) % len(bases)]
        foreign = other.responses[0].text if other.item.pk != base.item.pk else None
        worse = degrade(base.responses[at].text, seed=seed, other_text=foreign, operations=quality.degradations)
        if worse is None:
            continue
        texts = [_plain(response) for response in base.responses]
        texts[at] |= {"text": worse.text, "role": "degraded", "operation": worse.operation}
        yield _made(campaign, Purpose.DEGRADED, number, base.item, texts)
        number += 1


def _anchors(campaign: Campaign, quality: QualityDesign, units: Sequence[PlannedUnit]) -> Iterator[CheckUnit]:
    """Units with one of their texts replaced by a person's: expected high, at least the upper half of each scale."""
    human = _human_texts(campaign)
    wanted = [unit for unit in units if unit.item in human]
    criteria = list(campaign.criteria.all())
    bases = _sample(wanted, quality.anchor_count * 2, derive_seed(campaign.seed, "anchor"))
    number = 0
    for place, base in enumerate(bases):
        if number == quality.anchor_count:
            return
        person = human[base.item.pk]
        others = [response for response in base.responses if response.pk != person.pk]
        if len(base.responses) > 1 and len(others) < len(base.responses):
            continue  # the screen shows that text already
        at = derive_seed(campaign.seed, "anchor", place) % len(base.responses)
        texts = [_plain(response) for response in base.responses]
        expected = {one.name: one.scale.high_range(quality.anchor_low.get(one.name)) for one in criteria}
        texts[at] = _plain(person) | {"role": "anchor", "expected": expected}
        yield _made(campaign, Purpose.ANCHOR, number, base.item, texts)
        number += 1
    if number == 0:
        raise AnnotationError(
            "Human anchors need items with an original or human reference; there is none among those to be rated."
        )


def _human_texts(campaign: Campaign) -> dict[int, Response]:
    """Item to the text a person gave for it: the original response where there is one."""
    found = ResponseSource.objects.filter(
        item__dataset=campaign.dataset, kind__in=[SourceKind.SEED, SourceKind.HUMAN]
    ).select_related("response")
    ranked = sorted(found, key=lambda source: (source.kind != SourceKind.SEED, source.pk))
    return {source.item_id: source.response for source in reversed(ranked) if source.response.text.strip()}


def _sample(units: Sequence[PlannedUnit], count: int, seed: int) -> list[_Base]:
    """Up to ``count`` units in an order that only the seed decides."""
    chosen = [units[place] for place in np.argsort(order_keys(seed, np.arange(len(units))))[:count].tolist()]
    items = Item.objects.in_bulk({unit.item for unit in chosen})
    responses = Response.objects.in_bulk({response for unit in chosen for response in unit.responses})
    return [_Base(items[unit.item], [responses[pk] for pk in unit.responses]) for unit in chosen]


def _plain(response: Response) -> Text:
    return {"text": response.text, "role": "plain", "response": response.pk, "expected": {}}


def _made(campaign: Campaign, kind: Purpose, number: int, item: Item, texts: list[Text]) -> CheckUnit:
    return CheckUnit(
        campaign=campaign,
        kind=kind,
        number=number,
        item=item,
        context=item.context,
        message=item.message,
        meaning_representation=item.meaning_representation,
        texts=texts,
        standard=_standard(campaign, item),
    )


def _standard(campaign: Campaign, item: Item | None) -> str:
    """The standard text of the item, where the campaign asks for magnitudes."""
    criterion = with_standard(campaign.criteria.all())
    if criterion is None or item is None:
        return ""
    named = ResponseSource.objects.filter(item=item).order_by("rank", "pk").select_related("response", "system")
    for source in named:
        if criterion.standard_source in (source.kind, source.system.name if source.system else ""):
            return source.response.text
    return ""
