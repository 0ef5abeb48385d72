"""Two requests at the same moment, in an order that no scheduler decides."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any

from django.db import connection, transaction

PATIENCE = 60  # seconds until a race that hangs is given up
LOOK = 0.02  # seconds between two looks at whether the second request waits for the first


def race(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    """Begin ``second`` when ``first`` has written and not yet committed; return what each returned or raised.

    ``first`` commits when ``second`` waits for one of its locks, or has ended without waiting. So ``second`` sees
    nothing that ``first`` wrote until it comes to where the two collide. Each has a connection of its own.
    """
    has_written, may_commit, begun = Event(), Event(), Event()
    follower: list[int] = []

    def lead() -> Any:
        try:
            with transaction.atomic():
                result = first()
                has_written.set()
                assert may_commit.wait(PATIENCE)
            return result
        finally:
            has_written.set()
            connection.close()

    def follow() -> Any:
        try:
            connection.ensure_connection()
            follower.append(connection.connection.info.backend_pid)
            begun.set()
            return second()
        finally:
            begun.set()
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        try:
            leader = pool.submit(lead)
            assert has_written.wait(PATIENCE)
            following = pool.submit(follow)
            assert begun.wait(PATIENCE)
            while not (following.done() or _is_blocked(*follower)):
                wait([following], timeout=LOOK)
        finally:
            may_commit.set()
    return _outcome(leader), _outcome(following)


def _is_blocked(backend: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [backend])
        return bool(cursor.fetchone()[0])


def _outcome(future: Future[Any]) -> Any:
    return future.exception(PATIENCE) or future.result()
