from django.urls import URLPattern, path

from annotation.campaigns.views import lists as response_lists
from annotation.seeds import views as seeds

SEEDS = "p/<slug:project_slug>/seeds/"
SELECTION = "p/<slug:project_slug>/datasets/<slug:dataset_slug>/seeds/"
LISTS = "p/<slug:project_slug>/lists/"
LIST = f"{LISTS}<int:pk>/"

urlpatterns: list[URLPattern] = [
    path(SEEDS, seeds.seed_list, name="seed-list"),
    path(f"{SEEDS}sample/", seeds.seed_sample, name="seed-sample"),
    path(SELECTION, seeds.seed_detail, name="seed-detail"),
    path(f"{SELECTION}select/", seeds.seed_select, name="seed-select"),
    path(f"{SELECTION}select/<int:pk>/", seeds.seed_selecting, name="seed-selecting"),
    path(f"{SELECTION}select/<int:pk>/cancel/", seeds.seed_selecting_cancel, name="seed-selecting-cancel"),
    path(f"{SELECTION}means.<str:file_format>", seeds.seed_chart, name="seed-chart"),
    path(f"{SELECTION}rate/", seeds.seed_rate, name="seed-rate"),
    path(f"{SELECTION}unselect/", seeds.seed_unselect, name="seed-unselect"),
    path(LISTS, response_lists.response_list_list, name="response-list-list"),
    path(LIST, response_lists.response_list_detail, name="response-list-detail"),
    path(f"{LIST}rate/", response_lists.response_list_rate, name="response-list-rate"),
    path(f"{LIST}delete/", response_lists.response_list_delete, name="response-list-delete"),
]
