"""Checks of a release's weights: other schemes, single raters, circularity."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.core.canonical import canonical_json
from annotation.core.chart_views import chart_response, chart_theme, chart_urls
from annotation.core.exports import objects_response, table_response
from annotation.core.numbers import counted, finite_or_none
from annotation.core.pages import page_links
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest
from annotation.models import Release, Response
from annotation.rating.selectors.ratings import IntArray
from annotation.references.sets.access import file_stem, project_stem, release_args, release_context
from annotation.references.weighing import charts
from annotation.references.weighing.selectors import guard, influence, sensitivity
from annotation.references.weighing.selectors.columns import release_columns
from annotation.references.weighing.selectors.sensitivity import CHANGES, SCHEME_COLUMNS, Comparison
from annotation.references.weighing.views.attention import CHUNK, PAGE
from annotation.references.weighing.views.awaiting import check_page
from annotation.weighting.schemes import SCHEMES

MARKS = 2000  # of a chart
TEXT_COLUMNS = ("item", "response_id", "text")


# --- Sensitivity ------------------------------------------------------------------------------------------------------


@check_page
def release_sensitivity(request: MemberRequest, release: Release) -> HttpResponseBase:
    schemes = sensitivity.comparisons(release)
    chosen, what = _chosen_scheme(request, schemes), request.GET.get("what", "sign")
    if what not in CHANGES:
        raise Http404(f"No list {what!r}; there are {', '.join(CHANGES)}.")
    ids = release_columns(release).response_id[sensitivity.changed(release, chosen, what)]
    if "format" in request.GET:
        return _sensitivity_table(request, release, schemes, chosen, ids)
    shown, previous_url, next_url = page_links(request, ids, PAGE, scheme=chosen.name, what=what)
    query = f"?scheme={chosen.name}&what={what}"
    chart_name, args = "annotation:release-sensitivity-chart", release_args(request.project, release)
    spec_url = reverse(chart_name, args=[*args, "json"])
    charted = [scheme for scheme in schemes if scheme.is_charted and not scheme.is_own]
    context = release_context(request.project, release) | {
        "rows": schemes,
        "charts": [{"title": scheme.label, "spec_url": f"{spec_url}?scheme={scheme.name}"} for scheme in charted],
        "chart_downloads": {"of": "the charts", "csv_url": "?table=weights&format=csv", **chart_urls(chart_name, args)},
        "has_ratings": any(scheme.is_scheme for scheme in schemes),
        "chosen": chosen,
        "what": what,
        "what_label": CHANGES[what],
        "choices": [(name, label, sensitivity.count_changed(release, chosen, name)) for name, label in CHANGES.items()],
        "changed": _changed_rows(release, chosen, shown),
        "csv_url": f"{query}&format=csv",
        "json_url": f"{query}&format=json",
        "previous_url": previous_url,
        "next_url": next_url,
    }
    return render(request, "annotation/references/release_sensitivity.html", context)


def _chosen_scheme(request: HttpRequest, schemes: Sequence[Comparison]) -> Comparison:
    """Return the requested scheme; by default the one that turns most signs and changes most best references."""
    name = request.GET.get("scheme")
    if name is None:
        usual = [scheme for scheme in schemes if scheme.is_charted and not scheme.is_own] or schemes
        return max(usual, key=lambda scheme: scheme.n_reversed + scheme.n_best_changed)
    return _scheme_or_404(schemes, name, "scheme")


def _scheme_or_404(schemes: Sequence[Comparison], name: str, noun: str) -> Comparison:
    for scheme in schemes:
        if scheme.name == name:
            return scheme
    raise Http404(f"No {noun} {name!r}; there are {', '.join(scheme.name for scheme in schemes)}.")


def _changed_rows(release: Release, chosen: Comparison, ids: IntArray) -> list[dict[str, Any]]:
    columns = release_columns(release)
    index_of = {pk: index for index, pk in enumerate(columns.response_id.tolist())} if len(ids) else {}
    responses = _responses(ids)
    rows = []
    for pk in ids.tolist():
        weight, other = columns.weight[index_of[pk]], chosen.weights[index_of[pk]]
        change = finite_or_none(other - weight)
        rows.append(
            {"response": responses[pk], "weight": float(weight), "other": finite_or_none(other), "change": change}
        )
    return rows


def _sensitivity_table(
    request: HttpRequest, release: Release, schemes: Sequence[Comparison], chosen: Comparison, ids: IntArray
) -> HttpResponseBase:
    """Return all weights under all schemes, one scheme's changed weights, or the comparison of the schemes."""
    file_format, stem = request.GET["format"], project_stem(release.reference_set.project, release)
    if request.GET.get("table") == "weights":
        columns = (*TEXT_COLUMNS, "release", *(scheme.name for scheme in schemes))
        rows = _all_weights(release, schemes)
        return table_response(format=file_format, filename=f"{stem}-weights-by-scheme", columns=columns, rows=rows)
    if "scheme" in request.GET:
        filename = f"{stem}-{chosen.name}-{request.GET.get('what', 'sign')}"
        columns = (*TEXT_COLUMNS, "release", chosen.name, "change")
        rows = (
            (*_text_cells(row["response"]), row["weight"], row["other"], row["change"])
            for start in range(0, len(ids), CHUNK)
            for row in _changed_rows(release, chosen, ids[start : start + CHUNK])
        )
        return table_response(format=file_format, filename=filename, columns=columns, rows=rows)
    return objects_response(file_format, f"{stem}-sensitivity", schemes, SCHEME_COLUMNS)


