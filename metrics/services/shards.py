"""A score run in shards: items by position, in steps, arrays into the database a shard at a time."""

from collections.abc import Iterable, Iterator
from functools import reduce
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
from metrics.selectors.runs import ordered_systems
from metrics.services.results import run_result, run_store
from metrics.services.scoring import Scorer, empty_shard_fields, model_store, shard_fields
from metrics.subsets import Subset

IntArray = npt.NDArray[np.int64]

EVERY_POSITION = 2**31 - 1  # after the last that an item can have
SHARD_TEXTS = 100_000  # hypotheses of all systems, and references, that a shard is of
POOLED_TEXTS = 500_000  # hypotheses that a metric over one pool of outputs takes, where it cannot be put together
JOINED_BYTES = 128 << 20  # of states of parts, that are held at once
PIECES = 8  # in which what is held is joined


# --- Where a run is cut -----------------------------------------------------------------------------------------------

WITH_REFERENCES = """
SELECT item_position::bigint AS position, count(*) AS n_references
  FROM annotation_releaseweight
 WHERE release_id = %(release)s
 GROUP BY item_position
 ORDER BY position
"""
ALL_ITEMS = "SELECT position::bigint, 0::bigint FROM annotation_item WHERE dataset_id = %(dataset)s ORDER BY 1"


def ranges(run: ScoreRun, metric: Metric) -> list[tuple[int, int]]:
    """Positions from and to which each shard looks at items; small runs are one shard, as are pools without a state."""
    query = ALL_ITEMS if run.release_id is None else WITH_REFERENCES
    parameters = {"release": run.release_id, "dataset": run.dataset_id}
    positions, n_references = number_columns(query, parameters, ["bigint", "bigint"])
    n_systems = run.systems.count()
    if metric.pools and not has_state(metric):
        if positions.size * n_systems > POOLED_TEXTS:
            raise MetricsError(
                f"{metric.label} takes all outputs as one pool, which cannot be put together from parts: found "
                f"{positions.size * n_systems:,} outputs; accepted: at most {POOLED_TEXTS:,}. Choose fewer systems."
            )
        return [(0, EVERY_POSITION)]
    cuts = positions[where_cut(n_references * metric.needs_references + n_systems, SHARD_TEXTS)].tolist()
    return list(zip([0, *cuts], [*cuts, EVERY_POSITION], strict=True))


def where_cut(n_texts: IntArray, size: int) -> IntArray:
    """Places of the items with which a new shard begins: those before which another ``size`` texts are full.

    Examples
    --------
    >>> where_cut(np.array([3, 3, 3, 3, 9, 9]), 6).tolist()
    [2, 4, 5]
    """
    shard = (np.cumsum(n_texts) - n_texts) // size
    return np.flatnonzero(np.diff(shard)) + 1


def has_state(metric: Metric) -> bool:
    """Whether parts of a corpus must know of each other."""
    return type(metric).corpus_state is not Metric.corpus_state


def whole_run_store(run: ScoreRun, fields: dict[str, Any]) -> None:
    """The only shard of a run, done."""
    run.shards.all().delete()
    ScoreShard.objects.create(
        run=run,
        number=0,
        start=0,
        stop=EVERY_POSITION,
        state=JobState.DONE,
        started_at=Now(),
        finished_at=Now(),
        **fields,
    )


def run_finish(run: ScoreRun) -> dict[str, Any]:
    """Scores and intervals of a run whose shards are stored, and its report. In the transaction that ends it."""
    return run_store(run, run_result(run))


# --- Working ----------------------------------------------------------------------------------------------------------


def shards_work(run: ScoreRun, claim: Claim, metric: Metric, beat: Beat, enqueue: Enqueue) -> None:
    """Cut the run into shards, unless an earlier attempt has, and see to it that all are done."""
    jobs_requeue(run.shards.all())
    work = shard_work(run, metric)

    def finish(step: ShardStep) -> None:
        shards_finish(run.shards.filter(step=step), work, failure=_failure, beat=beat, enqueue=enqueue)

    begun = list(run.shards.filter(step=ShardStep.SCORES).values_list("start", "stop"))
    cut = begun or ranges(run, metric)
    if len(cut) > 1 and has_state(metric) and not begun:
        _make(run, claim, ShardStep.STATE, cut)
        finish(ShardStep.STATE)
        _join_states(run, claim, beat)
    if not begun:
        _make(run, claim, ShardStep.SCORES, cut)
    finish(ShardStep.SCORES)


