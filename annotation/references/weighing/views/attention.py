"""References of a release that need attention, and the form that has them rated again."""

from collections.abc import Iterator

import numpy as np
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.core.exports import objects_response
from annotation.core.numbers import counted
from annotation.core.pages import page_links
from annotation.core.parameters import whole_numbers
from annotation.core.views import MemberRequest, object_view
from annotation.models import Release, Role
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.references.sets.access import finished_release_or_404, project_stem, release_context
from annotation.references.weighing.forms import RateAgainForm
from annotation.references.weighing.selectors.attention import (
    ATTENTION_COLUMNS,
    LISTS,
    Attention,
    AttentionRow,
    attention,
    rows_of,
    suggestion,
)
from annotation.references.weighing.services.rating_again import references_rate_again
from annotation.references.weighing.views.awaiting import awaits_figures, check_page

PAGE = 50
CHUNK = 1000  # rows of a download that are read at once


@check_page
def release_attention(request: MemberRequest, release: Release) -> HttpResponseBase:
    lists = attention(release)
    which = request.GET.get("list") or next((name for name in LISTS if len(lists.listed[name])), "no-positive")
    _check_list(which)
    ids = lists.listed[which]
    if "format" in request.GET:
        return objects_response(
            request.GET["format"],
            f"{project_stem(request.project, release)}-{which}",
            _all_rows(release, which, ids),
            ATTENTION_COLUMNS,
        )
    shown, previous_url, next_url = page_links(request, ids, PAGE, list=which)
    context = release_context(request.project, release)
    context |= {
        "lists": [_list_card(lists, name) for name in LISTS],
        "which": which,
        "label": LISTS[which].label,
        "about": LISTS[which].about,
        "size": f"{counted(len(ids), 'reference')} of {counted(lists.n_items[which], 'item')}",
        "n_listed": len(ids),
        "rows": rows_of(release, which, shown),
        "previous_url": previous_url,
        "next_url": next_url,
        "may_send": context["may_manage"] and _may_be_rated_again(release),
    }
    return render(request, "annotation/references/release_attention.html", context)


def _list_card(lists: Attention, name: str) -> dict[str, object]:
    """Return the card of one list: what it counts, and the number of its references if it counts items."""
    n_references, n_items = len(lists.listed[name]), lists.n_items[name]
    if LISTS[name].counts_items:
        n, hint = n_items, f"item{'' if n_items == 1 else 's'} · {counted(n_references, 'reference')}"
    else:
        n, hint = n_references, f"reference{'' if n_references == 1 else 's'}"
    return {"name": name, "label": LISTS[name].label, "n": n, "hint": hint}


@require_http_methods(["GET", "POST"])
@object_view(finished_release_or_404, Role.MANAGER)
@awaits_figures
def release_attention_send(request: MemberRequest, release: Release) -> HttpResponse:
    """Ask how many more ratings, then draft the campaign. The address or the form names the references."""
    is_post = request.method == "POST"
    query = request.POST if is_post else request.GET
    which = query.get("list", "")
    _check_list(which)
    listed = attention(release).listed[which]
    whole = query.get("scope") != "ticked"
    ticked = list(whole_numbers(query, "response"))
    chosen = listed if whole else listed[np.isin(listed, ticked)]
    suggested = suggestion(release, which, chosen) if len(chosen) else None
    label = LISTS[which].label
    initial = {"ratings": suggested and suggested.ratings, "name": f"{release}: {label.lower()}"[:120]}
    form = RateAgainForm(request.POST if is_post else None, campaigns=release_campaigns(release), initial=initial)
    responses = None if whole else chosen.tolist()
    campaign = form.submit(references_rate_again, release=release, which=which, responses=responses, by=request.user)
    if campaign:
        messages.success(
            request,
            f"Drafted “{campaign}”: {counted(len(chosen), 'reference')}, {campaign.ratings_per_unit} more ratings "
            "of each. Launch it here; its page then offers to add it to "
            f"“{release.reference_set}”, whose next release includes its ratings.",
        )
        return redirect("annotation:campaign-detail", request.project.slug, campaign.pk)
    context = release_context(request.project, release) | {
        "form": form,
        "which": which,
        "label": label,
        "n_chosen": len(chosen),
        "n_listed": len(listed),
        "whole": whole,
        "ticked": [] if whole else chosen.tolist(),
        "suggested": suggested,
        "possible": _may_be_rated_again(release),
    }
    return render(request, "annotation/references/release_attention_send.html", context, status=400 if is_post else 200)


def _check_list(which: str) -> None:
    if which not in LISTS:
        raise Http404(f"No list {which!r}; there are {', '.join(LISTS)}.")


def _may_be_rated_again(release: Release) -> bool:
    """Return whether the release has a campaign to repeat; imported weights have none."""
    return bool(release_campaigns(release))


def _all_rows(release: Release, which: str, ids: IntArray) -> Iterator[AttentionRow]:
    for start in range(0, len(ids), CHUNK):
        yield from rows_of(release, which, ids[start : start + CHUNK])
