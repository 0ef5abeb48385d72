"""Create, train, register and delete models. The same training is done once."""

import hashlib
import io
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from annotation.core.canonical import canonical_json
from annotation.core.file_limits import UNPACKED_BYTES
from annotation.core.jobs import Claim, job_run
from annotation.core.progress import Progress, noop
from annotation.datasets.sources import check_sources
from annotation.models import Corpus, Dataset, JobState, User
from annotation.projects.services.audit import audit_record
from metrics.errors import MetricsError
from metrics.models import TrainedModel
from metrics.scoring import VERSION
from metrics.scoring.models.distinct_texts import Survey, kept_texts, survey
from metrics.scoring.models.kinds import RATED
from metrics.selectors import training_texts
from metrics.selectors.models import folder_of, runs_using
from metrics.selectors.training_texts import OUTPUTS, PARTS, REFERENCES, Texts
from metrics.services.model_files import load_model, temporary_file
from metrics.services.model_rows import (
    Made,
    ModelRequest,
    get_kind_or_refuse,
    model_create,
    model_keep,
    trained_before,
)
from metrics.services.quality_training import checkpoint_folder, checkpoint_remove, train_on_ratings

LISTED = 20
OpenFile = Callable[[], BinaryIO]


# --- Requests ---------------------------------------------------------------------------------------------------------


def model_train_on_dataset(
    *,
    request: ModelRequest,
    dataset: Dataset,
    texts: Sequence[str] = (),
    source_kinds: Sequence[str] = (),
    source_systems: Sequence[str] = (),
) -> TrainedModel:
    """Queue a training on a data set's ``texts``, messages or contexts, and on responses of these kinds or systems.

    The caller enqueues ``metrics.tasks.train_model`` with the id.
    """
    _check_reads_texts(request)
    if dataset.project_id != request.project.pk:
        raise MetricsError.at("dataset", f"Data set “{dataset}” belongs to another project.")
    _check_parts(texts, (training_texts.MESSAGES, training_texts.CONTEXTS))
    check_sources(dataset, source_kinds, source_systems)
    if not (texts or source_kinds or source_systems):
        raise MetricsError.at("texts", "No texts are chosen; accepted: messages, contexts, or a source of responses.")
    source = {
        "dataset": dataset.slug,
        "texts": sorted(texts),
        "source_kinds": sorted(source_kinds),
        "source_systems": sorted(source_systems),
    }
    return model_create(request, source, dataset=dataset)


def model_train_on_corpus(
    *, request: ModelRequest, corpus: Corpus, texts: Sequence[str] = (training_texts.RESPONSES,)
) -> TrainedModel:
    """Queue a training on texts of an indexed corpus: contexts, messages, responses."""
    _check_reads_texts(request)
    if corpus.project_id != request.project.pk:
        raise MetricsError.at("corpus", f"Corpus “{corpus}” belongs to another project.")
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: one whose index is done."
        raise MetricsError.at("corpus", message)
    _check_parts(texts, PARTS)
    if not texts:
        raise MetricsError.at("texts", f"No texts are chosen; accepted: {', '.join(PARTS)}.")
    return model_create(request, {"corpus": corpus.slug, "texts": sorted(texts)}, corpus=corpus)


def model_train_on_upload(*, request: ModelRequest, filename: str, content: bytes) -> TrainedModel:
    """Queue a training on an uploaded file in UTF-8 with one text per line; it may be compressed."""
    _check_reads_texts(request)
    if not content:
        raise MetricsError.at("file", f"File: {filename!r} is empty; accepted: a text a line.")
    return model_create(request, {"file": filename[:255]}, content=content)


def model_train_on_file(*, request: ModelRequest, path: Path, progress: Progress = noop) -> TrainedModel:
    """Train at once on a file of this host, of any length."""
    _check_reads_texts(request)
    model = model_create(request, {"file": path.name[:255], "here": True})
    return _run_at_once(model, lambda job, claim: _train(job, claim, lambda: path.open("rb")), progress)


