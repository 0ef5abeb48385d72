"""A campaign's results with the help of a metric."""

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.exports import table_response
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, Role
from correlations.selectors.helped import (
    COLUMNS,
    MOST_RUNS,
    PARTS,
    RatedSystems,
    helped_results,
    helping_run,
    helping_runs,
    rated_systems,
    run_name,
    table_rows,
)
from metrics.models import ScoreRun


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_helped(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show systems' means and differences with and without the scores of the chosen run."""
    rated = rated_systems(campaign)
    run = _chosen_run(request, campaign, rated)
    context: dict[str, Any] = {"project": request.project, "campaign": campaign, "run": run}
    if run is not None:
        every = _chosen_part(request, rated)
        context |= {
            "helped": helped_results(campaign, run, every),
            "parts": [] if rated.have_unrated_outputs else [(1, "All items"), *_named_parts()],
            "runs": [(each, run_name(each)) for each in helping_runs(campaign, rated)[:MOST_RUNS]],
            **{f"{kind}_url": _download_url(campaign, run, kind, every) for kind in ("csv", "json")},
        }
    return render(request, "correlations/campaign_helped.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_helped_download(request: MemberRequest, campaign: Campaign, file_format: str) -> HttpResponseBase:
    rated = rated_systems(campaign)
    run = _chosen_run(request, campaign, rated)
    if run is None:
        raise Http404("No finished score run of this campaign's data set.")
    return table_response(
        format=file_format,
        filename=f"results-campaign-{campaign.pk}-with-run-{run.number}",
        columns=COLUMNS,
        rows=table_rows(helped_results(campaign, run, _chosen_part(request, rated))),
    )


def _chosen_run(request: MemberRequest, campaign: Campaign, rated: RatedSystems) -> ScoreRun | None:
    """Return the run that the address names, by default the newest that judges quality; None if there is none."""
    number = whole_number(request, "run")
    run = helping_run(campaign, number, rated)
    if run is None and number is not None:
        raise Http404(f"No finished run {number} with scores of this campaign's outputs.")
    return run


def _chosen_part(request: MemberRequest, rated: RatedSystems) -> int:
    """Return one item in how many counts; all of them unless the address names a part."""
    every = whole_number(request, "every")
    if every in (None, 1):
        return 1
    if every not in PARTS or rated.have_unrated_outputs:
        raise Http404(f"Found every={every}; accepted, where all outputs are rated: 1, {', '.join(map(str, PARTS))}.")
    return every


def _named_parts() -> list[tuple[int, str]]:
    return [(every, f"Every {name} item") for every, name in PARTS.items()]


def _download_url(campaign: Campaign, run: ScoreRun, file_format: str, every: int) -> str:
    where = reverse("correlations:campaign-helped-download", args=[campaign.project.slug, campaign.pk, file_format])
    return f"{where}?run={run.number}{f'&every={every}' if every > 1 else ''}"
