"""Compute a parameter study: texts prepared once for all values, curves, intervals, results without each system."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import transaction

from annotation.core.jobs import Claim, job_run
from annotation.core.numbers import finite_or_none
from annotation.core.progress import Progress, noop
from annotation.models import Campaign, Item
from correlations.errors import StudyError
from correlations.models import ParameterStudy
from correlations.parameter_specification import SUBSET, ParameterSpecification, parameter_named
from correlations.results import parameters as results
from correlations.results.common import Counts, Dropped, Ends, Items
from correlations.selectors.inputs import FloatArray, HumanSide
from correlations.services.choosing import cross_validation
from correlations.services.inputs import (
    counts,
    mean_rating,
    read_corpus,
    row_reads,
    study_ratings,
    study_texts,
    versions,
)
from correlations.services.progress import StagedProgress
from correlations.stats import parameters as stats
from correlations.stats.resampling import replicates_interval
from correlations.stats.segment_level import SegmentLevelResult
from correlations.stats.system_level import SystemLevelResult
from metrics.models import TrainedModel
from metrics.scoring.metric import Metric, MetricStatistics, PooledStatistics
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.parameters import Parameter
from metrics.selectors.corpus import Corpus
from metrics.selectors.models import model_parameters
from metrics.services.scoring import Scorer, model_store

Bools = npt.NDArray[np.bool_]
Report = Callable[[int, int], None]  # done, of how much
STAGES = {"Loading": 5, "Scoring": 45, "Intervals": 50}
UNSCORED = "none of its rated outputs has a score at every value"
UNRATED = "none of its outputs has a rating"
POOLED = "the metric is over all outputs as one pool, which no resample of sums can give"


@dataclass(frozen=True)
class Inputs:
    """T systems, S items, and their ratings."""

    specification: ParameterSpecification
    corpus: Corpus
    human: HumanSide
    names: list[str]
    splits: npt.NDArray[np.str_]  # (S,)


@dataclass(frozen=True)
class Sweep:
    """One parameter at V values."""

    parameter: Parameter
    values: Sequence[Any]
    in_use: int  # index of the metric's value
    points: list[stats.ParameterValue]
    pooled: bool


def parameter_study_execute(*, study_id: int, progress: Progress = noop) -> None:
    """Claim the study, compute, store."""
    job_run(ParameterStudy, study_id, _compute, progress=progress)


def _compute(study: ParameterStudy, claim: Claim) -> None:
    result = parameter_result(study, claim.progress)
    with transaction.atomic():
        claim.lock()
        claim.finish(result=result.to_json())


def parameter_result(
    study: ParameterStudy, report: Progress = noop, *, campaigns: Sequence[Campaign] = ()
) -> results.ParameterResult:
    """Compute a study from texts and ratings; ``campaigns`` are by default those that are stored with it."""
    started = time.monotonic()
    progress = StagedProgress(report, STAGES)
    progress.stage("Loading")
    inputs = _load(study, campaigns)
    sweeps = _swept(inputs, progress)
    intervals = progress.stage("Intervals")
    spec = inputs.specification
    counted = np.logical_or.reduce([_usable(inputs, sweep) for sweep in sweeps])
    return results.ParameterResult(
        coefficient=spec.coefficient,
        coefficients=spec.coefficients,
        sweeps=tuple(
            _sweep_result(inputs, sweep, _part(intervals, index, len(sweeps))) for index, sweep in enumerate(sweeps)
        ),
        models=_models(study, spec.built_metric()),
        items=_items(inputs, counted),
        counts=Counts(**counts(study, inputs.corpus, inputs.human.counted(counted))),
        negated=not spec.built_metric().higher_is_better,
        versions=versions(),
        seconds=round(time.monotonic() - started, 2),
    )


def _part(report: Report, index: int, parts: int) -> Report:
    """Return the progress of one of several equal parts as progress of the whole."""
    return lambda done, total: report(index * total + done, parts * total)


def _load(study: ParameterStudy, campaigns: Sequence[Campaign]) -> Inputs:
    spec = ParameterSpecification.from_mapping(study.specification)
    texts = study_texts(study, spec.systems)
    corpus = read_corpus(texts, row_reads(texts, spec.built_metric(), spec.built_subset))
    human = study_ratings(study, corpus, spec, campaigns)
    unrated = np.flatnonzero(np.isnan(human.mean).all(axis=1))
    if unrated.size:
        name = corpus.systems[unrated[0]].name
        raise StudyError(f"No rater rated an output of {name} in {', '.join(spec.campaigns)}; leave the system out.")
    split = dict(Item.objects.filter(dataset=study.dataset_id).values_list("pk", "split"))
    splits = np.array([split[pk] for pk in corpus.item_ids.tolist()], dtype=np.str_)
    return Inputs(spec, corpus, human, [system.name for system in corpus.systems], splits)


def _items(inputs: Inputs, counted: Bools) -> Items:
    """Return how many items have an output that counts in any sweep, and why the others do not."""
    dropped = {reason: len(names) for reason, names in inputs.corpus.dropped.items()}
    used, rated = counted.any(axis=0), ~np.isnan(inputs.human.mean).all(axis=0)
    dropped |= {UNRATED: int((~rated).sum()), UNSCORED: int((rated & ~used).sum())}
    return Items(int(used.sum()), tuple(Dropped(reason, count) for reason, count in dropped.items() if count))


def _usable(inputs: Inputs, sweep: Sweep) -> Bools:
    """Return the outputs (T, S) that count: rated, and with a score at every value.

    In a pool every output counts, whether or not it has a score of its own.
    """
    if sweep.pooled:
        return np.asarray(~np.isnan(inputs.human.mean) & inputs.corpus.answered)
    return stats.usable_outputs(sweep.points, inputs.human.mean)


def _swept(inputs: Inputs, progress: StagedProgress) -> list[Sweep]:
    """Return every sweep's statistics. The scorer knows all values first, so texts are prepared once."""
    spec = inputs.specification
    in_use = spec.built_metric()
    planned = []
    for sweep in spec.sweeps:
        parameter = parameter_named(in_use, sweep["parameter"])
        planned.append((parameter, [spec.varied(parameter, value) for value in sweep["values"]]))
    try:
        scorer = Scorer(inputs.corpus, [metric for _, varied in planned for metric, _ in varied])
        report = progress.stage("Scoring")
        total, done, sweeps = sum(len(varied) for _, varied in planned), 0, []
        for parameter, varied in planned:
            statistics = []
            for metric, subset in varied:
                statistics.append(scorer.statistics(metric, subset))
                done += 1
                report(done, total)
            values = [str(read) if parameter == SUBSET else getattr(metric, parameter.name) for metric, read in varied]
            chosen = values.index(spec.value_in_use(parameter))
            points = [_value(metric, each, inputs) for (metric, _), each in zip(varied, statistics, strict=True)]
            sweeps.append(Sweep(parameter, values, chosen, points, not all(each.sums for each in statistics)))
    except ValueError as error:  # a model that is not on this host, say
        raise StudyError(str(error)) from error
    return sweeps


