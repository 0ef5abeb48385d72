"""Structured logs: one event a line, as JSON for machines or coloured for a terminal. No line holds a secret."""

import logging.config
import re
import sys
from collections.abc import MutableMapping
from functools import reduce
from typing import Any

import structlog

from annotation.recruitment.providers import PROVIDERS

# By which raters arrive: who a person is at a provider.
PARAMETERS = sorted({name for provider in PROVIDERS.values() for name in provider.parameters})
# Who has such a link or token can use it: its beginning is enough to find a line by.
SECRETS = (
    re.compile(r"(/r/(?:in/)?[0-9a-f]{8})-[0-9a-f-]{27}"),  # links of raters
    re.compile(r"(/join/[^/\s\"']{4})[^/\s\"']+"),  # invitations
    re.compile(r"(/accounts/reset/)(?!done)[^/\s\"']+/[^/\s\"']+"),
    re.compile(r"(assay_[\w-]{4})[\w-]{20,}"),  # tokens of the API
    re.compile(rf"((?:{'|'.join(PARAMETERS)})=)[^&\s\"']+"),
)


def without_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut links and tokens that give access, wherever a line has them, to their beginning."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = reduce(lambda text, secret: secret.sub(r"\1…", text), SECRETS, value)
    return event


SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    without_secrets,
]


class StandardError(logging.StreamHandler[Any]):
    """Writes to what standard error is now: it may have been replaced, and its first stream closed."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr


def configure(options: dict[str, Any]) -> None:
    renderer = structlog.processors.JSONRenderer() if options["format"] == "json" else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structured": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": SHARED,
                    "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
                }
            },
            "handlers": {"stderr": {"class": "config.logs.StandardError", "formatter": "structured"}},
            "root": {"handlers": ["stderr"], "level": options["level"]},
            "loggers": {
                "django.server": {"level": "WARNING"},
                "celery.beat": {"level": "WARNING"},
                "celery.app.trace": {"level": "WARNING"},
                "celery.worker.strategy": {"level": "WARNING"},
                "pgmq": {"level": "WARNING"},
                "httpx": {"level": "WARNING"},  # it logs whole addresses, with providers' ids of submissions
            },
        }
    )
