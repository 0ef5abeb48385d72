"""Which brokers work, and what each needs to be installed."""

from importlib.util import find_spec
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

SCHEMES = ("pgmq", "redis", "rediss", "amqp", "amqps")
REDIS = "redis>=6.4"  # as the extra has it; the other drivers are requirements of Assay


def require_driver(broker_url: str) -> None:
    """Refuse a broker that Assay is not tested with, or whose driver is not installed."""
    scheme = urlsplit(broker_url).scheme
    if scheme not in SCHEMES:
        raise ImproperlyConfigured(f"CELERY_BROKER_URL: found {scheme}://; accepted: {'://, '.join(SCHEMES)}://.")
    if scheme.startswith("redis") and find_spec("redis") is None:
        raise ImproperlyConfigured(
            f"CELERY_BROKER_URL names {scheme}://, whose driver is not installed. Install Assay’s extra “redis” "
            f"(python -m pip install '{REDIS}'), or leave CELERY_BROKER_URL unset: then the database is the broker."
        )
