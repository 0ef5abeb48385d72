"""Long work has a queue of its own."""

import pytest

from annotation.core import queues
from config.celery import app

LONG_TASKS = {
    "annotation.dry_runs.tasks.dry_run_execute",
    "annotation.mining.tasks.corpus_index",
    "annotation.mining.tasks.mining_run_execute",
    "annotation.mining.tasks.mining_run_help",
    "annotation.tasks.long_heartbeat",
    "correlations.tasks.execute",
    "correlations.tasks.execute_parameter_study",
    "correlations.tasks.help_out",
    "correlations.tasks.restaurants_advance",
    "correlations.tasks.verify",
    "metrics.tasks.execute",
    "metrics.tasks.help_out",
    "metrics.tasks.train_model",
}


def test_studies_scores_mining_trainings_and_dry_runs_are_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "LONG", "long")
    app.loader.import_default_modules()

    sent_to = {name: app.amqp.router.route({}, name, task_type=task)["queue"].name for name, task in app.tasks.items()}

    assert {name for name, queue in sent_to.items() if queue == "long"} == LONG_TASKS
    assert {queue for name, queue in sent_to.items() if name not in LONG_TASKS} == {"celery"}
