"""A release in which every reference of a data set weighs the same, for studies before anything is weighed."""

import json

from django.db.models import Exists, OuterRef

from annotation.core.errors import AnnotationError
from annotation.models import Dataset, Response, ResponseSource, SourceKind, User, WeightsImport
from annotation.references.releases.services.imports import ImportOptions, weights_import_create
from annotation.references.sets.selectors import equal_weights_name

ORIGIN = "No weights: each reference of the data set counts as 1"


def equal_weights_create(*, dataset: Dataset, by: User | None) -> WeightsImport:
    """Queue the release; the caller enqueues ``references.tasks.weights_import_execute``."""
    of_references = ResponseSource.objects.filter(response=OuterRef("pk"), kind__in=SourceKind.of_references())
    originals = ResponseSource.objects.filter(response=OuterRef("pk"), kind=SourceKind.SEED)
    references = (
        Response.objects.filter(Exists(of_references), item__dataset=dataset)
        .annotate(original=Exists(originals))
        .order_by("item__position", "pk")
        .values_list("item__external_id", "text", "original")
    )
    lines = [
        json.dumps({"item": item, "text": text, "weight": 1, "original": original})
        for item, text, original in references.iterator(chunk_size=5000)
    ]
    if not lines:
        message = f"“{dataset}” has no references, only outputs of systems; accepted: a data set with references."
        raise AnnotationError.at("dataset", message)
    options = ImportOptions(name=equal_weights_name(dataset), origin=ORIGIN)
    content = "\n".join(lines).encode()
    return weights_import_create(
        dataset=dataset, filename="all-references-equal.jsonl", content=content, options=options, by=by
    )
