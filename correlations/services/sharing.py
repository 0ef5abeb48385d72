"""Resample a study in shards: in this process alone, or shared by all workers that find time."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from django.db import transaction

from annotation.core.jobs import Claim, jobs_requeue
from annotation.core.packing import packed, unpacked
from annotation.core.progress import Beat
from annotation.core.shards import Enqueue, Work, is_going_on, shards_finish, shards_help
from annotation.models import JobState
from correlations.errors import StudyError
from correlations.models import Study, StudyDraws, StudyShard
from correlations.selectors.inputs import FloatArray
from correlations.services.draws import Report, RowOutputs, draw_sizes, read_draws, written_draws
from correlations.services.unit_draws import UnitDraws, read_unit_draws
from correlations.stats.draws import Draws, joined, shard_draws
from correlations.stats.resampling import RowBootstrap, bootstrap_sizes, joined_bootstrap, study_bootstrap

DrawShard = Callable[[int, int], FloatArray]  # of a number and a size
SYSTEMS, UNITS = "systems", "units"  # what the shards at hand resample; those of one stage follow those of another


class Resampler(Protocol):
    """Draws a study's resamples; the numbers do not depend on who draws them."""

    def systems(self, rows: RowOutputs, report: Report) -> Draws | None:
        """Return the coefficients on resampled items and systems; None if no resampling was requested."""

    def units(self, drawn: UnitDraws, report: Report) -> tuple[RowBootstrap, ...]:
        """Return the bootstrap over sampled units."""


class Alone:
    """Draws everything in this process."""

    def systems(self, rows: RowOutputs, report: Report) -> Draws | None:
        human, seed, sizes = rows.inputs.human.mean, rows.inputs.specification.seed, draw_sizes(rows)
        shards = []
        for number, size in enumerate(sizes):
            shards.append(shard_draws(rows.entries, human, seed=seed, number=number, size=size))
            report(number + 1, len(sizes))
        return joined(shards) if shards else None

    def units(self, drawn: UnitDraws, report: Report) -> tuple[RowBootstrap, ...]:
        return study_bootstrap(
            drawn.metrics,
            drawn.human,
            drawn.pairs,
            drawn.sampling,
            raters=drawn.raters,
            n_replicates=drawn.n_replicates,
            progress=report,
        )


@dataclass(frozen=True)
class Shared:
    """Draws a stored study with the help of other workers; ``enqueue`` gets how many helpers would find work."""

    study: Study
    claim: Claim
    enqueue: Enqueue

    def systems(self, rows: RowOutputs, report: Report) -> Draws | None:
        sizes = draw_sizes(rows)
        if len(sizes) < 2:
            return Alone().systems(rows, report)
        return joined(self._drawn(SYSTEMS, written_draws(rows), sizes, (len(rows.entries), -1), report))

    def units(self, drawn: UnitDraws, report: Report) -> tuple[RowBootstrap, ...]:
        sizes, keys = bootstrap_sizes(drawn.n_replicates), drawn.sampling.coefficients
        if len(sizes) < 2:
            return Alone().units(drawn, report)
        shape = (len(drawn.metrics), len(keys))
        shards = self._drawn(UNITS, drawn.written(), sizes, shape, report)
        return joined_bootstrap([metric.name for metric in drawn.metrics], keys, shards)

    def _drawn(
        self, kind: str, tree: dict[str, Any], sizes: Sequence[int], shape: tuple[int, int], report: Report
    ) -> list[FloatArray]:
        _create_shards(self.study, self.claim, packed({"kind": kind, **tree}), sizes)
        shards = self.study.shards.all()

        def beat() -> None:
            report(shards.filter(state=JobState.DONE).count(), len(sizes))

        shards_finish(shards, _work(self.study.pk), failure=_failure, beat=beat, enqueue=self.enqueue)
        drawn = shards.order_by("number").values_list("draws", "size")
        rest = (-1,) if kind == UNITS else ()
        return [np.frombuffer(values, dtype="<f8").reshape(*shape, size, *rest) for values, size in drawn]


def study_draws_help(*, study_id: int) -> bool:
    """Draw shards of a study that another worker holds, for one turn. Return whether there may be more."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None or not is_going_on(study):
        return False
    return shards_help(study, study.shards.all(), _work(study_id))


def draws_delete(study: Study) -> None:
    """Delete what workers shared; call it in the transaction that ends the study."""
    study.shards.all().delete()
    StudyDraws.objects.filter(study=study).delete()


def _create_shards(study: Study, claim: Claim, content: bytes, sizes: Sequence[int]) -> None:
    """Store what shards are drawn from, and shards; those of an earlier attempt stay if they are of the same."""
    digest = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        claim.lock()
        if StudyDraws.objects.filter(study=study, digest=digest).exists():
            jobs_requeue(study.shards.all())
            return
        draws_delete(study)
        StudyDraws.objects.create(study=study, content=content, digest=digest)
        StudyShard.objects.bulk_create(
            StudyShard(study=study, number=number, size=size) for number, size in enumerate(sizes)
        )


def _work(study_id: int) -> Work[StudyShard]:
    """Return a function that draws a shard; it reads once what all of a stage are drawn from."""
    known: dict[str, DrawShard] = {}

    def work(shard: StudyShard, claim: Claim, beat: Beat) -> None:
        beat()
        # A shard that is claimed is one of the stage that is stored: both change together, once all shards are done.
        stored = StudyDraws.objects.filter(study=study_id)
        digest = stored.values_list("digest", flat=True).get()
        if digest not in known:
            known.clear()
            known[digest] = _read(unpacked(bytes(stored.values_list("content", flat=True).get(digest=digest))))
        claim.finish(draws=known[digest](shard.number, shard.size).astype("<f8").tobytes())

    return work


def _read(tree: dict[str, Any]) -> DrawShard:
    return read_unit_draws(tree).draw if tree["kind"] == UNITS else read_draws(tree)


def _failure(shard: StudyShard) -> StudyError:
    return StudyError(f"Resamples from {shard.number} x {shard.size} on: {shard.error}")
