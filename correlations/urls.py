from django.urls import URLPattern, path

from annotation.core.job_views import cancel_view, retry_view
from correlations.selectors.lists import AnyStudy
from correlations.specification_schema import FILENAME
from correlations.views import comparisons, downloads, helped, joint, studies, uses, verifications
from correlations.views.kinds import AnyResult, Kind, study_or_404
from correlations.views.levels import study_levels
from correlations.views.metrics import STUDY, study_row
from correlations.views.parameters import PARAMETER_STUDY
from correlations.views.reports import parameter_study_report, study_report
from correlations.views.scales import run_scale
from correlations.views.sensitivity import study_sensitivity, study_sensitivity_create
from correlations.views.significance import study_significance
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
    path(f"{PROJECT}/studies/compare/", comparisons.study_compare, name="study-compare"),
    path(
        f"{PROJECT}/studies/compare.<str:file_format>",
        comparisons.study_compare_download,
        name="study-compare-download",
    ),
    path(
        f"{PROJECT}/studies/compare/chart.<str:file_format>",
        comparisons.study_compare_chart,
        name="study-compare-chart",
    ),
    *(
        path(f"{PROJECT}/studies/verifications/{address}", view, name=f"study-verification-{name}")
        for name, address, view in (
            ("list", "", verifications.verification_list),
            ("detail", "<int:pk>/", verifications.verification_detail),
            ("cancel", "<int:pk>/cancel/", verifications.verification_cancel),
            ("retry", "<int:pk>/retry/", verifications.verification_retry),
        )
    ),
    path(f"{PROJECT}/studies/over/start/", joint.joint_start, name="study-joint-start"),
    path(f"{PROJECT}/studies/over/new/", joint.joint_create, name="study-joint-create"),
    path(f"{PROJECT}/studies/over/<int:pk>/", joint.joint_detail, name="study-joint-detail"),
    path(f"{PROJECT}/studies/over/<int:pk>/verify/", joint.joint_verify, name="study-joint-verify"),
    path(f"{PROJECT}/studies/over/<int:pk>/report.<str:file_format>", joint.joint_report, name="study-joint-report"),
    path(f"schemas/{FILENAME}", study_schema, name="study-schema"),
    # Before the downloads of tables, which could have these names.
    *(
        path(f"{PROJECT}/studies/{address}", view, {"kind": STUDY}, name=f"study-{name}")
        for name, address, view in (
            ("from-specification", "new/specification/", study_from_specification),
            ("specification", "<int:pk>/specification.json", study_specification),
            ("report", "<int:pk>/report.<str:file_format>", study_report),
            ("verify", "<int:pk>/verify/", verifications.study_verify),
        )
    ),
    *kind_urls(STUDY),
    path(f"{PROJECT}/studies/<int:pk>/rows/<int:row>/", study_row, {"kind": STUDY}, name="study-row"),
    path(f"{PROJECT}/studies/<int:pk>/levels/", study_levels, {"kind": STUDY}, name="study-levels"),
    path(f"{PROJECT}/studies/<int:pk>/metrics/", study_significance, {"kind": STUDY}, name="study-significance"),
    path(f"{PROJECT}/studies/<int:pk>/stand-in/", study_stand_in, {"kind": STUDY}, name="study-stand-in"),
    path(f"{PROJECT}/studies/<int:pk>/raters/", study_sensitivity, {"kind": STUDY}, name="study-sensitivity"),
    path(
        f"{PROJECT}/studies/<int:pk>/raters/new/",
        study_sensitivity_create,
        {"kind": STUDY},
        name="study-sensitivity-create",
    ),
    *(
        path(
            f"{PROJECT}/parameter-studies/<int:pk>/{address}",
            view,
            {"kind": PARAMETER_STUDY},
            name=f"parameter-study-{name}",
        )
        for name, address, view in (
            ("report", "report.<str:file_format>", parameter_study_report),
            ("verify", "verify/", verifications.study_verify),
        )
    ),
    *kind_urls(PARAMETER_STUDY),
    path(f"{PROJECT}/campaigns/<int:pk>/results/with-metric/", helped.campaign_helped, name="campaign-helped"),
    path(
        f"{PROJECT}/campaigns/<int:pk>/results/with-metric.<str:file_format>",
        helped.campaign_helped_download,
        name="campaign-helped-download",
    ),
    path(f"{PROJECT}/runs/<int:number>/scale/", run_scale, name="run-scale"),
    path(f"{PROJECT}/responses/<int:pk>/uses/", uses.response_uses_detail, name="response-uses"),
]
