"""Trained models: asked for, trained or taken in by a worker, deleted. Equal texts and options are trained once."""

import hashlib
import io
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from annotation.core.canonical import canonical_json
from annotation.core.jobs import Claim, job_run
from annotation.core.names import slug_of
from annotation.core.progress import Progress, noop
from annotation.datasets.sources import check_sources
from annotation.models import Corpus, Dataset, JobState, Project, User
from annotation.projects.services.audit import audit_record
from metrics.errors import MetricsError
from metrics.models import TrainedModel
from metrics.scoring import VERSION
from metrics.scoring.models.distinct_texts import Survey, kept_texts, survey
from metrics.scoring.models.kinds import Kind, get_kind
from metrics.scoring.models.store import Model
from metrics.selectors.models import folder_of, runs_using
from metrics.selectors.training_texts import (
    CONTEXTS,
    MESSAGES,
    OUTPUTS,
    PARTS,
    REFERENCES,
    RESPONSES,
    Texts,
    compared_keys,
    corpus_texts,
    dataset_texts,
    file_texts,
)
from metrics.services.model_files import read_file, stored
from metrics.services.scoring import model_store

LISTED = 20
OpenFile = Callable[[], BinaryIO]


# --- What may be asked for --------------------------------------------------------------------------------------------


def model_train_on_dataset(
    *,
    project: Project,
    by: User | None,
    name: str,
    kind: str,
    dataset: Dataset,
    options: Mapping[str, Any] | None = None,
    texts: Sequence[str] = (),
    source_kinds: Sequence[str] = (),
    source_systems: Sequence[str] = (),
    keep_apart: bool = True,
) -> TrainedModel:
    """Queue a training on texts of a data set: ``texts`` of messages, contexts; responses of chosen kinds or systems.

    ``keep_apart`` leaves out whatever is an output or a reference in the project. The caller enqueues
    ``metrics.tasks.train_model`` with the id.
    """
    if dataset.project_id != project.pk:
        raise MetricsError.at("dataset", f"Data set “{dataset}” belongs to another project.")
    _check_parts(texts, (MESSAGES, CONTEXTS))
    check_sources(dataset, source_kinds, source_systems)
    if not (texts or source_kinds or source_systems):
        raise MetricsError.at("texts", "No texts are chosen; accepted: messages, contexts, or a source of responses.")
    source = {
        "dataset": dataset.slug,
        "texts": sorted(texts),
        "source_kinds": sorted(source_kinds),
        "source_systems": sorted(source_systems),
        "keep_apart": keep_apart,
    }
    return _create(project, by, name, kind, options, source, dataset=dataset)


def model_train_on_corpus(
    *,
    project: Project,
    by: User | None,
    name: str,
    kind: str,
    corpus: Corpus,
    options: Mapping[str, Any] | None = None,
    texts: Sequence[str] = (RESPONSES,),
    keep_apart: bool = True,
) -> TrainedModel:
    """Queue a training on texts of an indexed corpus: contexts, messages, responses."""
    if corpus.project_id != project.pk:
        raise MetricsError.at("corpus", f"Corpus “{corpus}” belongs to another project.")
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: one whose index is done."
        raise MetricsError.at("corpus", message)
    _check_parts(texts, PARTS)
    if not texts:
        raise MetricsError.at("texts", f"No texts are chosen; accepted: {', '.join(PARTS)}.")
    source = {"corpus": corpus.slug, "texts": sorted(texts), "keep_apart": keep_apart}
    return _create(project, by, name, kind, options, source, corpus=corpus)


def model_train_on_upload(
    *,
    project: Project,
    by: User | None,
    name: str,
    kind: str,
    filename: str,
    content: bytes,
    options: Mapping[str, Any] | None = None,
    keep_apart: bool = True,
) -> TrainedModel:
    """Queue a training on an uploaded file: one text a line, in UTF-8, perhaps compressed."""
    if not content:
        raise MetricsError.at("file", f"File: {filename!r} is empty; accepted: a text a line.")
    source = {"file": filename[:255], "keep_apart": keep_apart}
    return _create(project, by, name, kind, options, source, content=content)


def model_train_on_file(
    *,
    project: Project,
    by: User | None,
    name: str,
    kind: str,
    path: Path,
    options: Mapping[str, Any] | None = None,
    keep_apart: bool = True,
    progress: Progress = noop,
) -> TrainedModel:
    """Train on a file of this host of any length, here and now."""
    source = {"file": path.name[:255], "keep_apart": keep_apart, "here": True}
    model = _create(project, by, name, kind, options, source)
    return _here_and_now(model, lambda job, claim: _train(job, claim, lambda: path.open("rb")), progress)


def model_register_upload(
    *, project: Project, by: User | None, name: str, kind: str, filename: str, content: bytes
) -> TrainedModel:
    """Queue the reading of an uploaded model that another program made."""
    readable = get_kind_or_refuse(kind)
    if not readable.made_elsewhere:
        raise MetricsError.at("file", f"A file of kind {kind!r} cannot be uploaded; train one, or register a folder.")
    if not content:
        raise MetricsError.at("file", f"File: {filename!r} is empty; accepted: {readable.made_elsewhere}.")
    return _create(project, by, name, kind, None, {"registered": filename[:255]}, content=content)


