from django.urls import URLPattern, path

from annotation.results import views

PROJECT = "p/<slug:project_slug>/"
RESULTS = f"{PROJECT}results/"

urlpatterns: list[URLPattern] = [
    path(f"{PROJECT}campaigns/<int:pk>/results/", views.campaign_results, name="campaign-results"),
    path(RESULTS, views.results, name="results"),
    path(f"{RESULTS}items/", views.results_items, name="results-items"),
    path(f"{RESULTS}<slug:name>.<str:file_format>", views.results_download, name="results-download"),
    path(f"{RESULTS}<slug:criterion>/<slug:name>.<str:file_format>", views.results_chart, name="results-chart"),
]
