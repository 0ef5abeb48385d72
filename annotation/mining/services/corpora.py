"""Corpora: conversations from a file, a stream or a data set, indexed on disk completely or not at all."""

import io
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import structlog
from django.db import transaction

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.file_limits import UNPACKED_BYTES, Allowance
from annotation.core.jobs import Claim, job_run
from annotation.core.names import slug_of
from annotation.core.progress import Beat, Progress, noop
from annotation.core.races import refused_if_taken
from annotation.core.rows import beating
from annotation.datasets.sources import check_sources
from annotation.hygiene.refusal import ParameterRefused
from annotation.mining.index.building import build_index
from annotation.mining.index.parameters import IndexParameters
from annotation.mining.opening import FORMATS, begin
from annotation.mining.reading import PARTS, TURN_SEPARATOR, Columns, ReadReport, read_triples
from annotation.mining.selectors import corpus_folder, dataset_triples, forget_indexes, paths_of
from annotation.mining.triples import Triple
from annotation.models import Corpus, Dataset, JobState, Project, User
from annotation.projects.services.audit import audit_record

log = structlog.get_logger("assay.corpus")
DETAILS = ("description", "language", "licence", "attribution")
RESERVED = ("new", "from-data-set")  # addresses of other pages
KIBI = 1024


# --- Creating ---------------------------------------------------------------------------------------------------------


def corpus_upload(
    *,
    project: Project,
    by: User | None,
    name: str,
    filename: str,
    content: bytes,
    options: Mapping[str, Any],
    **details: str,
) -> Corpus:
    """Queue an uploaded file. The caller enqueues ``annotation.mining.tasks.corpus_index`` with its id."""
    if not content:
        raise AnnotationError.at("file", f"File: {filename!r} is empty; accepted: a file with triples.")
    _, reading = _recognised(io.BytesIO(content), filename, options)
    return _create(project, by, name, details, filename=filename[:255], content=content, options=reading)


def corpus_from_dataset(
    *,
    project: Project,
    by: User | None,
    name: str,
    dataset: Dataset,
    source_kinds: Sequence[str] = (),
    source_systems: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    **details: str,
) -> Corpus:
    """Queue the responses of chosen kinds or systems, each with its item's conversation."""
    if dataset.project_id != project.pk:
        raise AnnotationError.at("dataset", f"Data set “{dataset}” belongs to another project.")
    check_sources(dataset, source_kinds, source_systems)
    if not source_kinds and not source_systems:
        raise AnnotationError.at("source_kinds", "No source is chosen; accepted: at least one kind or system.")
    sources = {
        "source_kinds": sorted(source_kinds),
        "source_systems": sorted(source_systems),
        "index": _index_parameters((options or {}).get("index", {})).to_dict(),
    }
    inherited = {key: getattr(dataset, key) for key in DETAILS if key != "description" and not details.get(key)}
    return _create(project, by, name, {**details, **inherited}, dataset=dataset, options=sources)


def corpus_stream(
    *,
    project: Project,
    by: User | None,
    name: str,
    filename: str,
    stream: BinaryIO,
    options: Mapping[str, Any],
    size: int = 0,
    progress: Progress = noop,
    **details: str,
) -> Corpus:
    """Read a stream of any length into a new index, in this process; ``size`` is its number of bytes, if known.

    If the process ends early, the corpus has failed, and the next one of its name replaces it.
    """
    stream, reading = _recognised(stream, filename, options)
    corpus = _create(project, by, name, details, filename=filename[:255], options={**reading, "streamed": True})

    def work(job: Corpus, claim: Claim) -> None:
        try:
            _index(job, claim, stream, size)
        except (KeyboardInterrupt, SystemExit):
            claim.fail("Interrupted before everything was read.")
            raise

    job_run(Corpus, corpus.pk, work, progress=progress)
    corpus.refresh_from_db()
    return corpus


