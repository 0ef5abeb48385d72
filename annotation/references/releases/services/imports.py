"""Import weights that were made elsewhere as a release: all or nothing.

The file names items and texts of an existing data set. Its means, numbers of judgements and intervals are stored as
they are. The judgements themselves are not in the file, so the release has none.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from annotation.core.copying import MANY, allocate_ids, copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.exports import FORMULA
from annotation.core.normalisation import text_key
from annotation.core.one_line import unescaped
from annotation.core.problems import Problems, storable
from annotation.core.rows import (
    ENDINGS,
    FORMATS,
    Oddities,
    check_header,
    decode,
    format_of,
    lines_of,
    read_jsonl,
    read_table,
    square,
)
from annotation.core.versions import code_version
from annotation.models import (
    Dataset,
    Item,
    JobState,
    Project,
    ReferenceSet,
    Release,
    ReleaseWeight,
    Response,
    ResponseSource,
    SourceKind,
    User,
)
from annotation.models.releases import IMPORTED
from annotation.projects.services.audit import audit_record
from annotation.references.releases.files.tables import FLAT_COLUMNS
from annotation.references.releases.selectors.releases import release_name
from annotation.references.releases.services.releases import LISTED_ITEMS, content_hash
from annotation.references.sets.services import check_name, free_slug

SIGNATURE = "weights:imported"
NUMBERS = ("mean", "standard_error", "low", "high")
NEEDED = ("item", "text", "weight")
OPTIONAL = (*NUMBERS, "n", "original")
ITEM_FIELDS = ("release", "content_hash", "id", "context", "message", "meaning_representation", "split", "references")
REFERENCE_FIELDS = ("text", "weight", *OPTIONAL, "spread", "histogram", "sources")
ADDED_KINDS = [kind.value for kind in SourceKind if kind != SourceKind.SYSTEM]
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
MAX_TOLD = 300
MOST_JUDGEMENTS = 2**31 - 1
MOST = 1e9  # the database subtracts one end of an interval from the other


@dataclass(slots=True)
class Draft:
    """One weight of the file, checked by itself."""

    line: int
    item: str
    text: str
    weight: float
    mean: float | None = None
    n: int = 0
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    original: bool = False
    kinds: tuple[str, ...] = ()  # of the sources that the file names and an added text can have
    item_field: str = "item"  # as the file calls it
    text_field: str = "text"


@dataclass
class Content:
    """What a file says, and which release it says it is, if it does."""

    drafts: list[Draft] = field(default_factory=list)
    release: str = ""
    content_hash: str = ""
    quoted: bool = False  # a table, which may be a spreadsheet's download: an apostrophe may guard a formula


@dataclass(frozen=True)
class Matched:
    """A weight with the item and the response it is of."""

    draft: Draft
    item_id: int
    position: int
    response_id: int
    key: str


def release_import(
    *,
    dataset: Dataset,
    filename: str,
    content: bytes,
    by: User | None,
    name: str = "",
    reference_set: ReferenceSet | None = None,
    file_format: str | None = None,
    add_texts: bool = False,
    kind: str = SourceKind.HUMAN,
    origin: str = "",
    licence: str = "",
) -> Release:
    """Weights from a file as a finished release: of a new set of that name, or the next one of ``reference_set``.

    A text that its item does not have is refused, or with ``add_texts`` becomes a response of the kinds of source that
    the file names for it; of this ``kind`` where it names none.
    """
    told = {"origin": origin, "licence": licence}
    written = import_check(
        dataset=dataset,
        filename=filename,
        name=name,
        reference_set=reference_set,
        file_format=file_format,
        kind=kind,
        **told,
    )
    problems = Problems(filename)
    found = read_weights(content, written, problems)
    return weights_store(
        dataset=dataset,
        filename=filename,
        sha256=hashlib.sha256(content).hexdigest(),
        found=found,
        problems=problems,
        by=by,
        name=name,
        reference_set=reference_set,
        add_texts=add_texts,
        kind=kind,
        **told,
    )


@transaction.atomic
def weights_store(
    *,
    dataset: Dataset,
    filename: str,
    sha256: str,
    found: Content,
    problems: Problems,
    by: User | None,
    name: str,
    reference_set: ReferenceSet | None,
    add_texts: bool,
    kind: str,
    origin: str,
    licence: str,
) -> Release:
    """Store the weights that were read from a file; see ``release_import``."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # texts are added one import at a time
    matched, added = _matched(dataset, found, problems, add_texts=add_texts, kind=kind)
    own = reference_set or _new_set(dataset, name, matched)
    about = {
        "origin": origin.strip(),
        "licence": licence.strip(),
        "filename": storable(filename)[:255],
        "sha256": sha256,
        "release": storable(found.release),
        "content_hash": storable(found.content_hash),
        "texts_added": added.total(),
        "texts_added_kinds": dict(sorted(added.items())),
    }
    release = _stored(own, matched, about, by)
    summary = f"Imported {len(matched):,} weights from {about['filename']} as {release}"
    data = {**about, "release": release_name(release), "release_named_in_file": about["release"]}
    audit_record(verb="release.import", summary=summary, project=dataset.project, by=by, data=data)
    return release


