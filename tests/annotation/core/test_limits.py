from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import RequestFactory
from pytest_django import Settings

from annotation.core.errors import LimitReached
from annotation.core.limits import Limit, client_address, limit_count, limit_uncount, limits_sweep
from annotation.models import LimitCount

TWICE = Limit("test", most=2, seconds=600, uses="knocks at the door")


def test_uses_above_the_limit_are_refused_until_the_window_ends(db: None) -> None:
    for _ in range(2):
        limit_count(limit=TWICE, subject="ann")
    limit_count(limit=TWICE, subject="ben")
    with pytest.raises(LimitReached) as refusal:
        limit_count(limit=TWICE, subject="ann")
    assert "door: accepted are 2 in 10 minutes. Try again in 10 minutes, at" in str(refusal.value)
    assert 590 < refusal.value.seconds <= 600
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_limitcount SET ends_at = clock_timestamp()")
    limit_count(limit=TWICE, subject="ann")


def test_a_use_that_is_taken_back_does_not_count(db: None) -> None:
    for _ in range(5):
        limit_count(limit=TWICE, subject="ann")
        limit_uncount(limit=TWICE, subject="ann")
    assert LimitCount.objects.get().uses == 0


def test_counts_whose_window_has_ended_are_deleted_by_the_sweep(db: None) -> None:
    limit_count(limit=TWICE, subject="ann")
    limit_count(limit=Limit("short", most=2, seconds=-1, uses="knocks"), subject="ann")
    limits_sweep()
    assert [count.key.split(":")[0] for count in LimitCount.objects.all()] == ["test"]


def test_uses_at_the_same_time_do_not_pass_the_limit_together(transactional_db: None) -> None:
    def use(_: int) -> bool:
        try:
            limit_count(limit=TWICE, subject="ann")
        except LimitReached:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(use, range(24))) == 2


@pytest.mark.parametrize(
    ("proxies", "direct", "forwarded", "expected"),
    [
        (0, "10.0.0.9", "1.2.3.4", "10.0.0.9"),
        (1, "10.0.0.9", "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        (2, "10.0.0.9", "6.6.6.6, 1.2.3.4, 10.0.0.8", "1.2.3.4"),
        (1, "10.0.0.9", "", "10.0.0.9"),
        (0, "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        (0, "::ffff:1.2.3.4", "", "1.2.3.4"),
        (0, "", "", ""),
    ],
)
def test_an_address_is_taken_from_proxies_only_as_far_as_the_settings_trust_them(
    settings: Settings, proxies: int, direct: str, forwarded: str, expected: str
) -> None:
    settings.NUM_PROXIES = proxies
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", REMOTE_ADDR=direct, **headers)) == expected
