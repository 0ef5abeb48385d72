"""Train quality estimators on ratings; predict the rated outputs by models that did not learn from them."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from annotation.core.canonical import canonical_json
from annotation.core.jobs import Claim
from annotation.core.numbers import finite_or_none
from annotation.models import Campaign, Dataset, JobState, Project
from metrics.errors import MetricsError
from metrics.models import TrainedModel
from metrics.scoring import VERSION
from metrics.scoring.models.kinds import RATED
from metrics.scoring.qe.coefficients import errors, pearson, spearman
from metrics.scoring.qe.cross_validation import FOLDS, CrossValidated, cross_validated
from metrics.scoring.qe.instances import instances_digest, ratings_of
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.network import unavailable
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.training import train
from metrics.selectors.seen import seen_by_dataset
from metrics.selectors.training_ratings import STATISTICS, RatedOutputs, learnable_criteria, rated_outputs
from metrics.services.learning_curves import LearningCurves
from metrics.services.model_rows import Fields, Made, ModelRequest, model_create, model_keep, trained_before
from metrics.services.predictions import predictions_store
from metrics.services.scoring import model_store

WITH_REFERENCES = ("S3", "S4", "S5", "S6")
NETWORK = "network"

_FACTS = ("folds", "together", "seed")  # of a cross-validation, in the report of its score run
_CHECKPOINT = ".checkpoint-"  # begins the names of folders
CHECKPOINT_DAYS = 7  # after a failed or cancelled training, which can be started again


@dataclass(frozen=True)
class ChosenRatings:
    """The ratings to learn from. Without criteria, all of the campaigns count, averaged; an output has the median or
    the mean of its raters."""

    campaigns: Sequence[Campaign]
    criteria: Sequence[str] = ()
    statistic: str = "median"


def model_train_on_ratings(
    *, request: ModelRequest, ratings: ChosenRatings, cross_validate: bool = False
) -> TrainedModel:
    """Queue the training of a quality estimator. The caller enqueues ``metrics.tasks.train_model`` with the id.

    To ``cross_validate`` is to store as scores how models that learnt from four fifths rate the last fifth.
    """
    if request.kind not in RATED:
        raise MetricsError.at("kind", f"kind: found {request.kind!r}; accepted of ratings: {', '.join(RATED)}.")
    dataset = _dataset(request.project, ratings.campaigns)
    if ratings.statistic not in STATISTICS:
        message = f"statistic: found {ratings.statistic!r}; accepted: {', '.join(STATISTICS)}."
        raise MetricsError.at("statistic", message)
    criteria = learnable_criteria(ratings.campaigns, ratings.criteria)
    if request.options.get("estimator", NETWORK) == NETWORK and (reason := unavailable()):
        raise MetricsError.at("estimator", f"A network cannot be trained here. {reason}")
    source = {
        "dataset": dataset.slug,
        "campaigns": sorted(campaign.name for campaign in ratings.campaigns),
        "criteria": sorted({criterion.name for criterion in criteria}),
        "statistic": ratings.statistic,
        "cross_validate": cross_validate,
    }
    return model_create(request, source, dataset=dataset)


def _dataset(project: Project, campaigns: Sequence[Campaign]) -> Dataset:
    if not campaigns:
        raise MetricsError.at("campaigns", "Campaigns: found none; accepted: one or more with ratings.")
    foreign = next((each for each in campaigns if each.project_id != project.pk), None)
    if foreign is not None:
        raise MetricsError.at("campaigns", f"Campaign “{foreign}” belongs to another project.")
    other = next((each for each in campaigns if each.dataset_id != campaigns[0].dataset_id), None)
    if other is not None:
        found = f"{campaigns[0]} is of {campaigns[0].dataset}, {other} of {other.dataset}"
        raise MetricsError.at("campaigns", f"Campaigns: found two data sets: {found}; accepted: campaigns of one.")
    return campaigns[0].dataset


# --- Work -------------------------------------------------------------------------------------------------------------


def train_on_ratings(model: TrainedModel, claim: Claim) -> Made:
    """Train, and cross-validate if it was requested; go on from the checkpoint of a worker that died."""
    options = QualityOptions.stored(model.options)
    if options.estimator == NETWORK and (reason := unavailable()):
        raise MetricsError(f"A network cannot be trained on this worker. {reason}")
    claim.progress(0, 0, "Reading ratings")
    rated = _rated(model, options)
    training_hash = _training_hash(model, rated)
    earlier = trained_before(model, training_hash)
    curves = LearningCurves(model, claim, stages=2 if model.source["cross_validate"] and earlier is None else 1)
    checkpoint = checkpoint_folder(model)
    checkpoint.mkdir(parents=True, exist_ok=True)
    report = _ratings_report(rated)
    validated = None
    try:
        if earlier is None:
            made = train(
                rated.instances,
                options,
                written=rated.written,
                progress=curves.trained,
                checkpoint=checkpoint / "model.npz",
                processes=settings.TRAINING_PROCESSES,
            )
            fields = model_keep(model, made, report)
            curves.keep_whole(fields["report"]["model"].pop("curve", []))
        else:
            fields = _copied(earlier, report)
            curves.copy_whole(earlier)
        if model.source["cross_validate"]:
            folder = checkpoint / "folds"
            validated = cross_validated(
                rated.instances,
                options,
                folds=FOLDS,
                seeds=(options.seed,),
                written=rated.written,
                progress=curves.validated,
                checkpoint=folder,
                processes=settings.TRAINING_PROCESSES,
            )
    except ValueError as error:
        raise MetricsError(f"{error}.") from error
    estimator: QualityEstimator = model_store().load(QualityEstimator.kind, f"sha256:{fields['digest']}")
    fields["report"] |= {
        "overlap": seen_by_dataset(estimator, model.project, rated.systems),
        "curves": curves.as_json(),
    }
    fields["training_hash"] = training_hash
    if validated is None:
        return Made(fields)
    fields["report"]["cross_validation"] = _agreement(validated, rated, options)
    return Made(fields, partial(_store, model, rated, validated, fields["report"]["cross_validation"]))


def _rated(model: TrainedModel, options: QualityOptions) -> RatedOutputs:
    source = model.source
    campaigns = list(Campaign.objects.filter(project=model.project_id, name__in=source["campaigns"]).order_by("name"))
    missing = sorted(set(source["campaigns"]) - {campaign.name for campaign in campaigns})
    if missing:
        raise MetricsError(f"Campaign “{missing[0]}”, whose ratings it was to learn from, is gone.")
    rated = rated_outputs(
        campaigns, source["criteria"], source["statistic"], with_references=options.plan in WITH_REFERENCES
    )
    if not rated.instances:
        raise MetricsError("Nothing to learn from: no output is rated on all criteria.")
    return rated


def _training_hash(model: TrainedModel, rated: RatedOutputs) -> str:
    ratings = instances_digest(rated.instances)
    training = {"kind": model.kind, "options": model.options, "ratings": ratings, "version": VERSION}
    if rated.written:
        training["written"] = [[each.source, each.text, each.complete] for each in rated.written]
    return hashlib.sha256(canonical_json(training)).hexdigest()


def _ratings_report(rated: RatedOutputs) -> dict[str, Any]:
    return {
        "rated_outputs": len(rated.instances),
        "ratings": rated.n_ratings,
        "raters": rated.n_raters,
        "systems": list(rated.systems),
        "scale": [rated.low, rated.high],
        "ratings_digest": instances_digest(rated.instances),
        "version": VERSION,
    }


def _copied(earlier: TrainedModel, report: dict[str, Any]) -> Fields:
    report = report | {"model": earlier.report["model"], "same_as": {"id": earlier.pk, "name": str(earlier)}}
    return {"digest": earlier.digest, "size": earlier.size, "report": report}


def _agreement(validated: CrossValidated, rated: RatedOutputs, options: QualityOptions) -> dict[str, Any]:
    """Return how the predictions agree with the ratings, beside a constant: the mean of the ratings learnt from."""
    predicted, ratings = validated.values[0], ratings_of(rated.instances)
    mae, rmse = errors(predicted, ratings)
    constant_mae, constant_rmse = errors(validated.constant, ratings)
    return {
        "folds": FOLDS,
        "together": options.folds,
        "read_before": validated.read_before,
        "seed": options.seed,
        "outputs": len(rated.instances),
        "pearson": finite_or_none(pearson(predicted, ratings)),
        "spearman": finite_or_none(spearman(predicted, ratings)),
        "mae": mae,
        "rmse": rmse,
        "constant_mae": constant_mae,
        "constant_rmse": constant_rmse,
    }


def _store(
    model: TrainedModel, rated: RatedOutputs, validated: CrossValidated, agreement: dict[str, Any]
) -> dict[str, Any]:
    """Store the predictions as a score run; return what the model's report says of them."""
    by_response = dict(zip(rated.response_ids.tolist(), validated.values[0].tolist(), strict=True))
    run = predictions_store(
        model=model,
        predictions=by_response,
        scale=(rated.low, rated.high),
        facts={"model": f"{model.slug}/v{model.version}"} | {name: agreement[name] for name in _FACTS},
    )
    return {} if run is None else {"cross_validation": agreement | {"run": run.number}}


# --- Checkpoints ------------------------------------------------------------------------------------------------------


def checkpoint_folder(model: TrainedModel) -> Path:
    """Return where a training keeps what another worker goes on from."""
    return Path(settings.MODELS_DIR) / f"{_CHECKPOINT}{model.pk}"


def checkpoint_remove(model: TrainedModel) -> None:
    shutil.rmtree(checkpoint_folder(model), ignore_errors=True)


def checkpoints_sweep() -> None:
    """Remove the checkpoints of models that are gone, and of trainings that ended a while ago."""
    folders = {folder.name.removeprefix(_CHECKPOINT): folder for folder in _checkpoint_folders()}
    keys = {int(key) for key in folders if key.isascii() and key.isdecimal()}
    if not keys:
        return
    ended = Q(finished_at__lt=Now() - timedelta(days=CHECKPOINT_DAYS))
    needed = TrainedModel.objects.filter(pk__in=keys).exclude(ended).exclude(state=JobState.DONE)
    for key in keys - set(needed.values_list("pk", flat=True)):
        shutil.rmtree(folders[str(key)], ignore_errors=True)


def _checkpoint_folders() -> list[Path]:
    return list(Path(settings.MODELS_DIR).glob(f"{_CHECKPOINT}*"))
