"""Mining runs: create, cancel, delete, and mine the seeds shard by shard."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Count, Q

from annotation.core import sql
from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_run, jobs_requeue
from annotation.core.progress import Beat, Progress, Throttle, noop
from annotation.core.races import is_kept
from annotation.core.shards import Enqueue, Work, is_going_on, shards_finish, shards_help
from annotation.hygiene.refusal import ParameterRefused
from annotation.mining.candidates import Candidate, mine
from annotation.mining.index.reading import TripleIndex
from annotation.mining.selectors import (
    SAME_AS_ANOTHER,
    SAME_TEXT,
    CandidateFilter,
    SeedChoice,
    candidates_matching,
    corpus_index,
    corpus_verify,
    damage_reported,
    require_indexed,
    seed_item_ids,
    seeds,
    seeds_done,
)
from annotation.mining.specification import MiningSpecification
from annotation.models import (
    CandidateFate,
    Corpus,
    Dataset,
    JobState,
    MinedCandidate,
    MiningRun,
    MiningShard,
    Project,
    SourceKind,
    User,
)
from annotation.projects.services.audit import audit_record

log = structlog.get_logger("assay.mining")

SHARD_SEEDS = 50
EXAMPLES = 5


# --- Creating ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def mining_run_create(
    *,
    project: Project,
    dataset: Dataset,
    corpus: Corpus,
    specification: Mapping[str, Any] | None = None,
    seed_choice: Mapping[str, Any] | None = None,
    by: User | None = None,
) -> MiningRun:
    """Queue a run. The caller enqueues ``annotation.mining.tasks.mining_run_execute`` with its id.

    ``specification`` holds parameters of ``MiningSpecification``; the rule for equal texts is the data set's.
    ``seed_choice`` holds the ``kind`` or ``system`` of the responses that are seeds, and ``splits``.
    """
    if dataset.project_id != project.pk or corpus.project_id != project.pk:
        raise AnnotationError("Data set and corpus must belong to the same project as the run.")
    require_indexed(corpus)
    if not is_kept(corpus):
        raise AnnotationError.at("corpus", f"The corpus “{corpus}” was deleted just now; accepted: another corpus.")
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)  # its seeds must not change meanwhile
    choice = _checked_seeds(dataset, seed_choice or {})
    checked = _checked_specification(dataset, specification or {})
    n_seeds = len(seed_item_ids(dataset, choice))
    if not n_seeds:
        where = f"the splits {', '.join(choice.splits)} of “{dataset}”" if choice.splits else f"“{dataset}”"
        message = f"No item of {where} has a message and a response “{choice.label}”; accepted: at least one seed."
        raise AnnotationError.at("seed_source", message)
    run = MiningRun.objects.create(
        project=project,
        dataset=dataset,
        corpus=corpus,
        specification={"seeds": choice.to_dict(), "mining": checked.to_dict()},
        signature=f"{checked.signature()}|{corpus.index_signature}|corpus:{corpus.content_hash[:16]}",
        progress_total=n_seeds,
        requested_by=by,
    )
    audit_record(
        verb="mining.create",
        summary=f"Asked for references of “{dataset}” from the corpus “{corpus}”: {n_seeds:,} seeds.",
        project=project,
        by=by,
        data={"run": run.pk, "dataset": dataset.slug, "corpus": corpus.slug},
    )
    return run


def _checked_seeds(dataset: Dataset, choice: Mapping[str, Any]) -> SeedChoice:
    kind, system = choice.get("kind", ""), choice.get("system", "")
    if not kind and not system:
        kind = SourceKind.SEED
    if kind and system:
        raise AnnotationError.at("seed_source", "Both a kind and a system are named; accepted: one of them.")
    kinds = [name for name in SourceKind.values if name != SourceKind.SYSTEM]
    if kind and kind not in kinds:
        raise AnnotationError.at("seed_source", f"Kind of seed: found {kind!r}; accepted: {', '.join(kinds)}.")
    if system and not dataset.systems.filter(name=system).exists():
        names = ", ".join(dataset.systems.values_list("name", flat=True)) or "none"
        raise AnnotationError.at("seed_source", f"System: found {system!r}; accepted: one of “{dataset}”: {names}.")
    splits = set(choice.get("splits") or ())
    known = set(dataset.items.exclude(split="").values_list("split", flat=True))
    if unknown := sorted(splits - known):
        accepted = ", ".join(sorted(known)) or "none"
        raise AnnotationError.at("splits", f"Split: found {unknown[0]!r}; accepted: one of “{dataset}”: {accepted}.")
    return SeedChoice(kind, system, tuple(sorted(splits)))


def _checked_specification(dataset: Dataset, parameters: Mapping[str, Any]) -> MiningSpecification:
    rule = parameters.get("normalisation", dataset.normalisation)
    if rule != dataset.normalisation:
        message = f"Same response: found {rule!r}; accepted: {dataset.normalisation!r}, as “{dataset}”."
        raise AnnotationError.at("normalisation", message)
    try:
        return MiningSpecification.from_dict({**parameters, "normalisation": rule})
    except ParameterRefused as error:
        raise AnnotationError.at(error.field, str(error)) from error


@transaction.atomic
def mining_run_delete(*, run: MiningRun, by: User | None = None) -> None:
    """Delete a run with its candidates; refused while it runs, and once its candidates are references."""
    run = MiningRun.objects.select_for_update(of=("self",)).select_related("dataset", "project").get(pk=run.pk)
    if run.state == JobState.RUNNING:
        raise AnnotationError(f"{run} is running; cancel it first.")
    if run.stored_at is not None:
        raise AnnotationError(f"The candidates of {run} are references of “{run.dataset}”: it stays as their record.")
    audit_record(
        verb="mining.delete",
        summary=f"Deleted {run} of “{run.dataset}”, whose candidates were not added.",
        project=run.project,
        by=by,
        data={"run": run.pk, "signature": run.signature},
    )
    run.delete()


# --- Working ----------------------------------------------------------------------------------------------------------


def mining_run_execute(*, run_id: int, progress: Progress = noop, enqueue: Enqueue = noop) -> None:
    """Claim, work, finish; safe to run twice. ``enqueue`` is called with the number of helpers that have work."""
    job_run(MiningRun, run_id, lambda run, claim: _execute(run, claim, enqueue), progress=progress)


def mining_run_help(*, run_id: int) -> bool:
    """Work for a while on shards of a run that another worker holds. Return whether there may be more."""
    run = MiningRun.objects.select_related("dataset", "corpus").defer("corpus__content").filter(pk=run_id).first()
    if run is None or not is_going_on(run):
        return False
    try:
        index = corpus_index(run.corpus)
    except AnnotationError as error:  # other hosts continue without this host
        log.warning("cannot help to mine", run=run_id, error=error.message)
        return False
    return shards_help(run, run.shards.all(), _shard_work(run, index))


def _execute(run: MiningRun, claim: Claim, enqueue: Enqueue) -> None:
    index = corpus_index(run.corpus)
    corpus_verify(run.corpus)
    _make_shards(run, claim)
    total, throttle = run.progress_total, Throttle()

    def beat() -> None:
        if throttle.due():
            done = seeds_done(run)
            claim.progress(done, total, f"{done:,} of {total:,} seeds")

    shards_finish(run.shards.all(), _shard_work(run, index), failure=_failure, beat=beat, enqueue=enqueue)
    report = mining_report(run)
    with transaction.atomic():
        claim.lock()
        claim.finish(report=report, progress_note="")


def _make_shards(run: MiningRun, claim: Claim) -> None:
    """Cut the run into shards, unless an earlier attempt has; failed and cancelled shards start again."""
    with transaction.atomic():
        claim.lock()
        if not run.shards.exists():
            items = seed_item_ids(run.dataset, SeedChoice.of(run.specification["seeds"]))
            pieces = [items[start : start + SHARD_SEEDS] for start in range(0, len(items), SHARD_SEEDS)]
            MiningShard.objects.bulk_create(
                MiningShard(run=run, number=number, item_ids=piece, progress_total=len(piece))
                for number, piece in enumerate(pieces)
            )
            run.progress_total = len(items)
        jobs_requeue(run.shards.all())


def _failure(shard: MiningShard) -> AnnotationError:
    return AnnotationError(f"Seeds {shard.number * SHARD_SEEDS + 1} and following: {shard.error}")


def _shard_work(run: MiningRun, index: TripleIndex) -> Work[MiningShard]:
    specification = MiningSpecification.from_dict(run.specification["mining"])
    choice = SeedChoice.of(run.specification["seeds"])

    def work(shard: MiningShard, claim: Claim, beat: Beat) -> None:
        rows: list[tuple[object, ...]] = []
        throttle = Throttle()
        for number, seed in enumerate(seeds(run.dataset, choice, shard.item_ids)):
            with damage_reported(run.corpus):
                candidates = mine(seed, index, specification)
            rows += [(run.pk, shard.pk, seed.item_id, *_values(candidate)) for candidate in candidates]
            if throttle.due():
                claim.progress(number + 1, len(shard.item_ids))
                beat()
        with transaction.atomic():
            claim.lock()
            copy_rows(MinedCandidate, COLUMNS, rows)
            claim.finish()

    return work


COLUMNS = ("run_id", "shard_id", "item_id", *(each.name for each in fields(Candidate)))


def _values(candidate: Candidate) -> list[object]:
    return [list(value) if isinstance(value, tuple) else value for value in vars(candidate).values()]


# --- The report -------------------------------------------------------------------------------------------------------


def mining_report(run: MiningRun) -> dict[str, Any]:
    """Return counts by kind and fate, by reason, of near-duplicates, and of seeds by their kept texts."""
    candidates = MinedCandidate.objects.filter(run=run).order_by()
    kinds: dict[str, dict[str, int]] = {}
    for kind, fate, n in candidates.values_list("kind", "fate").annotate(n=Count("pk")):
        kinds.setdefault(kind, dict.fromkeys(CandidateFate.values, 0))[fate] = n
    near = candidates.exclude(near_duplicate="")
    return {
        "kinds": kinds,
        "reasons": _reasons(run),
        "near_duplicates": {"all": near.count(), "kept": near.filter(fate=CandidateFate.KEPT).count()},
        "seeds": _seed_counts(run),
    }


REASONS = """
SELECT CASE WHEN reason ~ %(same_as)s THEN %(same)s ELSE split_part(reason, ':', 1) END AS step, fate,
       count(DISTINCT id)
  FROM (SELECT id, fate, unnest(reasons) AS reason FROM annotation_minedcandidate WHERE run_id = %(run)s) reasons
 GROUP BY step, fate
 ORDER BY step, fate
