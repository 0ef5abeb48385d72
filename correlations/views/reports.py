"""The report of a study as a file."""

from django.http import Http404, HttpResponseBase
from django.views.decorators.http import require_GET

from annotation.core.exports import file_response
from annotation.core.views import MemberRequest, object_view
from annotation.models import Role
from correlations.models import ParameterStudy, Study
from correlations.results.parameters import ParameterResult
from correlations.results.study import StudyResult
from correlations.services.reports import FILES, parameter_report_file, report_file
from correlations.views.kinds import StudyPage, finished_study_or_404


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_report(request: MemberRequest, page: StudyPage[Study, StudyResult], file_format: str) -> HttpResponseBase:
    if file_format not in FILES:
        raise Http404(f"No report as {file_format!r}; there are {', '.join(FILES)}.")
    content = report_file(page.study, page.result, file_format)
    filename = f"{request.project.slug}-study-{page.study.pk}-report.{file_format}"
    return file_response(content, FILES[file_format].content_type, filename)


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def parameter_study_report(
    request: MemberRequest, page: StudyPage[ParameterStudy, ParameterResult], file_format: str
) -> HttpResponseBase:
    if file_format not in FILES:
        raise Http404(f"No report as {file_format!r}; there are {', '.join(FILES)}.")
    content = parameter_report_file(page.study, page.result, file_format)
    filename = f"{request.project.slug}-parameter-study-{page.study.pk}-report.{file_format}"
    return file_response(content, FILES[file_format].content_type, filename)
