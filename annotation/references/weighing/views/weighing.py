"""Checks of a release's weights: other schemes, single raters, circularity."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_GET

from annotation.core.access import may_manage
from annotation.core.canonical import canonical_json
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.exports import table_response
from annotation.core.numbers import finite_or_none
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Project, Release, Response, Role
from annotation.rating.selectors.ratings import IntArray
from annotation.references.sets.access import file_stem, finished_release_or_404
from annotation.references.weighing import charts
from annotation.references.weighing.selectors.attention import page_of
from annotation.references.weighing.selectors.columns import release_columns
from annotation.references.weighing.selectors.guard import (
    OVERLAP_COLUMNS,
    RATER_COLUMNS,
    circularity,
    overlap_rows,
    rater_row,
    rule_without_texts,
)
from annotation.references.weighing.selectors.influence import (
    INFLUENCE_COLUMNS,
    ORDERS,
    RaterInfluence,
    influence_row,
    influences,
    rater_influences,
    turned_by,
)
from annotation.references.weighing.selectors.sensitivity import (
    CHANGES,
    SCHEME_COLUMNS,
    Comparison,
    changed,
    comparisons,
    scheme_row,
)
from annotation.references.weighing.views.awaiting import awaits_figures
from annotation.weighting.schemes import SCHEMES

PAGE = 50
CHUNK = 1000
MARKS = 2000  # of a chart


def _context(project: Project, release: Release) -> dict[str, Any]:
    return {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "may_manage": may_manage(project),
    }


def _pages(request: HttpRequest, ids: IntArray, **asked: object) -> tuple[IntArray, str | None, str | None]:
    """Return one page of ids, and the addresses of the pages before and after it."""
    shown, before, after = page_of(
        ids, after=whole_number(request, "after"), before=whole_number(request, "before"), size=PAGE
    )
    if not len(shown):
        return shown, None, None
    earlier = f"?{urlencode({**asked, 'before': int(shown[0])})}#list" if before else None
    later = f"?{urlencode({**asked, 'after': int(shown[-1])})}#list" if after else None
    return shown, earlier, later


# --- Sensitivity ------------------------------------------------------------------------------------------------------


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
@awaits_figures
def release_sensitivity(request: MemberRequest, release: Release) -> HttpResponseBase:
    every = comparisons(release)
    chosen, what = _chosen(request, every)
    places = changed(release, chosen, what)
    stem = f"{request.project.slug}-{file_stem(release)}"
    if "format" in request.GET:
        return _sensitivity_table(request, release, every, chosen, what, places, stem)
    columns = release_columns(release)
    shown, earlier, later = _pages(request, columns.response_id[places], scheme=chosen.name, what=what)
    context = _context(request.project, release) | {
        "rows": every,
        "charted": [one for one in every if one.is_charted and not one.is_own and not one.reason],
        "has_ratings": any(one.is_scheme for one in every),
        "chosen": chosen,
        "what": what,
        "what_label": CHANGES[what],
        "choices": [(name, label, len(changed(release, chosen, name))) for name, label in CHANGES.items()],
        "n_changed": len(places),
        "changed": _changed_rows(release, chosen, shown),
        "previous_url": earlier,
        "next_url": later,
    }
    return render(request, "annotation/references/release_sensitivity.html", context)


def _chosen(request: HttpRequest, every: Sequence[Comparison]) -> tuple[Comparison, str]:
    """Return the requested scheme and kind of change; by default the scheme that turns most signs."""
    name, what = request.GET.get("scheme"), request.GET.get("what", "sign")
    if name is None:
        usual = [one for one in every if one.is_charted and not one.is_own and not one.reason] or every
        chosen = max(usual, key=lambda one: one.n_reversed + one.n_best_changed)
    else:
        found = [one for one in every if one.name == name]
        if not found:
            raise Http404(f"No scheme {name!r}; there are {', '.join(one.name for one in every)}.")
        chosen = found[0]
    if what not in CHANGES:
        raise Http404(f"No list {what!r}; there are {', '.join(CHANGES)}.")
    return chosen, what


def _changed_rows(release: Release, chosen: Comparison, ids: IntArray) -> list[dict[str, Any]]:
    columns = release_columns(release)
    place = {pk: index for index, pk in enumerate(columns.response_id.tolist())} if len(ids) else {}
    responses = _responses(ids)
    other = chosen.moved.alternative.weights
    return [
        {
            "response": responses[pk],
            "own": float(columns.weight[place[pk]]),
            "other": finite_or_none(other[place[pk]]),
            "change": finite_or_none(other[place[pk]] - columns.weight[place[pk]]),
        }
        for pk in ids.tolist()
    ]


def _sensitivity_table(
    request: HttpRequest,
    release: Release,
    every: Sequence[Comparison],
    chosen: Comparison,
    what: str,
    places: IntArray,
    stem: str,
) -> HttpResponseBase:
    file_format, columns = request.GET["format"], release_columns(release)
    if request.GET.get("table") == "weights":
        names = [one.name for one in every]
        rows: Iterator[Sequence[Any]] = _all_weights(release, every)
        titles: tuple[str, ...] = ("item", "response_id", "text", "release", *names)
        return table_response(format=file_format, filename=f"{stem}-weights-by-scheme", columns=titles, rows=rows)
    if "scheme" in request.GET:
        titles = ("item", "response_id", "text", "release", chosen.name, "change")
        ids = columns.response_id[places]
        rows = (
            (
                row["response"].item.external_id,
                row["response"].pk,
                row["response"].text,
                row["own"],
                row["other"],
                row["change"],
            )
            for start in range(0, len(ids), CHUNK)
            for row in _changed_rows(release, chosen, ids[start : start + CHUNK])
        )
        return table_response(format=file_format, filename=f"{stem}-{chosen.name}-{what}", columns=titles, rows=rows)
    name = f"{stem}-sensitivity"
    return table_response(format=file_format, filename=name, columns=SCHEME_COLUMNS, rows=map(scheme_row, every))


def _all_weights(release: Release, every: Sequence[Comparison]) -> Iterator[Sequence[Any]]:
    columns = release_columns(release)
    others = [one.moved.alternative.weights for one in every]
    for start in range(0, len(columns.response_id), CHUNK):
        ids = columns.response_id[start : start + CHUNK]
        responses = _responses(ids)
        for place, pk in enumerate(ids.tolist(), start):
            response = responses[pk]
            weights = (columns.weight[place], *(other[place] for other in others))
            yield (response.item.external_id, pk, response.text, *map(finite_or_none, weights))


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
@awaits_figures
def release_sensitivity_chart(request: MemberRequest, release: Release, file_format: str) -> HttpResponse:
    """Return the chart of one scheme as JSON, or one chart of all schemes."""
    own, theme = release_columns(release).weight, chart_theme(request)
    shown = [one for one in comparisons(release) if one.is_charted and not one.reason]
    if file_format == "json":
        wanted = request.GET.get("scheme", "")
        found = next((one for one in shown if one.name == wanted), None)
        if found is None:
            raise Http404(f"No chart of the scheme {wanted!r}; there are {', '.join(one.name for one in shown)}.")
        weights = found.moved.alternative.weights
        return JsonResponse(charts.weight_against(own, weights, found.label, theme=theme))
    if not shown:
        raise Http404("These weights were made elsewhere: there are no ratings to weigh otherwise.")
    others = [(one.label, one.moved.alternative.weights) for one in shown if not one.is_own]
    specification = charts.weights_against(own, others, theme=theme)
    return chart_response(specification, file_format, f"{file_stem(release)}-sensitivity")


# --- Raters -----------------------------------------------------------------------------------------------------------


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
@awaits_figures
def release_influence(request: MemberRequest, release: Release) -> HttpResponseBase:
    everybody = influences(release)
    context = _context(request.project, release) | {"scheme": SCHEMES.get(release.method)}
    if everybody is None:
        return render(request, "annotation/references/release_influence.html", context)
    order = request.GET.get("sort", "max_change")
    if order not in ORDERS:
        raise Http404(f"No order {order!r}; there are {', '.join(ORDERS)}.")
    rows = rater_influences(release, everybody, order)
    if "format" in request.GET:
        name = f"{request.project.slug}-{file_stem(release)}-raters"
        return table_response(
            format=request.GET["format"], filename=name, columns=INFLUENCE_COLUMNS, rows=map(influence_row, rows)
        )
    ids = np.array([row.rater_id for row in rows], dtype=np.int64)
    shown, earlier, later = _pages(request, ids, sort=order)
    by_id = {row.rater_id: row for row in rows}
    context |= {
        "rows": [by_id[pk] for pk in shown.tolist()],
        "n_raters": len(rows),
        "order": order,
        "orders": ORDERS,
        "previous_url": earlier,
        "next_url": later,
        "n_turning": sum(1 for row in rows if row.n_reversed),
        "focus": _focus(request, release, by_id),
    }
    return render(request, "annotation/references/release_influence.html", context)


def _focus(request: HttpRequest, release: Release, by_id: dict[int, RaterInfluence]) -> dict[str, Any] | None:
    """Return a rater's references whose sign turns without the rater, or that have no other rating."""
    asked = whole_number(request, "rater")
    if asked is None:
        return None
    if asked not in by_id:
        raise Http404("No such rater behind this release.")
    everybody = influences(release)
    turned = [] if everybody is None else turned_by(everybody, asked)
    columns = release_columns(release)
    responses = _responses(columns.response_id[[place for place, _ in turned[:PAGE]]]) if turned else {}
    rows = [
        {
            "response": responses[int(columns.response_id[place])],
            "own": float(columns.weight[place]),
            "without": finite_or_none(without),
        }
        for place, without in turned[:PAGE]
    ]
    rater = by_id[asked]
    return {
        "rater": rater,
        "rule": canonical_json(rater.rule).decode(),
        "turned": rows,
        "n_turned": len(turned),
        "more": max(len(turned) - PAGE, 0),
    }


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
@awaits_figures
def release_influence_chart(request: MemberRequest, release: Release, file_format: str) -> HttpResponse:
    everybody = influences(release)
    if everybody is None:
        raise Http404("These weights were made elsewhere: their raters are not known here.")
    rows = rater_influences(release, everybody)[:MARKS]
    marks = [(row.pseudonym, row.n_ratings, row.max_change, row.n_reversed) for row in rows]
    specification = charts.rater_influence(marks, theme=chart_theme(request))
    return chart_response(specification, file_format, f"{file_stem(release)}-raters")