def _recognised(stream: BinaryIO, filename: str, options: Mapping[str, Any]) -> tuple[BinaryIO, dict[str, Any]]:
    """Return the stream and how to read it: by the options or, without them, by its first bytes and name."""
    file_format, compression = options.get("file_format") or "", options.get("compression")
    columns = {part: name for part, name in dict(options.get("columns") or {}).items() if name not in (None, "")}
    if unknown := sorted(set(columns) - set(PARTS)):
        raise AnnotationError.at("columns", f"Column: found {unknown[0]!r}; accepted: {', '.join(PARTS)}.")
    try:
        stream, shape = begin(stream, f"any.{file_format}" if file_format in FORMATS else filename)
        reading = {
            "file_format": file_format or shape.file_format,
            "compression": shape.compression if compression is None else compression,
            "columns": columns,
            "header": bool(options.get("header", True)),
            "turn_separator": options.get("turn_separator") or TURN_SEPARATOR,
        }
        with suppress(ImportRefused):  # reading nothing checks the parameters
            next(_read(io.BytesIO(b""), reading, ReadReport(filename), noop))
    except ParameterRefused as refusal:
        field = {"file": "file_format"}.get(refusal.field, refusal.field)
        raise AnnotationError.at(field, str(refusal)) from refusal
    return stream, {**reading, "index": _index_parameters(options.get("index") or {}).to_dict()}


def _read(
    stream: BinaryIO,
    options: Mapping[str, Any],
    report: ReadReport,
    beat: Beat,
    allowance: Allowance | None = None,
) -> Iterator[Triple]:
    # Without a header all columns are numbers, so that the default name of the context cannot stay.
    columns = {**({} if options["header"] else {"context": None}), **options["columns"]}
    names = ("file_format", "compression", "header", "turn_separator")
    return read_triples(
        stream,
        **{name: options[name] for name in names},
        columns=Columns(**columns) if options["columns"] else None,
        report=report,
        beat=beat,
        allowance=allowance,
    )


def _index_parameters(parameters: Mapping[str, Any]) -> IndexParameters:
    try:
        return IndexParameters.from_dict(parameters)
    except ValueError as error:
        raise AnnotationError.at("index", str(error)) from error


def _create(project: Project, by: User | None, name: str, details: Mapping[str, str], **fields: Any) -> Corpus:
    """Create a corpus; it replaces a failed or cancelled one of its name."""
    name = name.strip()
    slug = slug_of(name, reserved=RESERVED)
    about = {key: details[key] for key in DETAILS if details.get(key)}
    taken = AnnotationError.at("name", f"Name: this project has a corpus {slug!r} already; choose another name.")
    with refused_if_taken("corpus_slug_once_per_project", taken):
        failed = project.corpora.filter(slug=slug, state__in=[JobState.FAILED, JobState.CANCELLED])
        for old in failed.select_for_update():
            _remove(old)
        return Corpus.objects.create(project=project, requested_by=by, name=name, slug=slug, **about, **fields)


# --- Indexing ---------------------------------------------------------------------------------------------------------


