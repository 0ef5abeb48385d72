"""Create, compute, cancel and repeat score runs."""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Max

from annotation.core.canonical import canonical_json
from annotation.core.jobs import Claim, job_claim, job_requeue, job_run
from annotation.core.progress import Progress, Throttle, noop
from annotation.core.shards import Enqueue, is_going_on, shards_help
from annotation.models import Dataset, JobState, Project, Release, SourceKind, System, User
from annotation.references.releases.selectors.releases import release_name
from metrics.errors import MetricsError, ScoreRunRefused
from metrics.models import RunGroup, RunOrigin, ScoreRun, TrainedModel
from metrics.scoring.metric import Metric, MetricStatistics, signature_line
from metrics.scoring.models.files import SHOWN
from metrics.scoring.registry import get_metric
from metrics.selectors.arrays import run_arrays, segment_items
from metrics.selectors.corpus import IntArray, plain_kinds, reference_counts, texts_digests
from metrics.selectors.models import PREFIX, model_parameters
from metrics.selectors.runs import ordered_systems, plain_kinds_of
from metrics.services.models import parameters_with_models
from metrics.services.results import run_result, run_store
from metrics.services.scoring import Scorer, shard_fields
from metrics.services.shards import run_finish, shard_work, shards_done, shards_work, whole_run_store
from metrics.subsets import Subset

ALL = Subset()
TITLE = 255  # characters of a group's title
HASHED = ("model", "text")  # kinds of parameters of which a signature may show only the first digits of a hash
# In a signature. Older runs, whose hashes have fewer digits, are not checked.
TEXTS = re.compile(rf"\|(outputs|sources|prompts|references):(?:\d+-)?([0-9a-f]{{{SHOWN}}})(?=\|)")
RESAMPLING_FROM = 90  # percent of a run when its shards are scored


@dataclass(frozen=True)
class RunTexts:
    """The texts of a run: outputs of systems, in the order of their names, and references.

    Without a release the references are the data set's own.
    """

    dataset: Dataset
    release: Release | None
    systems: Sequence[System]


@dataclass(frozen=True)
class GroupOf:
    """What a run is created for: runs of the same study, or of one request, are one group."""

    origin: RunOrigin = RunOrigin.REQUEST
    pk: int | None = None  # of the study
    title: str = ""


REQUESTED = GroupOf()


def metric_from(name: str, parameters: Mapping[str, Any]) -> Metric:
    """Return the metric; the refusal names the field."""
    try:
        return get_metric(name, **parameters)
    except ValueError as error:
        field = str(error).split(":", 1)[0]
        field = "parameters" if field == name else field  # the metric itself names an unknown parameter
        raise ScoreRunRefused.at(field, str(error)) from error


def run_signature(texts: RunTexts, metric: Metric, subset: Subset, digests: Mapping[str, str]) -> tuple[str, str]:
    """Return a line that names everything the numbers depend on, with the first digits of hashes; and, to look up a
    run, the SHA-256 of that line with all hashes in full."""
    release = texts.release
    fields = metric.signature_fields()
    if metric.needs_weights:
        fields.append(("weights", "release"))
    if metric.needs_references:
        fields.append(("refs", str(subset)))
    if release is not None:
        fields.append(("release", f"{release_name(release)}-{release.content_hash[:8]}"))
    fields.append(("data", texts.dataset.slug))
    if release is not None:
        fields.append(("items", subset.items))
    plain = digests["references"] if release is None and metric.needs_references else ""
    if plain:
        fields.append(("references", plain[:SHOWN]))
    fields.append(("outputs", f"{len(texts.systems)}-{digests['outputs'][:SHOWN]}"))
    if metric.needs_sources:
        fields.append(("sources", digests["sources"][:SHOWN]))
    if metric.needs_prompts:
        fields.append(("prompts", digests["prompts"][:SHOWN]))
    line = signature_line(metric.name, fields, metric.version)
    full = {
        "signature": line,
        "named": {
            parameter.name: getattr(metric, parameter.name)
            for parameter in metric.parameter_list()
            if parameter.kind in HASHED
        },
        "release": "" if release is None else release.content_hash,
        "outputs": digests["outputs"],
        "sources": digests["sources"] if metric.needs_sources else "",
    }
    if plain:
        full["references"] = plain
    if metric.needs_prompts:
        full["prompts"] = digests["prompts"]
    return line, hashlib.sha256(canonical_json(full)).hexdigest()


