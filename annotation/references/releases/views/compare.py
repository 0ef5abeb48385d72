"""One release beside another of the same data set."""

from functools import partial
from urllib.parse import urlencode

import numpy as np
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view
from annotation.models import Release, Role
from annotation.references.releases import charts as charts_releases
from annotation.references.releases.selectors.differences import (
    CONDITIONS,
    KINDS,
    ROW_COLUMNS,
    changes,
    comparable,
    difference_page,
    difference_rows,
    items_named,
    raters_changed,
    release_difference,
    usual_comparison,
)
from annotation.references.releases.selectors.releases import release_name, release_named
from annotation.references.sets.access import file_stem, finished_release_or_404

ITEM_COLUMNS = ("item", "message", "split", "change")
CHARTS = {"moves": "Moves of weights", "weights": "Weights, before and after"}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_compare(request: MemberRequest, after: Release) -> HttpResponseBase:
    """How the release differs from the one that ``with`` names: by default the one before it in its set."""
    before = _other(request, after)
    context: dict[str, object] = {
        "project": request.project,
        "release": after,
        "reference_set": after.reference_set,
        "before": before,
        "title": "Compare",
        "others": [(release_name(one), one) for one in comparable(after)],
    }
    if before is None:
        return render(request, "annotation/references/release_compare.html", context)
    kind = request.GET.get("show", "moved")
    if kind not in KINDS:
        raise Http404(f"No differences {kind!r}; there are {', '.join(KINDS)}.")
    difference = release_difference(before, after)
    counts = difference.counts()
    if "show" not in request.GET and not counts[kind]:
        kind = next((one for one in KINDS if counts[one]), kind)
    page = difference_page(
        before, after, kind, mark_after=request.GET.get("after", ""), mark_before=request.GET.get("before", "")
    )
    asked = {"with": release_name(before), "show": kind}
    context |= {
        "difference": difference,
        "hints": {
            "moved": f"{difference.up:,} up, {difference.down:,} down, of {difference.shared:,} that both have",
            "added": f"{difference.gone:,} removed",
            "mean": f"the largest is {difference.largest_move:.2f}",
        },
        "with": release_name(before),
        "kind": kind,
        "kinds": [(name, label, counts[name]) for name, label in KINDS.items()],
        "kind_label": KINDS[kind],
        "page": page,
        "previous_url": page.before and f"?{urlencode(asked | {'before': page.before})}#differences",
        "next_url": page.after and f"?{urlencode(asked | {'after': page.after})}#differences",
        "changes": changes(before, after),
        "raters": raters_changed(before, after),
        "gained": items_named(difference.gained_positive),
        "lost": items_named(difference.lost_positive),
        "title": _title(before, after),
        "before_name": _short_name(before, after),
        "after_name": f"v{after.number}",
    }
    return render(request, "annotation/references/release_compare.html", context)


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_compare_download(request: MemberRequest, after: Release, table: str, file_format: str) -> HttpResponseBase:
    """The differences of one kind or of all, the facts of how both were made, or the items concerned, as a table."""
    before = _other(request, after)
    if before is None:
        raise Http404("No other finished release of this data set.")
    name = f"{request.project.slug}-{file_stem(before)}-to-{file_stem(after)}-{table}"
    download = partial(table_response, format=file_format, filename=name)
    if table in CONDITIONS:
        types = {"weight_before": "number", "weight_after": "number", "move": "number"}
        types |= {"judgements_before": "whole", "judgements_after": "whole"}
        return download(columns=ROW_COLUMNS, rows=difference_rows(before, after, table), types=types)
    if table == "making":
        return download(columns=("what", release_name(before), release_name(after)), rows=changes(before, after))
    if table == "items":
        difference = release_difference(before, after)
        found = (("gained a positive weight", difference.gained_positive), ("lost its last", difference.lost_positive))
        rows = (
            (item.external_id, item.message, item.split, change)
            for change, numbers in found
            for item in items_named(numbers, None)
        )
        return download(columns=ITEM_COLUMNS, rows=rows)
    raise Http404(f"No table {table!r}; there are {', '.join([*CONDITIONS, 'making', 'items'])}.")


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_compare_chart(request: MemberRequest, after: Release, chart: str, file_format: str) -> HttpResponse:
    before = _other(request, after)
    if before is None or chart not in CHARTS:
        raise Http404(f"No such chart of two releases; there are {', '.join(CHARTS)}.")
    found = release_difference(before, after)
    draw = (
        partial(charts_releases.moves_of_weights, found.moves if len(found.moves) else np.zeros(0))
        if chart == "moves"
        else partial(charts_releases.weights_then_and_now, found.before, found.after)
    )
    return chart_response(draw(theme=chart_theme(request)), file_format, f"{file_stem(after)}-{chart}")


def _title(before: Release, after: Release) -> str:
    """Only what came later has changed since."""
    if before.reference_set_id != after.reference_set_id:
        return f"How it differs from {before}"
    if before.number > after.number:
        return f"How v{after.number} differs from the later v{before.number}"
    return f"What changed since v{before.number}"


def _short_name(before: Release, after: Release) -> str:
    same_set = before.reference_set_id == after.reference_set_id
    return f"v{before.number}" if same_set else release_name(before)


def _other(request: MemberRequest, release: Release) -> Release | None:
    """The release to compare with; None where nothing is asked for and there is no other."""
    written = request.GET.get("with", "")
    if not written:
        return usual_comparison(release)
    found = release_named(request.project, written)
    if found is None or found.reference_set.dataset_id != release.reference_set.dataset_id:
        names = ", ".join(release_name(one) for one in comparable(release)[:20]) or "none"
        raise Http404(f"No release {written!r} of this data set; there are {names}.")
    return found
