"""A release's weights as files."""

from django.contrib.auth.decorators import login_required
from django.http import (
    HttpRequest,
    HttpResponseBadRequest,
    HttpResponseBase,
)
from django.views.decorators.http import require_GET, require_safe

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.forms.browsing import WeightFilterForm
from annotation.models import JobState, ReleaseWeight
from annotation.release_responses import HASH_HEADER, release_file_response
from annotation.selectors.browsing import (
    WEIGHT_COLUMNS,
    source_names,
    weight_rows,
)
from annotation.views.references.common import release_or_404


@login_required
@require_safe
def release_file(request: HttpRequest, project_slug: str, slug: str, number: int, name: str) -> HttpResponseBase:
    """The whole release as one of its files."""
    project = get_project_or_404(request.user, project_slug)
    release = release_or_404(project, slug, number, state=JobState.DONE)
    return release_file_response(release, name, request.headers.get("If-None-Match", ""))


@login_required
@require_GET
def release_download(
    request: HttpRequest, project_slug: str, slug: str, number: int, file_format: str
) -> HttpResponseBase:
    """The weights, narrowed as the page was: one row per reference."""
    project = get_project_or_404(request.user, project_slug)
    release = release_or_404(project, slug, number, state=JobState.DONE)
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    if not form.is_valid():
        return HttpResponseBadRequest(_refusal(form), content_type="text/plain; charset=utf-8")
    rows = weight_rows(release, form.chosen()).iterator(chunk_size=2000)
    name = f"{project.slug}-{release.reference_set.slug}-v{release.number}"
    response = table_response(format=file_format, filename=name, columns=WEIGHT_COLUMNS, rows=map(_weight_row, rows))
    response[HASH_HEADER] = release.content_hash
    return response


def _refusal(form: WeightFilterForm) -> str:
    """Which fields of the address were not understood, what was found, and why."""
    lines = (
        f"{form[name].label}: found {form[name].value()!r}. {' '.join(errors)}" for name, errors in form.errors.items()
    )
    return "\n".join(["Nothing was downloaded: the filter is not valid.", *lines, ""])


def _weight_row(weight: ReleaseWeight) -> tuple[object, ...]:
    return (
        weight.item.external_id,
        weight.response_id,
        weight.response.text,
        weight.weight,
        weight.rating_mean,
        weight.n_ratings,
        weight.standard_error,
        weight.low,
        weight.high,
        weight.is_original,
        [str(source) for source in weight.response.sources.all()],
    )
