"""From a system's score to its segments, and from a segment to the n-grams and references that made its score."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Item, Response, ResponseSource, Role
from metrics.forms.playground import run_settings
from metrics.models import ScoreRun, SystemScore
from metrics.selectors import accounts, explanations, matches
from metrics.selectors import runs as selectors
from metrics.selectors.arrays import items_at, n_segments, segment_index
from metrics.services.scoring import model_store
from metrics.views.explanations import shared_context
from metrics.views.runs import described, get_run_or_404

SEGMENT_COLUMNS = ("item", "hypothesis", "score", "mean_rating", "ratings")


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_system_detail(request: MemberRequest, run: ScoreRun, system_pk: int) -> HttpResponse:
    score = _score(run, system_pk)
    sort = request.GET.get("sort", "position")
    if sort not in selectors.SORTS:
        raise Http404(f"No order {sort!r}; there are {', '.join(selectors.SORTS)}.")
    first = whole_number(request, "start") or 0
    order = selectors.segment_order(run, score, sort)
    places = order[first : first + selectors.PAGE].tolist()
    last = first + len(places)
    context: dict[str, Any] = {
        "project": request.project,
        **described(run),
        "score": score,
        "segments": selectors.segments(run, score, places),
        "sort": sort,
        "sorts": selectors.SORTS,
        "page_label": f"{first + 1:,} to {last:,} of {order.size:,} segments" if places else "No segment here",
        "next_url": f"?sort={sort}&start={last}" if last < order.size else "",
        "previous_url": f"?sort={sort}&start={max(0, first - selectors.PAGE)}" if first else "",
    }
    return render(request, "metrics/run_system_detail.html", context)


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_system_download(request: MemberRequest, run: ScoreRun, system_pk: int, file_format: str) -> HttpResponseBase:
    score = _score(run, system_pk)
    name = f"{request.project.slug}-run-{run.pk}-{score.system.name}"
    return table_response(format=file_format, filename=name, columns=SEGMENT_COLUMNS, rows=_segment_rows(run, score))


def _segment_rows(run: ScoreRun, score: SystemScore) -> Iterator[tuple[Any, ...]]:
    total = n_segments(run)
    for start in range(0, total, 500):
        places = range(start, min(start + 500, total))
        for segment in selectors.segments(run, score, places):
            text = segment.response.text if segment.response else None
            yield segment.item.external_id, text, segment.score, segment.rating, segment.n_ratings


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_segment(request: MemberRequest, run: ScoreRun, system_pk: int, item_pk: int) -> HttpResponse:
    score = _score(run, system_pk)
    item, hypothesis, place = _item_and_hypothesis(run, system_pk, item_pk)
    segment = selectors.segments(run, score, [place])[0]
    context = {
        "project": request.project,
        **described(run),
        "score": score,
        "item": item,
        "hypothesis": hypothesis,
        "segment": segment,
        "unrated_reason": _unrated_reason(hypothesis),
        "previous_pk": items_at(run, [place - 1])[0] if place else None,
        "next_pk": items_at(run, [place + 1])[0] if place + 1 < n_segments(run) else None,
        "play_query": urlencode(_played(run, score, item)),
        **shared_context(request.project, run.dataset.language),
    }
    chosen = whole_number(request, "reference")
    if not accounts.is_bleu(run):
        asked = request.GET.get("account") == "1"
        found = accounts.account_of(run, item, hypothesis, model_store(), asked=asked, marked=chosen)
        context |= {"account": found, "choose_query": "account=1&reference=" if asked else "reference="}
        return render(request, "metrics/run_segment.html", context)
    explanation = explanations.explain_segment_of_run(run, item, score.system.name, hypothesis)
    (told,) = explanation.hypotheses
    told.rating, told.n_ratings = segment.rating, segment.n_ratings
    context |= {
        "explanation": explanation,
        "reading_query": explanation.reading.query(),
        "chosen": explanation.choose(chosen),
        "choose_query": "reference=",
        "unchosen_query": "",
    }
    return render(request, "metrics/run_segment.html", context)


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_segment_download(
    request: MemberRequest, run: ScoreRun, system_pk: int, item_pk: int, file_format: str
) -> HttpResponseBase:
    """Every n-gram of the hypothesis, or every reference with what the metric makes of it."""
    score = _score(run, system_pk)
    item, hypothesis, place = _item_and_hypothesis(run, system_pk, item_pk)
    name = f"{request.project.slug}-run-{run.pk}-{score.system.name}-{item.external_id[:40]}"
    if accounts.is_bleu(run):
        # What no reference holds has no winner and adds 0.
        (told,) = explanations.explain_segment_of_run(run, item, score.system.name, hypothesis).hypotheses
        ngrams = map(matches.match_row, told.ngrams)
        return table_response(
            format=file_format, filename=name, columns=matches.MATCH_COLUMNS, rows=ngrams, types=matches.MATCH_TYPES
        )
    account = accounts.account_of(run, item, hypothesis, model_store(), asked=True)
    segment = selectors.segments(run, score, [place])[0]
    columns = (*accounts.ACCOUNT_COLUMNS, *(label.lower() for label in account.reference_columns))
    rows = accounts.account_rows(account, hypothesis, segment.score)
    return table_response(format=file_format, filename=name, columns=columns, rows=rows, types=accounts.ACCOUNT_TYPES)


def _played(run: ScoreRun, score: SystemScore, item: Item) -> dict[str, object]:
    """This segment in the playground, under the run's settings."""
    release = {} if run.release_id is None else {"release": run.release_id}
    return {"item": item.pk, "system": score.system_id, **release, **run_settings(run)}


def _item_and_hypothesis(run: ScoreRun, system_pk: int, item_pk: int) -> tuple[Item, Response, int]:
    """With the item's place among the segments of the run."""
    item = get_object_or_404(Item, pk=item_pk)
    place = segment_index(run, item)
    if place is None:
        raise Http404("This item is not one of the run's.")
    source = get_object_or_404(ResponseSource.objects.select_related("response"), system=system_pk, item=item)
    return item, source.response, place


def _unrated_reason(response: Response) -> str:
    return "the campaigns that rated it differ in scale" if response.ratings.exists() else "nobody has rated it"


def _score(run: ScoreRun, system_pk: int) -> SystemScore:
    return get_object_or_404(SystemScore.objects.select_related("system"), run=run, system=system_pk)
