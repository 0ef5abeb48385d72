"""Predicted ratings of outputs, stored as scores of a data set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import transaction

from annotation.core.jobs import job_claim
from annotation.models import Item, ResponseSource, SourceKind, System
from metrics.errors import MetricsError
from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.external import External
from metrics.selectors.corpus import texts_digests
from metrics.selectors.predictions import CROSS_VALIDATED, NOT_PREDICTED
from metrics.services.runs import ALL, GroupOf, RunTexts, get_or_create_run
from metrics.services.score_imports import scores_digest, segments_store

NAME = 50  # characters of a model's name in that of its predictions


@transaction.atomic
def predictions_store(
    *, model: TrainedModel, predictions: Mapping[int, float], scale: tuple[float, float], facts: Mapping[str, Any]
) -> ScoreRun | None:
    """Return the score run of predictions by response; None if no system gave any of these responses.

    ``facts`` are what the run's report says of the cross-validation.
    """
    sources = ResponseSource.objects.filter(response__in=list(predictions), kind=SourceKind.SYSTEM)
    rows = list(sources.values_list("system__name", "item_id", "response_id"))
    if not rows:
        return None
    if model.dataset is None:
        raise MetricsError("The data set whose outputs were predicted is gone.")
    items = list(Item.objects.filter(dataset=model.dataset).order_by("position").values_list("pk", "external_id"))
    position = {pk: index for index, (pk, _) in enumerate(items)}
    names = sorted({name for name, *_ in rows})
    scores = np.full((len(names), len(items)), np.nan)
    for name, item, response in rows:
        scores[names.index(name), position[item]] = predictions[response]
    positions = np.flatnonzero(np.isfinite(scores).any(axis=0))
    scores = scores[:, positions]
    metric = External(
        scorer=_name(model),
        lowest=scale[0],
        highest=scale[1],
        content=scores_digest(names, [items[index][1] for index in positions.tolist()], scores),
    )
    systems = list(System.objects.filter(dataset=model.dataset, name__in=names).order_by("name"))
    texts = RunTexts(model.dataset, None, sorted(systems, key=lambda system: system.name))
    group = GroupOf(title=f"Cross-validation of {model}")
    digests = texts_digests(systems, sources=False)
    run, created = get_or_create_run(texts, metric, ALL, digests, model.requested_by, group)
    if not created:
        return run
    claim = job_claim(ScoreRun, run.pk)
    if claim is None:  # no other process can see a row of this transaction
        raise MetricsError(f"Run {run.number} is being worked on; try again.")
    report = segments_store(run, positions, scores, unscored=NOT_PREDICTED)
    report |= {"missing": int(np.isnan(scores).sum()), "cross_validated": dict(facts)}
    claim.finish(report=report, progress_total=1)
    return run


def _name(model: TrainedModel) -> str:
    printable = "".join(sign for sign in " ".join(model.name.split()) if sign.isprintable())
    name = printable.replace("|", "/")[:NAME].strip()
    return f"{name} v{model.version}{CROSS_VALIDATED}"
