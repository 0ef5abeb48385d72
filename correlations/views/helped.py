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
    helped_results,
    helping_run,
    helping_runs,
    run_name,
    table_rows,
)
from metrics.models import ScoreRun


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_helped(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show systems' means and differences with and without the scores of the chosen run."""
    run = _chosen_run(request, campaign)
    context: dict[str, Any] = {"project": request.project, "campaign": campaign, "run": run}
    if run is not None:
        context |= {
            "helped": helped_results(campaign, run),
            "runs": [(each, run_name(each)) for each in helping_runs(campaign)[:MOST_RUNS]],
            **{f"{kind}_url": _download_url(campaign, run, kind) for kind in ("csv", "json")},
        }
    return render(request, "correlations/campaign_helped.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_helped_download(request: MemberRequest, campaign: Campaign, file_format: str) -> HttpResponseBase:
    run = _chosen_run(request, campaign)
    if run is None:
        raise Http404("No finished score run of this campaign's data set.")
    return table_response(
        format=file_format,
        filename=f"results-campaign-{campaign.pk}-with-run-{run.number}",
        columns=COLUMNS,
        rows=table_rows(helped_results(campaign, run)),
    )


def _chosen_run(request: MemberRequest, campaign: Campaign) -> ScoreRun | None:
    """Return the run that the address names, by default the newest that judges quality; None if there is none."""
    number = whole_number(request, "run")
    run = helping_run(campaign, number)
    if run is None and number is not None:
        raise Http404(f"No finished run {number} with scores of this campaign's outputs.")
    return run


def _download_url(campaign: Campaign, run: ScoreRun, file_format: str) -> str:
    where = reverse("correlations:campaign-helped-download", args=[campaign.project.slug, campaign.pk, file_format])
    return f"{where}?run={run.number}"
