"""Browse the references of a release: by item, by reference, and as a table for print."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.parameters import whole_number
from annotation.core.searching import marked_messages, marked_responses, read_as_words, shortened
from annotation.core.views import MemberRequest, object_view
from annotation.models import JobState, Release, ReleaseWeight, ResponseSource, Role
from annotation.quality import charts
from annotation.references.browsing.forms import WeightFilterForm
from annotation.references.browsing.selectors import references as selectors
from annotation.references.browsing.selectors.references import ORDERS, ItemReferences, Panel, ReferencePage, Start
from annotation.references.browsing.table import TableItem, TableRow, latex_lines, markdown_lines
from annotation.references.sets.access import (
    file_stem,
    finished_release_or_404,
    project_stem,
    release_args,
    release_context,
    release_or_404,
    release_url,
)

VIEWS = {"items": "By item", "references": "By reference", "table": "As a table"}
SELECTS = ("sign", "source", "split", "original")
TABLE_FILES = {"tex": "application/x-tex; charset=utf-8", "md": "text/markdown; charset=utf-8"}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_chart(request: MemberRequest, release: Release, file_format: str) -> HttpResponse:
    specification = charts.weight_distribution(selectors.distribution(release), theme=chart_theme(request))
    return chart_response(specification, file_format, f"{file_stem(release)}-weights")


class BrowseQuery(NamedTuple):
    """The query of an address. If a filter is not valid, its error is shown with all references."""

    form: WeightFilterForm
    chosen: selectors.WeightFilter
    view: str
    sort: str
    start: Start
    fields: list[tuple[str, str]]  # filters, view and order, without the start of the page

    def address(self, *, without: tuple[str, ...] = (), **changes: object) -> str:
        """Return the query with some fields changed, or left out if their value is None."""
        unchanged = [(name, value) for name, value in self.fields if name not in without and name not in changes]
        changed = [(name, value) for name, value in changes.items() if value is not None]
        return f"?{urlencode([*unchanged, *changed])}"

    @property
    def page_address(self) -> str:
        return self.address(**self.start._asdict())


def _browse_query(request: HttpRequest, release: Release) -> BrowseQuery:
    form = WeightFilterForm(
        request.GET,
        sources=selectors.source_names(release.reference_set),
        splits=selectors.split_names(release),
        auto_id="browse_%s",
    )
    if not request.GET.get("fallen") and not selectors.fallen_response_ids(release):
        del form.fields["fallen"]  # there are none to show
    chosen = form.chosen() if form.is_valid() else selectors.EVERYTHING
    view, sort = request.GET.get("view", ""), request.GET.get("sort", "")
    fields = [(name, request.GET[name]) for name in form.fields if request.GET.get(name)]
    fields += [("view", view)] if view in VIEWS and view != "items" else []
    fields += [("sort", sort)] if sort in ORDERS and sort != "-weight" else []
    starts = ((name, whole_number(request, name)) for name in Start._fields)
    start = next((Start(**{name: value}) for name, value in starts if value is not None), Start())
    view, sort = view if view in VIEWS else "items", sort if sort in ORDERS else "-weight"
    return BrowseQuery(form, chosen, view, sort, start, fields)


def _page(release: Release, query: BrowseQuery) -> ReferencePage:
    if query.view == "references":
        return selectors.references_by_value(release, query.chosen, sort=query.sort, start=query.start)
    return selectors.references_by_item(release, query.chosen, start=query.start)


@require_GET
@object_view(release_or_404, Role.VIEWER)
def release_browse(request: MemberRequest, release: Release) -> HttpResponse:
    """Return the page, or the part of it that changes with the filters, or the next references for scrolling."""
    if release.state != JobState.DONE:
        return redirect(release_url(request.project, release))
    query = _browse_query(request, release)
    page = _page(release, query)
    here = reverse("annotation:release-browse", args=release_args(request.project, release))
    starts = [f"{name}-{value}" for name, value in query.start._asdict().items() if value]
    context = release_context(request.project, release) | {
        "here": here,
        "view": query.view,
        **_references(release, query, page),
        "link": request.build_absolute_uri(here),
        "page_url": here + query.page_address,
        "page_id": "-".join(["page", *starts]),
        "next_url": here + query.address(after=page.after) if page.after else "",
        "previous_url": here + query.address(before=page.before) if page.before else "",
        "shown_things": "references" if query.view == "references" else "items",
    }
    part = request.htmx.target if request.htmx and not request.htmx.history_restore_request else None
    if part == "more" or (part or "").startswith("page"):
        context["alone"] = part != "more"  # a page that the script removed is loaded again by itself
        response = render(request, "annotation/references/release_browse_page.html", context)
    else:
        context |= _filters(request, release, query)
        name = "release_browse_body" if part == "browse" else "release_browse"
        # htmx does not show a response with an error status; the reason is in it.
        status = 400 if not query.form.is_valid() and part is None else 200
        response = render(request, f"annotation/references/{name}.html", context, status=status)
        if part == "browse":
            response["HX-Push-Url"] = here + query.address()
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _references(release: Release, query: BrowseQuery, page: ReferencePage) -> dict[str, Any]:
    """Return the references of a page as the templates show them."""
    if query.view == "table":
        table = table_items(release, page)
        rows = [row for item in table for row in item.rows]
        return {
            "table": table,
            "has_contexts": any(row.context for row in rows),
            "has_originals": any(row.is_seed for row in rows),
            "has_mined": any(row.is_mined for row in rows),
        }
    groups = selectors.grouped(release, page) if query.view == "items" else []
    texts, messages = _marked(query.chosen.text, page)
    fallen = selectors.fallen_response_ids(release)
    labels = (release.report.get("histogram") or {}).get("labels", ())
    weight: Any  # attributes for the templates are added to it
    for weight in page.references:
        weight.bars = _bars(labels, weight.histogram)
        weight.bars_text = "; ".join(f"{bar.count} at {bar.label}" for bar in weight.bars if bar.count)
        weight.bars_title = "   ".join(f"{bar.label}: {bar.count}" for bar in weight.bars)
        weight.shown_text = texts.get(weight.response_id) or shortened(weight.response.text)
        weight.shown_message = messages.get(weight.item_id) or shortened(weight.item.message)
        weight.sources_text = " = ".join(map(_source_text, weight.response.sources.all()))
        weight.mined_from = mined_from(weight)
        weight.is_fallen = weight.response_id in fallen
    return {"groups": groups, "references": page.references}


def _source_text(source: ResponseSource) -> str:
    return str(source) if source.rank is None else f"{source} no. {source.rank}"


def _marked(text: str, page: ReferencePage) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return the texts and messages of a page with the words of a search marked."""
    if not text or not page.references:
        return {}, {}
    items = {weight.item_id: weight.item for weight in page.references}
    responses = [weight.response for weight in page.references]
    return marked_responses(text, responses), marked_messages(text, list(items.values()))