def model_register(
    *, project: Project, by: User | None, name: str, kind: str, path: str, progress: Progress = noop
) -> TrainedModel:
    """Take in a model that lies on this host, here and now: a file made elsewhere, or a folder of a model."""
    get_kind_or_refuse(kind)
    model = _create(project, by, name, kind, None, {"registered": Path(path).name[:255], "here": True})
    return _here_and_now(model, lambda job, claim: _take_in(job, claim, path), progress)


def get_kind_or_refuse(name: str) -> Kind:
    try:
        return get_kind(name)
    except ValueError as error:
        raise MetricsError.at("kind", f"{error}.") from error


def _check_parts(given: Sequence[str], accepted: Sequence[str]) -> None:
    unknown = sorted(set(given) - set(accepted))
    if unknown:
        raise MetricsError.at("texts", f"Texts: found {unknown[0]!r}; accepted: {', '.join(accepted)}.")


def _create(
    project: Project,
    by: User | None,
    name: str,
    kind: str,
    options: Mapping[str, Any] | None,
    source: Mapping[str, Any],
    **fields: Any,
) -> TrainedModel:
    """The next version of that name."""
    checked = {} if "registered" in source else _checked_options(get_kind_or_refuse(kind), options or {})
    name = name.strip()
    slug = slug_of(name)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)  # versions are counted one request at a time
        newest = project.trained_models.filter(slug=slug).order_by("-version").values_list("version", "kind").first()
        if newest is not None and newest[1] != kind:
            message = f"Name: {slug!r} is a model of kind {newest[1]} already; choose another name."
            raise MetricsError.at("name", message)
        model = TrainedModel.objects.create(
            project=project,
            requested_by=by,
            name=name,
            slug=slug,
            version=1 if newest is None else newest[0] + 1,
            kind=kind,
            options=checked,
            source=dict(source),
            **fields,
        )
        audit_record(
            verb="model.register" if "registered" in source else "model.train",
            summary=f"Asked for the {model.kind_label} “{model}”.",
            project=project,
            by=by,
            data={"model": f"{slug}/v{model.version}", "kind": kind, "options": checked, "source": dict(source)},
        )
    return model


