"""A score run in shards: each holds the items of a range of positions."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce, Length, Now

from annotation.core.arrays import number_columns
from annotation.core.jobs import Claim, jobs_requeue
from annotation.core.progress import Beat
from annotation.core.shards import Enqueue, Work, shards_finish
from annotation.models import JobState
from metrics.errors import MetricsError
from metrics.models import ScoreRun, ScoreShard, ShardStep
from metrics.scoring.metric import CorpusState, Metric
from metrics.scoring.states import state_from_bytes, state_to_bytes
from metrics.selectors.corpus import Corpus, load_corpus
from metrics.selectors.runs import ordered_systems, plain_kinds_of
from metrics.services.results import run_result, run_store
from metrics.services.scoring import Scorer, empty_shard_fields, model_store, shard_fields
from metrics.subsets import Subset

IntArray = npt.NDArray[np.int64]

LAST_POSITION = 2**31 - 1  # after that of every item
SHARD_TEXTS = 100_000  # hypotheses of all systems, and references, in a shard
POOLED_TEXTS = 500_000  # hypotheses that a metric over one pool accepts if it cannot be computed in parts
JOINED_BYTES = 128 << 20  # of states held at once
PIECES = 8  # in which the states of a range are joined


# --- Ranges of positions ----------------------------------------------------------------------------------------------

WITH_REFERENCES = """
SELECT item_position::bigint AS position, count(*) AS n_references
  FROM annotation_releaseweight
 WHERE release_id = %(release)s
 GROUP BY item_position
 ORDER BY position
"""
WITH_PLAIN_REFERENCES = """
SELECT i.position::bigint AS position, count(DISTINCT s.response_id) AS n_references
  FROM annotation_item i JOIN annotation_responsesource s ON s.item_id = i.id
 WHERE i.dataset_id = %(dataset)s AND s.kind = ANY(%(kinds)s)
 GROUP BY i.position
 ORDER BY position
