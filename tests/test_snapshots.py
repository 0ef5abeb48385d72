"""Snapshots restore the rows that were built, with objects that refer to the test's project."""

from django.apps import apps
from django.db import connection, transaction

from annotation.models import Project
from tests.metrics.world import make_world


def all_rows() -> dict[str, list[tuple[object, ...]]]:
    models = [model for model in apps.get_models(include_auto_created=True) if model is not Project]
    return {model._meta.label: sorted(model._base_manager.values_list(), key=repr) for model in models}


def test_restored_rows_equal_those_that_were_built(project: Project) -> None:
    with transaction.atomic():
        built = make_world(project, n_items=4, n_raters=2, seed=11)
        rows = all_rows()
        transaction.set_rollback(True)
    assert all_rows() != rows

    copied = make_world(project, n_items=4, n_raters=2, seed=11)

    connection.check_constraints()  # foreign keys hold although the copy bypassed them
    assert all_rows() == rows
    assert copied.weights == built.weights
    assert copied.dataset == built.dataset
    assert copied.dataset.project is project