def _checked_options(kind: Kind, options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return kind.checked(options).as_dict()
    except ValueError as error:
        raise MetricsError.at(str(error).split(":", 1)[0], f"{error}.") from error


# --- Work -------------------------------------------------------------------------------------------------------------


def model_execute(*, model_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(TrainedModel, model_id, _work, progress=progress)


def _work(model: TrainedModel, claim: Claim) -> None:
    if model.source.get("here"):
        raise MetricsError("A command read the file and ended early. Run the command again.")
    if "registered" in model.source:
        with read_file(_content(model), model.source["registered"]) as path:
            _take_in(model, claim, str(path))
    else:
        _train(model, claim, lambda: io.BytesIO(_content(model)))


def _content(model: TrainedModel) -> bytes:
    if model.content is None:
        raise MetricsError("The uploaded file is not here any more. Upload it again.")
    return bytes(model.content)


def _here_and_now(model: TrainedModel, work: Callable[[TrainedModel, Claim], None], progress: Progress) -> TrainedModel:
    def watched(job: TrainedModel, claim: Claim) -> None:
        try:
            work(job, claim)
        except (KeyboardInterrupt, SystemExit):
            claim.fail("Interrupted.")
            raise

    job_run(TrainedModel, model.pk, watched, progress=progress)
    model.refresh_from_db()
    return model


def _train(model: TrainedModel, claim: Claim, open_file: OpenFile) -> None:
    started = time.monotonic()
    kind = get_kind_or_refuse(model.kind)
    read = _texts(model, open_file)
    groups = compared_keys(model.project)
    claim.progress(0, 0, "Reading texts")
    found = survey(
        read,
        groups=groups,
        keep_apart=model.source["keep_apart"],
        progress=lambda n: claim.progress(n, 0, f"Reading: {n:,} texts"),
    )
    if not found.n_texts:
        raise MetricsError(_nothing_left(found))
    training_hash = _training_hash(model, found)
    facts = survey_facts(found, {name: len(keys) for name, keys in groups.items()})
    known = _trained_before(model, training_hash)
    if known is not None:
        facts |= {"model": known.report["model"], "same_as": {"id": known.pk, "name": str(known)}}
        _finish(model, claim, known.digest, known.size, facts, started, training_hash)
        return
    n = found.n_texts
    claim.progress(0, n, f"Training on {n:,} texts")
    try:
        trained = kind.train(
            kept_texts(read, found),
            kind.checked(model.options),
            lambda done: claim.progress(
                min(done, n), n, f"Training on {n:,} texts" if done < n else "All texts read, computing"
            ),
        )
    except ValueError as error:
        raise MetricsError(f"{error}.") from error
    _keep(model, claim, kind, trained, facts, started, training_hash)


def _take_in(model: TrainedModel, claim: Claim, path: str) -> None:
    def read(done: int, total: int) -> None:
        claim.progress(done // 1024, total // 1024, "Reading the model")

    started = time.monotonic()
    kind = get_kind_or_refuse(model.kind)
    claim.progress(0, 0, "Reading the model")
    try:
        taken = stored(kind, path, Path(settings.MODELS_DIR), read)
    except (ValueError, OSError) as error:
        message = str(error).replace(f"{Path(path).parent}/", "")  # of an upload nobody knows the folder
        raise MetricsError(f"{message}.") from error
    _keep(model, claim, kind, taken, {}, started, "")


def _keep(
    model: TrainedModel, claim: Claim, kind: Kind, made: Model, facts: dict[str, Any], started: float, training: str
) -> None:
    try:
        model_store().add(made)
    except OSError as error:
        message = f"The model cannot be written to {settings.MODELS_DIR}: {error.strerror or error}."
        raise MetricsError(message) from error
    model.digest = made.digest
    size = sum(file.stat().st_size for file in folder_of(model).rglob("*") if file.is_file())
    _finish(model, claim, made.digest, size, facts | {"model": kind.facts(made)}, started, training)


def _finish(
    model: TrainedModel, claim: Claim, digest: str, size: int, facts: dict[str, Any], started: float, training: str
) -> None:
    report = facts | {"seconds": round(time.monotonic() - started, 3)}
    with transaction.atomic():
        claim.lock()
        claim.finish(digest=digest, size=size, report=report, training_hash=training, content=None, progress_note="")


def _texts(model: TrainedModel, open_file: OpenFile) -> Texts:
    source = model.source
    if "file" in source:
        return lambda: file_texts(open_file, source["file"])
    dataset, corpus = model.dataset, model.corpus
    if dataset is not None:
        kinds, systems = source["source_kinds"], source["source_systems"]
        return lambda: dataset_texts(dataset, source["texts"], kinds, systems)
    if corpus is not None:
        return lambda: corpus_texts(corpus, source["texts"])
    raise MetricsError("The data set or corpus it was to be trained on is gone.")


def _nothing_left(found: Survey) -> str:
    apart = f", {found.apart:,} kept apart because they are outputs or references" if found.apart else ""
    return f"Nothing to train on: {found.n_read:,} texts were read, {found.empty:,} of them empty{apart}."


def _training_hash(model: TrainedModel, found: Survey) -> str:
    what = {"kind": model.kind, "options": model.options, "texts": found.digest, "version": VERSION}
    return hashlib.sha256(canonical_json(what)).hexdigest()


def _trained_before(model: TrainedModel, training_hash: str) -> TrainedModel | None:
    """The same training in this project, if its files are on this host."""
    done = TrainedModel.objects.filter(
        project=model.project_id, kind=model.kind, training_hash=training_hash, state=JobState.DONE
    )
    return next((one for one in done.defer("content").order_by("pk") if folder_of(one).exists()), None)


def survey_facts(found: Survey, sizes: Mapping[Any, int]) -> dict[str, Any]:
    """What was trained on, in numbers; for each data set what it shares with it."""
    datasets = dict.fromkeys(pk for pk, _ in sizes)
    return {
        "texts": found.n_texts,
        "words": found.words,
        "texts_read": found.n_read,
        "empty": found.empty,
        "repeated": found.repeated,
        "kept_apart": found.apart,
        "texts_digest": found.digest,
        "overlap": [
            {
                "dataset_id": pk,
                "outputs": found.shared[pk, OUTPUTS],
                "outputs_of": sizes[pk, OUTPUTS],
                "references": found.shared[pk, REFERENCES],
                "references_of": sizes[pk, REFERENCES],
            }
            for pk in datasets
        ],
    }


# --- Deleting ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def model_delete(*, model: TrainedModel, by: User | None) -> None:
    """The model with its files. Refused where a score run of the project needs it, or while a worker is at it."""
    model = TrainedModel.objects.select_for_update(of=("self",)).defer("content").get(pk=model.pk)
    if model.state == JobState.RUNNING:
        raise MetricsError(f"“{model}” is being trained; cancel that first.")
    others = TrainedModel.objects.filter(kind=model.kind, digest=model.digest, state=JobState.DONE).exclude(pk=model.pk)
    runs = list(runs_using(model).values_list("pk", flat=True)[:LISTED])
    if runs and not others.filter(project=model.project_id).exists():
        listed = ", ".join(map(str, runs))
        plural = "s" if len(runs) > 1 else ""
        raise MetricsError(f"“{model}” is read by score run{plural} {listed}; accepted: a model that no run reads.")
    audit_record(
        verb="model.delete",
        summary=f"Deleted the {model.kind_label} “{model}”.",
        project=model.project,
        by=by,
        data={"model": f"{model.slug}/v{model.version}", "kind": model.kind, "digest": model.digest},
    )
    folder = folder_of(model) if model.digest and not others.exists() else None
    model.delete()
    if folder is not None:
        transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))
