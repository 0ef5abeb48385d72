"""Lists of responses, written down once: nothing here knows of campaigns beyond their names."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.problems import storable, storable_json
from annotation.datasets.selectors.lists import foreign_responses
from annotation.models import Dataset, ResponseList, User
from annotation.projects.services.audit import audit_record

MAX_NAME = 120


@transaction.atomic
def response_list_create(
    *,
    dataset: Dataset,
    name: str,
    responses: Sequence[int],
    origin: Mapping[str, Any],
    by: User | None = None,
) -> ResponseList:
    """Write a list down. ``responses``: ids, a repeated one counts once. ``origin`` is plain JSON that says who chose.

    A list is never changed afterwards: what a campaign asked about stays what it was.
    """
    name, origin = storable(name.strip()), storable_json(dict(origin))
    if not 1 <= len(name) <= MAX_NAME:
        raise AnnotationError.at("name", f"Found {len(name)} characters; accepted: 1 to {MAX_NAME}.")
    chosen = list(dict.fromkeys(int(pk) for pk in responses))
    if not chosen:
        raise AnnotationError.at("responses", "Found none; a list has at least one response.")
    if foreign := foreign_responses(dataset, chosen):
        raise AnnotationError.at(
            "responses",
            f"Found {len(foreign):,} that are no responses of the data set {dataset.name!r}: "
            f"{', '.join(map(str, foreign[:5]))}{' …' if len(foreign) > 5 else ''}.",
        )
    made = ResponseList.objects.create(
        project=dataset.project, dataset=dataset, name=name, origin=origin, created_by=by
    )
    copy_rows(ResponseList.responses.through, ["responselist_id", "response_id"], ((made.pk, pk) for pk in chosen))
    audit_record(
        verb="response_list.create",
        summary=f"Listed {len(chosen):,} response{'' if len(chosen) == 1 else 's'} of “{dataset.name}” as “{name}”.",
        project=dataset.project,
        by=by,
        data={"list": made.pk, "responses": len(chosen), "origin": origin},
    )
    return made


@transaction.atomic
def response_list_delete(*, response_list: ResponseList, by: User | None = None) -> None:
    """Only a list that no campaign asks about."""
    held = ResponseList.objects.select_for_update().get(pk=response_list.pk)
    if names := list(held.campaigns.values_list("name", flat=True)[:3]):
        raise AnnotationError(f"“{held}” is what {', '.join(names)} asks about: it stays for as long as there is that.")
    audit_record(
        verb="response_list.delete",
        summary=f"Deleted the list “{held.name}”.",
        project=held.project,
        by=by,
        data={"list": held.pk},
    )
    held.delete()