# --- Circularity ------------------------------------------------------------------------------------------------------


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
@awaits_figures
def release_guard(request: MemberRequest, release: Release) -> HttpResponseBase:
    found = circularity(release)
    stem = f"{request.project.slug}-{file_stem(release)}"
    if "format" in request.GET:
        if request.GET.get("table") == "raters":
            titles, rows = RATER_COLUMNS, map(rater_row, found.raters)
            return table_response(
                format=request.GET["format"], filename=f"{stem}-raters-on-both-sides", columns=titles, rows=rows
            )
        lines = (
            row
            for start in range(0, len(found.overlaps), CHUNK)
            for row in overlap_rows(release, list(found.overlaps[start : start + CHUNK]))
        )
        return table_response(
            format=request.GET["format"], filename=f"{stem}-texts-on-both-sides", columns=OVERLAP_COLUMNS, rows=lines
        )
    system = whole_number(request, "system")
    overlaps = [one for one in found.overlaps if system is None or one.system_id == system]
    # Identical ones first; an overlap is named by its place, which nothing but a new output or rating moves.
    overlaps.sort(key=lambda one: not one.is_same)
    asked = {} if system is None else {"system": system}
    shown, earlier, later = _pages(request, np.arange(1, len(overlaps) + 1), **asked)
    chosen = [overlaps[place - 1] for place in shown.tolist()]
    rule = {"rule": "exclude_raters", "version": 1, "raters": [one.pseudonym for one in found.raters]}
    without = rule_without_texts(release, found)
    context = _context(request.project, release) | {
        "found": found,
        "hints": {
            "raters": f"of {found.reference_raters:,} who rated references",
            "references": f"{found.shared_reference_judgements:,} of {found.reference_judgements:,}",
            "outputs": f"{found.shared_output_judgements:,} of {found.output_judgements:,}",
            "items": f"on {found.items_said:,} item{pluralize(found.items_said)}",
        },
        "raters": found.raters[:PAGE],
        "rule": canonical_json(rule).decode(),
        "ratings": ", ".join(map(str, without["ratings"])) if without else "",
        "names": ", ".join(one.pseudonym for one in found.raters),
        "system": system,
        "system_name": next((one.name for one in found.systems if one.system_id == system), ""),
        "texts": list(zip(chosen, overlap_rows(release, chosen), strict=True)),
        "n_texts": len(overlaps),
        "previous_url": earlier,
        "next_url": later,
    }
    return render(request, "annotation/references/release_guard.html", context)


def _responses(ids: IntArray) -> dict[int, Response]:
    found = Response.objects.filter(pk__in=np.asarray(ids).tolist()).select_related("item")
    return {response.pk: response for response in found}