def score_run_create(
    *,
    project: Project,
    systems: Sequence[System],
    metric: str,
    parameters: Mapping[str, Any],
    by: User | None,
    release: Release | None = None,
    dataset: Dataset | None = None,
    subset: Subset = ALL,
) -> tuple[ScoreRun, bool]:
    """Return the run with this signature, and whether it is new. A new run is queued; the caller enqueues its task.

    With a release the items are the release's. Without one they are the items of ``dataset`` that have an output of
    every system and, for a metric that reads references, one of the data set's own, which all count alike.
    """
    built = metric_from(metric, parameters_with_models(project, metric, parameters))
    _check_computable(built)
    texts = _checked_texts(project, release, dataset, systems)
    subset = checked_subset(texts, built, subset)
    return get_or_create_run(texts, built, subset, run_digests(texts, built, subset), by)


@transaction.atomic
def score_runs_request(
    *,
    project: Project,
    systems: Sequence[System],
    metrics: Sequence[tuple[str, Mapping[str, Any]]],
    by: User | None,
    release: Release | None = None,
    dataset: Dataset | None = None,
    subset: Subset = ALL,
    subset_unweighted: Subset | None = None,
) -> list[tuple[ScoreRun, bool]]:
    """Return the run of each metric over the same texts, and whether it is new: one group, all of it or nothing.

    Metrics that read no weights may have other references: ``subset_unweighted``.
    """
    if not metrics:
        raise ScoreRunRefused.at("metrics", "Choose at least one metric.")
    texts = _checked_texts(project, release, dataset, systems)
    digests: dict[tuple[bool, bool, bool], dict[str, str]] = {}
    group: RunGroup | None = None
    runs = []
    for name, parameters in metrics:
        built = metric_from(name, parameters_with_models(project, name, parameters))
        _check_computable(built)
        own = subset if built.needs_weights or subset_unweighted is None else subset_unweighted
        checked = checked_subset(texts, built, own)
        reads = (built.needs_sources, built.needs_prompts, built.needs_references)
        if reads not in digests:
            digests[reads] = run_digests(texts, built, checked)
        run, created = get_or_create_run(texts, built, checked, digests[reads], by, group or REQUESTED)
        if created:
            group = run.group
        runs.append((run, created))
    return runs


def score_runs_create(
    *,
    project: Project,
    systems: Sequence[System],
    rows: Sequence[tuple[Metric, Subset]],
    by: User | None,
    group: GroupOf,
    release: Release | None = None,
    dataset: Dataset | None = None,
) -> list[ScoreRun]:
    """Return runs of many metrics and subsets over the same outputs, in the order of ``rows``.

    The references are the release's, or without one the data set's own. A metric that reads none needs neither.
    """
    texts = _checked_texts(project, release, dataset, systems)
    return [get_or_create_run(*read, by, group)[0] for read in _readings(texts, rows)]


def score_run_signatures(
    *,
    project: Project,
    systems: Sequence[System],
    rows: Sequence[tuple[Metric, Subset]],
    release: Release | None = None,
    dataset: Dataset | None = None,
) -> list[str]:
    """Return the signatures of the runs that ``score_runs_create`` makes, and make none."""
    texts = _checked_texts(project, release, dataset, systems)
    return [
        run_signature(read, metric, stored_subset(read, metric, subset), digests)[0]
        for read, metric, subset, digests in _readings(texts, rows)
    ]


def _readings(
    texts: RunTexts, rows: Sequence[tuple[Metric, Subset]]
) -> Iterator[tuple[RunTexts, Metric, Subset, dict[str, str]]]:
    """Yield for each row the texts that it reads, the metric, the subset as runs name it, and the texts' hashes."""
    digests: dict[tuple[bool, bool, tuple[str, ...]], dict[str, str]] = {}
    for metric, subset in rows:
        read = texts if metric.needs_references else replace(texts, release=None)
        checked = checked_subset(read, metric, subset)
        plain = read.release is None and metric.needs_references
        reads = (metric.needs_sources, metric.needs_prompts, tuple(plain_kinds(checked)) if plain else ())
        if reads not in digests:
            digests[reads] = run_digests(read, metric, checked)
        yield read, metric, checked, digests[reads]


def stored_subset(texts: RunTexts, metric: Metric, subset: Subset) -> Subset:
    """Return the subset that a run stores: scores without references are the same whatever it is."""
    if metric.needs_references:
        return subset
    return Subset(items=subset.items) if texts.release else ALL


def run_digests(texts: RunTexts, metric: Metric, subset: Subset) -> dict[str, str]:
    """Return the hashes of all texts that the metric reads, but for a release's references: that has its own."""
    kinds = plain_kinds(subset) if texts.release is None and metric.needs_references else []
    return texts_digests(
        texts.systems, sources=metric.needs_sources, prompts=metric.needs_prompts, reference_kinds=kinds
    )


