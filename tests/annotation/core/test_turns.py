"""Locks of long work, of a session or, behind a pooler, of a transaction."""

import pytest
from pytest_django import Settings

from annotation.core.turns import SLOW_METRICS, one_of, turn


@pytest.mark.parametrize("pooler", ["", "postgresql://pooler"])
def test_a_turn_is_taken_once_and_given_back_also_after_an_error(db: None, settings: Settings, pooler: str) -> None:
    # Sessions of the same process would share locks: each turn has one of its own behind a pooler, as others have.
    settings.DATABASE_POOLER_URL = "postgresql://pooler"
    with turn(SLOW_METRICS, 1_000) as held:
        assert held
        settings.DATABASE_POOLER_URL = pooler
        with turn(SLOW_METRICS, 1_000) as second, turn(SLOW_METRICS, 1_001) as another:
            assert (second, another) == (False, True)
    with pytest.raises(ValueError, match="in work"), turn(SLOW_METRICS, 1_000):
        raise ValueError("in work")
    with turn(SLOW_METRICS, 1_000) as again, one_of(SLOW_METRICS, 1_000) as free:
        assert again
        assert free
