"""Import weights that were made elsewhere as a release: all or nothing.

The file names items and texts of an existing data set. Its means, numbers of judgements and intervals are stored as
they are. The judgements themselves are not in the file, so the release has none. A job stores a file whose upload was
checked and queued.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotation.core.copying import MANY, allocate_ids, copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.exports import FORMULA
from annotation.core.jobs import Claim, job_run
from annotation.core.normalisation import text_key
from annotation.core.problems import Problems, storable
from annotation.core.rows import FORMATS, format_of
from annotation.core.versions import code_version
from annotation.datasets.services.export import dataset_rehash
from annotation.datasets.services.imports import reading_beat, run_and_report_row_errors
from annotation.models import (
    Dataset,
    Item,
    JobState,
    ReferenceSet,
    Release,
    ReleaseWeight,
    Response,
    ResponseSource,
    SourceKind,
    User,
    WeightsImport,
)
from annotation.models.releases import IMPORTED
from annotation.projects.services.audit import audit_record
from annotation.references.releases.selectors.releases import HASHED_COLUMNS, release_name
from annotation.references.releases.services.releases import STORED_COLUMNS, content_hash, next_number
from annotation.references.releases.services.reports import weight_counts
from annotation.references.releases.services.weights_files import NAME_CHARACTERS, Draft, WeightsFile, read_weights
from annotation.references.sets.services import TEXT_KINDS, check_name, free_slug

SIGNATURE = "weights:imported"
STEPS = 2  # reading, storing
TextOfItem = tuple[int, str]  # id of the item, key of the text


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """How a file of weights becomes a release: the first of a new set called ``name``, or the next of a set.

    A text that its item does not have is refused. With ``add_texts`` it becomes a response with the kinds of source
    that the file names for it, or with ``kind`` if the file names none.
    """

    name: str = ""
    reference_set: ReferenceSet | None = None
    file_format: str | None = None
    add_texts: bool = False
    kind: str = SourceKind.HUMAN
    origin: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Matched:
    """A weight with its item and response."""

    draft: Draft
    item_id: int
    position: int
    response_id: int
    key: str


def release_import(
    *, dataset: Dataset, filename: str, content: bytes, options: ImportOptions, by: User | None
) -> Release:
    """Import a file of weights as a finished release."""
    options = import_check(dataset=dataset, filename=filename, options=options)
    file = read_weights(content, options.file_format or "", Problems(filename))
    return weights_store(dataset=dataset, file=file, options=options, by=by)


def import_check(*, dataset: Dataset, filename: str, options: ImportOptions) -> ImportOptions:
    """Check the options before a file is read, and return them with the file's format."""
    if options.reference_set is None:
        check_name(options.name)
    elif options.reference_set.dataset_id != dataset.pk:
        message = f"The set “{options.reference_set}” belongs to another data set; accepted: a set of “{dataset}”."
        raise AnnotationError.at("reference_set", message)
    if options.kind not in TEXT_KINDS:
        raise AnnotationError.at("kind", f"Found {options.kind!r}; accepted: {', '.join(TEXT_KINDS)}.")
    for name in ("origin", "licence"):
        if (n := len(getattr(options, name).strip())) > NAME_CHARACTERS:
            raise AnnotationError.at(name, f"Found {n} characters; accepted: at most {NAME_CHARACTERS}.")
    file_format = options.file_format or format_of(filename)
    if file_format not in FORMATS:
        accepted = ", ".join(FORMATS)
        raise AnnotationError.at("file_format", f"{filename!r} does not show its format; accepted: {accepted}.")
    return replace(options, file_format=file_format)


def weights_import_create(
    *, dataset: Dataset, filename: str, content: bytes, options: ImportOptions, by: User | None
) -> WeightsImport:
    """Queue a file of weights. The caller enqueues ``references.tasks.weights_import_execute``."""
    stored = dict(vars(import_check(dataset=dataset, filename=filename, options=options)))
    return WeightsImport.objects.create(
        project=dataset.project,
        dataset=dataset,
        reference_set=stored.pop("reference_set"),
        requested_by=by,
        filename=storable(filename)[:255],
        content=content,
        options=stored,
        progress_total=STEPS,
    )


def weights_import_execute(*, import_id: int) -> int | None:
    """Claim, work, finish; safe to run twice. Return the id of the release if there is one."""
    job_run(WeightsImport, import_id, _execute)
    return WeightsImport.objects.values_list("release_id", flat=True).get(pk=import_id)


