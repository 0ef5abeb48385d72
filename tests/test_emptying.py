import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction
from django.test import TransactionTestCase

from annotation.models import Project


def test_tables_are_emptied_even_if_a_running_request_waits_for_the_same_locks(transactional_db: None) -> None:
    """The request reads the last table first, then the first: the locks are taken in the other order."""
    Project.objects.create(name="Left over", slug="left-over")
    has_begun = threading.Event()

    def request() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT FROM metrics_trainedmodel")
            has_begun.set()
            cursor.execute("SELECT pg_sleep(0.3)")  # until the other waits
            cursor.execute("SELECT FROM annotation_auditentry")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: (request(), connection.close()))
        has_begun.wait()
        TransactionTestCase._fixture_teardown(TransactionTestCase())
        running.exception()  # PostgreSQL may have ended it
    assert not Project.objects.exists()
