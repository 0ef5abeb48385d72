"""This app's endpoints, under /api/v1/."""

from rest_framework.routers import BaseRouter

from metrics.api import comparisons, models, runs, score_imports, scored_texts

RUNS = "projects/<slug:project_slug>/score-runs"


def register(router: BaseRouter) -> None:
    router.register(RUNS, runs.ScoreRunsViewSet, "score-run")
    router.register(f"{RUNS}/<int:score_run_pk>/scores", runs.ScoresViewSet, "score")
    router.register(f"{RUNS}/<int:score_run_pk>/segments", runs.SegmentsViewSet, "segment")
    router.register(f"{RUNS}/<int:score_run_pk>/comparisons", comparisons.ComparisonsViewSet, "comparison")
    router.register(f"{RUNS}/<int:score_run_pk>/disagreements", comparisons.DisagreementsViewSet, "disagreement")
    router.register("projects/<slug:project_slug>/score-imports", score_imports.ScoreImportsViewSet, "score-import")
    router.register("projects/<slug:project_slug>/scored-texts", scored_texts.ScoredTextsViewSet, "scored-text")
    router.register("projects/<slug:project_slug>/models", models.TrainedModelsViewSet, "model")