def _value(metric: Metric, statistics: MetricStatistics, inputs: Inputs) -> stats.ParameterValue:
    sign = 1.0 if metric.higher_is_better else -1.0
    scores = sign * statistics.sentence_scores
    if isinstance(statistics, PooledStatistics):
        # Defined over a system's rated outputs as a whole: each of them gets an equal share of it.
        rated = ~np.isnan(inputs.human.mean) & inputs.corpus.answered
        whole = sign * _pooled(statistics, rated)
        shares = np.nan_to_num(whole) / np.maximum(rated.sum(axis=1), 1)
        packed = np.broadcast_to(shares[:, None, None], (*scores.shape, 1))
        missing = np.isnan(whole)
        return stats.ParameterValue(packed, lambda sums: np.where(missing, np.nan, sums[..., 0]), scores)
    aggregate = statistics.aggregate
    return stats.ParameterValue(statistics.packed, lambda sums: sign * aggregate(sums), scores)


def _pooled(statistics: PooledStatistics, outputs: Bools) -> FloatArray:
    """Return each system's score over its outputs (T, S); NaN for a system without any."""
    distinct = {each.tobytes(): np.flatnonzero(each) for each in outputs if each.any()}
    scores = {key: statistics.system_scores(segments) for key, segments in distinct.items()}
    return np.array([scores[each.tobytes()][t] if each.any() else np.nan for t, each in enumerate(outputs)])


