"""The hand-out order of the database must equal that of the Python rule."""

import random

import pytest
from django.db import connection

from annotation.allocation.handout import Candidate, next_unit

FIRST = """
    SELECT unit FROM unnest(%s::bigint[], %s::int[], %s::text[]) AS waiting(unit, filled, systems)
    ORDER BY filled, string_to_array(systems, ' ') && %s::text[], hashint8extended(unit, %s), unit
    LIMIT 1
"""


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(20))
def test_postgresql_picks_the_same_unit_as_next_unit(seed):
    draw = random.Random(seed)
    pool = [
        Candidate(unit, draw.randrange(2), draw.sample("ABC", draw.randint(1, 2)))
        for unit in draw.sample(range(1, 10**12), 30)
    ]
    previous, rater_seed = draw.sample("ABC", seed % 3), draw.randrange(-(2**63), 2**63)
    columns = [[c.unit for c in pool], [c.filled for c in pool], [" ".join(c.systems) for c in pool]]
    with connection.cursor() as cursor:
        cursor.execute(FIRST, [*columns, previous, rater_seed])
        (unit,) = cursor.fetchone()
    assert unit == next_unit(pool, rater_seed=rater_seed, avoid=previous).unit
