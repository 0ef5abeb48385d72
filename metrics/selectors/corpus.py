"""The texts of a score run: hypotheses of systems, and weighted references of a release or a data set's own."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count, QuerySet

from annotation.core.canonical import canonical_json
from annotation.models import Dataset, Item, Release, ReleaseWeight, Response, ResponseSource, SourceKind, System
from metrics.subsets import Subset

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Reference = tuple[int, str, float, bool]  # response id, text, weight, whether it is the original
DIGESTED_AT_ONCE = 10_000
REFERENCE_TEXT = ("item__external_id", "response__text")
PROMPT = ("meaning_representation", "context", "message")
NO_REFERENCE = "no reference in the release"
NO_PLAIN_REFERENCE = "no reference in the data set"
NO_POSITIVE = "no reference with a positive weight"
NO_OUTPUT = "not every system has an output"
NO_OUTPUT_AT_ALL = "no system has an output"
NO_TEXT = (0, "")  # where a system has no output


@dataclass(frozen=True)
class Corpus:
    """T systems, S items, R references; references are grouped by item, in the order of the items.

    A system without an output for an item has an empty text there, and 0 as its response id.
    """

    systems: Sequence[System]
    item_ids: IntArray  # (S,)
    external_ids: Sequence[str]
    sources: Sequence[str]  # S messages
    hypotheses: Sequence[Sequence[str]]  # T lists of S texts
    hypothesis_ids: IntArray  # (T, S) response ids
    references: Sequence[Sequence[str]]  # S lists
    reference_ids: IntArray  # (R,) response ids
    weights: npt.NDArray[np.float64]  # (R,)
    is_original: npt.NDArray[np.bool_]  # (R,)
    dropped: dict[str, list[str]]  # reason to external ids of items left out

    @cached_property
    def answered(self) -> BoolArray:
        """Return whether each system has an output for each item, (T, S)."""
        return np.asarray(self.hypothesis_ids > 0)

    @cached_property
    def reference_item(self) -> IntArray:
        """Return the index of each reference's item, (R,)."""
        return np.repeat(np.arange(len(self.references)), [len(texts) for texts in self.references])


def load_corpus(
    release: Release | None,
    systems: Sequence[System],
    *,
    items: str = "referenced",
    reference_kinds: Sequence[str] = (),
    of_every_system: bool = True,
    start: int = 0,
    stop: int | None = None,
) -> Corpus:
    """Load items that have a reference (``items="positive"``: a positive one) and an output of every system.

    Unless ``of_every_system``, an output of any system is enough. Without a release the references are the data set's
    own from sources of ``reference_kinds``, each of weight 1. Without kinds load all items with outputs, and no
    references. Only items at positions from ``start`` to before ``stop`` are loaded.
    """
    dataset_id = systems[0].dataset_id if release is None else release.reference_set.dataset_id
    needs_reference = release is not None or bool(reference_kinds)
    no_reference = NO_PLAIN_REFERENCE if release is None else NO_REFERENCE
    dataset_items = Item.objects.filter(dataset=dataset_id, position__gte=start)
    if stop is not None:
        dataset_items = dataset_items.filter(position__lt=stop)
    references: dict[int, list[Reference]] = {}
    if release is not None:
        references = _references(release, start, stop)
    elif reference_kinds:
        references = _plain_references(dataset_id, reference_kinds, start, stop)
    outputs = _outputs(systems, dataset_id, start, stop)
    enough, no_output = (all, NO_OUTPUT) if of_every_system else (any, NO_OUTPUT_AT_ALL)
    rows: list[tuple[int, str, str]] = []
    dropped: dict[str, list[str]] = {}
    for item_id, external_id, message in dataset_items.order_by("position").values_list("id", "external_id", "message"):
        of_item = references.get(item_id)
        if needs_reference and not of_item:
            reason = no_reference
        elif of_item and items == "positive" and max(weight for _, _, weight, _ in of_item) <= 0:
            reason = NO_POSITIVE
        elif not enough((system.pk, item_id) in outputs for system in systems):
            reason = no_output
        else:
            rows.append((item_id, external_id, message))
            continue
        dropped.setdefault(reason, []).append(external_id)
    flat = [reference for item_id, *_ in rows for reference in references.get(item_id, ())]
    by_system = [[outputs.get((system.pk, item_id), NO_TEXT) for item_id, *_ in rows] for system in systems]
    return Corpus(
        systems=systems,
        item_ids=np.array([item_id for item_id, *_ in rows], dtype=np.int64),
        external_ids=[external_id for _, external_id, _ in rows],
        sources=[message for _, _, message in rows],
        hypotheses=[[text for _, text in row] for row in by_system],
        hypothesis_ids=np.array([[pk for pk, _ in row] for row in by_system], dtype=np.int64),
        references=[[text for _, text, _, _ in references.get(item_id, ())] for item_id, *_ in rows],
        reference_ids=np.array([reference[0] for reference in flat], dtype=np.int64),
        weights=np.array([reference[2] for reference in flat], dtype=np.float64),
        is_original=np.array([reference[3] for reference in flat], dtype=np.bool_),
        dropped=dropped,
    )


def _references(release: Release, start: int, stop: int | None) -> dict[int, list[Reference]]:
    """Return the release's references of each item, by id."""
    weights = ReleaseWeight.objects.filter(release=release, item_position__gte=start)
    if stop is not None:
        weights = weights.filter(item_position__lt=stop)
    by_item: dict[int, list[Reference]] = {}
    columns = ("item_id", "response_id", "response__text", "weight", "is_original")
    for item_id, *reference in weights.order_by("response_id").values_list(*columns):
        by_item.setdefault(item_id, []).append((reference[0], reference[1], reference[2], reference[3]))
    return by_item


