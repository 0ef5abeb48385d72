"""A broker whose driver is missing is refused at start, in a sentence."""

import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.drivers import require_driver


def test_a_broker_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("pgmq://a@b/c", "amqp://a@b//", "amqps://a@b//"):
        require_driver(url)
    monkeypatch.setitem(sys.modules, "redis", None)
    for url in ("redis://127.0.0.1/0", "rediss://127.0.0.1/0"):
        with pytest.raises(ImproperlyConfigured, match=r"Install Assay’s extra “redis” \(python -m pip install 'redis"):
            require_driver(url)
    with pytest.raises(ImproperlyConfigured, match="found sqs://; accepted: pgmq://, redis://"):
        require_driver("sqs://key@")