def _all_weights(release: Release, schemes: Sequence[Comparison]) -> Iterator[tuple[object, ...]]:
    columns = release_columns(release)
    all_weights = np.stack([columns.weight, *(scheme.weights for scheme in schemes)], axis=1)
    for start in range(0, len(columns.response_id), CHUNK):
        ids = columns.response_id[start : start + CHUNK]
        responses = _responses(ids)
        for pk, weights in zip(ids.tolist(), all_weights[start : start + CHUNK].tolist(), strict=True):
            yield (*_text_cells(responses[pk]), *map(finite_or_none, weights))


def _text_cells(response: Response) -> tuple[object, ...]:
    """Return the cells of ``TEXT_COLUMNS``."""
    return response.item.external_id, response.pk, response.text


@check_page
def release_sensitivity_chart(request: MemberRequest, release: Release, file_format: str) -> HttpResponse:
    """Return the chart of one scheme as JSON, or one chart of all schemes."""
    weights, theme = release_columns(release).weight, chart_theme(request)
    charted = [scheme for scheme in sensitivity.comparisons(release) if scheme.is_charted]
    if file_format == "json":
        scheme = _scheme_or_404(charted, request.GET.get("scheme", ""), "chart of the scheme")
        return JsonResponse(charts.weight_against(weights, scheme.weights, scheme.label, theme=theme))
    if not charted:
        raise Http404("These weights were made elsewhere: there are no ratings to weigh otherwise.")
    others = [(scheme.label, scheme.weights) for scheme in charted if not scheme.is_own]
    specification = charts.weights_against(weights, others, theme=theme)
    return chart_response(specification, file_format, f"{file_stem(release)}-sensitivity")


# --- Raters -----------------------------------------------------------------------------------------------------------


@check_page
def release_influence(request: MemberRequest, release: Release) -> HttpResponseBase:
    of_raters = influence.influences(release)
    context = release_context(request.project, release) | {"scheme": SCHEMES.get(release.method)}
    if of_raters is None:
        return render(request, "annotation/references/release_influence.html", context)
    order = request.GET.get("sort", "max_change")
    if order not in influence.ORDERS:
        raise Http404(f"No order {order!r}; there are {', '.join(influence.ORDERS)}.")
    rows = influence.rater_influences(release, of_raters, order)
    if "format" in request.GET:
        filename = f"{project_stem(request.project, release)}-raters"
        return objects_response(request.GET["format"], filename, rows, influence.INFLUENCE_COLUMNS)
    by_id = {row.rater_id: row for row in rows}
    shown, previous_url, next_url = page_links(request, np.array(list(by_id), dtype=np.int64), PAGE, sort=order)
    context |= {
        "rows": [by_id[pk] for pk in shown.tolist()],
        "n_raters": len(rows),
        "order": order,
        "orders": influence.ORDERS,
        "previous_url": previous_url,
        "next_url": next_url,
        "n_turning": sum(1 for row in rows if row.n_reversed),
        "focus": _focus(request, release, of_raters, by_id),
        "chart": {
            "title": "Influence and number of ratings",
            "caption": f"One mark per rater; at most the {MARKS:,} most influential ones.",
            "csv_url": "?format=csv",
            "json_url": "?format=json",
            **chart_urls("annotation:release-influence-chart", release_args(request.project, release)),
        },
    }
    return render(request, "annotation/references/release_influence.html", context)