def model_register_upload(*, request: ModelRequest, filename: str, content: bytes) -> TrainedModel:
    """Queue the reading of an uploaded model that another program made."""
    kind = get_kind_or_refuse(request.kind)
    if not kind.made_elsewhere:
        message = f"A file of kind {kind.name!r} cannot be uploaded; train one, or register a folder."
        raise MetricsError.at("file", message)
    if not content:
        raise MetricsError.at("file", f"File: {filename!r} is empty; accepted: {kind.made_elsewhere}.")
    return model_create(request, {"registered": filename[:255]}, content=content)


def model_register(*, request: ModelRequest, path: str, progress: Progress = noop) -> TrainedModel:
    """Read at once a model on this host: a file of another program, or a model's folder."""
    get_kind_or_refuse(request.kind)
    model = model_create(request, {"registered": Path(path).name[:255], "here": True})
    return _run_at_once(model, lambda job, claim: _register(job, claim, path), progress)


def _check_reads_texts(request: ModelRequest) -> None:
    if request.kind in RATED:
        raise MetricsError.at("kind", f"kind: found {request.kind!r}, which learns from ratings, not from texts.")


def _check_parts(given: Sequence[str], accepted: Sequence[str]) -> None:
    unknown = sorted(set(given) - set(accepted))
    if unknown:
        raise MetricsError.at("texts", f"Texts: found {unknown[0]!r}; accepted: {', '.join(accepted)}.")


# --- Work -------------------------------------------------------------------------------------------------------------

Work = Callable[[TrainedModel, Claim], Made]