def import_check(
    *,
    dataset: Dataset,
    filename: str,
    name: str,
    reference_set: ReferenceSet | None,
    file_format: str | None,
    kind: str,
    origin: str,
    licence: str,
) -> str:
    """Check the arguments before a file is read, and return the file's format."""
    if reference_set is None:
        check_name(name)
    elif reference_set.dataset_id != dataset.pk:
        message = f"The set “{reference_set}” belongs to another data set; accepted: a set of “{dataset}”."
        raise AnnotationError.at("reference_set", message)
    if kind not in ADDED_KINDS:
        raise AnnotationError.at("kind", f"Found {kind!r}; accepted: {', '.join(ADDED_KINDS)}.")
    for field_name, text in (("origin", origin), ("licence", licence)):
        if len(text.strip()) > MAX_TOLD:
            raise AnnotationError.at(field_name, f"Found {len(text.strip())} characters; accepted: at most {MAX_TOLD}.")
    wanted = file_format or format_of(filename, ENDINGS)
    if wanted not in FORMATS:
        accepted = ", ".join(FORMATS)
        raise AnnotationError.at("file_format", f"{filename!r} does not show its format; accepted: {accepted}.")
    return wanted


# --- Reading ----------------------------------------------------------------------------------------------------------


def read_weights(content: bytes, file_format: str, problems: Problems) -> Content:
    """The weights of a file, each checked by itself; refuses with every bad row."""
    if file_format == "jsonl":
        found = _from_json(content, problems)
    elif file_format == "tsv" and not _has_header(content):
        found = _from_weighted_lines(content, problems)
    else:
        found = _from_table(content, file_format, problems)
        found.quoted = True
    if not found.drafts and not problems.total:
        problems.add(1, "weight", "no weight in the whole file", "one weight or more")
    problems.refuse()
    return found


def _from_json(content: bytes, problems: Problems) -> Content:
    found = Content()
    for line, record in read_jsonl(content, problems, Oddities()):
        if "references" not in record:
            called = {"item": "item_id"} if "item_id" in record and "item" not in record else {}
            row = {**record, "item": record.get("item", record.get("item_id"))}
            row.pop("item_id", None)
            if _known(line, row, (*NEEDED, *OPTIONAL, *FLAT_COLUMNS), problems):
                _add(found, line, row, problems, called=called)
            continue
        if not _known(line, record, ITEM_FIELDS, problems):
            continue
        _same_release(found, line, record, problems)
        references = record["references"]
        if not isinstance(references, list):
            problems.add(line, "references", references, "a list of objects with text and weight")
            continue
        for number, reference in enumerate(references, start=1):
            if not isinstance(reference, Mapping):
                problems.add(line, f"reference {number}", reference, "an object with text and weight")
            elif _known(line, reference, REFERENCE_FIELDS, problems):
                row = {**reference, "item": record.get("id")}
                _add(found, line, row, problems, called={"item": "id"}, within=f"reference {number}: ")
    return found


def _same_release(found: Content, line: int, record: Mapping[str, Any], problems: Problems) -> None:
    """Lines of several releases in one file are no release."""
    told = str(record.get("release", ""))[:MAX_TOLD], str(record.get("content_hash", ""))[:64]
    if not found.drafts:
        found.release, found.content_hash = told
    elif told != (found.release, found.content_hash):
        problems.add(line, "release", f"{told[0]} {told[1]}", f"one release in a file: {found.release or 'none named'}")


def _known(line: int, record: Mapping[str, Any], names: Sequence[str], problems: Problems) -> bool:
    unknown = [name for name in record if name not in names]
    if unknown:
        problems.add(line, unknown[0], "a field of this name", f"only {', '.join(dict.fromkeys(names))}")
    return not unknown


