"""Create and delete lists of responses."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.core.problems import storable, storable_json
from annotation.datasets.selectors.lists import foreign_responses
from annotation.models import Dataset, ResponseList, User
from annotation.projects.services.audit import audit_record

MAX_NAME = 120


@transaction.atomic
def response_list_create(
    *, dataset: Dataset, name: str, responses: Sequence[int], origin: Mapping[str, Any], by: User | None = None
) -> ResponseList:
    """Create a list, which never changes. ``origin`` is JSON that says how the responses, given by id, were chosen."""
    name, origin = storable(name.strip()), storable_json(dict(origin))
    if not 1 <= len(name) <= MAX_NAME:
        raise AnnotationError.at("name", f"Found {len(name)} characters; accepted: 1 to {MAX_NAME}.")
    chosen = list(dict.fromkeys(int(pk) for pk in responses))
    if not chosen:
        raise AnnotationError.at("responses", "Found none; a list has at least one response.")
    if foreign := foreign_responses(dataset, chosen):
        ids = f"{', '.join(map(str, foreign[:5]))}{' …' if len(foreign) > 5 else ''}"
        message = f"Found {len(foreign):,} that are no responses of the data set {dataset.name!r}: {ids}."
        raise AnnotationError.at("responses", message)
    response_list = ResponseList.objects.create(
        project=dataset.project, dataset=dataset, name=name, origin=origin, created_by=by
    )
    rows = ((response_list.pk, pk) for pk in chosen)
    copy_rows(ResponseList.responses.through, ["responselist_id", "response_id"], rows)
    audit_record(
        verb="response_list.create",
        summary=f"Listed {counted(len(chosen), 'response')} of “{dataset.name}” as “{name}”.",
        project=dataset.project,
        by=by,
        data={"list": response_list.pk, "responses": len(chosen), "origin": origin},
    )
    return response_list


@transaction.atomic
def response_list_delete(*, response_list: ResponseList, by: User | None = None) -> None:
    """Delete a list that no campaign rates."""
    locked = ResponseList.objects.select_for_update().get(pk=response_list.pk)
    if names := list(locked.campaigns.values_list("name", flat=True)[:3]):
        raise AnnotationError(f"“{locked}” is rated in {', '.join(names)}; accepted: a list that no campaign rates.")
    audit_record(
        verb="response_list.delete",
        summary=f"Deleted the list “{locked.name}”.",
        project=locked.project,
        by=by,
        data={"list": locked.pk},
    )
    locked.delete()
