"""Score texts part by part, to limit the memory of a metric's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from metrics.cli.cache import ScoreCache, Scores, program_digest
from metrics.cli.errors import CommandError
from metrics.cli.files import Inputs
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
    inputs: Inputs,
    metrics: Sequence[Metric],
    subset: Subset,
    models: ModelStore,
    cache: ScoreCache,
    progress: Progress,
    *,
    to_resample: bool = False,
) -> list[Scores]:
    """Return the scores of each metric, from the cache if possible; on request with the statistics that they sum."""
    digest = inputs.digest()
    scores: dict[Metric, Scores] = {}
    for metric in metrics:
        _check(metric, inputs, subset)
        signature = signature_of(metric, inputs, subset)
        cached = cache.get(signature, digest + depends_on(metric), to_resample=to_resample and not metric.pools)
        if cached is not None:
            scores[metric] = cached
    missing = [metric for metric in metrics if metric not in scores]
    for metric, statistics in _computed(inputs, missing, subset, models, progress).items():
        scores[metric] = Scores.of(signature_of(metric, inputs, subset), statistics, to_resample=to_resample)
        cache.put(scores[metric], digest + depends_on(metric))
    return [scores[metric] for metric in metrics]


def depends_on(metric: Metric) -> str:
    """Return what scores depend on besides texts: the code, and the models by their full hashes."""
    models = [getattr(metric, parameter.name) for parameter in metric.parameter_list() if parameter.kind == "model"]
    return "\n".join([program_digest(metric), *models])


def signature_of(metric: Metric, inputs: Inputs, subset: Subset) -> str:
    """Return the metric's signature, with the number of references per segment and a digest of the weights."""
    counts = list(map(len, inputs.references))
    low, high = min(counts), max(counts)
    weights = "none" if inputs.weights is None else f"sha256-{weights_digest(inputs.weights)}"
    references = f"{subset}|nrefs:{low if low == high else f'{low}-{high}'}"
    if subset.kind == "threshold" and not metric.needs_weights:
        references += f"|weights:{weights}"  # other weights choose other references
    return metric.signature(weights=weights, references=references)


def _check(metric: Metric, inputs: Inputs, subset: Subset) -> None:
    if metric.needs_weights and inputs.weights is None:
        raise CommandError(f"--metric {metric.name}: found no weights; accepted: --weighted with a release's file")
    if metric.needs_references and not any(inputs.references):
        raise CommandError(f"--metric {metric.name}: found no reference; accepted: --references or --weighted")
    if (metric.needs_sources or metric.needs_prompts) and inputs.sources is None:
        raise CommandError(f"--metric {metric.name}: found no sources; accepted: --sources")
    if subset.kind == "threshold" and inputs.weights is None:
        raise CommandError(f"--subset: found {subset} without weights; accepted: --weighted with a release's file")


def _computed(
    inputs: Inputs, metrics: Sequence[Metric], subset: Subset, models: ModelStore, progress: Progress
) -> dict[Metric, MetricStatistics]:
    pooled = [metric for metric in metrics if metric.pools]
    summed = [metric for metric in metrics if not metric.pools]
    statistics: dict[Metric, MetricStatistics] = {}
    for part in _parts(inputs, subset, inputs.n_segments) if pooled else ():
        statistics |= _scored(part, pooled, models, {})
    states = _states(inputs, summed, subset, models) if inputs.n_segments > PART else {}
    pieces: dict[Metric, list[MetricStatistics]] = {metric: [] for metric in summed}
    for number, part in enumerate(_parts(inputs, subset, PART) if summed else (), start=1):
        for metric, piece in _scored(part, summed, models, states).items():
            pieces[metric].append(piece)
        progress(f"{min(number * PART, inputs.n_segments):,} of {inputs.n_segments:,} segments")
    return statistics | {metric: joined(parts) for metric, parts in pieces.items()}


def _states(inputs: Inputs, metrics: Sequence[Metric], subset: Subset, models: ModelStore) -> dict[Metric, CorpusState]:
    """Return what metrics must know of all parts before they score one."""
    states: dict[Metric, CorpusState] = {}
    stateful = [metric for metric in metrics if type(metric).corpus_state is not Metric.corpus_state]
    for part in _parts(inputs, subset, PART) if stateful else ():
        workspace = Workspace(part.segments, stateful, models)
        for metric in stateful:
            weights = part.weights if metric.needs_weights else None
            with _named_errors(metric):
                state = metric.corpus_state(workspace.prepared(metric), weights=weights, reference_mask=part.mask)
            if state is not None:
                states[metric] = states[metric].joined(state) if metric in states else state
    return states


def _scored(
    part: Part, metrics: Sequence[Metric], models: ModelStore, states: Mapping[Metric, CorpusState]
) -> dict[Metric, MetricStatistics]:
    workspace = Workspace(part.segments, metrics, models)
    statistics = {}
    for metric in metrics:
        with _named_errors(metric):
            statistics[metric] = metric.statistics(
                workspace.prepared(metric),
                weights=part.weights if metric.needs_weights else None,
                reference_mask=part.mask,
                state=states.get(metric),
            )
    return statistics


@contextmanager
def _named_errors(metric: Metric) -> Iterator[None]:
    """Name the metric in its errors."""
    try:
        yield
    except (ValueError, MeteorFailed) as error:
        raise CommandError(f"--metric {metric.name}: {error}") from error


def joined(parts: Sequence[MetricStatistics]) -> MetricStatistics:
    """Join the statistics of the parts of a corpus."""
    if len(parts) == 1:
        return parts[0]
    arrays = zip(*((part.packed, part.valid, part.sentence_scores) for part in parts), strict=True)
    packed, valid, sentence_scores = (np.concatenate(pieces, axis=1) for pieces in arrays)
    return MetricStatistics(packed, valid, sentence_scores, parts[0].aggregate)


def _parts(inputs: Inputs, subset: Subset, size: int) -> Iterator[Part]:
    ends = np.cumsum([0, *map(len, inputs.references)])
    is_original = inputs.is_original
    for start in range(0, inputs.n_segments, size):
        stop = min(start + size, inputs.n_segments)
        references = slice(int(ends[start]), int(ends[stop]))
        weights = None if inputs.weights is None else inputs.weights[references]
        yield Part(
            Segments(
                [system[start:stop] for system in inputs.systems],
                inputs.references[start:stop],
                None if inputs.sources is None else inputs.sources[start:stop],
            ),
            weights,
            subset.mask(
                np.ones(references.stop - references.start) if weights is None else weights, is_original[references]
            ),
        )
