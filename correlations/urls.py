from django.urls import URLPattern, URLResolver, include, path

from correlations.views import downloads, parameters, studies, uses

app_name = "correlations"

STUDY, PARAMETER_STUDY = {"kind": downloads.STUDY}, {"kind": downloads.PARAMETER_STUDY}

study_urls: list[URLPattern | URLResolver] = [
    path("", studies.study_detail, name="study-detail"),
    path("rows/<int:row>/", studies.study_row, name="study-row"),
    path("cancel/", studies.study_cancel, name="study-cancel"),
    path("retry/", studies.study_retry, name="study-retry"),
    path("figures/<slug:figure>/", downloads.study_figure, STUDY, name="study-figure"),
    path(
        "figures/<slug:figure>.<str:file_format>", downloads.study_figure_download, STUDY, name="study-figure-download"
    ),
    path("<slug:table>.<str:file_format>", downloads.study_download, STUDY, name="study-download"),
]

parameter_urls: list[URLPattern | URLResolver] = [
    path("", parameters.parameter_study_detail, name="parameter-study-detail"),
    path("cancel/", parameters.parameter_study_cancel, name="parameter-study-cancel"),
    path("retry/", parameters.parameter_study_retry, name="parameter-study-retry"),
    path("figures/<slug:figure>/", downloads.study_figure, PARAMETER_STUDY, name="parameter-study-figure"),
    path(
        "figures/<slug:figure>.<str:file_format>",
        downloads.study_figure_download,
        PARAMETER_STUDY,
        name="parameter-study-figure-download",
    ),
    path("<slug:table>.<str:file_format>", downloads.study_download, PARAMETER_STUDY, name="parameter-study-download"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("p/<slug:project_slug>/studies/", studies.study_list, name="study-list"),
    path("p/<slug:project_slug>/studies/new/", studies.study_create, name="study-create"),
    path(
        "p/<slug:project_slug>/studies.<str:file_format>",
        downloads.study_list_download,
        STUDY,
        name="study-list-download",
    ),
    path("p/<slug:project_slug>/studies/<int:pk>/", include(study_urls)),
    path("p/<slug:project_slug>/parameter-studies/", parameters.parameter_study_list, name="parameter-study-list"),
    path(
        "p/<slug:project_slug>/parameter-studies/new/",
        parameters.parameter_study_create,
        name="parameter-study-create",
    ),
    path(
        "p/<slug:project_slug>/parameter-studies.<str:file_format>",
        downloads.study_list_download,
        PARAMETER_STUDY,
        name="parameter-study-list-download",
    ),
    path("p/<slug:project_slug>/parameter-studies/<int:pk>/", include(parameter_urls)),
    path("p/<slug:project_slug>/responses/<int:pk>/uses/", uses.response_uses_detail, name="response-uses"),
]
