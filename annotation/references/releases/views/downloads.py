"""A release's weights as files."""

from django.http import (
    HttpResponseBadRequest,
    HttpResponseBase,
)
from django.views.decorators.http import require_GET, require_safe

from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view
from annotation.models import Release, ReleaseWeight, Role
from annotation.references.browsing.forms import WeightFilterForm
from annotation.references.browsing.responses import HASH_HEADER, release_file_response
from annotation.references.browsing.selectors.references import WEIGHT_COLUMNS, source_names, weight_rows
from annotation.references.sets.access import file_stem, finished_release_or_404


@require_safe
@object_view(finished_release_or_404, Role.VIEWER)
def release_file(request: MemberRequest, release: Release, name: str) -> HttpResponseBase:
    """The whole release as one of its files."""
    return release_file_response(release, name, request.headers.get("If-None-Match", ""))


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_download(request: MemberRequest, release: Release, file_format: str) -> HttpResponseBase:
    """The weights, narrowed as the page was: one row per reference."""
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    if not form.is_valid():
        return HttpResponseBadRequest(_refusal(form), content_type="text/plain; charset=utf-8")
    rows = weight_rows(release, form.chosen()).iterator(chunk_size=2000)
    name = f"{request.project.slug}-{file_stem(release)}"
    response = table_response(format=file_format, filename=name, columns=WEIGHT_COLUMNS, rows=map(_weight_row, rows))
    response[HASH_HEADER] = release.content_hash
    return response


def _refusal(form: WeightFilterForm) -> str:
    """Which fields of the address were not understood, what was found, and why."""
    lines = (
        f"{form[name].label}: found {form[name].value()!r}. {' '.join(map(str, errors))}"
        for name, errors in form.errors.items()
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
