"""A release: its progress, then what it holds."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.chart_views import chart_urls
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.views import MemberRequest, object_view, perform
from annotation.models import JobState, Release, Role
from annotation.references import tasks
from annotation.references.releases.files.kinds import FILES
from annotation.references.releases.forms import DeprecationForm
from annotation.references.releases.selectors.facts import (
    fallen_seeds_of,
    raters_behind,
    release_agreement,
    source_counts_of,
    split_counts,
    weights_lacking,
)
from annotation.references.releases.selectors.releases import latest_release, same_content
from annotation.references.releases.services.releases import release_deprecate as deprecate_release
from annotation.references.releases.services.releases import release_restore as restore_release
from annotation.references.sets.access import (
    finished_release_or_404,
    release_args,
    release_context,
    release_or_404,
    release_url,
)
from annotation.weighting.schemes import SCHEMES

IMPORTED_LABEL = "Imported weights"


@require_GET
@object_view(release_or_404, Role.VIEWER)
def release_detail(request: MemberRequest, release: Release) -> HttpResponse:
    """Show progress while the release is built, then its report."""
    scheme = SCHEMES.get(release.method)
    context = release_context(request.project, release) | {
        "scheme": scheme,
        "method_label": f"{scheme.label}: {scheme.about}" if scheme else IMPORTED_LABEL,
    }
    if request.htmx and "progress" in request.GET:
        return job_part(request, release, "annotation/references/release_progress.html", context)
    if release.state == JobState.DONE:
        args = release_args(request.project, release)
        references, items = release.report["references"], release.report["items"]
        context |= {
            "hints": {
                "weighted": f"of {references['all']:,} in the set",
                "positive": f"{references['negative']:,} negative",
                "items": f"of {items['with_weight']:,} weighted items",
                "ratings": f"by {raters_behind(release)}",
            },
            "chart": {
                "title": "Distribution of weights",
                "caption": "References per weight; in steps of 0.1 if many weights differ.",
                **chart_urls("annotation:release-chart", args),
                "csv_url": reverse("annotation:release-download", args=[*args, "csv"]),
                "json_url": reverse("annotation:release-download", args=[*args, "json"]),
            },
            "lack": weights_lacking(release),
            "has_systems": release.reference_set.dataset.systems.exists(),
            "files": list(FILES.values()),
            "twin": same_content(release),
            "agreement": release_agreement(release),
            "splits": split_counts(release),
            "sources": source_counts_of(release),
            "latest": latest_release(release.reference_set),
            "fallen": fallen_seeds_of(release),
        }
    return render(request, "annotation/references/release_detail.html", context)


release_cancel = cancel_view(release_or_404, "annotation:release-detail")
release_retry = retry_view(release_or_404, tasks.release_build, "annotation:release-detail")


@require_http_methods(["GET", "POST"])
@object_view(finished_release_or_404, Role.MANAGER)
def release_deprecate(request: MemberRequest, release: Release) -> HttpResponse:
    """Ask for the reason, and deprecate the release."""
    form = DeprecationForm(request.POST or None)
    if form.submit(deprecate_release, release=release, by=request.user):
        messages.success(request, f"{release} is deprecated.")
        return redirect(release_url(request.project, release))
    context = release_context(request.project, release) | {
        "form": form,
        "n_runs": release.score_runs.count(),
        "n_studies": release.studies.count(),
        "n_parameter_studies": release.parameter_studies.count(),
    }
    return render(request, "annotation/references/release_deprecate.html", context, status=400 if form.errors else 200)


@require_POST
@object_view(release_or_404, Role.MANAGER)
def release_restore(request: MemberRequest, release: Release) -> HttpResponse:
    """Undo a deprecation."""
    perform(request, restore_release, f"{release} is no longer deprecated.", release=release)
    return redirect(release_url(request.project, release))
