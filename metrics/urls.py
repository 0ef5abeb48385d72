from django.urls import URLPattern, URLResolver, include, path

from metrics.views import (
    catalogue,
    comparisons,
    explanations,
    leaderboard,
    models,
    playground,
    runs,
    score_imports,
    segments,
)

app_name = "metrics"

run_urls: list[URLPattern | URLResolver] = [
    path("", runs.run_detail, name="run-detail"),
    path("cancel/", runs.run_cancel, name="run-cancel"),
    path("retry/", runs.run_retry, name="run-retry"),
    path("figure/", runs.run_figure, name="run-figure"),
    path("figure.<str:file_format>", runs.run_figure, name="run-figure-download"),
    path("pairs/", comparisons.run_comparisons, name="run-comparisons"),
    path("disagreements/", comparisons.run_disagreements, name="run-disagreements"),
    path("scores/", runs.run_scores_figure, name="run-scores-figure"),
    path("scores.<str:file_format>", runs.run_scores_figure, name="run-scores-figure-download"),
    path("<slug:table>.<str:file_format>", runs.run_download, name="run-download"),
    path("systems/<int:system_pk>/", segments.run_system_detail, name="run-system-detail"),
    path(
        "systems/<int:system_pk>/segments.<str:file_format>", segments.run_system_download, name="run-system-download"
    ),
    path("systems/<int:system_pk>/items/<int:item_pk>/", segments.run_segment, name="run-segment"),
    path(
        "systems/<int:system_pk>/items/<int:item_pk>/matches.<str:file_format>",
        segments.run_segment_download,
        name="run-segment-download",
    ),
]

model_urls: list[URLPattern | URLResolver] = [
    path("", models.model_detail, name="model-detail"),
    path("cancel/", models.model_cancel, name="model-cancel"),
    path("retry/", models.model_retry, name="model-retry"),
    path("delete/", models.model_delete, name="model-delete"),
    path("download/", models.model_download, name="model-download"),
    path("overlap.<str:file_format>", models.model_overlap_download, name="model-overlap-download"),
    path("learning-curve/", models.model_learning, name="model-learning"),
    path("learning-curve.<str:file_format>", models.model_learning, name="model-learning-download"),
    path("singular-values/", models.model_spectrum, name="model-spectrum"),
    path("singular-values.<str:file_format>", models.model_spectrum, name="model-spectrum-download"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("p/<slug:project_slug>/runs/", runs.run_list, name="run-list"),
    path("p/<slug:project_slug>/metrics/", catalogue.metric_list, name="run-metrics"),
    path("p/<slug:project_slug>/runs/new/", runs.run_create, name="run-create"),
    path("p/<slug:project_slug>/runs/import/", score_imports.run_import, name="run-import"),
    path("p/<slug:project_slug>/runs/of/<slug:dataset_slug>.zip", score_imports.run_export, name="run-export"),
    path("p/<slug:project_slug>/runs/compare/", leaderboard.run_compare, name="run-compare"),
    path(
        "p/<slug:project_slug>/runs/leaderboard.<str:file_format>",
        leaderboard.leaderboard_download,
        name="run-leaderboard-download",
    ),
    path("p/<slug:project_slug>/runs.<str:file_format>", runs.run_list_download, name="run-list-download"),
    path("p/<slug:project_slug>/runs/<int:number>/", include(run_urls)),
    path("p/<slug:project_slug>/models/", models.model_list, name="model-list"),
    path("p/<slug:project_slug>/models/new/", models.model_create, name="model-create"),
    path("p/<slug:project_slug>/models/<int:pk>/", include(model_urls)),
    path("p/<slug:project_slug>/playground/", playground.playground, name="playground"),
    path(
        "p/<slug:project_slug>/references/<slug:slug>/v<int:number>/items/<int:pk>/",
        explanations.release_item,
        name="release-item",
    ),
    path("p/<slug:project_slug>/responses/<int:pk>/matches/", explanations.response_matches, name="response-matches"),
]
