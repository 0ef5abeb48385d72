"""What is copied back is what was built: the same rows, and objects that name the test's own project."""

from django.apps import apps
from django.db import connection, transaction

from annotation.models import Project
from tests.metrics.world import make_world


def everything() -> dict[str, list[tuple[object, ...]]]:
    models = [model for model in apps.get_models(include_auto_created=True) if model is not Project]
    return {model._meta.label: sorted(model._base_manager.values_list(), key=repr) for model in models}


def test_rows_copied_back_are_those_that_were_built(project: Project) -> None:
    with transaction.atomic():
        built = make_world(project, n_items=4, n_raters=2, seed=11)
        rows = everything()
        transaction.set_rollback(True)
    assert everything() != rows

    copied = make_world(project, n_items=4, n_raters=2, seed=11)

    connection.check_constraints()  # what was copied past foreign keys keeps them
    assert everything() == rows
    assert copied.weights == built.weights
    assert copied.dataset == built.dataset
    assert copied.dataset.project is project