def _has_header(content: bytes) -> bool:
    """Whether the first line names columns; a weighted line may hold the text "weight", but has a number before it."""
    first = content.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode(errors="replace").strip("\r").split("\t")
    return "weight" in [cell.strip() for cell in first] and _number(first[min(1, len(first) - 1)]) is None


def _from_weighted_lines(content: bytes, problems: Problems) -> Content:
    """An item a line: its id, then weight and text in turn."""
    found = Content()
    for line, written in enumerate(lines_of(decode(content, problems, Oddities())), start=1):
        if not written.strip():
            continue
        item, *cells = written.split("\t")
        if not cells or len(cells) % 2:
            problems.add(line, "number of cells", str(1 + len(cells)), "an item, then pairs of a weight and a text")
            continue
        try:
            name, *texts = [unescaped(cell) for cell in (item, *cells[1::2])]
        except ValueError as error:
            problems.add(line, "text", str(error), r"a backslash only as in \\, \t, \n, \r and \u2028")
            continue
        for weight, text in zip(cells[0::2], texts, strict=True):
            _add(found, line, {"item": name, "text": text, "weight": weight}, problems)
    return found


def _from_table(content: bytes, file_format: str, problems: Problems) -> Content:
    table = read_table(content, file_format, problems)
    same = {"item_id": "item", "rating_mean": "mean", "n_ratings": "n", "is_original": "original"}
    called = {same[name]: name for name in table.header if name in same}
    table.header[:] = [same.get(name, name) for name in table.header]
    known = list(dict.fromkeys((*NEEDED, *OPTIONAL, *FLAT_COLUMNS, "response_id")))
    check_header(table, problems, required=NEEDED, known=known)
    square(table, problems)
    found = Content()
    for line, cells in table.rows:
        _add(found, line, dict(zip(table.header, cells, strict=True)), problems, called=called)
    return found


def _add(
    found: Content,
    line: int,
    row: Mapping[str, Any],
    problems: Problems,
    *,
    called: Mapping[str, str] = MappingProxyType({}),
    within: str = "",
) -> None:
    """The row as a draft, or what is wrong with it; ``called`` are the file's own names of fields."""
    before = problems.total
    told = {name: called.get(name, f"{within}{name}") for name in (*NEEDED, *OPTIONAL)}
    item, text = row.get("item"), row.get("text")
    if isinstance(item, int) and not isinstance(item, bool):
        item = str(item)
    if not isinstance(item, str) or not item.strip():
        problems.add(line, told["item"], _found(item), "the id of an item")
    if not isinstance(text, str):
        problems.add(line, told["text"], _found(text), "a text")
    elif storable(text) != text:
        problems.add(line, told["text"], text, "a text without NUL characters and halves of surrogate pairs")
    weight = _number(row.get("weight"))
    if weight is None or not -1 <= weight <= 1:
        problems.add(line, told["weight"], _found(row.get("weight")), "a number from -1 to 1")
    numbers: dict[str, float | None] = {}
    for name in NUMBERS:
        number = numbers[name] = _number(row.get(name))
        if row.get(name) not in (None, "") and (number is None or abs(number) > MOST):
            problems.add(line, told[name], _found(row[name]), f"a number from {-MOST:g} to {MOST:g}, or nothing")
    low, high = numbers["low"], numbers["high"]
    if (low is None) != (high is None) or (low is not None and high is not None and low > high):
        ends = f"low {_found(row.get('low'))}, high {_found(row.get('high'))}"
        problems.add(line, told["low"], ends, "both or neither, low at most high")
    n, original = _number(row.get("n") if row.get("n") not in (None, "") else 0), _truth(row.get("original"))
    if n is None or n != int(n) or not 0 <= n <= MOST_JUDGEMENTS:
        problems.add(line, told["n"], _found(row.get("n")), "a whole number of judgements, or nothing")
    if original is None:
        problems.add(line, told["original"], _found(row.get("original")), "true or false, or nothing")
    if problems.total == before:
        found.drafts.append(
            Draft(
                line,
                str(item),
                str(text),
                float(weight or 0) + 0.0,
                n=int(n or 0),
                original=bool(original),
                kinds=_kinds(row.get("sources")),
                item_field=told["item"],
                text_field=told["text"],
                **numbers,
            )
        )