def model_execute(*, model_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(TrainedModel, model_id, partial(_finish, work=_train_or_register), progress=progress)


def _run_at_once(model: TrainedModel, work: Work, progress: Progress) -> TrainedModel:
    def interruptible(job: TrainedModel, claim: Claim) -> None:
        try:
            _finish(job, claim, work)
        except (KeyboardInterrupt, SystemExit):
            claim.fail("Interrupted.")
            raise

    job_run(TrainedModel, model.pk, interruptible, progress=progress)
    model.refresh_from_db()
    return model


def _finish(model: TrainedModel, claim: Claim, work: Work) -> None:
    started = time.monotonic()
    made = work(model, claim)
    report = made.fields["report"] | {"seconds": round(time.monotonic() - started, 3)}
    with transaction.atomic():
        claim.lock()
        claim.finish(**made.fields | {"report": report | made.store()}, content=None, progress_note="")
    checkpoint_remove(model)


def _train_or_register(model: TrainedModel, claim: Claim) -> Made:
    if model.source.get("here"):
        raise MetricsError("A command read the file and ended early. Run the command again.")
    if "campaigns" in model.source:
        return train_on_ratings(model, claim)
    if "registered" in model.source:
        with temporary_file(_content(model), model.source["registered"]) as path:
            return _register(model, claim, str(path))
    return _train(model, claim, lambda: io.BytesIO(_content(model)))


def _content(model: TrainedModel) -> bytes:
    if model.content is None:
        raise MetricsError("The uploaded file is not here any more. Upload it again.")
    return bytes(model.content)


def _train(model: TrainedModel, claim: Claim, open_file: OpenFile) -> Made:
    kind = get_kind_or_refuse(model.kind)
    texts = _texts(model, open_file)
    groups = training_texts.compared_keys(model.project)
    claim.progress(0, 0, "Reading texts")
    counts = survey(
        texts,
        groups=groups,
        keep_apart=model.source["keep_apart"],
        progress=lambda n: claim.progress(n, 0, f"Reading: {n:,} texts"),
    )
    n = counts.n_texts
    if not n:
        raise MetricsError(_nothing_left(counts))
    training_hash = _training_hash(model, counts)
    report = survey_report(counts, {name: len(keys) for name, keys in groups.items()})
    earlier = trained_before(model, training_hash)
    if earlier is not None:
        report |= {"model": earlier.report["model"], "same_as": {"id": earlier.pk, "name": str(earlier)}}
        fields = {"digest": earlier.digest, "size": earlier.size, "report": report, "training_hash": training_hash}
        return Made(fields)
    claim.progress(0, n, f"Training on {n:,} texts")
    try:
        trained = kind.train(
            kept_texts(texts, counts),
            kind.checked(model.options),
            lambda done: claim.progress(
                min(done, n), n, f"Training on {n:,} texts" if done < n else "All texts read, computing"
            ),
        )
    except ValueError as error:
        raise MetricsError(f"{error}.") from error
    return Made(model_keep(model, trained, report) | {"training_hash": training_hash})


def _register(model: TrainedModel, claim: Claim, path: str) -> Made:
    def progress(done: int, total: int) -> None:
        claim.progress(done // 1024, total // 1024, "Reading the model")

    kind = get_kind_or_refuse(model.kind)
    progress(0, 0)
    try:
        loaded = load_model(kind, path, Path(settings.MODELS_DIR), progress)
    except (ValueError, OSError) as error:
        message = str(error).replace(f"{Path(path).parent}/", "")  # an upload's folder means nothing to a reader
        raise MetricsError(f"{message}.") from error
    return Made(model_keep(model, loaded, {}))


def _texts(model: TrainedModel, open_file: OpenFile) -> Texts:
    source = model.source
    if "file" in source:
        most = None if source.get("here") else UNPACKED_BYTES
        return partial(training_texts.file_texts, open_file, source["file"], most)
    if model.dataset is not None:
        choice = source["texts"], source["source_kinds"], source["source_systems"]
        return partial(training_texts.dataset_texts, model.dataset, *choice)
    if model.corpus is not None:
        return partial(training_texts.corpus_texts, model.corpus, source["texts"])
    raise MetricsError("The data set or corpus it was to be trained on is gone.")


def _nothing_left(counts: Survey) -> str:
    apart = f", {counts.apart:,} kept apart because they are outputs or references" if counts.apart else ""
    return f"Nothing to train on: {counts.n_read:,} texts were read, {counts.empty:,} of them empty{apart}."


def _training_hash(model: TrainedModel, counts: Survey) -> str:
    training = {"kind": model.kind, "options": model.options, "texts": counts.digest, "version": VERSION}
    return hashlib.sha256(canonical_json(training)).hexdigest()


def survey_report(counts: Survey, sizes: Mapping[Any, int]) -> dict[str, Any]:
    """Return the numbers of the texts, and for each data set how many of its texts are among them."""
    return {
        "texts": counts.n_texts,
        "words": counts.words,
        "texts_read": counts.n_read,
        "empty": counts.empty,
        "repeated": counts.repeated,
        "kept_apart": counts.apart,
        "texts_digest": counts.digest,
        "overlap": [
            {
                "dataset_id": pk,
                "outputs": counts.shared[pk, OUTPUTS],
                "outputs_of": sizes[pk, OUTPUTS],
                "references": counts.shared[pk, REFERENCES],
                "references_of": sizes[pk, REFERENCES],
            }
            for pk in dict.fromkeys(pk for pk, _ in sizes)
        ],
    }


# --- Deleting ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def model_delete(*, model: TrainedModel, by: User | None) -> None:
    """Delete a model with its files, unless a score run of the project needs it or a worker is training it."""
    model = TrainedModel.objects.select_for_update(of=("self",)).defer("content").get(pk=model.pk)
    if model.state == JobState.RUNNING:
        raise MetricsError(f"“{model}” is being trained; cancel that first.")
    others = TrainedModel.objects.filter(kind=model.kind, digest=model.digest, state=JobState.DONE).exclude(pk=model.pk)
    runs = list(runs_using(model).values_list("number", flat=True)[:LISTED])
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
    checkpoint = checkpoint_folder(model)
    model.delete()
    for unused in (checkpoint, folder):
        if unused is not None:
            transaction.on_commit(partial(shutil.rmtree, unused, ignore_errors=True))