# --- One sweep --------------------------------------------------------------------------------------------------------


def _sweep_result(inputs: Inputs, sweep: Sweep, report: Report) -> results.ParameterSweep:
    spec, human = inputs.specification, inputs.human.mean
    usable = _usable(inputs, sweep)
    over_systems = _over_systems(inputs, sweep, usable)
    replicates = _replicates(spec, sweep, human, usable, report)
    best = stats.best_index([result.values[spec.coefficient] for result, _ in over_systems])
    ngrams = _ngrams(spec, sweep)
    points = tuple(
        results.ParameterPoint(
            value=sweep.values[index],
            shown=_shown(inputs, sweep, index),
            system=_level(result, replicates.system if replicates else {}, index),
            segment=_level(
                stats.segment_level(value, human, usable, coefficients=spec.coefficients),
                {"pearson": replicates.segment} if replicates else {},
                index,
            ),
            influential=_influential(result),
            scores=tuple(finite_or_none(score) for score in scores.tolist()),
            ngrams=ngrams[index] if ngrams else None,
        )
        for index, (value, (result, scores)) in enumerate(zip(sweep.points, over_systems, strict=True))
    )
    return results.ParameterSweep(
        parameter=sweep.parameter.name,
        label=sweep.parameter.label,
        key=sweep.parameter.key,
        kind=sweep.parameter.kind,
        points=points,
        chosen=sweep.in_use,
        best=best,
        items=int(usable.any(axis=0).sum()),
        systems=tuple(
            results.SystemRating(name, *mean_rating(ratings))
            for name, ratings in zip(inputs.names, np.where(usable, human, np.nan), strict=True)
        ),
        without=_without(inputs, [result for result, _ in over_systems], sweep.in_use, best),
        halves=_halves(spec, sweep, human, usable),
        cross=cross_validation(sweep.points, human, usable, sweep.in_use, spec) if not sweep.pooled else None,
        splits=_split_result(inputs, sweep, usable),
        no_interval=POOLED if sweep.pooled else "",
    )


def _over_systems(inputs: Inputs, sweep: Sweep, outputs: Bools) -> list[tuple[SystemLevelResult, FloatArray]]:
    keys = inputs.specification.coefficients
    return [
        stats.system_level(value, inputs.human.mean, inputs.names, outputs, coefficients=keys) for value in sweep.points
    ]


def _replicates(
    spec: ParameterSpecification, sweep: Sweep, human: FloatArray, usable: Bools, report: Report
) -> stats.Curves | None:
    if spec.bootstrap < 2 or sweep.pooled or not usable.any():
        return None
    weights = stats.bootstrap_weights(usable, spec.bootstrap, spec.seed)
    return stats.curves(sweep.points, human, usable, weights, coefficients=spec.coefficients, progress=report)


def _level(
    result: SystemLevelResult | SegmentLevelResult, replicates: Mapping[str, FloatArray], index: int
) -> results.Level:
    """Return the coefficients at one value; ``replicates`` (B, V) are for those with intervals."""
    return results.Level(
        n=result.n,
        reason=result.reason or "",
        p=finite_or_none(result.pvalues["pearson"]),
        coefficients={
            key: results.LevelEstimate(
                finite_or_none(value), _interval(replicates[key][:, index]) if key in replicates else None
            )
            for key, value in result.values.items()
        },
    )


def _interval(replicates: FloatArray) -> Ends | None:
    low, high = replicates_interval(replicates).interval
    return None if np.isnan(low) else (float(low), float(high))


def _influential(result: SystemLevelResult) -> results.Influential | None:
    system = result.most_influential
    return None if system is None else results.Influential(system.system, finite_or_none(system.values["pearson"]))


