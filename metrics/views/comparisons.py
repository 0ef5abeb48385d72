"""The systems of a run against each other, and the metric against the raters."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Role
from metrics.models import ScoreRun
from metrics.selectors import comparisons, disagreements
from metrics.views.runs import described, finished_run_or_404


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_comparisons(request: MemberRequest, run: ScoreRun) -> HttpResponseBase:
    """Every pair; two systems may be asked about in the address."""
    found = comparisons.comparisons_of(run)
    if wanted := request.GET.get("format"):
        return table_response(
            format=wanted,
            filename=f"{request.project.slug}-run-{run.pk}-pairs",
            columns=comparisons.PAIR_COLUMNS,
            rows=comparisons.pair_rows(found),
            types=comparisons.PAIR_TYPES,
        )
    one, other = _asked_pair(request, found)
    context = {
        "project": request.project,
        **described(run),
        "comparisons": found,
        "one": one,
        "other": other,
        "pair": found.pair(one, other) if one and other else None,
        "asked": "a" in request.GET,
    }
    return render(request, "metrics/run_comparisons.html", context)


def _asked_pair(request: HttpRequest, found: comparisons.Comparisons) -> tuple[int | None, int | None]:
    """Ids of the systems asked about; by default of the two best."""
    known = [score.system_id for score in found.scores]
    asked = [whole_number(request, name) for name in ("a", "b")]
    if any(pk is not None and pk not in known for pk in asked):
        raise Http404("No such system in this run.")
    usual = [*known[:2], None, None]
    return asked[0] or usual[0], asked[1] or usual[1]


@require_GET
@object_view(finished_run_or_404, Role.VIEWER)
def run_disagreements(request: MemberRequest, run: ScoreRun) -> HttpResponseBase:
    """The metric high and the raters low, and the other way round, where the raters agree."""
    campaign = whole_number(request, "campaign")
    wanted = request.GET.get("format")
    n = disagreements.MOST_DOWNLOADED if wanted else disagreements.SHOWN
    found = disagreements.disagreements_of(run, campaign=campaign, spread=_asked_spread(request), n=n)
    if campaign is not None and not found.chosen:
        raise Http404("No such campaign with ratings of outputs of this run.")
    if wanted:
        return table_response(
            format=wanted,
            filename=f"{request.project.slug}-run-{run.pk}-disagreements",
            columns=disagreements.DISAGREEMENT_COLUMNS,
            rows=disagreements.disagreement_rows(run, found),
        )
    disagreements.with_texts(run, found)
    context: dict[str, Any] = {
        "project": request.project,
        **described(run),
        "found": found,
        "campaign": campaign,
        "language": run.dataset.language,
        "lists": [("metric", found.liked_by_metric), ("raters", found.liked_by_raters)],
        "query": _query(request),
    }
    return render(request, "metrics/run_disagreements.html", context)


def _query(request: HttpRequest) -> str:
    """What was asked for, to be asked for again as a file."""
    return urlencode({name: request.GET[name] for name in ("campaign", "spread") if request.GET.get(name)})


def _asked_spread(request: HttpRequest) -> float | None:
    """The spread in the address; None where it says none that could be one."""
    try:
        spread = float(request.GET.get("spread", ""))
    except ValueError:
        return None
    return spread if 0 <= spread < 1e6 else None