def mined_from(weight: ReleaseWeight) -> ResponseSource | None:
    """Return the first source from another conversation, or None."""
    sources = weight.response.sources.all()
    return next((source for source in sources if source.source_message or source.source_context), None)


@dataclass(frozen=True)
class Bar:
    label: str
    count: int
    percent: int  # of the tallest


def _bars(labels: Sequence[str], histogram: list[int] | None) -> list[Bar]:
    """Return the bars of a weight's histogram; imported weights have none."""
    if not histogram or len(labels) != len(histogram):
        return []
    tallest = max(histogram) or 1
    return [Bar(label, count, 100 * count // tallest) for label, count in zip(labels, histogram, strict=True)]


# --- Filters ----------------------------------------------------------------------------------------------------------


class Brush(NamedTuple):
    """A panel as it is drawn: its bars, and the fields that it fills in."""

    panel: Panel
    bars: list[dict[str, Any]]
    ends: list[tuple[str, str, Any, float]]  # name, word, field and limit of each end
    summary: str

    @property
    def length(self) -> int:
        """Return the length of the axis in the picture."""
        return 10 * len(self.panel.bins)


def _filters(request: HttpRequest, release: Release, query: BrowseQuery) -> dict[str, Any]:
    form = query.form
    valid, has_splits = form.is_valid(), bool(selectors.split_names(release))
    filters = [(name, value) for name, value in query.fields if name not in ("view", "sort")]
    panels = selectors.panels(release)
    return {
        "filter_form": form,
        "is_valid": valid,
        "chips": [(chip.label, query.address(without=chip.fields)) for chip in form.chips()] if valid else [],
        "clear_url": query.address(without=tuple(name for name, _ in filters)),
        "total": selectors.total(release, query.chosen),
        "brushes": [_brush(release, query, panel) for panel in panels],
        "ranges": [
            ("Judgements", "", "1", form["min_ratings"], form["max_ratings"]),
            ("Disagreement", selectors.SPREAD_HINT, "any", form["min_spread"], form["max_spread"]),
        ][: 1 if len(panels) > 2 else 2],  # disagreement is a panel if it is known
        "selects": [form[name] for name in SELECTS if name != "split" or has_splits],
        "downloads": _downloads(release, query, f"?{urlencode(filters)}" if filters else ""),
        "views": [
            (name, label, query.address(without=("view", "sort"), view=name if name != "items" else None))
            for name, label in VIEWS.items()
        ],
        "sorts": [(name, order.label, name == query.sort) for name, order in ORDERS.items()],
        "as_substring": bool(query.chosen.text) and not read_as_words(query.chosen.text),
        "lost": _lost(request, release, query),
    }


def _downloads(release: Release, query: BrowseQuery, filters: str) -> list[tuple[str, str]]:
    """Return labels and addresses: of the page as a table for print, else of everything that fits."""
    address = release_args(release.reference_set.project, release)
    if query.view == "table":
        name, formats, end = "release-browse-table", {"LaTeX": "tex", "Markdown": "md"}, query.page_address
    else:
        name, formats, end = "release-download", {"CSV": "csv", "JSON": "json"}, filters
    return [(label, reverse(f"annotation:{name}", args=[*address, kind]) + end) for label, kind in formats.items()]


def _lost(request: HttpRequest, release: Release, query: BrowseQuery) -> str:
    """Return the reference that the address requests, if the release does not have it."""
    response_id = query.start.at
    exists = response_id is not None and release.weights.filter(response=response_id).exists()
    return "" if exists else request.GET.get("at", "")


def _brush(release: Release, query: BrowseQuery, panel: Panel) -> Brush:
    counts = selectors.panel_counts(release, query.chosen, panel)
    tallest = max((count for _, count in counts), default=0) or 1
    low, high = (getattr(query.chosen, name) for name in (panel.low_field, panel.high_field))
    bars: list[dict[str, Any]] = []
    for number, (value, count) in enumerate(counts):
        if count:
            height = max(1.5, 58 * count / tallest)
            chosen = (low is None or value >= low - 1e-9) and (high is None or value <= high + 1e-9)
            sign = _sign(value) if panel.name == "weight" else "plain"
            bars.append({"x": 10 * number + 1, "y": 60 - height, "height": height, "sign": sign, "chosen": chosen})
    ends = [
        ("low", "from", query.form[panel.low_field], panel.low),
        ("high", "to", query.form[panel.high_field], panel.high),
    ]
    return Brush(panel, bars, ends, _summary(counts, panel))


def _summary(counts: list[tuple[float, int]], panel: Panel) -> str:
    """Describe a distribution: signs of weights, else the median."""
    n = sum(count for _, count in counts)
    if panel.name == "weight":
        below = sum(count for value, count in counts if value < 0)
        above = sum(count for value, count in counts if value > 0)
        return f"{n:,} references: {below:,} negative, {n - below - above:,} at zero, {above:,} positive"
    if not n:
        return "0 references"
    totals = accumulate(count for _, count in counts)
    median = next(value for (value, _), total in zip(counts, totals, strict=True) if 2 * total >= n)
    return f"{n:,} references: half of them up to {median:g}"


def _sign(value: float) -> str:
    return "positive" if value > 0 else "negative" if value < 0 else "zero"


# --- As a table ------------------------------------------------------------------------------------------------------


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_browse_table(request: MemberRequest, release: Release, file_format: str) -> HttpResponseBase:
    """Download the items of a page as a table for a paper."""
    if file_format not in TABLE_FILES:
        raise Http404(f"No table as {file_format!r}; there are {', '.join(TABLE_FILES)}.")
    query = _browse_query(request, release)
    items = table_items(release, selectors.references_by_item(release, query.chosen, start=query.start))
    name = f"{project_stem(request.project, release)}-table"
    lines = latex_lines(items, name=name) if file_format == "tex" else markdown_lines(items)
    response = StreamingHttpResponse((line.encode() for line in lines), content_type=TABLE_FILES[file_format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{file_format}"'
    return response


def table_items(release: Release, page: ReferencePage) -> list[TableItem]:
    """Return the items of a page: first the original, even if it does not fit the filters, then the others."""
    groups = selectors.grouped(release, page)
    originals = selectors.originals(release, [group.item.pk for group in groups])
    return [_table_item(group, originals[group.item.pk]) for group in groups]


def _table_item(group: ItemReferences, originals: list[ReleaseWeight]) -> TableItem:
    item = group.item
    context, message = " / ".join(item.context), item.message or item.meaning_representation
    rows = [
        TableRow("", "", weight.response.text, weight.weight, is_seed=True, n=weight.n_ratings) for weight in originals
    ]
    if group.continues or not rows:
        rows = [TableRow(context, message, "", None, is_seed=bool(originals))]
    else:
        rows[0] = rows[0]._replace(context=context, message=message)
    rows += [_mined_row(weight) for weight in group.references if not weight.is_original]
    return TableItem(item.external_id, rows)


def _mined_row(weight: ReleaseWeight) -> TableRow:
    source = mined_from(weight)
    if source is None:
        return TableRow("", "", weight.response.text, weight.weight, n=weight.n_ratings)
    context = " / ".join(source.source_context)
    message, text = source.source_message, weight.response.text
    return TableRow(context, message, text, weight.weight, is_mined=True, n=weight.n_ratings)
