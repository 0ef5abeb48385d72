"""Prepared statements, and instances of rows that they return."""

import pytest
from django.db import DataError, connection, transaction

from annotation.core import sql
from annotation.models import Campaign, Criterion, Item, Project
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

pytestmark = pytest.mark.django_db

PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"


def test_a_prepared_statement_is_planned_once_whatever_the_size_of_its_numbers() -> None:
    query = "SELECT %(n)s + 1, %(texts)s::text[], %(nothing)s::int AS only_here"
    for n in (1, 300, 70_000, 5_000_000_000):
        assert sql.row(query, {"n": n, "texts": ["ä"], "nothing": None}, prepared=True) == (n + 1, ["ä"], None)
    assert sql.row(PREPARED, ["%AS only_here"]) == (1,)
    assert sql.rows("SELECT unnest(%s::smallint[])", [[2, 3]], prepared=True) == [(2,), (3,)]


def test_other_statements_are_not_prepared() -> None:
    sql.row("SELECT 1 AS never_prepared", prepared=True)
    for _ in range(8):
        assert sql.row("SELECT %s AS plainly", [1]) == (1,)
    assert sql.row(PREPARED, ["%AS plainly"]) == (0,)


def test_errors_are_those_of_the_framework() -> None:
    with pytest.raises(DataError), transaction.atomic():
        sql.row("SELECT 1 / %s", [0], prepared=True)
    assert sql.row("SELECT %s", [4], prepared=True) == (4,)


@pytest.mark.parametrize("model", [Project, Campaign, Criterion, Item])
def test_a_row_is_the_instance_that_a_query_gives(project: Project, model: type) -> None:
    campaign = make_campaign(make_dataset(project))
    assert campaign.quality is not None
    expected = model._default_manager.order_by("pk").first()  # type: ignore[attr-defined]
    columns = sql.Columns(model, "t")

    found = columns.instance(
        sql.row(f"SELECT {columns} FROM {model._meta.db_table} t WHERE id = %s", [expected.pk], prepared=True)  # type: ignore[attr-defined]
    )

    assert found == expected
    names = [field.attname for field in model._meta.concrete_fields]  # type: ignore[attr-defined]
    assert {name: getattr(found, name) for name in names} == {name: getattr(expected, name) for name in names}
    assert not found._state.adding
    assert found._state.db == connection.alias
