"""Looking through the references of a release: by item, by reference, and as a table for print."""

from collections.abc import Iterator
from dataclasses import dataclass
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
from annotation.models import JobState, Release, ReleaseWeight, Role
from annotation.quality import charts
from annotation.references.browsing.forms import WeightFilterForm
from annotation.references.browsing.selectors.references import (
    EVERYTHING,
    ORDERS,
    ItemReferences,
    Panel,
    ReferencePage,
    Start,
    WeightFilter,
    distribution,
    fallen_response_ids,
    grouped,
    has_response,
    originals,
    panel_counts,
    panels,
    references_by_item,
    references_by_value,
    source_names,
    split_names,
    total,
)
from annotation.references.browsing.table import TableItem, TableRow, latex_lines, markdown_lines
from annotation.references.sets.access import file_stem, finished_release_or_404, release_or_404, release_url

VIEWS = {"items": "By item", "references": "By reference", "table": "As a table"}
SORTS = {
    "-weight": "Highest weight first",
    "weight": "Lowest weight first",
    "-width": "Widest interval first",
    "width": "Narrowest interval first",
    "-spread": "Most disagreement first",
    "spread": "Least disagreement first",
    "-n": "Most judgements first",
    "n": "Fewest judgements first",
}
STARTS = ("after", "before", "at")
TABLE_FILES = {"tex": "application/x-tex; charset=utf-8", "md": "text/markdown; charset=utf-8"}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_chart(request: MemberRequest, release: Release, file_format: str) -> HttpResponse:
    specification = charts.weight_distribution(distribution(release), theme=chart_theme(request))
    return chart_response(specification, file_format, f"{file_stem(release)}-weights")


class Asked(NamedTuple):
    """What an address asks for. A filter that is not understood is said beside everything, unfiltered."""

    form: WeightFilterForm
    chosen: WeightFilter
    view: str
    sort: str
    start: Start
    query: list[tuple[str, str]]  # what it is narrowed to, which view and order: without where the page starts

    def address(self, *, without: tuple[str, ...] = (), **fields: object) -> str:
        kept = [(name, value) for name, value in self.query if name not in without and name not in fields]
        return f"?{urlencode([*kept, *((name, value) for name, value in fields.items() if value is not None)])}"


def _asked(request: HttpRequest, release: Release) -> Asked:
    form = WeightFilterForm(
        request.GET, sources=source_names(release.reference_set), splits=split_names(release), auto_id="browse_%s"
    )
    if not request.GET.get("fallen") and not fallen_response_ids(release):
        del form.fields["fallen"]  # there are none to be shown
    chosen = form.chosen() if form.is_valid() else EVERYTHING
    view, sort = request.GET.get("view", ""), request.GET.get("sort", "")
    query = [(name, request.GET[name]) for name in form.fields if request.GET.get(name)]
    query += [("view", view)] if view in VIEWS and view != "items" else []
    query += [("sort", sort)] if sort in ORDERS and sort != "-weight" else []
    found = {name: whole_number(request, name) for name in STARTS}
    first = next(((name, value) for name, value in found.items() if value is not None), None)
    start = Start(**dict([first])) if first else Start()
    return Asked(form, chosen, view if view in VIEWS else "items", sort if sort in ORDERS else "-weight", start, query)


def _page(release: Release, asked: Asked) -> ReferencePage:
    if asked.view == "references":
        return references_by_value(release, asked.chosen, sort=asked.sort, start=asked.start)
    return references_by_item(release, asked.chosen, start=asked.start)


