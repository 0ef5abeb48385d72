"""A release's weights as files."""

from django.http import HttpResponseBadRequest, HttpResponseBase
from django.views.decorators.http import require_GET, require_safe

from annotation.core.exports import Column, objects_response
from annotation.core.views import MemberRequest, object_view
from annotation.models import Release, Role
from annotation.references.browsing.forms import WeightFilterForm
from annotation.references.browsing.responses import HASH_HEADER, release_file_response
from annotation.references.browsing.selectors.references import source_names, weight_rows
from annotation.references.releases.selectors.releases import HASHED_COLUMNS
from annotation.references.sets.access import finished_release_or_404, project_stem

WEIGHT_COLUMNS: dict[str, Column] = {
    "item": "item.external_id",
    "response_id": "response_id",
    "text": "response.text",
    **{column: column for column in HASHED_COLUMNS},
    "sources": lambda weight: [str(source) for source in weight.response.sources.all()],
}


@require_safe
@object_view(finished_release_or_404, Role.VIEWER)
def release_file(request: MemberRequest, release: Release, name: str) -> HttpResponseBase:
    """Download the whole release as one of its files."""
    return release_file_response(release, name, request.headers.get("If-None-Match", ""))


@require_GET
@object_view(finished_release_or_404, Role.VIEWER)
def release_download(request: MemberRequest, release: Release, file_format: str) -> HttpResponseBase:
    """Download a row per reference that fits the filters."""
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    if not form.is_valid():
        return HttpResponseBadRequest(_refusal(form), content_type="text/plain; charset=utf-8")
    response = objects_response(
        file_format,
        project_stem(request.project, release),
        weight_rows(release, form.chosen()).iterator(chunk_size=2000),
        WEIGHT_COLUMNS,
    )
    response[HASH_HEADER] = release.content_hash
    return response


def _refusal(form: WeightFilterForm) -> str:
    """List the fields of the address that are not valid, with their values and the reasons."""
    lines = (
        f"{form[name].label}: found {form[name].value()!r}. {' '.join(map(str, errors))}"
        for name, errors in form.errors.items()
    )
    return "\n".join(["Nothing was downloaded: the filter is not valid.", *lines, ""])
