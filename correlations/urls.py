from django.urls import URLPattern, path

from annotation.core.job_views import cancel_view, retry_view
from correlations.selectors.lists import AnyStudy
from correlations.specification_schema import FILENAME
from correlations.views import downloads, studies, uses
from correlations.views.kinds import AnyResult, Kind, study_or_404
from correlations.views.levels import study_levels
from correlations.views.metrics import STUDY, study_row
from correlations.views.parameters import PARAMETER_STUDY
from correlations.views.reports import study_report
from correlations.views.specifications import study_from_specification, study_schema, study_specification
from correlations.views.stand_ins import study_stand_in

app_name = "correlations"
PROJECT = "p/<slug:project_slug>"


def kind_urls(kind: Kind[AnyStudy, AnyResult]) -> list[URLPattern]:
    """Return the addresses of a kind of studies; their names begin with the kind's."""
    page = f"correlations:{kind.name}-detail"
    views = {
        "list": ("/", studies.study_list),
        "create": ("/new/", studies.study_create),
        "list-download": (".<str:file_format>", downloads.study_list_download),
        "detail": ("/<int:pk>/", studies.study_detail),
        "cancel": ("/<int:pk>/cancel/", cancel_view(study_or_404, page)),
        "retry": ("/<int:pk>/retry/", retry_view(study_or_404, kind.task, page)),
        "figure": ("/<int:pk>/figures/<slug:figure>/", downloads.study_figure),
        "figure-download": ("/<int:pk>/figures/<slug:figure>.<str:file_format>", downloads.study_figure_download),
        "download": ("/<int:pk>/<slug:table>.<str:file_format>", downloads.study_download),
    }
    return [
        path(f"{PROJECT}/{kind.plural}{address}", view, {"kind": kind}, name=f"{kind.name}-{name}")
        for name, (address, view) in views.items()
    ]


urlpatterns: list[URLPattern] = [
    path(f"schemas/{FILENAME}", study_schema, name="study-schema"),
    # Before the downloads of tables, which could have these names.
    *(
        path(f"{PROJECT}/studies/{address}", view, {"kind": STUDY}, name=f"study-{name}")
        for name, address, view in (
            ("from-specification", "new/specification/", study_from_specification),
            ("specification", "<int:pk>/specification.json", study_specification),
            ("report", "<int:pk>/report.<str:file_format>", study_report),
        )
    ),
    *kind_urls(STUDY),
    path(f"{PROJECT}/studies/<int:pk>/rows/<int:row>/", study_row, {"kind": STUDY}, name="study-row"),
    path(f"{PROJECT}/studies/<int:pk>/levels/", study_levels, {"kind": STUDY}, name="study-levels"),
    path(f"{PROJECT}/studies/<int:pk>/stand-in/", study_stand_in, {"kind": STUDY}, name="study-stand-in"),
    *kind_urls(PARAMETER_STUDY),
    path(f"{PROJECT}/responses/<int:pk>/uses/", uses.response_uses_detail, name="response-uses"),
]
