"""The systems of a run against each other, and the metric against the raters."""

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.models import User
from annotation.parameters import whole_number
from metrics.selectors import comparisons, disagreements
from metrics.views.runs import described, finished_or_404, get_run_or_404


@login_required
@require_GET
def run_comparisons(request: HttpRequest, project_slug: str, pk: int) -> HttpResponseBase:
    """Every pair; two systems may be asked about in the address."""
    project = get_project_or_404(cast(User, request.user), project_slug)
    run = finished_or_404(get_run_or_404(project, pk))
    found = comparisons.comparisons_of(run)
    if wanted := request.GET.get("format"):
        return table_response(
            format=wanted, filename=f"{project.slug}-run-{run.pk}-pairs", columns=comparisons.PAIR_COLUMNS,
            rows=comparisons.pair_rows(found), types=comparisons.PAIR_TYPES,
        )  # fmt: skip
    one, other = _asked_pair(request, found)
    context = {
        "project": project,
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


@login_required
@require_GET
def run_disagreements(request: HttpRequest, project_slug: str, pk: int) -> HttpResponseBase:
    """The metric high and the raters low, and the other way round, where the raters agree."""
    project = get_project_or_404(cast(User, request.user), project_slug)
    run = finished_or_404(get_run_or_404(project, pk))
    asked = {"campaign": whole_number(request, "campaign"), "spread": _asked_spread(request)}
    wanted = request.GET.get("format")
    n = disagreements.MOST_DOWNLOADED if wanted else disagreements.SHOWN
    found = disagreements.disagreements_of(run, **asked, n=n)
    if asked["campaign"] is not None and not found.chosen:
        raise Http404("No such campaign with ratings of outputs of this run.")
    if wanted:
        return table_response(
            format=wanted, filename=f"{project.slug}-run-{run.pk}-disagreements",
            columns=disagreements.DISAGREEMENT_COLUMNS, rows=disagreements.disagreement_rows(run, found),
        )  # fmt: skip
    disagreements.with_texts(run, found)
    context: dict[str, Any] = {
        "project": project,
        **described(run),
        "found": found,
        "campaign": asked["campaign"],
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