def shards_done(run: ScoreRun) -> tuple[int, int]:
    """Return how many shards are done, and how many there are."""
    states = list(run.shards.values_list("state", flat=True))
    return states.count(JobState.DONE), len(states)


def _make(run: ScoreRun, claim: Claim, step: ShardStep, cut: Iterable[tuple[int, int]]) -> None:
    with transaction.atomic():
        claim.lock()
        if not run.shards.filter(step=step).exists():
            ScoreShard.objects.bulk_create(
                ScoreShard(run=run, step=step, number=number, start=start, stop=stop)
                for number, (start, stop) in enumerate(cut)
            )


def _failure(shard: ScoreShard) -> MetricsError:
    where = "" if shard.stop == EVERY_POSITION and not shard.start else f"Items from position {shard.start} on: "
    return MetricsError(f"{where}{shard.error}")


# --- One shard --------------------------------------------------------------------------------------------------------


def shard_work(run: ScoreRun, metric: Metric) -> Work[ScoreShard]:
    """Return what scores a shard of the run; its arrays are written in the statement that ends it."""
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
    stop = None if shard.stop == EVERY_POSITION else shard.stop
    return load_corpus(run.release, ordered_systems(run), items=subset.items, start=shard.start, stop=stop)


def _corpus_state(run: ScoreRun, scorer: Scorer, metric: Metric) -> CorpusState | None:
    """What these texts must know of the whole; None where they are the whole, or need to know nothing."""
    joined: CorpusState | None = None
    for state in _states(run, ShardStep.JOINED):
        joined = _both(joined, scorer.state_of_texts(metric, state))
    return joined


def _join_states(run: ScoreRun, claim: Claim, beat: Beat) -> None:
    """Join the states of all parts, a range at a time: so many ranges that the parts of one are not too much to hold.

    Nobody scores before all ranges are there; whoever takes the run up again begins with the first.
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
            ScoreShard.objects.create(
                run=run,
                step=ShardStep.JOINED,
                number=index,
                start=0,
                stop=EVERY_POSITION,
                state=JobState.DONE,
                started_at=Now(),
                finished_at=Now(),
                corpus_state=state_to_bytes(joined),
            )


def ranges_of_states(run: ScoreRun) -> int:
    """So many that the parts of one can be held."""
    size: int = run.shards.filter(step=ShardStep.STATE).aggregate(size=Coalesce(Sum(Length("corpus_state")), 0))["size"]
    return -(-size // JOINED_BYTES)


def _states(run: ScoreRun, step: ShardStep) -> Iterator[CorpusState]:
    """One after the other, in order; shards without one are passed over."""
    stored = run.shards.filter(step=step).order_by("number")
    for content in stored.values_list("corpus_state", flat=True).iterator(1):
        if content:
            yield state_from_bytes(bytes(content))


def _joined_range(parts: list[CorpusState], index: int, of: int) -> CorpusState | None:
    """One range of all parts, settled; piece by piece, because joining takes several times what it joins."""
    settled = []
    for piece in range(index * PIECES, (index + 1) * PIECES):
        own = [found for part in parts if (found := part.ranged(piece, of * PIECES)) is not None]
        if own:
            settled.append(_joined(own).settled())
    return _joined(settled) if settled else None


def _joined(parts: list[CorpusState]) -> CorpusState:
    """Two and two, so that what has grown large is not copied for each that is small."""
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = [reduce(lambda one, other: one.joined(other), pair) for pair in pairs]
    return parts[0]


def _both(one: CorpusState | None, other: CorpusState) -> CorpusState:
    return other if one is None else one.joined(other)