@require_GET
@object_view(release_or_404, Role.VIEWER)
def release_browse(request: MemberRequest, release: Release) -> HttpResponse:
    """One view serves the page, what of it changes with the filter, and the references that follow as one scrolls."""
    if release.state != JobState.DONE:
        return redirect(release_url(request.project, release))
    asked = _asked(request, release)
    page = _page(release, asked)
    here = reverse("annotation:release-browse", args=[request.project.slug, release.reference_set.slug, release.number])
    context = {
        "project": request.project,
        "release": release,
        "reference_set": release.reference_set,
        "here": here,
        "view": asked.view,
        **_references(release, asked, page),
        "link": request.build_absolute_uri(here),
        "page_url": here + asked.address(**asked.start._asdict()),
        "page_id": "-".join(["page", *(f"{name}-{value}" for name, value in asked.start._asdict().items() if value)]),
        "next_url": here + asked.address(after=page.after) if page.after else "",
        "previous_url": here + asked.address(before=page.before) if page.before else "",
    }
    part = request.htmx.target if request.htmx and not request.htmx.history_restore_request else None
    if part == "more" or (part or "").startswith("page"):
        context["alone"] = part != "more"  # a page that was let go comes back by itself
        response = render(request, "annotation/references/release_browse_page.html", context)
    else:
        context |= _narrowing(request, release, asked)
        name = (
            "annotation/references/release_browse_body.html"
            if part == "browse"
            else "annotation/references/release_browse.html"
        )
        # htmx shows no answer that says it failed; the reason is in it.
        status = 400 if not asked.form.is_valid() and part is None else 200
        response = render(request, name, context, status=status)
        if part == "browse":
            response["HX-Push-Url"] = here + asked.address()
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _references(release: Release, asked: Asked, page: ReferencePage) -> dict[str, Any]:
    """The references of a page as the templates show them."""
    if asked.view == "table":
        table = table_items(release, page)
        return {"table": table, "has_contexts": any(row.context for item in table for row in item.rows)}
    groups = grouped(release, page) if asked.view == "items" else []
    texts, messages = _marked(asked, page)
    fallen = fallen_response_ids(release)
    labels = (release.report.get("histogram") or {}).get("labels", ())
    weight: Any  # what the templates show is set on it
    for weight in page.references:
        weight.bars = _bars(labels, weight.histogram)
        weight.shown_text = texts.get(weight.response_id) or shortened(weight.response.text)
        weight.shown_message = messages.get(weight.item_id) or shortened(weight.item.message)
        weight.mined_from = mined_from(weight)
        weight.is_fallen = weight.response_id in fallen
    return {"groups": groups, "references": page.references}


def _marked(asked: Asked, page: ReferencePage) -> tuple[dict[int, Any], dict[int, Any]]:
    text = asked.chosen.text
    if not text or not page.references:
        return {}, {}
    items = {weight.item_id: weight.item for weight in page.references}
    responses = [weight.response for weight in page.references]
    return marked_responses(text, responses), marked_messages(text, list(items.values()))


def mined_from(weight: ReleaseWeight) -> Any:
    """The first source that tells of another conversation; None where none does."""
    return next((one for one in weight.response.sources.all() if one.source_message or one.source_context), None)


@dataclass(frozen=True)
class Bar:
    label: str
    count: int
    percent: int  # of the tallest


