"""What a mining run found, seed by seed, and as a download."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation.access import get_project_or_404
from annotation.exports import table_response
from annotation.forms.mining import CandidateFilterForm, step_label
from annotation.models import MiningRun
from annotation.parameters import whole_number
from annotation.selectors import mining as selectors
from annotation.views.mining.common import page_or_part, run_or_404


@login_required
@require_GET
def mining_run_candidates(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """Ten seeds a page, each conversation with its candidates; narrowed and paged in place."""
    project = get_project_or_404(request.user, project_slug)
    run = run_or_404(project, pk)
    form = _form(request, run)
    chosen = form.chosen() if form.is_valid() else selectors.EVERYTHING
    page = selectors.candidate_page(
        run, chosen, after=whole_number(request, "after"), before=whole_number(request, "before")
    )
    narrowed = urlencode([(name, v) for name, v in request.GET.items() if v and name not in ("after", "before")])
    context = {
        "project": project,
        "run": run,
        "form": form,
        "page": page,
        "narrowed": narrowed,
        "is_narrowed": chosen != selectors.EVERYTHING,
        "wanted": run.specification["mining"]["n"],
        "step": step_label(chosen.step) if chosen.step else "",
    }
    return page_or_part(request, "mining_run_candidates", "mining_run_candidate_rows", context)


@login_required
@require_GET
def mining_run_download(request: HttpRequest, project_slug: str, pk: int, file_format: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    run = run_or_404(project, pk)
    form = _form(request, run)
    chosen = form.chosen() if form.is_valid() else selectors.EVERYTHING
    return table_response(
        format=file_format,
        filename=f"{run.dataset.slug}-mining-{run.pk}",
        columns=selectors.CANDIDATE_COLUMNS,
        rows=selectors.candidate_rows(run, chosen),
        types=selectors.CANDIDATE_TYPES,
    )


def _form(request: HttpRequest, run: MiningRun) -> CandidateFilterForm:
    steps = list(dict.fromkeys(row["step"] for row in run.report.get("reasons", [])))
    return CandidateFilterForm(request.GET, steps=steps)
