"""Query results as arrays of numbers, compared with plain SQL."""

import numpy as np
import pytest

from annotation.core.arrays import number_columns

pytestmark = pytest.mark.django_db


def test_numbers_come_in_the_order_of_the_query():
    query = "SELECT n::bigint, n / 4.0::float8, n > 2 FROM generate_series(-1, %(last)s) n ORDER BY n DESC"
    integers, fractions, flags = number_columns(query, {"last": 3}, ["bigint", "float8", "boolean"])
    assert integers.tolist() == [3, 2, 1, 0, -1]
    assert fractions.tolist() == [0.75, 0.5, 0.25, 0.0, -0.25]
    assert flags.tolist() == [True, False, False, False, False]
    assert (integers.dtype, fractions.dtype, flags.dtype) == (np.int64, np.float64, np.bool_)


def test_numbers_are_read_while_django_logs_queries(settings):
    settings.DEBUG = True
    (column,) = number_columns("SELECT n::bigint FROM generate_series(1, %(last)s) n", {"last": 2}, ["bigint"])
    assert column.tolist() == [1, 2]


def test_a_query_without_rows_gives_an_empty_column():
    (column,) = number_columns("SELECT 1::bigint WHERE false", {}, ["bigint"])
    assert (len(column), column.dtype) == (0, np.int64)


def test_nan_is_kept():
    (column,) = number_columns("SELECT coalesce(NULL, 'NaN'::float8)", {}, ["float8"])
    assert np.isnan(column).tolist() == [True]


@pytest.mark.parametrize(
    "query",
    ["SELECT NULL::bigint", "SELECT 1::integer", "SELECT 1::bigint UNION ALL SELECT NULL", "SELECT 1::bigint, 2"],
)
def test_nulls_and_other_types_are_refused(query):
    with pytest.raises(ValueError, match="accepted: bigint, no null"):
        number_columns(query, {}, ["bigint"])
