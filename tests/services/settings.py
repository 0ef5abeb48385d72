"""Settings of a site's processes: those of tests, and a log that names each task as it comes."""

import logging
from typing import Any

from config import logs
from tests.settings import *  # noqa: F403

LOGGING_CONFIG = "tests.services.settings.configure"


def configure(options: dict[str, Any]) -> None:
    logs.configure(options)
    logging.getLogger("celery.worker.strategy").setLevel("INFO")