def _checked_texts(
    project: Project, release: Release | None, dataset: Dataset | None, systems: Sequence[System]
) -> RunTexts:
    if release is not None:
        _check_release(project, release)
        dataset = release.reference_set.dataset
    elif dataset is None:
        raise ScoreRunRefused.at("dataset", "Choose a data set, or a release of one.")
    elif dataset.project_id != project.pk:
        raise ScoreRunRefused.at("dataset", "This data set belongs to another project.")
    if not systems:
        raise ScoreRunRefused.at("systems", "Choose at least one system.")
    foreign = [system.name for system in systems if system.dataset_id != dataset.pk]
    if foreign:
        raise ScoreRunRefused.at("systems", f"Not a system of data set {dataset}: {', '.join(foreign)}.")
    return RunTexts(dataset, release, sorted(set(systems), key=lambda system: system.name))


def _check_computable(metric: Metric) -> None:
    if metric.group == "external":
        raise ScoreRunRefused.at("metric", f"{metric.label}: {metric.unavailable()}")


def checked_subset(texts: RunTexts, metric: Metric, subset: Subset) -> Subset:
    """Return the subset of the references; refuse what only a release, or only a data set's own references, can give.

    A data set's own references that are all of it, or all originals, have one name, so that they are scored once.
    """
    if texts.release is not None:
        if subset.kind == "sources":
            accepted = "all, original or a threshold of the weight, such as w>0"
            raise ScoreRunRefused.at("subset", f"References: found {subset}; accepted for a release: {accepted}.")
        return subset
    if not metric.needs_references:
        return ALL
    if metric.needs_weights:
        message = f"{metric.label} reads the weights of references; accepted: a finished release of them."
        raise ScoreRunRefused.at("release", message)
    if subset.kind == "threshold":
        message = f"References: found {subset}; the data set's own references have no weights. Choose a release."
        raise ScoreRunRefused.at("subset", message)
    counts, chosen = reference_counts(texts.dataset), set(plain_kinds(subset))
    unknown = sorted(chosen - set(SourceKind.of_references()))
    if unknown:
        accepted = ", ".join(SourceKind.of_references())
        raise ScoreRunRefused.at("subset", f"References: found {unknown[0]!r}; accepted: {accepted}.")
    if not chosen & set(counts):
        has = ", ".join(f"{kind} ({n:,})" for kind, n in counts.items())
        message = (
            f"{metric.label} reads references. Data set {texts.dataset} has of its own: {has or 'none'}; "
            f"found {subset}; accepted: some of these, or a finished release."
        )
        raise ScoreRunRefused.at("subset", message)
    if chosen >= set(counts):
        return ALL
    if chosen == {SourceKind.SEED}:
        return Subset("original")
    return Subset("sources", sources=tuple(sorted(chosen & set(counts))))


def _check_release(project: Project, release: Release) -> None:
    if release.reference_set.project_id != project.pk:
        raise ScoreRunRefused.at("release", "This release belongs to another project.")
    if release.state != JobState.DONE:
        message = f"Release {release} is {release.get_state_display().lower()}; accepted: a finished release."
        raise ScoreRunRefused.at("release", message)


@transaction.atomic
def get_or_create_run(
    texts: RunTexts,
    metric: Metric,
    subset: Subset,
    digests: Mapping[str, str],
    by: User | None,
    group: RunGroup | GroupOf = REQUESTED,
) -> tuple[ScoreRun, bool]:
    """Return the run with this signature, and whether it is new.

    A run of a study that is requested by itself leaves the study's group: it is a result that someone wanted.
    """
    subset = stored_subset(texts, metric, subset)
    signature, signature_hash = run_signature(texts, metric, subset, digests)
    project_id = texts.dataset.project_id
    runs = ScoreRun.objects.filter(project=project_id, signature_hash=signature_hash).select_related("group")
    run = runs.first()
    if run is None:
        # Numbers follow each other: one run of a project is created at a time, and the loser of a race reads the
        # winner's row.
        Project.objects.select_for_update(no_key=True).get(pk=project_id)
        run = runs.first()
    if run is not None:
        if group.origin == RunOrigin.REQUEST and run.group.origin != RunOrigin.REQUEST:
            run.group = _group(project_id, group)
            run.save(update_fields=["group"])
        return run, False
    run = ScoreRun.objects.create(
        project_id=project_id,
        number=1 + (ScoreRun.objects.filter(project=project_id).aggregate(last=Max("number"))["last"] or 0),
        group=_group(project_id, group),
        dataset=texts.dataset,
        release=texts.release,
        metric=metric.name,
        parameters=metric.parameters(),
        subset=subset.as_dict(),
        signature=signature,
        signature_hash=signature_hash,
        requested_by=by,
    )
    _check_models(run)
    run.systems.set(texts.systems)
    return run, True