def _focus(
    request: HttpRequest, release: Release, of_raters: influence.Influences, by_id: dict[int, influence.RaterInfluence]
) -> dict[str, Any] | None:
    """Return a rater's references whose sign turns without the rater, or that have no other rating."""
    rater_id = whole_number(request, "rater")
    if rater_id is None:
        return None
    if rater_id not in by_id:
        raise Http404("No such rater behind this release.")
    turned = influence.turned_by(of_raters, rater_id)
    columns = release_columns(release)
    responses = _responses(columns.response_id[[index for index, _ in turned[:PAGE]]]) if turned else {}
    rows = [
        {
            "response": responses[int(columns.response_id[index])],
            "weight": float(columns.weight[index]),
            "without": finite_or_none(without),
        }
        for index, without in turned[:PAGE]
    ]
    rater = by_id[rater_id]
    return {
        "rater": rater,
        "rule": canonical_json(rater.rule).decode(),
        "turned": rows,
        "more": max(len(turned) - PAGE, 0),
    }


@check_page
def release_influence_chart(request: MemberRequest, release: Release, file_format: str) -> HttpResponse:
    of_raters = influence.influences(release)
    if of_raters is None:
        raise Http404("These weights were made elsewhere: their raters are not known here.")
    rows = influence.rater_influences(release, of_raters)[:MARKS]
    marks = [(row.pseudonym, row.n_ratings, row.max_change, row.n_reversed) for row in rows]
    specification = charts.rater_influence(marks, theme=chart_theme(request))
    return chart_response(specification, file_format, f"{file_stem(release)}-raters")


# --- Circularity ------------------------------------------------------------------------------------------------------


@check_page
def release_guard(request: MemberRequest, release: Release) -> HttpResponseBase:
    circular = guard.circularity(release)
    if "format" in request.GET:
        return _guard_table(request, release, circular)
    system = whole_number(request, "system")
    overlaps = [overlap for overlap in circular.overlaps if system is None or overlap.system_id == system]
    # Identical ones first; an overlap is named by its index, which nothing but a new output or rating moves.
    overlaps.sort(key=lambda overlap: not overlap.is_same)
    query = {} if system is None else {"system": system}
    shown, previous_url, next_url = page_links(request, np.arange(1, len(overlaps) + 1), PAGE, **query)
    pseudonyms = [rater.pseudonym for rater in circular.raters]
    without = guard.rule_without_texts(release, circular)
    context = release_context(request.project, release) | {
        "circularity": circular,
        "hints": {
            "raters": f"of {circular.reference_raters:,} who rated references",
            "references": f"{circular.shared_reference_judgements:,} of {circular.reference_judgements:,}",
            "outputs": f"{circular.shared_output_judgements:,} of {circular.output_judgements:,}",
            "items": f"on {counted(circular.items_with_identical, 'item')}",
        },
        "raters": circular.raters[:PAGE],
        "rule": canonical_json({"rule": "exclude_raters", "version": 1, "raters": pseudonyms}).decode(),
        "ratings": ", ".join(map(str, without["ratings"])) if without else "",
        "names": ", ".join(pseudonyms),
        "system": system,
        "system_name": next((compared.name for compared in circular.systems if compared.system_id == system), ""),
        "texts": guard.overlap_texts(release, [overlaps[number - 1] for number in shown.tolist()]),
        "n_texts": len(overlaps),
        "previous_url": previous_url,
        "next_url": next_url,
    }
    return render(request, "annotation/references/release_guard.html", context)


def _guard_table(request: MemberRequest, release: Release, circular: guard.Circularity) -> HttpResponseBase:
    """Return the raters on both sides, or by default the texts."""
    file_format, stem = request.GET["format"], project_stem(request.project, release)
    if request.GET.get("table") == "raters":
        filename = f"{stem}-raters-on-both-sides"
        return objects_response(file_format, filename, circular.raters, guard.RATER_COLUMNS)
    texts = (
        text
        for start in range(0, len(circular.overlaps), CHUNK)
        for text in guard.overlap_texts(release, circular.overlaps[start : start + CHUNK])
    )
    filename = f"{stem}-texts-on-both-sides"
    return objects_response(file_format, filename, texts, guard.OVERLAP_COLUMNS)


def _responses(ids: IntArray) -> dict[int, Response]:
    return Response.objects.select_related("item").in_bulk(ids.tolist())
