"""Mining runs: seeds in shards, shards to workers, candidates into the database a shard at a time.

The worker that holds the run hands out nothing: it takes shard after shard like any helper, and waits at the end for
those that others hold. A worker that dies leaves its shard to whoever claims it after the lease; what is done stays
done, because the candidates of a shard are written in the transaction that ends it.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.db import connection, transaction
from django.db.models import Count, Q

from annotation.errors import AnnotationError, JobCancelled
from annotation.mining.candidates import Candidate, mine
from annotation.mining.index import TripleIndex
from annotation.mining.refusal import ParameterRefused
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
from annotation.selectors.mining import (
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
from annotation.services.audit import audit_record
from annotation.services.copying import copy_rows
from annotation.services.jobs import Claim, claimable, job_request_cancel, job_requeue, job_run, stale_ids
from annotation.services.mining.watching import Watch, nobody_watches

log = structlog.get_logger("assay.mining")
Enqueue = Callable[[int], None]

SHARD_SEEDS = 50
MAX_HELPERS = 7
HELP_SECONDS = 30  # then whoever helps lets other work have its turn, and comes back
BEAT_SECONDS = 0.5
WAIT_SECONDS = 0.2
EXAMPLES = 5


def nobody_helps(helpers: int) -> None:
    """For callers that work alone."""


# --- What may be asked for --------------------------------------------------------------------------------------------


@transaction.atomic
def mining_run_create(
    *, project: Project, dataset: Dataset, corpus: Corpus, specification: Mapping[str, Any] | None = None,
    seed_choice: Mapping[str, Any] | None = None, by: User | None = None,
) -> MiningRun:  # fmt: skip
    """Queue a run. The caller enqueues ``annotation.tasks.mining_run_execute`` with its id.

    ``specification`` is what ``MiningSpecification`` takes, its defaults filled in; two texts are the same as the data
    set has it. ``seed_choice`` says which response of an item is its seed, and of which splits: ``kind`` or ``system``,
    ``splits``.
    """
    if dataset.project_id != project.pk or corpus.project_id != project.pk:
        raise AnnotationError("Data set and corpus must belong to the same project as the run.")
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: one whose index is done."
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


def mining_run_execute(*, run_id: int, watch: Watch = nobody_watches, enqueue: Enqueue = nobody_helps) -> None:
    """Claims, works, finishes; safe to run twice. ``enqueue`` is told how many helpers could find something to do."""
    job_run(MiningRun, run_id, lambda run, claim: _execute(run, claim, watch, enqueue))


def mining_run_help(*, run_id: int) -> bool:
    """Take shards of a run that somebody else holds, for a while; True where there may be more."""
    run = MiningRun.objects.select_related("dataset", "corpus").defer("corpus__content").filter(pk=run_id).first()
    if run is None or not _goes_on(run_id):
        return False
    try:
        index = corpus_index(run.corpus)
    except AnnotationError as error:  # the others go on without this host
        log.warning("cannot help to mine", run=run_id, error=error.message)
        return False
    ends = time.monotonic() + HELP_SECONDS
    while _goes_on(run_id):
        shard_id = _next_shard(run)
        if shard_id is None:
            return False
        if time.monotonic() > ends:
            return True
        _work_on_shard(run, shard_id, index, _stop_where_the_run_stops(run_id))
    return False


def _goes_on(run_id: int) -> bool:
    return MiningRun.objects.filter(pk=run_id, state=JobState.RUNNING, cancel_requested=False).exists()


def _stop_where_the_run_stops(run_id: int) -> Callable[[], None]:
    def look() -> None:
        if not _goes_on(run_id):
            raise JobCancelled("The run has ended.")

    return look


def _execute(run: MiningRun, claim: Claim, watch: Watch, enqueue: Enqueue) -> None:
    index = corpus_index(run.corpus)
    corpus_verify(run.corpus)
    _make_shards(run, claim)
    total = run.progress_total
    spoke = 0.0

    def beat(*, now: bool = False) -> None:
        nonlocal spoke
        if not now and time.monotonic() - spoke < BEAT_SECONDS:
            return
        spoke = time.monotonic()
        done = seeds_done(run)
        claim.progress(done, total, f"{done:,} of {total:,} seeds")
        watch(done, total, "seeds")

    beat()
    waiting = run.shards.exclude(state=JobState.DONE).count()
    enqueue(min(waiting - 1, MAX_HELPERS) if waiting else 0)
    while True:
        shard_id = _next_shard(run)
        if shard_id is not None:
            _work_on_shard(run, shard_id, index, beat)
        elif not run.shards.exclude(state=JobState.DONE).exists():
            break
        else:  # others hold the rest, or gave it back when they saw the run cancelled, which goes on again
            _take_back(run, JobState.CANCELLED)
            time.sleep(WAIT_SECONDS)
        beat()
        _fail_with_a_shard(run)
    report = mining_report(run)
    with transaction.atomic():
        claim.lock()
        claim.finish(report=report, progress_note="")
    watch(total, total, "Done")


def _make_shards(run: MiningRun, claim: Claim) -> None:
    """Once for a run, whoever takes it up; shards that failed or were cancelled may try again."""
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
        _take_back(run, JobState.FAILED, JobState.CANCELLED)


def _take_back(run: MiningRun, *states: JobState) -> None:
    for shard in run.shards.filter(state__in=states):
        job_requeue(shard)


def _next_shard(run: MiningRun) -> int | None:
    """A shard that nobody works on: waiting, or left by a worker that died."""
    found: int | None = run.shards.filter(claimable()).order_by("number").values_list("pk", flat=True).first()
    return found


def _fail_with_a_shard(run: MiningRun) -> None:
    """A run is whole or not at all."""
    stale_ids(MiningShard)  # gives up those that every worker died of
    failed = run.shards.filter(state=JobState.FAILED).order_by("number").first()
    if failed is not None:
        raise AnnotationError(f"Seeds {failed.number * SHARD_SEEDS + 1} and following: {failed.error}")


def _work_on_shard(run: MiningRun, shard_id: int, index: TripleIndex, beat: Callable[[], None]) -> None:
    """All candidates of the shard's seeds, or none; nothing where somebody else was faster."""
    specification = MiningSpecification.from_dict(run.specification["mining"])
    choice = SeedChoice.of(run.specification["seeds"])

    def work(shard: MiningShard, claim: Claim) -> None:
        rows: list[tuple[object, ...]] = []
        spoke = time.monotonic()
        for number, seed in enumerate(seeds(run.dataset, choice, shard.item_ids)):
            with told_of_damage(run.corpus):
                rows += [_row(run, shard, seed.item_id, one) for one in mine(seed, index, specification)]
            if time.monotonic() - spoke > BEAT_SECONDS:
                claim.progress(number + 1, len(shard.item_ids))
                beat()
                spoke = time.monotonic()
        with transaction.atomic():
            claim.lock()
            copy_rows(MinedCandidate, COLUMNS, rows)
            claim.finish()

    job_run(MiningShard, shard_id, work)


COLUMNS = (
    "run_id", "shard_id", "item_id", "kind", "rank", "score", "message_score", "response_score", "text", "text_key",
    "raw_text", "triple", "source_context", "source_message", "fate", "reasons", "near_duplicate",
)  # fmt: skip


def _row(run: MiningRun, shard: MiningShard, item_id: int, one: Candidate) -> tuple[object, ...]:
    return (
        run.pk, shard.pk, item_id, one.kind, one.rank, one.score, one.message_score, one.response_score, one.text,
        one.text_key, one.raw_text, one.triple, list(one.source_context), one.source_message, one.fate,
        list(one.reasons), one.near_duplicate,
    )  # fmt: skip


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
            "item": one.item.external_id, "item_id": one.item_id, "kind": one.kind, "rank": one.rank,
            "text": one.text, "raw_text": one.raw_text, "reasons": one.reasons,
        }
        for one in found.order_by("pk")[:EXAMPLES]
    ]  # fmt: skip


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