def _without(
    inputs: Inputs, over_systems: Sequence[SystemLevelResult], chosen: int, best: int | None
) -> tuple[results.Without, ...]:
    """Return, without each system, the coefficients in use and at the best value, and which value is then best."""
    name = inputs.specification.coefficient
    if best is None or not over_systems[chosen].left_out:
        return ()
    rows = []
    for index, system in enumerate(inputs.names):
        along = [result.left_out[index].values[name] if result.left_out else np.nan for result in over_systems]
        then = stats.best_index(along)
        value_then = None if then is None else finite_or_none(along[then])
        in_use, at_best = finite_or_none(along[chosen]), finite_or_none(along[best])
        rows.append(results.Without(system, in_use, at_best, then, value_then))
    return tuple(rows)


def _halves(spec: ParameterSpecification, sweep: Sweep, human: FloatArray, usable: Bools) -> results.Halves | None:
    if spec.halves < 1 or sweep.pooled or usable.any(axis=0).sum() < 4:
        return None
    held_out = stats.held_out_halves(
        sweep.points,
        human,
        usable,
        sweep.in_use,
        coefficient=spec.coefficient,
        n_halves=spec.halves,
        seed=spec.seed + 1,
    )
    if not held_out.n_halves:
        return None
    return results.Halves(
        n=held_out.n_halves,
        chosen_on=held_out.chosen_on,
        judged_on=held_out.judged_on,
        own=held_out.fixed,
        shares=tuple(held_out.shares.tolist()),
    )


def _split_result(inputs: Inputs, sweep: Sweep, usable: Bools) -> results.Splits | None:
    spec = inputs.specification
    if not spec.choose_on or sweep.pooled:
        return None
    parts = [usable & (inputs.splits == split) for split in (spec.choose_on, spec.judge_on)]
    chosen, judged = (
        tuple(finite_or_none(result.values[spec.coefficient]) for result, _ in _over_systems(inputs, sweep, part))
        for part in parts
    )
    best = stats.best_index([np.nan if value is None else value for value in chosen])
    return results.Splits(
        choose_on=spec.choose_on,
        judge_on=spec.judge_on,
        items=(int(parts[0].any(axis=0).sum()), int(parts[1].any(axis=0).sum())),
        best=best,
        chosen_on=None if best is None else chosen[best],
        judged_on=None if best is None else judged[best],
        own=judged[sweep.in_use],
        curves=(chosen, judged),
    )


# --- Models -----------------------------------------------------------------------------------------------------------


def _ngrams(spec: ParameterSpecification, sweep: Sweep) -> list[results.Ngrams]:
    """Count, for a sweep over a language model's orders, the n-grams of each length and of all up to it."""
    metric = spec.built_metric()
    models = [model for model in model_parameters(metric.name) if model.choices[0] == LanguageModel.kind]
    if sweep.parameter.name != "order" or not models:
        return []
    model: LanguageModel = model_store().load(LanguageModel.kind, getattr(metric, models[0].name))
    return [
        results.Ngrams(of_order=model.n_ngrams[order - 1], up_to=sum(model.n_ngrams[:order])) for order in sweep.values
    ]


def _shown(inputs: Inputs, sweep: Sweep, index: int) -> str:
    value = sweep.values[index]
    model = None
    if sweep.parameter.kind == "model":
        model = _trained_model(inputs.corpus.systems[0].dataset.project_id, str(value))
    return sweep.parameter.written(value) if model is None else str(model)


def _trained_model(project: int, reference: str) -> TrainedModel | None:
    models = TrainedModel.objects.filter(project=project, digest=reference.removeprefix("sha256:"))
    return models.defer("content").last()


def _models(study: ParameterStudy, metric: Metric) -> tuple[results.ModelUsed, ...]:
    """Return the trained models of the metric, with whether each was pruned."""
    used = []
    for parameter in model_parameters(metric.name):
        reference = str(getattr(metric, parameter.name))
        model = _trained_model(study.project_id, reference)
        used.append(
            results.ModelUsed(
                label=parameter.label,
                reference=reference,
                pruned=model is not None and bool(model.options.get("prune")),
                name="" if model is None else str(model),
                pk=None if model is None else model.pk,
            )
        )
    return tuple(used)
