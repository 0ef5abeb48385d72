"""Mining runs: create, cancel, delete, and mine the seeds shard by shard."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import connection, transaction
from django.db.models import Count, Q

from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_request_cancel, job_run, jobs_requeue
from annotation.core.progress import Beat, Progress, Throttle, noop
from annotation.core.shards import Enqueue, Work, is_going_on, shards_finish, shards_help
from annotation.hygiene.refusal import ParameterRefused
from annotation.mining.candidates import Candidate, mine
from annotation.mining.index import TripleIndex
from annotation.mining.selectors import (
    SAME_AS_ANOTHER,
    SAME_TEXT,
    CandidateFilter,
    SeedChoice,
    candidates_matching,
    corpus_index,
    corpus_verify,
    seed_item_ids,
    seeds,
    seeds_done,
    told_of_damage,
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


# --- What may be asked for --------------------------------------------------------------------------------------------


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

    ``specification`` is what ``MiningSpecification`` takes, its defaults filled in; two texts are the same as the data
    set has it. ``seed_choice`` says which response of an item is its seed, and of which splits: ``kind`` or ``system``,
    ``splits``.
    """
    if dataset.project_id != project.pk or corpus.project_id != project.pk:
        raise AnnotationError("Data set and corpus must belong to the same project as the run.")
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: a corpus whose index is done."
        raise AnnotationError.at("corpus", message)
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # nobody selects or takes back its seeds meanwhile
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


def _checked_seeds(dataset: Dataset, given: Mapping[str, Any]) -> SeedChoice:
    kind, system = given.get("kind", ""), given.get("system", "")
    if not kind and not system:
        kind = SourceKind.SEED
    if kind and system:
        raise AnnotationError.at("seed_source", "Both a kind and a system are named; accepted: one of them.")
    kinds = [one for one in SourceKind.values if one != SourceKind.SYSTEM]
    if kind and kind not in kinds:
        raise AnnotationError.at("seed_source", f"Kind of seed: found {kind!r}; accepted: {', '.join(kinds)}.")
    if system and not dataset.systems.filter(name=system).exists():
        names = ", ".join(dataset.systems.values_list("name", flat=True)) or "none"
        raise AnnotationError.at("seed_source", f"System: found {system!r}; accepted: one of “{dataset}”: {names}.")
    splits = tuple(given.get("splits") or ())
    known = set(dataset.items.exclude(split="").values_list("split", flat=True))
    missing = sorted(set(splits) - known)
    if missing:
        has = ", ".join(sorted(known)) or "none"
        raise AnnotationError.at("splits", f"Split: found {missing[0]!r}; accepted: one of “{dataset}”: {has}.")
    return SeedChoice(kind, system, tuple(sorted(set(splits))))


def _checked_specification(dataset: Dataset, given: Mapping[str, Any]) -> MiningSpecification:
    asked = {"normalisation": dataset.normalisation, **given}
    if asked["normalisation"] != dataset.normalisation:
        raise AnnotationError.at(
            "normalisation",
            f"Same response: found {asked['normalisation']!r}; accepted: {dataset.normalisation!r}, as “{dataset}”.",
        )
    try:
        return MiningSpecification.from_dict(asked)
    except ParameterRefused as error:
        raise AnnotationError.at(error.field, str(error)) from error


# --- Cancelling, starting over, deleting ------------------------------------------------------------------------------


def mining_run_cancel(*, run: MiningRun) -> None:
    job_request_cancel(run)


@transaction.atomic
def mining_run_delete(*, run: MiningRun, by: User | None = None) -> None:
    """The run with its candidates. Refused while it runs, and once its candidates are references."""
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
    """Claim, work, finish; safe to run twice. ``enqueue`` gets the number of helpers that would find work."""
    job_run(MiningRun, run_id, lambda run, claim: _execute(run, claim, enqueue), progress=progress)


def mining_run_help(*, run_id: int) -> bool:
    """Take shards of a run that another worker holds, for one turn. Return whether there may be more."""
    run = MiningRun.objects.select_related("dataset", "corpus").defer("corpus__content").filter(pk=run_id).first()
    if run is None or not is_going_on(run):
        return False
    try:
        index = corpus_index(run.corpus)
    except AnnotationError as error:  # the others go on without this host
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
    """Cut the run, unless an earlier attempt has; shards that failed or were cancelled may try again."""
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
            with told_of_damage(run.corpus):
                rows += [_row(run, shard, seed.item_id, candidate) for candidate in mine(seed, index, specification)]
            if throttle.due():
                claim.progress(number + 1, len(shard.item_ids))
                beat()
        with transaction.atomic():
            claim.lock()
            copy_rows(MinedCandidate, COLUMNS, rows)
            claim.finish()

    return work


