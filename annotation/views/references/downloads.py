"""A release's weights as files."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from django.contrib.auth.decorators import login_required
from django.http import (
    HttpRequest,
    HttpResponseBadRequest,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.forms.browsing import WeightFilterForm
from annotation.models import JobState, ReleaseWeight
from annotation.selectors.browsing import (
    WEIGHT_COLUMNS,
    source_names,
    weight_rows,
)
from annotation.views.references.common import release_or_404


@login_required
@require_GET
def release_download(
    request: HttpRequest, project_slug: str, slug: str, number: int, file_format: str
) -> HttpResponseBase:
    """The weights, narrowed as the page was: one row per reference, or one line per item as TSV."""
    project = get_project_or_404(request.user, project_slug)
    release = release_or_404(project, slug, number, state=JobState.DONE)
    form = WeightFilterForm(request.GET, sources=source_names(release.reference_set))
    if not form.is_valid():
        return HttpResponseBadRequest(_refusal(form), content_type="text/plain; charset=utf-8")
    rows = weight_rows(release, form.chosen()).iterator(chunk_size=2000)
    name = f"{project.slug}-{release.reference_set.slug}-v{release.number}"
    if file_format == "tsv":
        response = StreamingHttpResponse(
            _multi_reference_lines(rows), content_type="text/tab-separated-values; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="{name}.tsv"'
        return response
    return table_response(format=file_format, filename=name, columns=WEIGHT_COLUMNS, rows=map(_weight_row, rows))


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


def _multi_reference_lines(weights: Iterable[ReleaseWeight]) -> Iterator[bytes]:
    """item, then weight and text of each reference, highest first; tabs and line breaks in texts become spaces."""
    for item, references in groupby(weights, key=lambda weight: weight.item):
        cells = [item.external_id]
        for weight in references:
            cells += [repr(weight.weight), " ".join(weight.response.text.split())]
        yield ("\t".join(cells) + "\n").encode()
