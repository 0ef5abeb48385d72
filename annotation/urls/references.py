from django.urls import URLPattern, path

from annotation.views import responses
from annotation.views.references import browsing, downloads, releases, sets

SET = "p/<slug:project_slug>/references/<slug:slug>/"
RELEASE = f"{SET}v<int:number>/"
RESPONSE = "p/<slug:project_slug>/responses/<int:pk>/"

urlpatterns: list[URLPattern] = [
    path("p/<slug:project_slug>/references/", sets.reference_set_list, name="reference-set-list"),
    path("p/<slug:project_slug>/references/new/", sets.reference_set_create, name="reference-set-create"),
    path(SET, sets.reference_set_detail, name="reference-set-detail"),
    path(f"{SET}release/", sets.release_create, name="release-create"),
    path(RELEASE, releases.release_detail, name="release-detail"),
    path(f"{RELEASE}cancel/", releases.release_cancel, name="release-cancel"),
    path(f"{RELEASE}retry/", releases.release_retry, name="release-retry"),
    path(f"{RELEASE}weights.<str:file_format>", downloads.release_download, name="release-download"),
    path(f"{RELEASE}distribution.<str:file_format>", browsing.release_chart, name="release-chart"),
    path(RESPONSE, responses.response_detail, name="response-detail"),
    path(f"{RESPONSE}ratings.<str:file_format>", responses.response_ratings_download, name="response-ratings-download"),
    path(f"{RESPONSE}weights.<str:file_format>", responses.response_weights_download, name="response-weights-download"),
]