def corpus_index(*, corpus_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(Corpus, corpus_id, lambda corpus, claim: _index(corpus, claim, None, 0), progress=progress)


def _index(corpus: Corpus, claim: Claim, stream: BinaryIO | None, size: int) -> None:
    try:
        _index_or_refuse(corpus, claim, stream, size)
    except ImportRefused as refusal:
        claim.fail(refusal.message, report={"errors": refusal.rows, "total": refusal.total}, content=None)


def _index_or_refuse(corpus: Corpus, claim: Claim, stream: BinaryIO | None, size: int) -> None:
    progress = _IndexProgress(claim)
    report = ReadReport(corpus.filename)
    triples, progress.position, progress.size = _source(corpus, stream, size, report, progress.beat)
    folder = corpus_folder(corpus)
    parameters = _index_parameters(corpus.options["index"])
    try:
        index = build_index(
            _at_least_one(progress.reading(triples), corpus), folder, parameters=parameters, beat=progress.beat
        )
    except OSError as error:
        log.error("index not written", folder=str(folder), host=socket.gethostname(), error=str(error))
        raise AnnotationError(
            f"The index cannot be written: {error.strerror or type(error).__name__}. Give the workers a folder of "
            "corpora that they may write to, with room, shared by all hosts; their log names folder and host."
        ) from error
    except ValueError as error:
        raise AnnotationError(str(error)) from error
    with transaction.atomic():
        claim.lock()
        claim.finish(
            n_triples=index.n_triples,
            index_bytes=index.bytes,
            index_signature=index.signature,
            content_hash=index.content_hash,
            content=None,
            report={**report.to_dict(), "counts": {**report.counts(), "triples": index.n_triples}},
            progress_note="",
        )


def _at_least_one(triples: Iterator[Triple], corpus: Corpus) -> Iterator[Triple]:
    first = next(triples, None)
    if first is None:
        source = f"Data set “{corpus.dataset}”" if corpus.dataset else corpus.filename
        raise AnnotationError(
            f"{source} holds no triple: found nothing with a message and a response; accepted: at least one."
        )
    return chain([first], triples)


class _IndexProgress:
    """Report progress by the bytes that were read, or by triples if their number is known."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.size = 0
        self.position: Callable[[int], int] = int
        self.n = 0
        self.read_all = False

    def reading(self, triples: Iterable[Triple]) -> Iterator[Triple]:
        for triple in beating(triples, self.beat):
            self.n += 1
            yield triple
        self.read_all = True
        self.beat()

    def beat(self, *_: object) -> None:
        note = f"Indexing {self.n:,} triples" if self.read_all else f"Reading: {self.n:,} triples"
        done = self.size if self.read_all else min(self.position(self.n), self.size)
        self.claim.progress(done, self.size, note)


def _source(
    corpus: Corpus, stream: BinaryIO | None, size: int, report: ReadReport, beat: Beat
) -> tuple[Iterable[Triple], Callable[[int], int], int]:
    """Return the triples, the position after a number of triples, and the position at the end."""
    options = corpus.options
    if corpus.dataset is not None:
        kinds, systems = options["source_kinds"], options["source_systems"]
        total = sum(1 for _ in dataset_triples(corpus.dataset, kinds, systems))
        return dataset_triples(corpus.dataset, kinds, systems), int, total
    if stream is None and corpus.content is None:
        raise AnnotationError(
            "The file is not here any more: it was streamed by a command that ended early, or the data set is gone. "
            "Run the command again, or upload the file."
        )
    allowance = None
    if stream is None:
        content = bytes(corpus.content or b"")
        stream, size, allowance = io.BytesIO(content), len(content), Allowance(UNPACKED_BYTES)
    return _read(stream, options, report, beat, allowance), partial(_position, stream), -(-size // KIBI)


def _position(stream: BinaryIO, _: int) -> int:
    """Return the position in a file, in KiB, or 0 for a pipe, whose size is unknown."""
    return stream.tell() // KIBI if not stream.closed and stream.seekable() else 0


# --- Deleting ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def corpus_delete(*, corpus: Corpus, by: User | None = None) -> None:
    """Delete a corpus with its files; refused if a run uses it, or while it is being indexed."""
    corpus = Corpus.objects.select_for_update(of=("self",)).defer("content").get(pk=corpus.pk)
    runs = list(corpus.mining_runs.order_by("pk").values_list("pk", flat=True)[:20])
    if runs:
        listed = ", ".join(str(pk) for pk in runs)
        raise AnnotationError(
            f"Corpus “{corpus}” is used by mining run{'s' if len(runs) > 1 else ''} {listed}; "
            "accepted: a corpus that no run uses. Delete the runs first."
        )
    if corpus.state == JobState.RUNNING:
        raise AnnotationError(f"Corpus “{corpus}” is being indexed; cancel that first.")
    audit_record(
        verb="corpus.delete",
        summary=f"Deleted the corpus “{corpus}” ({corpus.n_triples:,} triples).",
        project=corpus.project,
        by=by,
        data={"corpus": corpus.slug, "n_triples": corpus.n_triples, "content_hash": corpus.content_hash},
    )
    _remove(corpus)


def _remove(corpus: Corpus) -> None:
    folder = corpus_folder(corpus)
    corpus.delete()
    transaction.on_commit(lambda: _remove_files(folder))


def _remove_files(folder: Path) -> None:
    for path in paths_of(folder):
        shutil.rmtree(path, ignore_errors=True)
    forget_indexes()
