"""Pages of pairs of systems, and of disagreements between the metric and the raters."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.access import may_manage
from annotation.core.exports import objects_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Role
from metrics.models import ScoreRun
from metrics.selectors import comparisons, disagreements
from metrics.views.runs import described, finished_run_or_404, scores_digits


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_comparisons(request: MemberRequest, run: ScoreRun) -> HttpResponseBase:
    """Show every pair, and the pair that the address names."""
    pairs = comparisons.comparisons_of(run)
    if file_format := request.GET.get("format"):
        filename = f"{request.project.slug}-run-{run.number}-pairs"
        return objects_response(file_format, filename, pairs.pairs, comparisons.PAIR_FIELDS, comparisons.PAIR_TYPES)
    first, second = _chosen_systems(request, pairs)
    digits = scores_digits(pairs.ranked)
    context = {
        "project": request.project,
        **described(run),
        "comparisons": pairs,
        "first": first,
        "second": second,
        "pair": pairs.pair(first, second) if first and second else None,
        "is_chosen": "a" in request.GET,
        "digits": digits,
        "more_digits": max(digits, 3),  # of differences, so that those of rounded scores are seen to be near
    }
    return render(request, "metrics/run_comparisons.html", context)


def _chosen_systems(request: HttpRequest, pairs: comparisons.Comparisons) -> tuple[int | None, int | None]:
    """Return the ids of the systems in the address; by default of the two best."""
    known = [score.system_id for score in pairs.scores]
    chosen = [whole_number(request, name) for name in ("a", "b")]
    if any(pk is not None and pk not in known for pk in chosen):
        raise Http404("No such system in this run.")
    best = [*known[:2], None, None]
    return chosen[0] or best[0], chosen[1] or best[1]


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_disagreements(request: MemberRequest, run: ScoreRun) -> HttpResponseBase:
    """Show outputs that the metric ranks high and the raters low, and the other way round."""
    campaign = whole_number(request, "campaign")
    file_format = request.GET.get("format")
    n = disagreements.MOST_DOWNLOADED if file_format else disagreements.SHOWN
    result = disagreements.disagreements_of(run, campaign=campaign, spread=_spread(request), n=n)
    if campaign is not None and not result.chosen:
        raise Http404("No such campaign with ratings of outputs of this run.")
    disagreements.load_texts(run, result)
    if file_format:
        filename = f"{request.project.slug}-run-{run.number}-disagreements"
        return objects_response(file_format, filename, result.outputs, disagreements.DISAGREEMENT_COLUMNS)
    context: dict[str, Any] = {
        "project": request.project,
        **described(run),
        "may_manage": may_manage(request.project),
        "disagreements": result,
        "campaign": campaign,
        "language": run.dataset.language,
        "lists": [
            ("metric", "The metric likes them, the raters do not", result.liked_by_metric),
            ("raters", "The raters like them, the metric does not", result.liked_by_raters),
        ],
        "csv_url": _download_url(request, "csv"),
        "json_url": _download_url(request, "json"),
    }
    return render(request, "metrics/run_disagreements.html", context)


def _download_url(request: HttpRequest, file_format: str) -> str:
    filters = {name: request.GET[name] for name in ("campaign", "spread") if request.GET.get(name)}
    return f"?{urlencode(filters | {'format': file_format})}"


def _spread(request: HttpRequest) -> float | None:
    """Return the spread in the address; None if it is missing or invalid."""
    try:
        spread = float(request.GET.get("spread", ""))
    except ValueError:
        return None
    return spread if 0 <= spread < 1e6 else None
