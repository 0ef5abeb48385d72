"""References of a release that need attention, and the form that has them rated again."""

from collections.abc import Iterator
from urllib.parse import urlencode

import numpy as np
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Release, Role
from annotation.rating.selectors.ratings import IntArray
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.references.sets.access import file_stem, finished_release_or_404
from annotation.references.weighing.forms import RateAgainForm
from annotation.references.weighing.selectors.attention import (
    ABOUT,
    ATTENTION_COLUMNS,
    COUNTS_ITEMS,
    LISTS,
    Row,
    attention,
    attention_row,
    listed_responses,
    page_of,
    rows_of,
    suggestion,
)
from annotation.references.weighing.services.rating_again import references_rate_again
from annotation.references.weighing.views.awaiting import awaits_figures

PAGE = 50
CHUNK = 1000


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
@awaits_figures
def release_attention(request: MemberRequest, release: Release) -> HttpResponseBase:
    project = request.project
    found = attention(release)
    which = request.GET.get("list") or next((name for name in LISTS if len(found.listed[name])), "no-positive")
    if which not in LISTS:
        raise Http404(f"No list {which!r}; there are {', '.join(LISTS)}.")
    ids = found.listed[which]
    if "format" in request.GET:
        name = f"{project.slug}-{file_stem(release)}-{which}"
        rows = map(attention_row, _all_rows(release, which, ids))
        return table_response(format=request.GET["format"], filename=name, columns=ATTENTION_COLUMNS, rows=rows)
    shown, more_before, more_after = page_of(
        ids, after=whole_number(request, "after"), before=whole_number(request, "before"), size=PAGE
    )
    context = {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "lists": [
            (
                name,
                label,
                found.n_items[name] if name in COUNTS_ITEMS else len(found.listed[name]),
                len(found.listed[name]),
            )
            for name, label in LISTS.items()
        ],
        "counts_items": COUNTS_ITEMS,
        "which": which,
        "label": LISTS[which],
        "about": ABOUT[which],
        "n_items": found.n_items[which],
        "n_listed": len(ids),
        "rows": rows_of(release, which, shown),
        "previous_url": f"?{urlencode({'list': which, 'before': int(shown[0])})}"
        if more_before and len(shown)
        else None,
        "next_url": f"?{urlencode({'list': which, 'after': int(shown[-1])})}" if more_after and len(shown) else None,
        "may_send": may_manage(project) and _may_be_rated_again(release),
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/references/release_attention.html", context)


@require_http_methods(["GET", "POST"])
@object_view(finished_release_or_404, Role.MANAGER)
@awaits_figures
def release_attention_send(request: MemberRequest, release: Release) -> HttpResponse:
    """Ask how many more ratings, then draft the campaign. The address or the form names the references."""
    given = request.POST if request.method == "POST" else request.GET
    which = given.get("list", "")
    if which not in LISTS:
        raise Http404(f"No list {which!r}; there are {', '.join(LISTS)}.")
    listed = listed_responses(release, which)
    whole = given.get("scope") != "ticked"
    ticked = [int(pk) for pk in given.getlist("response") if pk.isascii() and pk.isdecimal() and len(pk) <= 18]
    chosen = listed if whole else listed[np.isin(listed, ticked)]
    campaigns = release_campaigns(release)
    suggested = suggestion(release, which, chosen) if len(chosen) else None
    initial = {"ratings": suggested and suggested.ratings, "name": f"{release}: {LISTS[which].lower()}"[:120]}
    form = RateAgainForm(request.POST if request.method == "POST" else None, campaigns=campaigns, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            campaign = references_rate_again(
                release=release,
                which=which,
                responses=None if whole else chosen.tolist(),
                by=request.user,
                **form.cleaned_data,
            )
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            messages.success(
                request,
                f"Drafted “{campaign}”: {len(chosen):,} reference{'' if len(chosen) == 1 else 's'}, "
                f"{campaign.ratings_per_unit} more ratings of each. Launch it here; its page then offers to add it to "
                f"“{release.reference_set}”, whose next release includes its ratings.",
            )
            return redirect("annotation:campaign-detail", request.project.slug, campaign.pk)
    context = {
        "project": request.project,
        "release": release,
        "reference_set": release.reference_set,
        "form": form,
        "which": which,
        "label": LISTS[which],
        "n_chosen": len(chosen),
        "n_listed": len(listed),
        "whole": whole,
        "ticked": [] if whole else chosen.tolist(),
        "suggested": suggested,
        "possible": _may_be_rated_again(release),
        "may_manage": True,
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "annotation/references/release_attention_send.html", context, status=status)


def _may_be_rated_again(release: Release) -> bool:
    """Return whether the release has a campaign to repeat; imported weights have none."""
    return bool(release_campaigns(release))


def _all_rows(release: Release, which: str, ids: IntArray) -> Iterator[Row]:
    for start in range(0, len(ids), CHUNK):
        yield from rows_of(release, which, ids[start : start + CHUNK])