def _execute(job: WeightsImport, claim: Claim) -> None:
    def work() -> None:
        note = f"Reading {job.filename}"
        claim.progress(0, STEPS, note)
        problems, beat = Problems(job.filename), reading_beat(claim, note)
        file = read_weights(bytes(job.content), job.options["file_format"], problems, beat)
        claim.progress(1, STEPS, f"Storing {len(file.drafts):,} weights")
        with transaction.atomic():
            claim.lock()
            options = ImportOptions(reference_set=job.reference_set, **job.options)
            release = weights_store(dataset=job.dataset, file=file, options=options, by=job.requested_by)
            claim.finish(release=release, report={}, progress_total=STEPS)

    run_and_report_row_errors(claim, work)


@transaction.atomic
def weights_store(*, dataset: Dataset, file: WeightsFile, options: ImportOptions, by: User | None) -> Release:
    """Store the weights that were read from a file."""
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)  # texts are added one import at a time
    matched, added = _matched(dataset, file, options)
    about = {
        "origin": options.origin.strip(),
        "licence": options.licence.strip(),
        "filename": storable(file.problems.filename)[:255],
        "sha256": file.sha256,
        "release": storable(file.release),
        "content_hash": storable(file.content_hash),
        "texts_added": added.total(),
        "texts_added_kinds": dict(sorted(added.items())),
    }
    sources = _text_sources(matched)
    reference_set = options.reference_set or _new_set(dataset, options.name, matched, sources)
    about["same_outputs"] = {
        system: n for system, n in sorted(sources.outputs.items()) if system not in reference_set.source_systems
    }
    release = _stored(reference_set, matched, about, by)
    summary = f"Imported {len(matched):,} weights from {about['filename']} as {release}"
    data = {**about, "release": release_name(release), "release_named_in_file": about["release"]}
    audit_record(verb="release.import", summary=summary, project=dataset.project, by=by, data=data)
    return release


# --- Matching ---------------------------------------------------------------------------------------------------------


def _matched(dataset: Dataset, file: WeightsFile, options: ImportOptions) -> tuple[list[Matched], Counter[str]]:
    """Return each weight with its response, ordered by item and text, and the numbers of added texts by kinds."""
    items = {
        name: (pk, position)
        for name, pk, position in Item.objects.filter(dataset=dataset).values_list("external_id", "pk", "position")
    }
    responses: dict[TextOfItem, int] = {
        (item, key): pk
        for item, key, pk in Response.objects.filter(item__dataset=dataset).values_list("item_id", "text_key", "pk")
    }
    problems, rule = file.problems, dataset.normalisation
    drafts: dict[TextOfItem, Draft] = {}
    missing: dict[TextOfItem, Draft] = {}
    for draft in file.drafts:
        if file.is_quoted and draft.item not in items and _unquoted(draft.item) in items:
            draft.item = _unquoted(draft.item)
        if draft.item not in items:
            problems.add(draft.line, draft.item_field, draft.item, f"the id of an item of the data set “{dataset}”")
            continue
        item, _ = items[draft.item]
        text = item, _key(draft, item, responses, rule, is_quoted=file.is_quoted)
        if text in drafts:
            accepted = f"each text of an item once; it is already on line {drafts[text].line}"
            problems.add(draft.line, draft.text_field, draft.text, accepted)
            continue
        drafts[text] = draft
        if text not in responses:
            if not options.add_texts:
                accepted = f"a text of item {draft.item!r} under the rule {rule}; or add new texts"
                problems.add(draft.line, draft.text_field, draft.text, accepted)
            elif not draft.text.strip():
                problems.add(draft.line, draft.text_field, "", "a text that is not empty")
            missing[text] = draft
    problems.refuse()
    kinds = {text: draft.kinds or (options.kind,) for text, draft in missing.items()}
    responses |= _add_responses(missing, kinds)
    if missing:
        dataset_rehash(dataset)
    matched = [Matched(draft, *items[draft.item], responses[text], text[1]) for text, draft in drafts.items()]
    matched.sort(key=lambda match: (match.draft.item, match.key))
    return matched, Counter(map(" and ".join, kinds.values()))


def _key(draft: Draft, item: int, responses: Mapping[TextOfItem, int], rule: str, *, is_quoted: bool) -> str:
    """Return the key of the text if the item has it, else of the text before a spreadsheet's download."""
    key = text_key(draft.text, rule)
    if is_quoted and (item, key) not in responses:
        plain = text_key(_unquoted(draft.text), rule)
        if (item, plain) in responses:
            return plain
    return key


def _unquoted(text: str) -> str:
    """Remove the apostrophe that CSV for spreadsheets puts before what would run as a formula."""
    return text[1:] if text.startswith("'") and FORMULA.match(text[1:]) else text


