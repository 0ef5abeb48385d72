"""Pages that explain ΔBLEU: an item's hypotheses against its references, and the matches of one reference."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import response_or_404
from annotation.models import Item, Project, Release, Response, Role
from annotation.references.releases.selectors.releases import release_name
from annotation.references.sets.access import file_stem, finished_release_or_404
from metrics.forms.runs import ReadingForm
from metrics.scoring.statistics import SEMANTICS
from metrics.selectors import explanations, matches
from metrics.selectors.explanations import Reading
from metrics.subsets import Subset

FORMULAS = {
    "galley2015": ("paper’s", "galley2015: per n-gram, the best of weight times clipped count"),
    "sacrebleu2018": ("later code’s", "sacrebleu2018: the best weight times the best count, perhaps of two references"),
}
SUBSETS = ("all", "original", "w>0", "w>=0.5")


@dataclass(frozen=True)
class Link:
    label: str
    query: str
    is_current: bool
    hint: str = ""


@dataclass(frozen=True)
class Choice:
    label: str
    links: list[Link]


def reading_choices(reading: Reading, others: dict[str, object]) -> list[Choice]:
    """Return links to every reading that differs in one choice."""
    subsets = {text: Subset.parse(text) for text in SUBSETS}
    if str(reading.subset) not in map(str, subsets.values()):
        subsets[str(reading.subset)] = reading.subset
    orders = [
        Link(str(order), replace(reading, max_order=order).query(**others), order == reading.max_order)
        for order in range(1, 5)
    ]
    references = [
        Link(subset.label, replace(reading, subset=subset).query(**others), subset == reading.subset)
        for subset in subsets.values()
    ]
    formulas = []
    for name in SEMANTICS:
        label, hint = FORMULAS[name]
        formulas.append(Link(label, replace(reading, semantics=name).query(**others), name == reading.semantics, hint))
    return [Choice("n-grams up to", orders), Choice("References", references), Choice("Formula", formulas)]


def shared_context(project: Project, dataset_language: str) -> dict[str, Any]:
    """Return what the includes of every explanation need."""
    url = reverse("annotation:response-detail", args=[project.slug, 0])
    return {"language": dataset_language, "responses_url": url.removesuffix("0/")}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_item(request: MemberRequest, release: Release, pk: int) -> HttpResponseBase:
    """Explain an item; the address holds the reading and the chosen reference, so that it can be shared."""
    dataset = release.reference_set.dataset
    item = get_object_or_404(Item, dataset=dataset, pk=pk)
    form = ReadingForm(request.GET, dataset=dataset)
    reading = form.reading()
    explanation = explanations.explain_item(release, item, reading)
    if file_format := request.GET.get("format"):
        rows = matches.item_match_rows(item, explanation)
        filename = f"{file_stem(release)}-item-{item.position + 1}-matches"
        return _table(file_format, filename, matches.ITEM_MATCH_COLUMNS, rows)
    previous_pk, next_pk = explanations.item_neighbours(release, item)
    address = (request.project.slug, release.reference_set.slug, release.number)
    context = {
        "project": request.project,
        "reference_set": release.reference_set,
        "release": release,
        "item": item,
        "form": form,
        "explanation": explanation,
        "chosen": explanation.choose(whole_number(request, "reference")),
        "choices": reading_choices(reading, {}),
        "hidden": {},
        "choose_query": reading.query() + "&reference=",
        "unchosen_query": reading.query(),
        "try_query": f"item={item.pk}&release={release.pk}",
        "previous_url": _item_url(address, previous_pk, reading),
        "next_url": _item_url(address, next_pk, reading),
        "csv_url": f"?{reading.query(format='csv')}",
        "json_url": f"?{reading.query(format='json')}",
        **shared_context(request.project, dataset.language),
    }
    return render(request, "metrics/release_item.html", context, status=200 if form.is_valid() else 400)


def _item_url(address: tuple[str, str, int], pk: int | None, reading: Reading) -> str:
    return f"{reverse('metrics:release-item', args=[*address, pk])}?{reading.query()}" if pk else ""


def _table(
    file_format: str, filename: str, columns: Collection[str], rows: Iterable[Sequence[object]]
) -> HttpResponseBase:
    return table_response(format=file_format, filename=filename, columns=columns, rows=rows, types=matches.MATCH_TYPES)


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_matches(request: MemberRequest, response: Response) -> HttpResponseBase:
    """Show the matches of a reference: as a page, or as a section of the response's page."""
    dataset = response.item.dataset
    releases = matches.weighing_releases(response)
    release = _chosen_release(request, releases)
    form = ReadingForm(request.GET, dataset=dataset)
    reading = form.reading()
    given = matches.response_matches(release, response, reading) if release else None
    if file_format := request.GET.get("format"):
        rows = matches.given_rows(release_name(release) if release else "", response.item, given)
        return _table(file_format, f"response-{response.pk}-matches", tuple(matches.GIVEN_FIELDS), rows)
    others: dict[str, object] = {"release": release.pk} if release else {}
    context = {
        "project": request.project,
        "response": response,
        "item": response.item,
        "dataset": dataset,
        "form": form,
        "reading": reading,
        "releases": [
            Link(str(each), reading.query(release=each.pk), each == release, _deprecated(each)) for each in releases
        ],
        "release": release,
        "matches": given,
        "choices": reading_choices(reading, others),
        "hidden": others,
        "csv_url": f"{request.path}?{reading.query(**others, format='csv')}",
        "json_url": f"{request.path}?{reading.query(**others, format='json')}",
        "reading_query": reading.query(),
        **shared_context(request.project, dataset.language),
    }
    template = "metrics/parts/response_matches.html" if request.htmx else "metrics/response_matches.html"
    return render(request, template, context, status=200 if form.is_valid() else 400)


def _deprecated(release: Release) -> str:
    return f"deprecated: {release.deprecation_reason}" if release.deprecated_at else ""


def _chosen_release(request: HttpRequest, releases: list[Release]) -> Release | None:
    """Return the requested release; else the first, which is the newest that is not deprecated, if there is one."""
    pk = whole_number(request, "release")
    return next((release for release in releases if release.pk == pk), releases[0] if releases else None)
