"""Score what files gave, part by part, so that memory does not grow with a metric's own tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from metrics.cli.cache import ScoreCache, Scores, program_digest
from metrics.cli.errors import CommandError
from metrics.cli.files import Given
from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.delta_bleu import weights_digest
from metrics.scoring.meteor_jar import MeteorFailed
from metrics.scoring.metric import CorpusState, Metric, MetricStatistics, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.subsets import Subset

PART = 20_000  # segments

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Part:
    segments: Segments
    weights: Floats | None
    mask: Bools


def score(
    given: Given, metrics: Sequence[Metric], subset: Subset, models: ModelStore, cache: ScoreCache, progress: Progress
) -> list[Scores]:
    """The scores of each metric, from the cache where they are there."""
    digest = given.digest()
    found: dict[Metric, Scores] = {}
    for metric in metrics:
        _check(metric, given, subset)
        kept = cache.get(signature_of(metric, given, subset), digest + depends_on(metric))
        if kept is not None:
            found[metric] = kept
    missing = [metric for metric in metrics if metric not in found]
    for metric, statistics in zip(missing, _computed(given, missing, subset, models, progress), strict=True):
        found[metric] = Scores.of(signature_of(metric, given, subset), statistics)
        cache.put(found[metric], digest + depends_on(metric))
    return [found[metric] for metric in metrics]


def depends_on(metric: Metric) -> str:
    """What scores depend on beside texts: the program, and its models by their whole hashes."""
    models = [getattr(metric, one.name) for one in metric.parameter_list() if one.kind == "model"]
    return "\n".join([program_digest(metric), *models])


def signature_of(metric: Metric, given: Given, subset: Subset) -> str:
    """The metric's own, with the references' number per segment and a digest of the weights."""
    counts = [len(own) for own in given.references]
    low, high = min(counts), max(counts)
    weights = "none" if given.weights is None else f"sha256-{weights_digest(given.weights)}"
    references = f"{subset}|nrefs:{low if low == high else f'{low}-{high}'}"
    if subset.kind == "threshold" and not metric.needs_weights:
        references += f"|weights:{weights}"  # other weights choose other references
    return metric.signature(weights=weights, references=references)


def _check(metric: Metric, given: Given, subset: Subset) -> None:
    if metric.needs_weights and given.weights is None:
        raise CommandError(f"--metric {metric.name}: found no weights; accepted: --weighted with a release's file")
    if metric.needs_references and not any(given.references):
        raise CommandError(f"--metric {metric.name}: found no reference; accepted: --references or --weighted")
    if metric.needs_sources and given.sources is None:
        raise CommandError(f"--metric {metric.name}: found no sources; accepted: --sources")
    if subset.kind == "threshold" and given.weights is None:
        raise CommandError(f"--subset: found {subset} without weights; accepted: --weighted with a release's file")


def _computed(
    given: Given, metrics: Sequence[Metric], subset: Subset, models: ModelStore, progress: Progress
) -> list[MetricStatistics]:
    pooled = [metric for metric in metrics if metric.pools]
    summed = [metric for metric in metrics if not metric.pools]
    found: dict[Metric, MetricStatistics] = {}
    for part in _parts(given, subset, given.n_segments) if pooled else ():
        found |= _scored(part, pooled, models, {})
    states = _states(given, summed, subset, models) if given.n_segments > PART else {}
    pieces: dict[Metric, list[MetricStatistics]] = {metric: [] for metric in summed}
    for number, part in enumerate(_parts(given, subset, PART) if summed else (), start=1):
        for metric, statistics in _scored(part, summed, models, states).items():
            pieces[metric].append(statistics)
        progress(f"{min(number * PART, given.n_segments):,} of {given.n_segments:,} segments")
    found |= {metric: joined(own) for metric, own in pieces.items()}
    return [found[metric] for metric in metrics]


def _states(given: Given, metrics: Sequence[Metric], subset: Subset, models: ModelStore) -> dict[Metric, CorpusState]:
    """What each metric must know of all parts before it scores one."""
    found: dict[Metric, CorpusState] = {}
    minded = [metric for metric in metrics if type(metric).corpus_state is not Metric.corpus_state]
    for part in _parts(given, subset, PART) if minded else ():
        workspace = Workspace(part.segments, minded, models)
        for metric in minded:
            weights = part.weights if metric.needs_weights else None
            with _told(metric):
                state = metric.corpus_state(workspace.prepared(metric), weights=weights, reference_mask=part.mask)
            if state is not None:
                found[metric] = found[metric].joined(state) if metric in found else state
    return found


def _scored(
    part: Part, metrics: Sequence[Metric], models: ModelStore, states: Mapping[Metric, CorpusState]
) -> dict[Metric, MetricStatistics]:
    workspace = Workspace(part.segments, metrics, models)
    found = {}
    for metric in metrics:
        with _told(metric):
            found[metric] = metric.statistics(
                workspace.prepared(metric),
                weights=part.weights if metric.needs_weights else None,
                reference_mask=part.mask,
                state=states.get(metric),
            )
    return found


@contextmanager
def _told(metric: Metric) -> Iterator[None]:
    """What a metric cannot compute, for people to read."""
    try:
        yield
    except (ValueError, MeteorFailed) as error:
        raise CommandError(f"--metric {metric.name}: {error}") from error


def joined(parts: Sequence[MetricStatistics]) -> MetricStatistics:
    """Statistics of parts of a corpus, as those of the whole."""
    if len(parts) == 1:
        return parts[0]
    return MetricStatistics(
        np.concatenate([part.packed for part in parts], axis=1),
        np.concatenate([part.valid for part in parts], axis=1),
        np.concatenate([part.sentence_scores for part in parts], axis=1),
        parts[0].aggregate,
    )


def _parts(given: Given, subset: Subset, size: int) -> Iterator[Part]:
    ends = np.cumsum([0, *map(len, given.references)])
    is_original = given.is_original
    for start in range(0, given.n_segments, size):
        stop = min(start + size, given.n_segments)
        own = slice(int(ends[start]), int(ends[stop]))
        weights = None if given.weights is None else given.weights[own]
        yield Part(
            Segments(
                [system[start:stop] for system in given.systems],
                given.references[start:stop],
                None if given.sources is None else given.sources[start:stop],
            ),
            weights,
            subset.mask(np.ones(own.stop - own.start) if weights is None else weights, is_original[own]),
        )
