from django.urls import path

from annotation.datasets.views import datasets, imports, outputs

urlpatterns = [
    path("examples/<str:filename>", imports.example_file, name="import-example"),
    path("p/<slug:project_slug>/datasets/", datasets.dataset_list, name="dataset-list"),
    path("p/<slug:project_slug>/imports/new/", imports.dataset_import, name="dataset-import"),
    path("p/<slug:project_slug>/imports/example/", imports.dataset_import_example, name="dataset-import-example"),
    path("p/<slug:project_slug>/imports/<int:pk>/", imports.dataset_import_detail, name="dataset-import-detail"),
    path("p/<slug:project_slug>/imports/<int:pk>/cancel/", imports.dataset_import_cancel, name="dataset-import-cancel"),
    path("p/<slug:project_slug>/imports/<int:pk>/map/", imports.dataset_import_map, name="dataset-import-map"),
    path("p/<slug:project_slug>/imports/<int:pk>/ask/", imports.dataset_import_ask_again, name="dataset-import-ask"),
    path("p/<slug:project_slug>/imports/<int:pk>/discard/", imports.dataset_import_drop, name="dataset-import-discard"),
    path("p/<slug:project_slug>/datasets/<slug:dataset_slug>/", datasets.dataset_detail, name="dataset-detail"),
    path("p/<slug:project_slug>/datasets/<slug:dataset_slug>/edit/", datasets.dataset_edit, name="dataset-edit"),
    path(
        "p/<slug:project_slug>/datasets/<slug:dataset_slug>/outputs/add/", outputs.outputs_page, name="dataset-outputs"
    ),
    path(
        "p/<slug:project_slug>/datasets/<slug:dataset_slug>/export.jsonl",
        datasets.dataset_export,
        name="dataset-export",
    ),
    path(
        "p/<slug:project_slug>/datasets/<slug:dataset_slug>/download/<slug:table>.<str:format>",
        datasets.dataset_download,
        name="dataset-download",
    ),
]
