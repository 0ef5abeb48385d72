"""One release beside another of the same data set."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.core.chart_views import chart_response, chart_theme, chart_urls
from annotation.core.charts import Spec, Theme
from annotation.core.exports import objects_response, table_response
from annotation.core.views import MemberRequest, object_view
from annotation.models import Release, Role
from annotation.references.releases import charts
from annotation.references.releases.selectors import differences
from annotation.references.releases.selectors.differences import CONDITIONS, KINDS
from annotation.references.releases.selectors.releases import release_name, release_named
from annotation.references.sets.access import (
    file_stem,
    finished_release_or_404,
    project_stem,
    release_args,
    release_context,
)

TEMPLATE = "annotation/references/release_compare.html"
ITEM_COLUMNS = ("item", "message", "split", "change")
TYPES = {
    "weight_before": "number",
    "weight_after": "number",
    "move": "number",
    "judgements_before": "whole",
    "judgements_after": "whole",
}


class CompareChart(NamedTuple):
    title: str
    caption: str
    draw: Callable[[differences.Difference, Theme], Spec]


CHARTS = {
    "weights": CompareChart(
        "Weights in {before} and in {after}",
        "References in both releases. The area of a dot shows how many it stands for. On the dashed line both weights "
        "are equal.",
        lambda difference, theme: charts.weights_then_and_now(difference.before, difference.after, theme=theme),
    ),
    "moves": CompareChart(
        "Moves of weights",
        "References per move, in steps of 0.1 if many differ; those that did not move are left out.",
        lambda difference, theme: charts.moves_of_weights(difference.moves, theme=theme),
    ),
}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_compare(request: MemberRequest, after: Release) -> HttpResponseBase:
    """Compare the release with the one that ``with`` names: by default the one before it in its set."""
    before = _other_release(request, after)
    context = release_context(request.project, after) | {
        "before": before,
        "title": "Compare",
        "others": [(release_name(other), other) for other in differences.comparable(after)],
    }
    if before is None:
        return render(request, TEMPLATE, context)
    kind = request.GET.get("show", "moved")
    if kind not in KINDS:
        raise Http404(f"No differences {kind!r}; there are {', '.join(KINDS)}.")
    difference = differences.release_difference(before, after)
    counts = difference.counts()
    if "show" not in request.GET and not counts[kind]:
        kind = next((name for name in KINDS if counts[name]), kind)
    page = differences.difference_page(
        before, after, kind, mark_after=request.GET.get("after", ""), mark_before=request.GET.get("before", "")
    )
    query = {"with": release_name(before), "show": kind}
    args = release_args(request.project, after)
    changes = differences.changes(before, after)
    lost, gained = (differences.items_named(ids) for ids in (difference.lost_positive, difference.gained_positive))
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
        "previous_url": page.before and f"?{urlencode(query | {'before': page.before})}#differences",
        "next_url": page.after and f"?{urlencode(query | {'after': page.after})}#differences",
        "changes": changes,
        "differing": [change for change in changes if not change.same],
        "same": [change for change in changes if change.same],
        "raters": differences.raters_changed(before, after),
        "gained": gained,
        "lost": lost,
        "changed_items": [
            ("Lost their last positive weight", len(difference.lost_positive), lost),
            ("Gained a positive weight", len(difference.gained_positive), gained),
        ],
        "title": _title(before, after),
        "before_name": _short_name(before, after),
        "after_name": f"v{after.number}",
        "charts": _charts(args, before, after),
        "downloads": {
            "making": _table_urls(args, before, "making", "how they were made"),
            "items": _table_urls(args, before, "items", "these items"),
            "references": _table_urls(args, before, kind, "these references"),
        },
    }
    return render(request, TEMPLATE, context)


def _charts(args: list[str | int], before: Release, after: Release) -> list[dict[str, str]]:
    name, query = "annotation:release-compare-chart", f"?with={release_name(before)}"
    names = {"before": _short_name(before, after), "after": f"v{after.number}"}
    return [
        {
            "id": f"chart-{kind}",
            "title": chart.title.format(**names),
            "caption": chart.caption,
            **chart_urls(name, [*args, kind], query),
        }
        for kind, chart in CHARTS.items()
    ]


def _table_urls(args: list[str | int], before: Release, table: str, of: str) -> dict[str, str]:
    name, query = "annotation:release-compare-download", f"?with={release_name(before)}"
    urls = {f"{kind}_url": reverse(name, args=[*args, table, kind]) + query for kind in ("csv", "json")}
    return {"of": of, **urls}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_compare_download(request: MemberRequest, after: Release, table: str, file_format: str) -> HttpResponseBase:
    """Download the differences of one kind or of all, how both releases were made, or the items concerned."""
    before = _other_release(request, after)
    if before is None:
        raise Http404("No other finished release of this data set.")
    filename = f"{project_stem(request.project, before)}-to-{file_stem(after)}-{table}"
    if table in CONDITIONS:
        rows = differences.difference_rows(before, after, table)
        return objects_response(file_format, filename, rows, differences.ROW_COLUMNS, TYPES)
    download = partial(table_response, format=file_format, filename=filename)
    if table == "making":
        columns = ("what", release_name(before), release_name(after))
        return download(columns=columns, rows=differences.changes(before, after))
    if table == "items":
        difference = differences.release_difference(before, after)
        gained = ("gained a positive weight", difference.gained_positive)
        lost = ("lost its last", difference.lost_positive)
        items = (
            (item.external_id, item.message, item.split, change)
            for change, ids in (gained, lost)
            for item in differences.items_named(ids, None)
        )
        return download(columns=ITEM_COLUMNS, rows=items)
    raise Http404(f"No table {table!r}; there are {', '.join([*CONDITIONS, 'making', 'items'])}.")


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_compare_chart(request: MemberRequest, after: Release, chart: str, file_format: str) -> HttpResponse:
    before = _other_release(request, after)
    if before is None or chart not in CHARTS:
        raise Http404(f"No such chart of two releases; there are {', '.join(CHARTS)}.")
    specification = CHARTS[chart].draw(differences.release_difference(before, after), chart_theme(request))
    return chart_response(specification, file_format, f"{file_stem(after)}-{chart}")


def _title(before: Release, after: Release) -> str:
    """Return the heading: a change has happened only since an earlier release of the same set."""
    if before.reference_set_id != after.reference_set_id:
        return f"How it differs from {before}"
    if before.number > after.number:
        return f"How v{after.number} differs from the later v{before.number}"
    return f"What changed since v{before.number}"


def _short_name(before: Release, after: Release) -> str:
    same_set = before.reference_set_id == after.reference_set_id
    return f"v{before.number}" if same_set else release_name(before)


def _other_release(request: MemberRequest, release: Release) -> Release | None:
    """Return the requested release, or by default the usual one; None if there is no other."""
    written = request.GET.get("with", "")
    if not written:
        return differences.usual_comparison(release)
    other = release_named(request.project, written)
    if other is None or other.reference_set.dataset_id != release.reference_set.dataset_id:
        names = ", ".join(map(release_name, differences.comparable(release)[:20])) or "none"
        raise Http404(f"No release {written!r} of this data set; there are {names}.")
    return other
