from django.urls import URLPattern, path

from annotation.views import references, responses

SET = "p/<slug:project_slug>/references/<slug:slug>/"
RELEASE = f"{SET}v<int:number>/"
RESPONSE = "p/<slug:project_slug>/responses/<int:pk>/"

urlpatterns: list[URLPattern] = [
    path("p/<slug:project_slug>/references/", references.reference_set_list, name="reference-set-list"),
    path("p/<slug:project_slug>/references/new/", references.reference_set_create, name="reference-set-create"),
    path(SET, references.reference_set_detail, name="reference-set-detail"),
    path(f"{SET}release/", references.release_create, name="release-create"),
    path(RELEASE, references.release_detail, name="release-detail"),
    path(f"{RELEASE}cancel/", references.release_cancel, name="release-cancel"),
    path(f"{RELEASE}retry/", references.release_retry, name="release-retry"),
    path(f"{RELEASE}weights.<str:file_format>", references.release_download, name="release-download"),
    path(f"{RELEASE}distribution.<str:file_format>", references.release_chart, name="release-chart"),
    path(RESPONSE, responses.response_detail, name="response-detail"),
    path(f"{RESPONSE}ratings.<str:file_format>", responses.response_ratings_download, name="response-ratings-download"),
    path(f"{RESPONSE}weights.<str:file_format>", responses.response_weights_download, name="response-weights-download"),
]