def _kinds(sources: object) -> tuple[str, ...]:
    """Of the sources that a row names, as kinds or as objects; a system is none that an added text can have."""
    if isinstance(sources, str):  # a cell of a table
        cell = sources.strip()
        try:
            sources = json.loads(cell)
        except (ValueError, RecursionError):
            sources = [cell]
    if not isinstance(sources, list):
        return ()
    named = (source.get("kind") if isinstance(source, Mapping) else source for source in sources)
    return tuple(dict.fromkeys(kind for kind in named if isinstance(kind, str) and kind in ADDED_KINDS))


def _found(value: object) -> object:
    return "nothing" if value in (None, "") else value


def _number(value: object) -> float | None:
    """A finite number, from a cell's text as well; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _truth(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return bool(value)
    return TRUTH.get(str(value).strip().lower())


# --- Matching ---------------------------------------------------------------------------------------------------------


def _matched(
    dataset: Dataset, found: Content, problems: Problems, *, add_texts: bool, kind: str
) -> tuple[list[Matched], Counter[str]]:
    """Each weight with its response, ordered by item and text; texts added on the way are counted by kinds."""
    items: dict[str, tuple[int, int]] = {
        name: (pk, position)
        for name, pk, position in Item.objects.filter(dataset=dataset).values_list("external_id", "pk", "position")
    }
    responses: dict[tuple[int, str], int] = {
        (item, key): pk
        for item, key, pk in Response.objects.filter(item__dataset=dataset).values_list("item_id", "text_key", "pk")
    }
    first: dict[tuple[int, str], int] = {}
    matched: list[tuple[Draft, int, int, str]] = []
    missing: dict[tuple[int, str], Draft] = {}
    for draft in found.drafts:
        if found.quoted and draft.item not in items and _unquoted(draft.item) in items:
            draft.item = _unquoted(draft.item)
        if draft.item not in items:
            problems.add(draft.line, draft.item_field, draft.item, f"the id of an item of the data set “{dataset}”")
            continue
        item, position = items[draft.item]
        key = _key(draft, item, responses, dataset.normalisation, quoted=found.quoted)
        place = item, key
        if place in first:
            accepted = f"each text of an item once; it is already on line {first[place]}"
            problems.add(draft.line, draft.text_field, draft.text, accepted)
            continue
        first[place] = draft.line
        if place not in responses:
            if not add_texts:
                accepted = f"a text of item {draft.item!r} under the rule {dataset.normalisation}; or add new texts"
                problems.add(draft.line, draft.text_field, draft.text, accepted)
            elif not draft.text.strip():
                problems.add(draft.line, draft.text_field, "", "a text that is not empty")
            missing[place] = draft
        matched.append((draft, item, position, key))
    problems.refuse()
    missing = {place: replace(draft, kinds=draft.kinds or (kind,)) for place, draft in missing.items()}
    responses |= _added(missing)
    added = Counter(" and ".join(draft.kinds) for draft in missing.values())
    every = [Matched(draft, item, position, responses[item, key], key) for draft, item, position, key in matched]
    return sorted(every, key=lambda one: (one.draft.item, one.key)), added


def _key(draft: Draft, item: int, responses: Mapping[tuple[int, str], int], rule: str, *, quoted: bool) -> str:
    """Of the text as it stands if the item has it; else of what it may have been before a spreadsheet's download."""
    key = text_key(draft.text, rule)
    if quoted and (item, key) not in responses:
        plain = text_key(_unquoted(draft.text), rule)
        if (item, plain) in responses:
            return plain
    return key


def _unquoted(text: str) -> str:
    """Without the apostrophe that CSV for spreadsheets puts before what would run as a formula."""
    return text[1:] if text.startswith("'") and FORMULA.match(text[1:]) else text


def _added(missing: Mapping[tuple[int, str], Draft]) -> dict[tuple[int, str], int]:
    numbers = dict(zip(missing, allocate_ids(Response, len(missing)), strict=True))
    columns = ["id", "item_id", "text", "text_key"]
    copy_rows(Response, columns, ((numbers[place], place[0], draft.text, place[1]) for place, draft in missing.items()))
    columns = ["response_id", "item_id", "kind", "source_context", "source_message", "raw_text"]
    named = ((place, kind) for place, draft in missing.items() for kind in draft.kinds)
    copy_rows(ResponseSource, columns, ((numbers[place], place[0], kind, [], "", "") for place, kind in named))
    return numbers


# --- Storing ----------------------------------------------------------------------------------------------------------


