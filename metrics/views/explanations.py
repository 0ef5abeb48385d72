"""The metric explained: an item's hypotheses against its references, and what one reference gave."""

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
    """Every reading one step away, as links."""
    subsets = {text: Subset.parse(text) for text in SUBSETS}
    if str(reading.subset) not in map(str, subsets.values()):
        subsets[str(reading.subset)] = reading.subset
    return [
        Choice(
            "n-grams up to",
            [
                Link(str(order), replace(reading, max_order=order).query(**others), order == reading.max_order)
                for order in range(1, 5)
            ],
        ),
        Choice(
            "References",
            [
                Link(subset.label, replace(reading, subset=subset).query(**others), subset == reading.subset)
                for subset in subsets.values()
            ],
        ),
        Choice(
            "Formula",
            [
                Link(
                    FORMULAS[name][0],
                    replace(reading, semantics=name).query(**others),
                    name == reading.semantics,
                    FORMULAS[name][1],
                )
                for name in SEMANTICS
            ],
        ),
    ]


def shared_context(project: Project, dataset_language: str) -> dict[str, Any]:
    """What the pieces of every explanation need."""
    own = reverse("annotation:response-detail", args=[project.slug, 0])
    return {"language": dataset_language, "responses_url": own.removesuffix("0/")}


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_item(request: MemberRequest, release: Release, pk: int) -> HttpResponseBase:
    """Order, formula, subset, tokens and a chosen reference come with the address, so that it can be sent to others."""
    dataset = release.reference_set.dataset
    item = get_object_or_404(Item, dataset=dataset, pk=pk)
    form = ReadingForm(request.GET, language=dataset.language)
    reading = form.reading()
    explanation = explanations.explain_item(release, item, reading)
    if wanted := request.GET.get("format"):
        rows = matches.item_match_rows(item, explanation)
        return _table(
            wanted,
            f"{file_stem(release)}-item-{item.position + 1}-matches",
            matches.ITEM_MATCH_COLUMNS,
            rows,
        )
    previous_pk, next_pk = explanations.item_neighbours(release, item)
    here = (request.project.slug, release.reference_set.slug, release.number)
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
        "previous_url": _item_url(here, previous_pk, reading),
        "next_url": _item_url(here, next_pk, reading),
        "csv_url": f"?{reading.query(format='csv')}",
        "json_url": f"?{reading.query(format='json')}",
        **shared_context(request.project, dataset.language),
    }
    return render(request, "metrics/release_item.html", context, status=200 if form.is_valid() else 400)


def _item_url(here: tuple[str, str, int], pk: int | None, reading: Reading) -> str:
    return f"{reverse('metrics:release-item', args=[*here, pk])}?{reading.query()}" if pk else ""


def _table(wanted: str, filename: str, columns: Any, rows: Any) -> HttpResponseBase:
    return table_response(format=wanted, filename=filename, columns=columns, rows=rows, types=matches.MATCH_TYPES)


@require_GET
@object_view(response_or_404, Role.VIEWER)
def response_matches(request: MemberRequest, response: Response) -> HttpResponseBase:
    """A page of its own, and a section of the response's page."""
    dataset = response.item.dataset
    releases = matches.weighing_releases(response)
    release = _asked_release(request, releases)
    form = ReadingForm(request.GET, language=dataset.language)
    reading = form.reading()
    found = matches.response_matches(release, response, reading) if release else None
    if wanted := request.GET.get("format"):
        rows = matches.given_rows(release_name(release) if release else "", response.item, found)
        return _table(wanted, f"response-{response.pk}-matches", matches.GIVEN_COLUMNS, rows)
    others: dict[str, object] = {"release": release.pk} if release else {}
    context = {
        "project": request.project,
        "response": response,
        "item": response.item,
        "dataset": dataset,
        "form": form,
        "reading": reading,
        "releases": [
            Link(str(one), reading.query(release=one.pk), one == release, _deprecated(one)) for one in releases
        ],
        "release": release,
        "matches": found,
        "choices": reading_choices(reading, others),
        "hidden": others,
        "csv_url": f"{request.path}?{reading.query(**others, format='csv')}",
        "json_url": f"{request.path}?{reading.query(**others, format='json')}",
        "reading_query": reading.query(),
        **shared_context(request.project, dataset.language),
    }
    template = "metrics/parts/response_matches.html" if _is_part(request) else "metrics/response_matches.html"
    return render(request, template, context, status=200 if form.is_valid() else 400)


def _is_part(request: MemberRequest) -> bool:
    return bool(request.htmx)


def _deprecated(release: Release) -> str:
    return f"deprecated: {release.deprecation_reason}" if release.deprecated_at else ""


def _asked_release(request: HttpRequest, releases: list[Release]) -> Release | None:
    """The one asked for; else the newest that weighs the response and is not deprecated; else the newest."""
    asked = whole_number(request, "release")
    return next((one for one in releases if one.pk == asked), releases[0] if releases else None)