def _group(project_id: int, group: RunGroup | GroupOf) -> RunGroup:
    if isinstance(group, RunGroup):
        return group
    title = group.title[:TITLE]
    if group.pk is None:
        return RunGroup.objects.create(project_id=project_id, origin=group.origin, title=title)
    return RunGroup.objects.get_or_create(
        project_id=project_id, origin=group.origin, origin_pk=group.pk, defaults={"title": title}
    )[0]


def _check_models(run: ScoreRun) -> None:
    """Refuse a run whose model was deleted meanwhile; a deletion that waits for the lock then sees the run."""
    for parameter in model_parameters(run.metric):
        digest = str(run.parameters.get(parameter.name, "")).removeprefix(PREFIX)
        models = TrainedModel.objects.filter(project=run.project_id, kind=parameter.choices[0], digest=digest)
        if digest and not list(models.select_for_update(of=("self",)).values_list("pk", flat=True)):
            raise ScoreRunRefused.at(parameter.name, f"{parameter.name}: the model was deleted just now.")


def score_run_execute(*, run_id: int, progress: Progress = noop, enqueue: Enqueue = noop) -> None:
    """Claim, score, finish; safe to run twice. ``enqueue`` gets the number of helpers that would find work."""
    job_run(ScoreRun, run_id, lambda run, claim: _score(run, claim, enqueue), progress=progress)


def score_run_help(*, run_id: int) -> bool:
    """Take shards of a run that another worker holds, for one turn. Return whether there may be more."""
    run = ScoreRun.objects.filter(pk=run_id).select_related("release__reference_set").first()
    if run is None or not is_going_on(run):
        return False
    return shards_help(run, run.shards.all(), shard_work(run, metric_from(run.metric, run.parameters)))


def _score(run: ScoreRun, claim: Claim, enqueue: Enqueue) -> None:
    started = time.monotonic()
    metric = metric_from(run.metric, run.parameters)
    progress = RunProgress(run, claim)
    resumed = shards_done(run)[0] > 0
    shards_work(run, claim, metric, progress.shards, enqueue)
    result = run_result(run, progress.resampled)
    _check_outputs(run)
    with transaction.atomic():
        claim.lock()
        report = run_store(run, result)
        if not resumed:  # the time of earlier attempts is not known
            report = report | {"job_seconds": round(time.monotonic() - started, 3)}
        claim.finish(report=report, progress_note="")


def _check_outputs(run: ScoreRun) -> None:
    """Fail the run if its texts are no longer those that its signature names."""
    named = dict(TEXTS.findall(run.signature))
    systems = ordered_systems(run)
    current = texts_digests(
        systems, sources="sources" in named, prompts="prompts" in named, reference_kinds=plain_kinds_of(run)
    )
    for texts, digits in named.items():
        if not current[texts].startswith(digits):
            raise MetricsError(f"The {texts} were changed while they were scored. Start the run again.")


class RunProgress:
    """Report a run's progress in percent."""

    def __init__(self, run: ScoreRun, claim: Claim) -> None:
        self.run, self.claim = run, claim
        self.throttle = Throttle()

    def shards(self) -> None:
        if self.throttle.due():
            done, total = shards_done(self.run)
            note = f"{done:,} of {total:,} parts scored" if total > 1 else "Scoring"
            self.claim.progress(RESAMPLING_FROM * done // max(total, 1), 100, note)

    def resampled(self, done: int, total: int) -> None:
        if self.throttle.due():
            self.claim.progress(RESAMPLING_FROM + (100 - RESAMPLING_FROM) * done // total, 100, "Resampling")


def score_run_compute(*, run: ScoreRun, scorer: Scorer, statistics: MetricStatistics) -> None:
    """Store statistics that the caller has computed, unless the run is done or another worker holds it."""
    job_requeue(run)
    claim = job_claim(ScoreRun, run.pk)
    if claim is None:
        return
    metric, subset = metric_from(run.metric, run.parameters), Subset.from_mapping(run.subset)
    fields = shard_fields(scorer, metric, subset, statistics)
    with transaction.atomic():
        claim.lock()
        whole_run_store(run, fields)
        claim.finish(report=run_finish(run))


def score_run_statistics(run: ScoreRun, item_ids: IntArray) -> MetricStatistics | None:
    """Return the statistics of a finished run that scored exactly these items (S,); otherwise None.

    Metrics that pool a system's outputs store no statistics: None, too.
    """
    if run.state != JobState.DONE or run.report.get("pooled"):
        return None
    if not np.array_equal(segment_items(run), item_ids):
        return None
    return run_arrays(run).statistics()