def _new_set(dataset: Dataset, name: str, matched: Sequence[Matched]) -> ReferenceSet:
    """A set without campaigns; its sources are those of the texts that the file weighs."""
    kinds: set[str] = set()
    systems: set[str] = set()
    for start in range(0, len(matched), MANY):
        part = [one.response_id for one in matched[start : start + MANY]]
        rows = (
            ResponseSource.objects.filter(response__in=part).order_by().values_list("kind", "system__name").distinct()
        )
        for kind, system in rows:
            (systems if system else kinds).add(system or kind)
    project: Project = dataset.project
    return ReferenceSet.objects.create(
        project=project,
        dataset=dataset,
        name=name.strip(),
        slug=free_slug(project, name),
        source_kinds=sorted(kinds),
        source_systems=sorted(systems),
    )


def _stored(reference_set: ReferenceSet, matched: Sequence[Matched], about: dict[str, Any], by: User | None) -> Release:
    ReferenceSet.objects.select_for_update().get(pk=reference_set.pk)  # numbers are given out one at a time
    highest = reference_set.releases.aggregate(highest=Max("number"))["highest"] or 0
    release = Release.objects.create(
        reference_set=reference_set, number=highest + 1, method=IMPORTED, signature=SIGNATURE, requested_by=by
    )
    columns = [
        "release_id",
        "item_id",
        "item_position",
        "response_id",
        "weight",
        "rating_mean",
        "n_ratings",
        "standard_error",
        "low",
        "high",
        "is_original",
    ]
    copy_rows(ReleaseWeight, columns, _weight_rows(release, matched))
    digest = content_hash(release, (_hashed(one) for one in matched))
    report = _report(reference_set, matched, about)
    Release.objects.filter(pk=release.pk).update(
        state=JobState.DONE,
        started_at=Now(),
        finished_at=Now(),
        content_hash=digest,
        report=report,
        code_version=code_version(),
    )
    release.refresh_from_db()
    return release


def _weight_rows(release: Release, matched: Sequence[Matched]) -> Iterator[tuple[Any, ...]]:
    for one in matched:
        draft = one.draft
        yield (
            release.pk,
            one.item_id,
            one.position,
            one.response_id,
            draft.weight,
            draft.mean,
            draft.n,
            draft.standard_error,
            draft.low,
            draft.high,
            draft.original,
        )


def _hashed(one: Matched) -> tuple[Any, ...]:
    draft = one.draft
    return (
        draft.item,
        one.key,
        draft.weight,
        draft.mean,
        draft.n,
        draft.standard_error,
        draft.low,
        draft.high,
        draft.original,
    )


def _report(reference_set: ReferenceSet, matched: Sequence[Matched], about: dict[str, Any]) -> dict[str, Any]:
    """As of a release that was built here, with nothing where nothing is known."""
    drafts = [one.draft for one in matched]
    best: dict[str, float] = {}
    for draft in drafts:
        best[draft.item] = max(draft.weight, best.get(draft.item, -1.0))
    tied = Counter(draft.item for draft in drafts if draft.weight == best[draft.item])
    spanning = [
        draft for draft in drafts if draft.low is not None and draft.high is not None and draft.low <= 0 <= draft.high
    ]
    without = sorted(item for item, weight in best.items() if weight <= 0)
    return {
        "imported": about,
        "campaigns": [],
        "criteria": [],
        "scale": [],
        "last_rating_id": 0,
        "last_check_answer_id": 0,
        "references": {
            "all": len(drafts),
            "weighted": len(drafts),
            "originals": sum(draft.original for draft in drafts),
            "without_weight": {},
            "positive": sum(draft.weight > 0 for draft in drafts),
            "zero": sum(draft.weight == 0 for draft in drafts),
            "negative": sum(draft.weight < 0 for draft in drafts),
            "interval_spans_zero": len(spanning),
            "without_interval": sum(draft.low is None for draft in drafts),
        },
        "ratings": {
            "read": 0,
            "kept": 0,
            "excluded": [],
            "judgements": sum(draft.n for draft in drafts),
            "incomplete_judgements": 0,
            "repeated_judgements": 0,
            "raters": 0,
        },
        "items": {
            "all": reference_set.dataset.items.count(),
            "with_reference": len(best),
            "with_weight": len(best),
            "without_positive": len(without),
            "without_positive_listed": without[:LISTED_ITEMS],
            "tied_best": sum(n > 1 for n in tied.values()),
            "best_interval_spans_zero": len({draft.item for draft in spanning if draft.weight == best[draft.item]}),
        },
    }
