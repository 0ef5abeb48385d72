"""Collect more ratings of selected seeds."""

from django.db import transaction

from annotation.campaigns.services.lists import campaign_for_list
from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.lists import find_list
from annotation.datasets.services.lists import response_list_create
from annotation.models import Campaign, ResponseList, SeedSelection, User


@transaction.atomic
def seeds_rate_again(
    *,
    selection: SeedSelection,
    ratings_per_unit: int = 2,
    like: Campaign | None = None,
    name: str = "",
    by: User | None = None,
) -> Campaign:
    """Create a draft that collects more ratings of every seed, with the design of the campaign that rated them."""
    campaigns = selection.campaigns.order_by("pk")
    like = like or next((each for each in campaigns if not each.presentation_kind.compares_systems), None)
    if like is None:
        raise AnnotationError.at("like", "The seeds were rated in pairs; name the campaign whose design to use.")
    response_list = seeds_list(selection=selection, by=by)
    return campaign_for_list(
        response_list=response_list, like=like, ratings_per_unit=ratings_per_unit, name=name, by=by
    )


@transaction.atomic
def seeds_list(*, selection: SeedSelection, by: User | None = None) -> ResponseList:
    """Return the list of the selected seeds; create it if there is none yet."""
    SeedSelection.objects.select_for_update(no_key=True).get(pk=selection.pk)
    members = list(selection.members.order_by("pk").values_list("response_id", flat=True))
    # An imported list may name another origin; its responses decide.
    origin = {"kind": "seeds", "selection": selection.pk}
    lists = ResponseList.objects.filter(dataset=selection.dataset, origin__contains=origin).order_by("pk")
    return find_list(lists, members) or response_list_create(
        dataset=selection.dataset,
        name=f"Seeds of {selection.dataset.name}"[:120],
        responses=members,
        origin={**origin, "threshold": selection.threshold},
        by=by,
    )
