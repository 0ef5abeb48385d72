"""Add outputs of systems to a data set that exists: whole, or not at all."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction

from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.dialogues import speakers_of
from annotation.core.file_limits import PAGE, TableLimits
from annotation.core.normalisation import text_key
from annotation.core.numbers import counted
from annotation.core.problems import Problems, listed, storable
from annotation.datasets.services.export import dataset_rehash
from annotation.datasets.services.imports import resolve_format
from annotation.datasets.services.output_files import OutputDraft, read_outputs, system_name
from annotation.models import Dataset, Item, Response, ResponseSource, SourceKind, System, User
from annotation.projects.services.audit import audit_record

AT_ONCE = 5000  # items whose texts are looked up at once
ITEMS_NAMED = 3  # in what is accepted instead of an unknown one

Turns = list[dict[str, str]] | None
TextOfItem = tuple[int, str]  # the item's id, the text's key


@dataclass(frozen=True, slots=True)
class SystemOutputs:
    """What a file adds for a system."""

    system: str
    is_new: bool
    outputs: int
    known: int  # of them, texts that the item has already


@dataclass(frozen=True)
class AddedOutputs:
    """The numbers of outputs that are, or would be, added to a data set."""

    outputs: int
    items: int
    items_of_dataset: int
    new_responses: int
    known_responses: int  # texts that an item has already: they get a further source
    systems: list[SystemOutputs] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A response that an item has already, or the first of the file with its text."""

    text: str
    turns: Turns
    where: str
    pk: int | None = None


@dataclass(frozen=True)
class _Plan:
    drafts: list[OutputDraft]
    texts: list[TextOfItem]  # of each draft
    responses: dict[TextOfItem, _Stored]
    systems: dict[str, int]  # of the data set, by name
    n_items: int  # of the data set

    def counts(self) -> AddedOutputs:
        given: Counter[str] = Counter(draft.system for draft in self.drafts)
        known: Counter[str] = Counter(
            draft.system
            for draft, text in zip(self.drafts, self.texts, strict=True)
            if self.responses[text].pk is not None
        )
        n_known = sum(response.pk is not None for response in self.responses.values())
        return AddedOutputs(
            outputs=len(self.drafts),
            items=len({item for item, _ in self.texts}),
            items_of_dataset=self.n_items,
            new_responses=len(self.responses) - n_known,
            known_responses=n_known,
            systems=[
                SystemOutputs(name, name not in self.systems, n, known[name]) for name, n in sorted(given.items())
            ],
        )


def outputs_preview(
    *,
    dataset: Dataset,
    filename: str,
    content: bytes,
    file_format: str | None = None,
    system: str = "",
    limits: TableLimits = PAGE,
) -> AddedOutputs:
    """Count what would be added now. Write nothing; report all errors at once."""
    return _plan(dataset, filename, content, file_format, system, limits).counts()


@transaction.atomic
def outputs_add(
    *,
    dataset: Dataset,
    by: User | None,
    filename: str,
    content: bytes,
    file_format: str | None = None,
    system: str = "",
    limits: TableLimits = PAGE,
) -> AddedOutputs:
    """Add the outputs in a file, each to the item that its id names. One with an error adds nothing.

    ``system`` names the system if the file does not. A text that an item has already gets a further source.
    """
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)  # concurrent additions wait
    plan = _plan(dataset, filename, content, file_format, system, limits)
    added = plan.counts()
    _store(dataset, plan)
    dataset_rehash(dataset)
    names = [each.system for each in added.systems]
    audit_record(
        verb="dataset.add_outputs",
        summary=f"Added {counted(added.outputs, 'output')} of {listed(names)} to “{dataset}”: "
        f"{added.new_responses:,} new responses, {added.known_responses:,} that were there.",
        project=dataset.project,
        by=by,
        data={
            "dataset": dataset.slug,
            "file": storable(filename)[:255],
            "sha256": hashlib.sha256(content).hexdigest(),
            **added.record(),
        },
    )
    return added


# --- Matching ---------------------------------------------------------------------------------------------------------