"""


def _reasons(run: MiningRun) -> list[dict[str, Any]]:
    """Count reasons by step, the part before the colon; duplicates of any candidate are one step."""
    counted = sql.rows(REASONS, {"run": run.pk, "same": SAME_TEXT, "same_as": f"^{SAME_AS_ANOTHER}"})
    return [{"step": step, "fate": fate, "n": n, "examples": _examples(run, step, fate)} for step, fate, n in counted]


def _examples(run: MiningRun, step: str, fate: str) -> list[dict[str, Any]]:
    # Not by their own keys, which say which worker was first.
    candidates = candidates_matching(run, CandidateFilter(fate=fate, step=step)).select_related("item")
    candidates = candidates.order_by("item_id", "kind", "rank", "pk")
    names = ("item_id", "kind", "rank", "text", "raw_text", "reasons")
    return [
        {"item": candidate.item.external_id, **{name: getattr(candidate, name) for name in names}}
        for candidate in candidates[:EXAMPLES]
    ]


def _seed_counts(run: MiningRun) -> dict[str, Any]:
    """Count seeds by their number of kept mined texts: {"3": 12} means that twelve seeds have three."""
    is_kept = Q(kind=SourceKind.MINED, fate=CandidateFate.KEPT)
    counted = MinedCandidate.objects.filter(run=run).order_by().values("item").annotate(n=Count("pk", filter=is_kept))
    sizes = Counter(counted.values_list("n", flat=True))
    n_seeds = run.progress_total
    if n_seeds > sizes.total():  # seeds without any candidate
        sizes[0] += n_seeds - sizes.total()
    requested = run.specification["mining"]["n"]
    return {
        "all": n_seeds,
        "fewer": sum(count for n, count in sizes.items() if n < requested),
        "kept": {str(n): count for n, count in sorted(sizes.items())},
    }
