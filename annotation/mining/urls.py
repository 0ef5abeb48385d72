from django.urls import URLPattern, path

from annotation.mining.views import candidates, corpora, runs

CORPORA = "p/<slug:project_slug>/corpora/"
CORPUS = f"{CORPORA}<slug:slug>/"
RUNS = "p/<slug:project_slug>/mining/"
RUN = f"{RUNS}<int:pk>/"

urlpatterns: list[URLPattern] = [
    path(RUNS, corpora.corpus_list, name="corpus-list"),
    path(f"{CORPORA}new/", corpora.corpus_create, name="corpus-create"),
    path(f"{CORPORA}from-data-set/", corpora.corpus_from_dataset, name="corpus-from-dataset"),
    path(CORPUS, corpora.corpus_detail, name="corpus-detail"),
    path(f"{CORPUS}cancel/", corpora.corpus_cancel, name="corpus-cancel"),
    path(f"{CORPUS}retry/", corpora.corpus_retry, name="corpus-retry"),
    path(f"{CORPUS}delete/", corpora.corpus_delete, name="corpus-delete"),
    path(f"{RUNS}new/", runs.mining_run_create, name="mining-run-create"),
    path(RUN, runs.mining_run_detail, name="mining-run-detail"),
    path(f"{RUN}cancel/", runs.mining_run_cancel, name="mining-run-cancel"),
    path(f"{RUN}retry/", runs.mining_run_retry, name="mining-run-retry"),
    path(f"{RUN}delete/", runs.mining_run_delete, name="mining-run-delete"),
    path(f"{RUN}store/", runs.mining_run_store, name="mining-run-store"),
    path(f"{RUN}rate/", runs.mining_run_rate, name="mining-run-rate"),
    path(f"{RUN}near-duplicates/", candidates.mining_run_near, name="mining-run-near"),
    path(f"{RUN}candidates/", candidates.mining_run_candidates, name="mining-run-candidates"),
    path(f"{RUN}candidates.<str:file_format>", candidates.mining_run_download, name="mining-run-download"),
]