def plain_kinds(subset: Subset) -> list[str]:
    """Return the kinds of source that a subset chooses from a data set's own references.

    Examples
    --------
    >>> plain_kinds(Subset("original")), plain_kinds(Subset("sources", sources=("human", "seed")))
    (['seed'], ['human', 'seed'])
    """
    if subset.kind == "sources":
        return list(subset.sources)
    return [SourceKind.SEED.value] if subset.kind == "original" else SourceKind.of_references()


def plain_sources(dataset_id: int, kinds: Sequence[str]) -> QuerySet[ResponseSource]:
    """Return the sources that make a response of the data set a plain reference."""
    return ResponseSource.objects.filter(item__dataset=dataset_id, kind__in=kinds)


def plain_responses(item_ids: Collection[int], kinds: Sequence[str]) -> QuerySet[Response]:
    """Return these items' own references; those of an item in the order in which runs read them."""
    of_items = ResponseSource.objects.filter(item__in=item_ids, kind__in=kinds)
    return Response.objects.filter(pk__in=of_items.values("response_id")).order_by("item_id", "text_key")


def reference_counts(dataset: Dataset) -> dict[str, int]:
    """Return how many references the data set has of each kind of source, in the order of kinds."""
    of_kind = plain_sources(dataset.pk, SourceKind.of_references()).order_by().values_list("kind")
    counts = dict(of_kind.annotate(n=Count("response", distinct=True)))
    return {kind: counts[kind] for kind in SourceKind.of_references() if kind in counts}


def _plain_references(
    dataset_id: int, kinds: Sequence[str], start: int, stop: int | None
) -> dict[int, list[Reference]]:
    """Return the data set's references of each item, in the same order everywhere; a text of several sources once."""
    sources = plain_sources(dataset_id, kinds).filter(item__position__gte=start)
    if stop is not None:
        sources = sources.filter(item__position__lt=stop)
    columns = ("response__text_key", "item_id", "response_id", "response__text")
    by_item: dict[int, list[Reference]] = {}
    for _, item_id, response_id, text in sources.order_by("response__text_key").values_list(*columns).distinct():
        by_item.setdefault(item_id, []).append((response_id, text, 1.0, True))
    return by_item


def _outputs(
    systems: Sequence[System], dataset_id: int, start: int, stop: int | None
) -> dict[tuple[int, int], tuple[int, str]]:
    """Return response id and text by system and item."""
    sources = ResponseSource.objects.filter(system__in=systems)
    if start or stop is not None:
        sources = sources.filter(item__dataset=dataset_id, item__position__gte=start)
    if stop is not None:
        sources = sources.filter(item__position__lt=stop)
    rows = sources.values_list("system_id", "item_id", "response_id", "response__text")
    return {(system_id, item_id): (response_id, text) for system_id, item_id, response_id, text in rows}


def prompt_texts(item_ids: IntArray) -> list[str]:
    """Return what systems were given for these items (S,), each as one text: see `prompt_text`."""
    columns = Item.objects.filter(pk__in=item_ids.tolist()).values_list("pk", *PROMPT)
    by_item = {pk: prompt_text(*given) for pk, *given in columns.iterator(DIGESTED_AT_ONCE)}
    return [by_item[pk] for pk in item_ids.tolist()]


def prompt_text(meaning_representation: str, context: Sequence[str], message: str) -> str:
    """Return the meaning representation, or without one the turns of the context and the message, one a line.

    Examples
    --------
    >>> prompt_text("inform(name=Aromi)", [], ""), prompt_text("", ["Hi!"], "And you?")
    ('inform(name=Aromi)', 'Hi!\\nAnd you?')
    """
    return meaning_representation or "\n".join([*context, message])


def item_prompt(item: Item) -> str:
    """Return what systems were given for an item: see `prompt_text`."""
    return prompt_text(item.meaning_representation, item.context, item.message)


def texts_digests(
    systems: Sequence[System], *, sources: bool, prompts: bool = False, reference_kinds: Sequence[str] = ()
) -> dict[str, str]:
    """Return the SHA-256 of the systems' outputs and, if requested, of the messages that they answer, of all that the
    systems were given, and of the data set's own references from sources of these kinds.

    Any change of a text or of the order changes it, and so every signature that names it.
    """
    outputs = ResponseSource.objects.filter(system__in=systems)
    rows = outputs.order_by("system__name", "item__position", "item_id")
    texts = rows.values_list("system__name", "item__external_id", "response__text")
    digests = {"outputs": _digest(texts.iterator(DIGESTED_AT_ONCE))}
    items = Item.objects.filter(pk__in=outputs.values("item")).order_by("position", "pk")
    if sources:
        messages = items.values_list("external_id", "message")
        digests["sources"] = _digest(messages.iterator(DIGESTED_AT_ONCE))
    if prompts:
        given = items.values_list("external_id", *PROMPT)
        digests["prompts"] = _digest(given.iterator(DIGESTED_AT_ONCE))
    if reference_kinds:
        references = plain_sources(systems[0].dataset_id, reference_kinds)
        in_order = references.order_by("item__position", "item_id", "response__text_key").distinct()
        of_items = in_order.values_list("item__position", "item_id", "response__text_key", *REFERENCE_TEXT)
        digests["references"] = _digest(row[-len(REFERENCE_TEXT) :] for row in of_items.iterator(DIGESTED_AT_ONCE))
    return digests


def _digest(rows: Iterable[tuple[Any, ...]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(canonical_json(row) + b"\n")  # its strings hold no line break, so that rows stay apart
    return digest.hexdigest()