def _bars(labels: Any, histogram: list[int] | None) -> list[Bar]:
    """A weight's histogram to be drawn; nothing where it has none, as of a weight made elsewhere."""
    if not histogram or len(labels) != len(histogram):
        return []
    tallest = max(histogram) or 1
    return [Bar(label, count, 100 * count // tallest) for label, count in zip(labels, histogram, strict=True)]


# --- What it is narrowed to ------------------------------------------------------------------------------------------


class Brush(NamedTuple):
    """One panel as it is drawn: bars, and the fields that it fills in."""

    panel: Panel
    bars: list[dict[str, Any]]
    low: Any
    high: Any
    summary: str

    @property
    def length(self) -> int:
        """Of its axis, as it is drawn."""
        return 10 * len(self.panel.bins)


def _narrowing(request: HttpRequest, release: Release, asked: Asked) -> dict[str, Any]:
    form = asked.form
    valid = form.is_valid()
    chips = [(chip.label, asked.address(without=chip.fields)) for chip in form.chips()] if valid else []
    names = [name for name, _ in asked.query if name not in ("view", "sort")]
    narrowed = urlencode([(name, value) for name, value in asked.query if name in names])
    return {
        "filter_form": form,
        "is_valid": valid,
        "chips": chips,
        "clear_url": asked.address(without=tuple(names)),
        "total": total(release, asked.chosen),
        "brushes": [_brush(release, asked, panel) for panel in panels(release)],
        "narrowed": narrowed,
        "views": [
            (name, label, asked.address(without=("view", "sort"), view=name if name != "items" else None))
            for name, label in VIEWS.items()
        ],
        "sorts": [(name, label, name == asked.sort) for name, label in SORTS.items()],
        "as_substring": bool(asked.chosen.text) and not read_as_words(asked.chosen.text),
        "downloads": asked.address(**asked.start._asdict()),
        "lost": _lost(request, release, asked),
    }


def _lost(request: HttpRequest, release: Release, asked: Asked) -> str:
    """The reference that an address leads to and the release does not have."""
    named = request.GET.get("at", "")
    known = not named or (asked.start.at is not None and has_response(release, asked.start.at))
    return "" if known else named


def _brush(release: Release, asked: Asked, panel: Panel) -> Brush:
    counts = panel_counts(release, asked.chosen, panel)
    tallest = max((count for _, count in counts), default=0) or 1
    low, high = (getattr(asked.chosen, name) for name in (panel.low_field, panel.high_field))
    bars: list[dict[str, Any]] = [
        {
            "x": 10 * number + 1,
            "height": max(1.5, 58 * count / tallest) if count else 0,
            "sign": _sign(value) if panel.name == "weight" else "plain",
            "chosen": (low is None or value >= low - 1e-9) and (high is None or value <= high + 1e-9),
        }
        for number, (value, count) in enumerate(counts)
        if count
    ]
    for bar in bars:
        bar["y"] = 60 - bar["height"]
    n = sum(count for _, count in counts)
    below = sum(count for value, count in counts if count and value < 0)
    above = sum(count for value, count in counts if count and value > 0)
    said = f"{n:,} references"
    if panel.name == "weight":
        said += f": {below:,} negative, {n - below - above:,} at zero, {above:,} positive"
    elif n:
        middle = next(value for value, so_far in _running(counts) if 2 * so_far >= n)
        said += f": half of them up to {middle:g}"
    return Brush(panel, bars, asked.form[panel.low_field], asked.form[panel.high_field], said)


def _running(counts: list[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    so_far = 0
    for value, count in counts:
        so_far += count
        yield value, so_far


def _sign(value: float) -> str:
    return "positive" if value > 0 else "negative" if value < 0 else "zero"


# --- As a table ------------------------------------------------------------------------------------------------------


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_browse_table(request: MemberRequest, release: Release, file_format: str) -> HttpResponseBase:
    """The items of a page as a table to be put into a paper."""
    if file_format not in TABLE_FILES:
        raise Http404(f"No table as {file_format!r}; there are {', '.join(TABLE_FILES)}.")
    asked = _asked(request, release)
    items = table_items(release, references_by_item(release, asked.chosen, start=asked.start))
    name = f"{request.project.slug}-{file_stem(release)}-table"
    lines = latex_lines(items, name=name) if file_format == "tex" else markdown_lines(items)
    response = StreamingHttpResponse((line.encode() for line in lines), content_type=TABLE_FILES[file_format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{file_format}"'
    return response


def table_items(release: Release, page: ReferencePage) -> list[TableItem]:
    """The items of a page: the original first, whether it fits the filter or not, then what fits, best first."""
    groups = grouped(release, page)
    first = originals(release, [group.item.pk for group in groups])
    return [_table_item(group, first[group.item.pk]) for group in groups]


def _table_item(group: ItemReferences, seeds: list[ReleaseWeight]) -> TableItem:
    item = group.item
    context, message = " / ".join(item.context), item.message or item.meaning_representation
    seeds = [] if group.continues else seeds
    rows = [
        TableRow(*((context, message) if number == 0 else ("", "")), seed.response.text, seed.weight, is_seed=True)
        for number, seed in enumerate(seeds)
    ] or [TableRow(context, message, "", None, is_seed=True)]
    rows += [_mined_row(weight) for weight in group.references if not weight.is_original]
    return TableItem(item.external_id, rows)


def _mined_row(weight: ReleaseWeight) -> TableRow:
    source = mined_from(weight)
    if source is None:
        return TableRow("", "", weight.response.text, weight.weight)
    said = " / ".join(source.source_context), source.source_message
    return TableRow(*said, weight.response.text, weight.weight, is_mined=True)