def _add_responses(
    missing: Mapping[TextOfItem, Draft], kinds: Mapping[TextOfItem, Sequence[str]]
) -> dict[TextOfItem, int]:
    """Add texts as responses with these kinds of source, and return their ids."""
    ids = dict(zip(missing, allocate_ids(Response, len(missing)), strict=True))
    rows = ((ids[text], text[0], draft.text, text[1]) for text, draft in missing.items())
    copy_rows(Response, ["id", "item_id", "text", "text_key"], rows)
    columns = ["response_id", "item_id", "kind", "source_context", "source_message", "raw_text"]
    named = ((text, kind) for text in missing for kind in kinds[text])
    copy_rows(ResponseSource, columns, ((ids[text], text[0], kind, [], "", "") for text, kind in named))
    return ids


# --- Storing ----------------------------------------------------------------------------------------------------------


@dataclass
class TextSources:
    """The sources of the weighed texts, by which later releases of a new set find references."""

    kinds: set[str] = field(default_factory=set)
    outputs: Counter[str] = field(default_factory=Counter)  # weighed texts that a system gave
    outputs_alone: Counter[str] = field(default_factory=Counter)  # of those, texts that only systems gave

    def systems(self, dataset: Dataset, items: set[int]) -> list[str]:
        """Return the systems that are sources: the file weighs most of their outputs, and not as texts of a kind.

        A system that happens to say the same as a reference is none: its other outputs are no references.
        """
        if not self.outputs_alone:
            return []
        given: Counter[str] = Counter()
        sources = ResponseSource.objects.filter(item__dataset=dataset, system__name__in=self.outputs_alone)
        for item, system in sources.order_by().values_list("item_id", "system__name").distinct().iterator():
            given[system] += item in items
        most = [system for system in self.outputs_alone if 2 * self.outputs[system] > given[system]]
        return sorted(most if most or self.kinds else self.outputs_alone)


def _text_sources(matched: Sequence[Matched]) -> TextSources:
    text_sources = TextSources()
    for start in range(0, len(matched), MANY):
        responses = [match.response_id for match in matched[start : start + MANY]]
        named: dict[int, set[str]] = {}
        with_kind: set[int] = set()
        sources = ResponseSource.objects.filter(response__in=responses).order_by()
        for response, kind, system in sources.values_list("response_id", "kind", "system__name"):
            if system:
                named.setdefault(response, set()).add(system)
            else:
                text_sources.kinds.add(kind)
                with_kind.add(response)
        for response, systems in named.items():
            text_sources.outputs.update(systems)
            if response not in with_kind:
                text_sources.outputs_alone.update(systems)
    return text_sources


def _new_set(dataset: Dataset, name: str, matched: Sequence[Matched], sources: TextSources) -> ReferenceSet:
    """Create a set without campaigns."""
    return ReferenceSet.objects.create(
        project=dataset.project,
        dataset=dataset,
        name=name.strip(),
        slug=free_slug(dataset.project, name),
        source_kinds=sorted(sources.kinds),
        source_systems=sources.systems(dataset, {match.item_id for match in matched}),
    )


def _stored(reference_set: ReferenceSet, matched: Sequence[Matched], about: dict[str, Any], by: User | None) -> Release:
    release = Release.objects.create(
        reference_set=reference_set,
        number=next_number(reference_set),
        method=IMPORTED,
        signature=SIGNATURE,
        requested_by=by,
    )
    rows = ((release.pk, match.item_id, match.position, match.response_id, *match.draft.values) for match in matched)
    copy_rows(ReleaseWeight, [*STORED_COLUMNS, *HASHED_COLUMNS], rows)
    digest = content_hash(release, ((match.draft.item, match.key, *match.draft.values) for match in matched))
    Release.objects.filter(pk=release.pk).update(
        state=JobState.DONE,
        started_at=Now(),
        finished_at=Now(),
        content_hash=digest,
        report=_report(reference_set, matched, about),
        code_version=code_version(),
    )
    release.refresh_from_db()
    return release


def _report(reference_set: ReferenceSet, matched: Sequence[Matched], about: dict[str, Any]) -> dict[str, Any]:
    """Return a report like that of a release built here, with zeros and empty lists for what is not known."""
    drafts = [match.draft for match in matched]
    numbers = [[getattr(draft, name) for draft in drafts] for name in ("weight", "low", "high")]
    counts = weight_counts([match.item_id for match in matched], [draft.item for draft in drafts], numbers)
    originals = sum(draft.original for draft in drafts)
    references = {"all": len(drafts), "originals": originals, "without_weight": {}, **counts["references"]}
    items = {"all": reference_set.dataset.items.count(), "with_reference": counts["items"]["with_weight"]}
    unknown = ("read", "kept", "incomplete_judgements", "repeated_judgements", "raters")
    return {
        "imported": about,
        "campaigns": [],
        "criteria": [],
        "scale": [],
        "last_rating_id": 0,
        "last_check_answer_id": 0,
        "references": references,
        "ratings": {**dict.fromkeys(unknown, 0), "excluded": [], "judgements": sum(draft.n for draft in drafts)},
        "items": items | counts["items"],
    }