def _plan(
    dataset: Dataset, filename: str, content: bytes, file_format: str | None, system: str, limits: TableLimits
) -> _Plan:
    """Read a file and match it with the data set; refuse it with every error."""
    problems = Problems(filename)
    resolved = resolve_format(filename, file_format)
    drafts = read_outputs(content, file_format=resolved, system=system_name(system), limits=limits, problems=problems)
    items = dict(Item.objects.filter(dataset=dataset).order_by("position").values_list("external_id", "pk"))
    systems = dict(System.objects.filter(dataset=dataset).values_list("name", "pk"))
    _check_items(drafts, items, problems)
    matched = [draft for draft in drafts if draft.item in items]
    _check_stored(
        matched, items, {name: systems[name] for name in {d.system for d in matched} & set(systems)}, problems
    )
    texts = [(items[draft.item], text_key(draft.text, dataset.normalisation)) for draft in matched]
    responses = _known_responses(texts)
    for draft, text in zip(matched, texts, strict=True):
        same = responses.setdefault(text, _Stored(draft.text, draft.turns, f"on line {draft.line}"))
        if (same.turns or draft.turns) and speakers_of(same.turns) != speakers_of(draft.turns):
            accepted = f"other turns, or the same as {same.where}: joined, their texts are equal"
            problems.add(draft.line, draft.text_field, draft.text, accepted)
    problems.refuse()
    return _Plan(matched, texts, responses, systems, len(items))


def _check_items(drafts: list[OutputDraft], items: dict[str, int], problems: Problems) -> None:
    known = listed(list(items)[:ITEMS_NAMED]) or "it has none"
    reported: set[tuple[int, str]] = set()  # a row with outputs of several systems names its item once
    for draft in drafts:
        if draft.item not in items and (draft.line, draft.item) not in reported:
            reported.add((draft.line, draft.item))
            accepted = f"the id of an item of the data set, such as {known}"
            problems.add(draft.line, draft.item_field, draft.item, accepted)


def _check_stored(
    drafts: list[OutputDraft], items: dict[str, int], systems: dict[str, int], problems: Problems
) -> None:
    """Refuse what would be a second output of a system that the data set has."""
    stored = set(ResponseSource.objects.filter(system__in=systems.values()).values_list("system_id", "item_id"))
    for draft in drafts:
        if (systems.get(draft.system), items[draft.item]) in stored:
            found = f"a second output of {draft.system} for {draft.item}"
            accepted = "one output of a system for an item; the data set has one already"
            problems.add(draft.line, draft.text_field, found, accepted)


def _known_responses(texts: list[TextOfItem]) -> dict[TextOfItem, _Stored]:
    wanted = set(texts)
    known: dict[TextOfItem, _Stored] = {}
    for some in _portions(sorted(wanted)):
        rows = Response.objects.filter(item__in={item for item, _ in some}, text_key__in={key for _, key in some})
        for pk, item, key, text, turns in rows.values_list("pk", "item_id", "text_key", "text", "turns"):
            if (item, key) in wanted:
                known[item, key] = _Stored(text, turns, "of the response that the item has", pk)
    return known


def _portions(texts: list[TextOfItem]) -> Iterator[list[TextOfItem]]:
    for start in range(0, len(texts), AT_ONCE):
        yield texts[start : start + AT_ONCE]


# --- Storing ----------------------------------------------------------------------------------------------------------


def _store(dataset: Dataset, plan: _Plan) -> None:
    new = [name for name in dict.fromkeys(draft.system for draft in plan.drafts) if name not in plan.systems]
    made = System.objects.bulk_create([System(dataset=dataset, name=name) for name in new])
    systems = plan.systems | {system.name: system.pk for system in made}
    missing = [text for text, response in plan.responses.items() if response.pk is None]
    ids = {text: response.pk for text, response in plan.responses.items() if response.pk is not None}
    ids |= dict(zip(missing, allocate_ids(Response, len(missing)), strict=True))
    copy_rows(
        Response,
        ["id", "item_id", "text_key", "text", "turns"],
        ((ids[text], *text, plan.responses[text].text, _json(plan.responses[text].turns)) for text in missing),
    )
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "system_id", "kind", "raw_text", "source_context", "source_message"],
        (
            (
                ids[text],
                text[0],
                systems[draft.system],
                SourceKind.SYSTEM.value,
                "" if draft.text == plan.responses[text].text else draft.text,
                [],
                "",
            )
            for draft, text in zip(plan.drafts, plan.texts, strict=True)
        ),
    )


def _json(turns: Turns) -> str | None:
    return None if turns is None else json.dumps(turns, ensure_ascii=False)