"""
ALL_ITEMS = "SELECT position::bigint, 0::bigint FROM annotation_item WHERE dataset_id = %(dataset)s ORDER BY 1"


def ranges(run: ScoreRun, metric: Metric) -> list[tuple[int, int]]:
    """Return where each shard starts and stops. Small runs, and pools without a state, are one shard."""
    kinds = plain_kinds_of(run)
    without_release = WITH_PLAIN_REFERENCES if kinds else ALL_ITEMS
    query = without_release if run.release_id is None else WITH_REFERENCES
    parameters = {"release": run.release_id, "dataset": run.dataset_id, "kinds": kinds}
    positions, n_references = number_columns(query, parameters, ["bigint", "bigint"])
    n_systems = run.systems.count()
    if metric.pools and not has_state(metric):
        if positions.size * n_systems > POOLED_TEXTS:
            raise MetricsError(
                f"{metric.label} takes all outputs as one pool, which cannot be computed in parts: found "
                f"{positions.size * n_systems:,} outputs; accepted: at most {POOLED_TEXTS:,}. Choose fewer systems."
            )
        return [(0, LAST_POSITION)]
    cuts = positions[shard_starts(n_references * metric.needs_references + n_systems, SHARD_TEXTS)].tolist()
    return list(zip([0, *cuts], [*cuts, LAST_POSITION], strict=True))


def shard_starts(n_texts: IntArray, size: int) -> IntArray:
    """Return the indices of the items with which a new shard begins, after each further ``size`` texts.

    Examples
    --------
    >>> shard_starts(np.array([3, 3, 3, 3, 9, 9]), 6).tolist()
    [2, 4, 5]
    """
    shard = (np.cumsum(n_texts) - n_texts) // size
    return np.flatnonzero(np.diff(shard)) + 1


def has_state(metric: Metric) -> bool:
    """Return whether the parts of a corpus must know about each other."""
    return type(metric).corpus_state is not Metric.corpus_state


def whole_run_store(run: ScoreRun, fields: dict[str, Any]) -> None:
    """Store the only shard of a run."""
    run.shards.all().delete()
    _store_done(run, ShardStep.SCORES, 0, fields)


def _store_done(run: ScoreRun, step: ShardStep, number: int, fields: dict[str, Any]) -> None:
    done = {"state": JobState.DONE, "started_at": Now(), "finished_at": Now()}
    ScoreShard.objects.create(run=run, step=step, number=number, start=0, stop=LAST_POSITION, **done, **fields)


def run_finish(run: ScoreRun) -> dict[str, Any]:
    """Store the scores and intervals of a run whose shards are done; return its report.

    Call it in the transaction that ends the run.
    """
    return run_store(run, run_result(run))


# --- Work -------------------------------------------------------------------------------------------------------------


def shards_work(run: ScoreRun, claim: Claim, metric: Metric, beat: Beat, enqueue: Enqueue) -> None:
    """Divide the run into shards, unless an earlier attempt did, and work until all are done."""
    jobs_requeue(run.shards.all())
    work = shard_work(run, metric)

    def finish(step: ShardStep) -> None:
        shards_finish(run.shards.filter(step=step), work, failure=_failure, beat=beat, enqueue=enqueue)

    if not run.shards.filter(step=ShardStep.SCORES).exists():
        positions = ranges(run, metric)
        if len(positions) > 1 and has_state(metric):
            _create(run, claim, ShardStep.STATE, positions)
            finish(ShardStep.STATE)
            _join_states(run, claim, beat)
        _create(run, claim, ShardStep.SCORES, positions)
    finish(ShardStep.SCORES)


def shards_done(run: ScoreRun) -> tuple[int, int]:
    """Return how many shards are done, and how many there are."""
    states = list(run.shards.values_list("state", flat=True))
    return states.count(JobState.DONE), len(states)


def _create(run: ScoreRun, claim: Claim, step: ShardStep, positions: Iterable[tuple[int, int]]) -> None:
    with transaction.atomic():
        claim.lock()
        if not run.shards.filter(step=step).exists():
            ScoreShard.objects.bulk_create(
                ScoreShard(run=run, step=step, number=number, start=start, stop=stop)
                for number, (start, stop) in enumerate(positions)
            )


def _failure(shard: ScoreShard) -> MetricsError:
    is_whole = shard.stop == LAST_POSITION and not shard.start
    return MetricsError(shard.error if is_whole else f"Items from position {shard.start} on: {shard.error}")


# --- A shard ----------------------------------------------------------------------------------------------------------


def shard_work(run: ScoreRun, metric: Metric) -> Work[ScoreShard]:
    """Return a function that scores a shard; the statement that ends the shard writes its arrays."""
    models = model_store()

    def work(shard: ScoreShard, claim: Claim, beat: Beat) -> None:
        subset = Subset.from_mapping(run.subset)
        corpus = shard_corpus(run, shard, subset)
        beat()
        if not corpus.external_ids:
            claim.finish(**(empty_shard_fields(corpus) if shard.step == ShardStep.SCORES else {}))
            return
        scorer = Scorer(corpus, [metric], models)
        if shard.step == ShardStep.STATE:
            state = scorer.corpus_state(metric, subset)
            claim.finish(corpus_state=b"" if state is None else state_to_bytes(state))
            return
        statistics = scorer.statistics(metric, subset, _corpus_state(run, scorer, metric))
        beat()
        claim.finish(**shard_fields(scorer, metric, subset, statistics))

    return work


def shard_corpus(run: ScoreRun, shard: ScoreShard, subset: Subset) -> Corpus:
    stop = None if shard.stop == LAST_POSITION else shard.stop
    return load_corpus(
        run.release,
        ordered_systems(run),
        items=subset.items,
        reference_kinds=plain_kinds_of(run),
        start=shard.start,
        stop=stop,
    )


def _corpus_state(run: ScoreRun, scorer: Scorer, metric: Metric) -> CorpusState | None:
    """Return what these texts must know of the whole corpus; None if they are all of it, or need nothing."""
    joined: CorpusState | None = None
    for state in _states(run, ShardStep.JOINED):
        part = scorer.state_of_texts(metric, state)
        joined = part if joined is None else joined.joined(part)
    return joined


def _join_states(run: ScoreRun, claim: Claim, beat: Beat) -> None:
    """Join the states of all parts, a range at a time, so that the parts of a range fit into memory.

    Scoring begins when all ranges are joined; a worker that resumes the run begins with the first range.
    """
    n_ranges = ranges_of_states(run)
    with transaction.atomic():
        claim.lock()
        run.shards.filter(step=ShardStep.JOINED).delete()
    for index in range(n_ranges):
        beat()
        parts = [part for state in _states(run, ShardStep.STATE) if (part := state.ranged(index, n_ranges)) is not None]
        joined = _joined_range(parts, index, n_ranges)
        if joined is None:
            continue
        with transaction.atomic():
            claim.lock()
            _store_done(run, ShardStep.JOINED, index, {"corpus_state": state_to_bytes(joined)})


def ranges_of_states(run: ScoreRun) -> int:
    """Return the number of ranges; the parts of one fit into memory."""
    size: int = run.shards.filter(step=ShardStep.STATE).aggregate(size=Coalesce(Sum(Length("corpus_state")), 0))["size"]
    return -(-size // JOINED_BYTES)


def _states(run: ScoreRun, step: ShardStep) -> Iterator[CorpusState]:
    """Yield the states in order, one at a time; shards without a state are skipped."""
    stored = run.shards.filter(step=step).order_by("number")
    for content in stored.values_list("corpus_state", flat=True).iterator(1):
        if content:
            yield state_from_bytes(bytes(content))


def _joined_range(parts: list[CorpusState], index: int, of: int) -> CorpusState | None:
    """Return a range of all parts, settled; in pieces, because joining takes several times the memory of the parts."""
    settled = []
    for piece in range(index * PIECES, (index + 1) * PIECES):
        pieces = [ranged for part in parts if (ranged := part.ranged(piece, of * PIECES)) is not None]
        if pieces:
            settled.append(_joined(pieces).settled())
    return _joined(settled) if settled else None


def _joined(parts: list[CorpusState]) -> CorpusState:
    """Join neighbours until one state is left, so that a large state is not copied for each small one."""
    while len(parts) > 1:
        pairs = [parts[index : index + 2] for index in range(0, len(parts), 2)]
        parts = [pair[0].joined(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]