COLUMNS = (
    "run_id",
    "shard_id",
    "item_id",
    "kind",
    "rank",
    "score",
    "message_score",
    "response_score",
    "text",
    "text_key",
    "raw_text",
    "triple",
    "source_context",
    "source_message",
    "fate",
    "reasons",
    "near_duplicate",
)


def _row(run: MiningRun, shard: MiningShard, item_id: int, one: Candidate) -> tuple[object, ...]:
    return (
        run.pk,
        shard.pk,
        item_id,
        one.kind,
        one.rank,
        one.score,
        one.message_score,
        one.response_score,
        one.text,
        one.text_key,
        one.raw_text,
        one.triple,
        list(one.source_context),
        one.source_message,
        one.fate,
        list(one.reasons),
        one.near_duplicate,
    )


# --- What was found ---------------------------------------------------------------------------------------------------


def mining_report(run: MiningRun) -> dict[str, Any]:
    """Counts by kind and fate, every hygiene step with how many texts it took or changed, and the seeds left short."""
    found = MinedCandidate.objects.filter(run=run).order_by()
    kinds: dict[str, dict[str, int]] = {}
    for kind, fate, n in found.values("kind", "fate").annotate(n=Count("pk")).values_list("kind", "fate", "n"):
        kinds.setdefault(kind, dict.fromkeys(CandidateFate.values, 0))[fate] = n
    near = found.exclude(near_duplicate="")
    return {
        "kinds": kinds,
        "reasons": _reasons(run),
        "near_duplicates": {"all": near.count(), "kept": near.filter(fate=CandidateFate.KEPT).count()},
        "seeds": _seed_counts(run),
    }


REASONS = """
SELECT CASE WHEN reason ~ %(same_as)s THEN %(same)s ELSE split_part(reason, ':', 1) END AS step, fate,
       count(DISTINCT id)
  FROM (SELECT id, fate, unnest(reasons) AS reason FROM annotation_minedcandidate WHERE run_id = %(run)s) told
 GROUP BY step, fate
 ORDER BY step, fate
"""


def _reasons(run: MiningRun) -> list[dict[str, Any]]:
    """What comes before the colon of a reason names the step; whatever text another is the same as counts as one."""
    with connection.cursor() as cursor:
        cursor.execute(REASONS, {"run": run.pk, "same": SAME_TEXT, "same_as": f"^{SAME_AS_ANOTHER}"})
        counted = cursor.fetchall()
    return [{"step": step, "fate": fate, "n": n, "examples": _examples(run, step, fate)} for step, fate, n in counted]


def _examples(run: MiningRun, step: str, fate: str) -> list[dict[str, Any]]:
    found = candidates_matching(run, CandidateFilter(fate=fate, step=step)).select_related("item")
    return [
        {
            "item": one.item.external_id,
            "item_id": one.item_id,
            "kind": one.kind,
            "rank": one.rank,
            "text": one.text,
            "raw_text": one.raw_text,
            "reasons": one.reasons,
        }
        for one in found.order_by("pk")[:EXAMPLES]
    ]


def _seed_counts(run: MiningRun) -> dict[str, Any]:
    """Of how many seeds how many mined texts were kept: {"3": 12} says three for each of twelve."""
    kept = Q(kind=SourceKind.MINED, fate=CandidateFate.KEPT)
    counted = MinedCandidate.objects.filter(run=run).order_by().values("item").annotate(n=Count("pk", filter=kept))
    n_seeds = run.progress_total
    sizes: dict[int, int] = {}
    for n in counted.values_list("n", flat=True):
        sizes[n] = sizes.get(n, 0) + 1
    if n_seeds > sum(sizes.values()):
        sizes[0] = sizes.get(0, 0) + n_seeds - sum(sizes.values())
    wanted = run.specification["mining"]["n"]
    return {
        "all": n_seeds,
        "fewer": sum(count for n, count in sizes.items() if n < wanted),
        "kept": {str(n): count for n, count in sorted(sizes.items())},
    }
