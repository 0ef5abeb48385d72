"""Rate references of a release again: a response list, and the draft of a campaign that rates it."""

from collections.abc import Sequence

from django.db import transaction

from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.campaigns.services.lists import campaign_for_list
from annotation.campaigns.services.names import reserved_name
from annotation.core.errors import AnnotationError
from annotation.datasets.services.lists import response_list_create
from annotation.models import Campaign, Release, User
from annotation.references.releases.selectors.releases import release_campaigns, release_name
from annotation.references.weighing.selectors.attention import LISTS, attention


@transaction.atomic
def references_rate_again(
    *,
    release: Release,
    which: str,
    responses: Sequence[int] | None = None,
    like: Campaign,
    ratings: int,
    name: str,
    by: User | None,
) -> Campaign:
    """Draft a campaign for ``ratings`` more judgements of each reference on one of the release's lists.

    ``responses`` narrows the list; None takes all of it. The draft copies the question and scale of ``like``, so that
    new and earlier ratings can be averaged once it is added to the reference set.
    """
    if which not in LISTS:
        raise AnnotationError.at("list", f"The list is {which!r}; accepted: {', '.join(LISTS)}.")
    if not 1 <= ratings <= MOST_RATINGS:
        raise AnnotationError.at("ratings", f"Found {ratings}; accepted: 1 to {MOST_RATINGS} more of each reference.")
    if like not in release_campaigns(release):
        raise AnnotationError.at("like", f"Campaign “{like}” has no ratings in this release.")
    listed = attention(release, here=True).listed[which].tolist()
    chosen = listed if responses is None else list(dict.fromkeys(responses))
    if strange := sorted(set(chosen) - set(listed)):
        message = f"Response {strange[0]} is not on the list “{LISTS[which].label}” ({len(strange)} in all are not)."
        raise AnnotationError.at("responses", message)
    if not chosen:
        raise AnnotationError.at("responses", "No reference is chosen; accepted: one or more from the list.")
    origin = {
        "release": release_name(release),
        "content_hash": release.content_hash,
        "list": which,
        "reason": LISTS[which].label,
        "whole": responses is None,
    }
    response_list = response_list_create(
        dataset=release.reference_set.dataset, name=name, responses=chosen, origin=origin, by=by
    )
    # Raters see the campaign's name: it must not tell them why the references are rated again.
    shown_name = reserved_name(like.project, like.name)
    return campaign_for_list(response_list=response_list, like=like, ratings_per_unit=ratings, name=shown_name, by=by)
