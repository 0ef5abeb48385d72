"""Pages of a system's segments, and of a segment with the n-grams and references behind its score."""

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
from metrics.selectors import explanations, matches, reference_scores
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
    indices = order[first : first + selectors.PAGE].tolist()
    last = first + len(indices)
    context: dict[str, Any] = {
        "project": request.project,
        **described(run),
        "score": score,
        "segments": selectors.segments(run, score, indices),
        "digits": selectors.shown_digits(abs(score.score or 0.0)),
        "item_digits": selectors.item_digits(run, score.score),
        "sort": sort,
        "sorts": selectors.SORTS,
        "page_label": f"{first + 1:,} to {last:,} of {order.size:,} items" if indices else "No item here",
        "next_url": f"?sort={sort}&start={last}" if last < order.size else "",
        "previous_url": f"?sort={sort}&start={max(0, first - selectors.PAGE)}" if first else "",
    }
    return render(request, "metrics/run_system_detail.html", context)


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_system_download(request: MemberRequest, run: ScoreRun, system_pk: int, file_format: str) -> HttpResponseBase:
    score = _score(run, system_pk)
    name = f"{request.project.slug}-run-{run.number}-{score.system.name}"
    return table_response(format=file_format, filename=name, columns=SEGMENT_COLUMNS, rows=_segment_rows(run, score))


def _segment_rows(run: ScoreRun, score: SystemScore) -> Iterator[tuple[Any, ...]]:
    total = n_segments(run)
    for start in range(0, total, 500):
        for segment in selectors.segments(run, score, range(start, min(start + 500, total))):
            text = segment.response.text if segment.response else None
            yield segment.item.external_id, text, segment.score, segment.rating, segment.n_ratings


@require_GET
@object_view(get_run_or_404, Role.VIEWER)
def run_segment(request: MemberRequest, run: ScoreRun, system_pk: int, item_pk: int) -> HttpResponse:
    score = _score(run, system_pk)
    item, hypothesis, index = _item_and_hypothesis(run, system_pk, item_pk)
    segment = selectors.segments(run, score, [index])[0]
    context = {
        "project": request.project,
        **described(run),
        "score": score,
        "item": item,
        "hypothesis": hypothesis,
        "segment": segment,
        "item_digits": selectors.item_digits(run, score.score),
        "unrated_reason": _unrated_reason(hypothesis),
        "previous_pk": items_at(run, [index - 1])[0] if index else None,
        "next_pk": items_at(run, [index + 1])[0] if index + 1 < n_segments(run) else None,
        "play_query": urlencode(_playground_values(run, score, item)),
        **shared_context(request.project, run.dataset.language),
    }
    chosen = whole_number(request, "reference")
    if not reference_scores.is_bleu(run):
        requested = request.GET.get("account") == "1"
        context["scores"] = reference_scores.reference_scores(
            run, item, hypothesis, model_store(), requested=requested, marked=chosen
        )
        context["choose_query"] = "account=1&reference=" if requested else "reference="
        return render(request, "metrics/run_segment.html", context)
    explanation = explanations.explain_segment_of_run(run, item, score.system.name, hypothesis)
    (explained,) = explanation.hypotheses
    explained.rating, explained.n_ratings = segment.rating, segment.n_ratings
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
    """Send every n-gram of the hypothesis, or every reference with the metric's numbers."""
    score = _score(run, system_pk)
    item, hypothesis, index = _item_and_hypothesis(run, system_pk, item_pk)
    name = f"{request.project.slug}-run-{run.number}-{score.system.name}-{item.external_id[:40]}"
    if reference_scores.is_bleu(run):
        (explained,) = explanations.explain_segment_of_run(run, item, score.system.name, hypothesis).hypotheses
        ngrams = map(matches.match_row, explained.ngrams)
        return table_response(
            format=file_format, filename=name, columns=matches.MATCH_COLUMNS, rows=ngrams, types=matches.MATCH_TYPES
        )
    scores = reference_scores.reference_scores(run, item, hypothesis, model_store(), requested=True)
    segment = selectors.segments(run, score, [index])[0]
    columns = (*reference_scores.REFERENCE_COLUMNS, *(label.lower() for label in scores.reference_columns))
    rows, types = reference_scores.reference_rows(scores, hypothesis, segment.score), reference_scores.REFERENCE_TYPES
    return table_response(format=file_format, filename=name, columns=columns, rows=rows, types=types)


def _playground_values(run: ScoreRun, score: SystemScore, item: Item) -> dict[str, object]:
    """Return the inputs of the playground for this segment under the run's settings."""
    release = {} if run.release_id is None else {"release": run.release_id}
    return {"item": item.pk, "system": score.system_id, **release, **run_settings(run)}


def _item_and_hypothesis(run: ScoreRun, system_pk: int, item_pk: int) -> tuple[Item, Response, int]:
    """Return the item, the system's output and the index of their segment."""
    item = get_object_or_404(Item, pk=item_pk)
    index = segment_index(run, item)
    if index is None:
        raise Http404("The run has no such item.")
    source = get_object_or_404(ResponseSource.objects.select_related("response"), system=system_pk, item=item)
    return item, source.response, index


def _unrated_reason(response: Response) -> str:
    return "the campaigns that rated it differ in scale" if response.ratings.exists() else "it is not rated"


def _score(run: ScoreRun, system_pk: int) -> SystemScore:
    return get_object_or_404(SystemScore.objects.select_related("system"), run=run, system=system_pk)
