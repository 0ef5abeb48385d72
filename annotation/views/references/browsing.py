"""Looking through the references of a release."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import (
    HttpRequest,
    HttpResponse,
    JsonResponse,
)
from django.views.decorators.http import require_GET

from annotation import charts
from annotation.access import get_project_or_404
from annotation.forms.browsing import WeightFilterForm
from annotation.models import JobState, Project, Release
from annotation.parameters import whole_number
from annotation.selectors.browsing import (
    EVERYTHING,
    distribution,
    release_items,
    source_names,
    value_histograms,
)
from annotation.views.figures import chart_theme, picture_response
from annotation.views.references.common import release_or_404


@login_required
@require_GET
def release_chart(request: HttpRequest, project_slug: str, slug: str, number: int, file_format: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    release = release_or_404(project, slug, number, state=JobState.DONE)
    theme = chart_theme(request)
    if file_format == "json":
        return JsonResponse(charts.weight_distribution(distribution(release), theme=theme))
    specification = charts.weight_distribution(distribution(release), theme=theme, picture=True)
    return picture_response(specification, file_format, f"{release.reference_set.slug}-v{release.number}-weights")


def browse(request: HttpRequest, project: Project, release: Release) -> dict[str, object]:
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    chosen = form.chosen() if form.is_valid() else EVERYTHING
    page = release_items(release, chosen, after=whole_number(request, "after"), before=whole_number(request, "before"))
    shown = [weight for item in page.items for weight in item.shown_weights]
    histograms = value_histograms(release, [weight.response_id for weight in shown])
    for weight in shown:
        weight.histogram = histograms[weight.response_id]
    narrowed = _query(request, without=("after", "before"))
    return {
        "filter_form": form,
        "is_narrowed": chosen != EVERYTHING,
        "page": page,
        "narrowed": narrowed,
        "previous_url": None if page.before is None else f"?{narrowed}&before={page.before}".replace("?&", "?"),
        "next_url": None if page.after is None else f"?{narrowed}&after={page.after}".replace("?&", "?"),
    }


def _query(request: HttpRequest, *, without: tuple[str, ...]) -> str:
    return urlencode([(name, value) for name, value in request.GET.items() if value and name not in without])
