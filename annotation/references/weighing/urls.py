from django.urls import URLPattern, path

from annotation.references.weighing.views import attention, awaiting, weighing

RELEASE = "p/<slug:project_slug>/references/<slug:slug>/v<int:number>/"

urlpatterns: list[URLPattern] = [
    path(f"{RELEASE}attention/", attention.release_attention, name="release-attention"),
    path(f"{RELEASE}attention/send-back/", attention.release_attention_send, name="release-attention-send"),
    path(f"{RELEASE}sensitivity/", weighing.release_sensitivity, name="release-sensitivity"),
    path(
        f"{RELEASE}sensitivity.<str:file_format>", weighing.release_sensitivity_chart, name="release-sensitivity-chart"
    ),
    path(f"{RELEASE}raters/", weighing.release_influence, name="release-influence"),
    path(f"{RELEASE}raters.<str:file_format>", weighing.release_influence_chart, name="release-influence-chart"),
    path(f"{RELEASE}figures/<int:pk>/retry/", awaiting.release_figures_retry, name="release-figures-retry"),
    path(f"{RELEASE}circularity/", weighing.release_guard, name="release-guard"),
]
